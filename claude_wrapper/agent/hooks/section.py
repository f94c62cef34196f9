"""Reading the `hooks` section of a settings file."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import field

from .hook import AgentHook, CommandHook, Hook, HttpHook, PromptHook, ToolHook, default_seconds
from .match import EVENTS, is_plain

__all__ = ["Problem", "fault_of", "read_section"]

Seconds = Annotated[float, msgspec.Meta(gt=0)] | None
_USUAL = {"command": 600.0, "http": 600.0, "mcp_tool": 600.0, "prompt": 30.0, "agent": 60.0}
_ONLY_COMMANDS = frozenset({"SessionStart", "Setup"})


class _Entry(msgspec.Struct, rename="camel", tag_field="type", kw_only=True):
    timeout: Seconds = None
    if_: str | None = field(name="if", default=None)
    once: bool = False


class _Command(_Entry, tag="command"):
    command: str
    args: list[str] | None = None
    shell: Literal["bash", "powershell"] | None = None
    async_: bool = field(name="async", default=False)
    async_rewake: bool = False


class _Http(_Entry, tag="http"):
    url: str
    headers: dict[str, str] = field(default_factory=dict)
    allowed_env_vars: list[str] = field(default_factory=list)


class _Prompt(_Entry, tag="prompt"):
    prompt: str
    model: str | None = None
    continue_on_block: bool = False


class _Agent(_Entry, tag="agent"):
    prompt: str
    model: str | None = None


class _Tool(_Entry, tag="mcp_tool"):
    server: str
    tool: str
    input: dict[str, Any] = field(default_factory=dict)


_AnyEntry = _Command | _Http | _Prompt | _Agent | _Tool


class _Group(msgspec.Struct):
    hooks: list[Any]
    matcher: str | None = None


class Problem(NamedTuple):
    """Something that is wrong with a file's hooks."""

    text: str
    voids: bool = True
    """What is wrong is not in effect; else it is, and never does anything."""


def read_section(section: Any, place: str) -> tuple[dict[str, list[Hook]], list[Problem]]:
    """The hooks by event, and what is wrong, each with `place`, the file that the section is from.

    What is wrong is left out by itself: an event, a group or a hook. (A file whose guards of calls
    are wrong does not get this far: nothing of it is in force.)
    """
    if not isinstance(section, dict):
        return {}, [Problem(f"{place}: hooks is no object, so none of its hooks runs.")]
    hooks: dict[str, list[Hook]] = {}
    problems: list[Problem] = []
    for event, value in section.items():
        where = f"{place}: hooks.{event}"
        if event not in EVENTS:
            problems.append(Problem(f"{where}: there is no such event."))
        elif not isinstance(value, list):
            problems.append(
                Problem(f"{where}: it has to be a list of matchers with their hooks; it is left out.")
            )
        else:
            for index, group in enumerate(value):
                found, wrong = _read_group(event, group, f"{where}[{index}]")
                problems += wrong
                if found:
                    hooks.setdefault(event, []).extend(found)
    return hooks, problems


def fault_of(section: Any, place: str, *, known_events: bool) -> str | None:
    """What is wrong with hooks that have to be right as a whole; None if nothing is.

    Without `known_events` those of unknown events are no fault.
    """
    if section is None:
        return None
    if not known_events and isinstance(section, dict):
        section = {event: groups for event, groups in section.items() if event in EVENTS}
    return next((problem.text for problem in read_section(section, place)[1] if problem.voids), None)


def _read_group(event: str, value: Any, where: str) -> tuple[list[Hook], list[Problem]]:
    """The hooks of one matcher."""
    try:
        group = msgspec.convert(value, _Group)
    except msgspec.ValidationError as error:
        return [], [Problem(_told(where, error))]
    hooks: list[Hook] = []
    problems: list[Problem] = []
    problem = _wrong_matcher(event, group.matcher)
    if problem is not None:
        problems.append(Problem(f"{where}.matcher: {problem}", voids=False))
    for index, written in enumerate(group.hooks):
        try:
            entry = msgspec.convert(written, _AnyEntry)
        except msgspec.ValidationError as error:
            problems.append(Problem(_told(f"{where}.hooks[{index}]", error)))
            continue
        made = _made(event, group.matcher, entry)
        if isinstance(made, str):
            problems.append(Problem(f"{where}.hooks[{index}]: {made}"))
        elif made is not None:
            hooks.append(made)
    return hooks, problems


def _told(where: str, error: msgspec.ValidationError) -> str:
    what, _, path = str(error).partition(" - at `$")
    return f"{where}{path.rstrip('`')}: {what}; it is left out."


def _wrong_matcher(event: str, matcher: str | None) -> str | None:
    if not matcher or matcher == "*" or is_plain(event, matcher):
        return None
    try:
        re.compile(matcher)
    except re.error as error:
        return f"`{matcher}` is no regular expression ({error}), so its hooks never run."
    return None


def _made(event: str, matcher: str | None, entry: Any) -> Hook | str | None:
    kind = entry.__struct_config__.tag
    common: dict[str, Any] = {
        "matcher": matcher,
        "condition": entry.if_,
        "once": entry.once,
        "seconds": entry.timeout or default_seconds(event, _USUAL[kind]),
    }
    match entry:
        case _Command(shell="powershell"):
            return "there is no PowerShell here, so this hook never runs."
        case _Command():
            args = None if entry.args is None else tuple(entry.args)
            return CommandHook(
                command=entry.command,
                args=args,
                background=entry.async_,
                rewakes=entry.async_rewake,
                **common,
            )
        case _Tool():
            return ToolHook(server=entry.server, tool=entry.tool, arguments=entry.input, **common)
        case _ if event in _ONLY_COMMANDS:
            return None
        case _Http():
            return HttpHook(
                url=entry.url, headers=entry.headers, variables=tuple(entry.allowed_env_vars), **common
            )
        case _Prompt():
            return PromptHook(
                prompt=entry.prompt, model=entry.model, goes_on=entry.continue_on_block, **common
            )
        case _:
            return AgentHook(prompt=entry.prompt, model=entry.model, **common)
