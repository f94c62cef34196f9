"""The sentences in which decisions are told to the model and the user."""

from __future__ import annotations

OUTSIDE = "The path is not in a folder that this session works in"
NOT_YET = "Nobody has approved this command yet"
WRITES_TO_LINK = "The file to write is a symbolic link"
DENIED_PATH = "File is in a directory that is denied by your permission settings."
UNREADABLE_SO_UNWRITABLE = "A deny rule for reading covers this file, so it cannot be written either."


def use_denied(tool: str) -> str:
    """A rule denies the tool."""
    return f"Permission to use {tool} has been denied."


def parameter_denied(tool: str, content: str) -> str:
    """A rule denies the tool with this value of an input."""
    return f"Permission to use {tool} with {content} has been denied."


def command_denied(command: str) -> str:
    """A rule denies the command."""
    return f"Permission to use Bash with command {command} has been denied."


def path_denied(verb: str, path: str) -> str:
    """A rule denies the file."""
    return f"A permission rule forbids to {verb} {path}."


def fetch_denied(host: str) -> str:
    """A rule denies the host."""
    return f"A permission rule forbids to fetch pages from {host}."


def never_asks(tool: str) -> str:
    """The mode asks nobody."""
    return (
        f"Permission to use {tool} has been denied because Claude Code is running in don't ask mode."
        " Only calls that a rule or the mode allows will run. Do what the task needs with those, or say what"
        " you would need; do not look for a way around this."
    )


def plan_mode(path: str) -> str:
    """A file would change in plan mode."""
    return f"Cannot write to {path} while in plan mode."


def write_not_granted(path: str) -> str:
    """Nobody has approved the change."""
    return f"Claude requested permissions to write to {path}, but you haven't granted it yet."


def read_not_granted(path: str) -> str:
    """Nobody has approved the reading."""
    return f"Claude requested permissions to read from {path}, but you haven't granted it yet."


def use_not_granted(tool: str) -> str:
    """Nobody has approved the use of the tool."""
    return f"Claude requested permissions to use {tool}, but you haven't granted it yet."


def needs_a_person(tool: str) -> str:
    """Only a person can answer the tool."""
    return f"{tool} has to be answered by a person, and nobody can be asked here."


def steers_tools(path: str) -> str:
    """The file is one of those that no rule opens."""
    return f"{path} steers how other tools behave, so each change of it has to be approved."


CONFINED = "A restricted session keeps its file tools in the working folder"


def confined(path: str, folder: str) -> str:
    """A restricted session does not go there."""
    return f"{path} is outside {folder}; --restricted confines the file tools to the working directory."


def auto_blocked(reason: str) -> str:
    """The check of auto mode said no."""
    return (
        f"Blocked by classifier: {reason or 'it gave no reason'} The call was not carried out. Do not try to reach "
        "the same in another way; do what is left, or tell the user what you would need."
    )


def auto_unavailable(tool: str) -> str:
    """The check of auto mode could not be made."""
    return (
        f"Auto mode is unavailable: the safety check could not be made, so {tool} was not run. Do what can be done "
        "without it, and tell the user what is left and that another permission mode would let them decide."
    )


def not_through_link(path: str, leads: str) -> str:
    """Links are not written through."""
    return f"{path} is a symbolic link, which is not written through. Name the file it leads to: {leads}"


def through_link(path: str, target: str) -> str:
    """A link leads out of the working folders."""
    return f"{path} is a link that leads to {target}, which is not in a folder that this session works in"


def removes_too_much(target: str) -> str:
    """Why a removal is asked about."""
    return f"Removing {target} could take away far more than intended"


def removal_needs_approval(target: str) -> str:
    """The same, for the model."""
    return f"{removes_too_much(target)}. No rule and no mode approves this; a person has to."


def unchecked(reason: str) -> str:
    """The line may do more than it shows."""
    return f"What this command would do cannot be told before it runs: {reason}"


def parts_need_approval(parts: list[str]) -> str:
    """Some parts of a line are not approved."""
    return "Parts of this command have to be approved: " + ", ".join(parts)


def file_change(program: str, path: str, folders: str, *, inside: bool) -> str:
    """A command would change a file."""
    where = "one of" if inside else "none of"
    return f"{program} would change {path}, which has to be approved. It lies in {where} this session's folders ({folders})."


def file_read(program: str, path: str, folders: str) -> str:
    """A command would read a file."""
    return f"{program} would read {path}, which has to be approved. This session reads in {folders}."


def after_cd(what: str) -> str:
    """A line changes the folder before it does more."""
    return f"The command changes the folder and then {what}, so it is not certain which place that concerns"


def changes_folder_and_git() -> str:
    """A line goes into a folder and lets git run there."""
    return "The command changes the folder and then runs git, which does what the settings and hooks found there say"


def changes_folder_often() -> str:
    """A line changes the folder more than once."""
    return "The command changes the folder more than once; run its parts one by one"


def copies_with_options(program: str) -> str:
    """A command that copies or moves has options."""
    return f"With options, {program} may do more than its arguments show"


def hides_what_it_runs(program: str) -> str:
    """A program runs or changes something that rules on commands do not see."""
    return f"What {program} would do with these arguments cannot be told from a rule"


def left_behind() -> str:
    """A command goes on while the answer is gone."""
    return "The command leaves something running in the background, where nothing checks it any more"


def link_leads_out(path: str, target: str) -> str:
    """A change through a link would land outside."""
    return f"{path} is a link to {target}, so the change would land outside of this session's folders"


def removes_link(path: str) -> str:
    """A removal takes away a link that leads out."""
    return f"{path} is a link that leads out of this session's folders; the removal would take away the link alone"


def pattern_in_change() -> str:
    """A command changes files that are named by a pattern."""
    return "The files that this command would change are only known when it runs; name each of them"
