"""Reading the `hooks` section of a settings file."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import field

from .hook import CommandHook, Hook, HttpHook, PromptHook, ToolHook, default_seconds
from .match import EVENTS, is_plain

__all__ = ["Problem", "read_section"]

Seconds = Annotated[float, msgspec.Meta(gt=0)] | None
_USUAL = {"command": 600.0, "http": 600.0, "mcp_tool": 600.0, "prompt": 30.0, "agent": 60.0}
_ONLY_COMMANDS = frozenset({"SessionStart", "Setup"})


class _Entry(msgspec.Struct, rename="camel", tag_field="type", kw_only=True):
    timeout: Seconds = None
    if_: str | None = field(name="if", default=None)


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


class _Group(msgspec.Struct):
    hooks: list[_Command | _Http | _Prompt | _Agent | _Tool]
    matcher: str | None = None


class Problem(NamedTuple):
    """Something that is wrong with a file's hooks."""

    text: str
    voids: bool = True
    """What is wrong is not in effect; else it is, and never does anything."""


def read_section(section: Any, place: str) -> tuple[dict[str, list[Hook]], list[Problem]]:
    """The hooks by event, and what is wrong, each with `place`, the file that the section is from.

    An event that nobody knows is left out by itself. Anything else that is wrong makes the whole
    section void: half of a set of guards could let through what the whole would not.
    """
    if not isinstance(section, dict):
        return {}, [Problem(f"{place}: hooks is no object, so none of its hooks runs.")]
    hooks: dict[str, list[Hook]] = {}
    problems: list[Problem] = []
    for event, value in section.items():
        if event not in EVENTS:
            problems.append(Problem(f"{place}: hooks.{event}: there is no such event."))
            continue
        try:
            groups = msgspec.convert(value, list[_Group])
        except msgspec.ValidationError as error:
            what = str(error).replace(" - at `$", f" - at `hooks.{event}")
            return {}, [*problems, Problem(f"{place}: hooks.{event}: {what}; no hook of this file runs.")]
        hooks[event] = []
        for index, group in enumerate(groups):
            problem = _wrong_matcher(event, group.matcher)
            if problem is not None:
                problems.append(Problem(f"{place}: hooks.{event}[{index}].matcher: {problem}", voids=False))
            for entry in group.hooks:
                made = _made(event, group.matcher, entry)
                if isinstance(made, str):
                    problems.append(Problem(f"{place}: hooks.{event}[{index}]: {made}"))
                elif made is not None:
                    hooks[event].append(made)
    return hooks, problems


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
            return "hooks of the type agent are not run by this agent."
