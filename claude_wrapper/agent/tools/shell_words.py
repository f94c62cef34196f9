"""Reads a command line roughly: enough to word a result and to know harmless commands, not to permit any."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = [
    "Line",
    "changes_folder",
    "exit_meaning",
    "expects_no_output",
    "is_harmless",
    "only_waits",
    "parse",
    "viewed_file",
]

_OPERATORS = re.compile(r"[();<>|&\n]+")
_ENDS_COMMAND = re.compile(r"(?:;+|&&|\|\||\||&|\n)[\n;]*")

_LONGEST = 10_000
"""Characters; nobody gains from a close look at a whole program."""

_SILENT = frozenset("mv cp rm mkdir rmdir chmod chown chgrp touch ln cd export unset wait".split())  # noqa: SIM905
_NO_MATCH = frozenset(("grep", "egrep", "fgrep", "rg"))
_MEANINGS = {
    "find": "Some directories were inaccessible",
    "diff": "Files differ",
    "test": "Condition is false",
    "[": "Condition is false",
    **dict.fromkeys(_NO_MATCH, "No matches found"),
}
_GIT_MEANINGS = {"diff": "Files differ", "grep": "No matches found"}

_HARMLESS = frozenset(
    "[ basename cat cmp comm cut df diff dirname du echo egrep false fgrep file grep head id ls md5sum nl pwd readlink "  # noqa: SIM905
    "realpath rev sha1sum sha256sum sleep stat strings tac tail test tr true uname wc which whoami".split()
)
_HARMLESS_GIT = frozenset(("status", "log", "diff", "show", "ls-files", "blame", "rev-parse", "grep"))
_HARMFUL_OPTIONS = {
    "git": re.compile(r"--ou.*|--op.*|--ext.*|--textc.*|-O.*"),
    "file": re.compile(r"-[a-zA-Z]*C.*|--co.*"),
}
"""Options of harmless commands that write files or start programs, in any abbreviation."""
_CHANGES_FOLDER = re.compile(r"(?:^|[\s;&|({])(?:cd|pushd|popd)(?:[\s;&|)]|$)")
_HARMLESS_TARGET = re.compile(r"/dev/null|&?[12]")


@dataclass(frozen=True, slots=True)
class Line:
    """The commands of a line and what stands between them."""

    commands: list[list[str]]
    operators: list[str]
    """Between and after commands, in order."""
    redirections: list[tuple[str, str]]
    """Operator and target."""
    has_groups: bool
    has_substitution: bool


def parse(command: str) -> Line | None:
    """The line's commands; None where quotes do not end or a here-document would be taken for commands."""
    import shlex  # noqa: PLC0415  # not needed before the first command

    if "<<" in command or len(command) > _LONGEST:
        return None
    lexer = shlex.shlex(command, posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        tokens = list(lexer)
    except ValueError:
        return None
    substitutes = any(mark in command for mark in ("$(", "`", "<(", ">(", "${"))
    return _line(_without_comments(tokens), has_substitution=substitutes)


def _without_comments(tokens: list[str]) -> list[str]:
    kept: list[str] = []
    in_comment = False
    for token in tokens:
        if token.startswith("#"):
            in_comment = True
        elif "\n" in token:
            in_comment = False
        if not in_comment:
            kept.append(token)
    return kept


def _line(tokens: list[str], *, has_substitution: bool) -> Line:
    commands: list[list[str]] = [[]]
    operators: list[str] = []
    redirections: list[tuple[str, str]] = []
    has_groups = False
    pending: str | None = None
    for token in tokens:
        if pending is not None:
            redirections.append((pending, token))
            pending = None
        elif not _OPERATORS.fullmatch(token):
            commands[-1].append(token)
        elif _ENDS_COMMAND.fullmatch(token):
            operators.append(token)
            commands.append([])
        elif "(" in token or ")" in token:
            has_groups = True
        else:
            if commands[-1] and commands[-1][-1].isdigit():  # the 2 of "2>"
                commands[-1].pop()
            pending = token
    return Line([each for each in commands if each], operators, redirections, has_groups, has_substitution)


def exit_meaning(command: str, code: int) -> str | None:
    """What exit code 1 of the last command says, where it is an answer and not a failure."""
    if code != 1:
        return None
    line = parse(command)
    if line is None or line.has_groups or not line.commands:
        return None
    words = line.commands[-1]
    if words[0] != "git":
        return _MEANINGS.get(words[0])
    subcommand = next((word for word in _after_git_options(words)), "")
    return _GIT_MEANINGS.get(subcommand)


def _after_git_options(words: list[str]) -> list[str]:
    rest = words[1:]
    while rest and rest[0] in ("-C", "-c") and len(rest) > 1:
        rest = rest[2:]
    return rest


def expects_no_output(command: str) -> bool:
    """Whether silence is the normal answer of every command of the line."""
    line = parse(command)
    if line is None or not line.commands or line.has_groups or "|" in line.operators:
        return False
    return all(words[0] in _SILENT for words in line.commands)


def is_harmless(command: str) -> bool:
    """Whether the line surely changes nothing: known commands, no options that write, no substitution."""
    line = parse(command)
    if line is None or not line.commands or line.has_groups or line.has_substitution:
        return False
    if any(operator.strip("\n;") == "&" for operator in line.operators):
        return False
    if not all(
        _HARMLESS_TARGET.fullmatch(target) for operator, target in line.redirections if ">" in operator
    ):
        return False
    return all(map(_is_harmless_command, line.commands))


def _is_harmless_command(words: list[str]) -> bool:
    name, arguments = words[0], words[1:]
    if name == "git":
        if not arguments or arguments[0] not in _HARMLESS_GIT:
            return False
    elif name not in _HARMLESS:
        return False
    harmful = _HARMFUL_OPTIONS.get(name)
    return harmful is None or not any(map(harmful.fullmatch, arguments))


def only_waits(command: str) -> bool:
    """Whether a command begins by waiting for a time."""
    return re.match(r"\s*sleep\s", command) is not None


def changes_folder(command: str) -> bool:
    """Whether a command may go elsewhere."""
    return _CHANGES_FOLDER.search(command) is not None


def viewed_file(command: str) -> tuple[str, bool] | None:
    """The one file that the line shows, and whether it shows all of it."""
    line = parse(command)
    if line is None or len(line.commands) != 1 or line.operators or line.redirections or line.has_groups:
        return None
    words = line.commands[0]
    if line.has_substitution or any("$" in word or "*" in word or "?" in word for word in words[-1:]):
        return None
    name, arguments = words[0], words[1:]
    if name == "cat" and len(arguments) == 1 and not arguments[0].startswith("-"):
        return arguments[0], True
    files = [word for word in arguments if not word.startswith("-")]
    if name in ("head", "tail") and files and (len(files) == 1 or (len(files) == 2 and files[0].isdigit())):
        return files[-1], False
    if name == "sed" and "-n" in arguments and "-i" not in arguments and len(files) == 2:
        return files[-1], False
    if name == "grep" and len(files) == 2:
        return files[-1], False
    return None
