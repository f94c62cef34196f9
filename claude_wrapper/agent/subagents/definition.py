"""What a subagent is: its purpose, its prompt, and what it may use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from claude_wrapper.wire.config import AgentDefinitionBody

__all__ = ["GENERAL", "AgentDefinition", "defined", "from_wire"]

GENERAL = "general-purpose"
"""The type that is meant where none is named."""


class AgentDefinition(msgspec.Struct, frozen=True):
    """One type of subagent; None leaves a choice to the session."""

    name: str
    description: str
    prompt: str
    tools: tuple[str, ...] | None = None
    disallowed_tools: tuple[str, ...] = ()
    model: str | None = None
    permission_mode: str | None = None
    max_turns: int | None = None
    effort: str | None = None
    background: bool = False
    color: str | None = None
    initial_prompt: str | None = None
    omits_memory: bool = False
    """It is not given what users and projects have written down for the model."""
    hooks: Mapping[str, Any] | None = None
    """As settings have them; asked while it is at work."""
    built_in: bool = False


def from_wire(name: str, body: AgentDefinitionBody) -> AgentDefinition:
    """A definition that the host brings."""
    return defined(name, msgspec.to_builtins(body), body.prompt)


def defined(name: str, fields: Mapping[str, Any], prompt: str) -> AgentDefinition:
    """A definition made of its fields as they are written; what does not fit counts as not written."""
    turns = _number(fields.get("maxTurns"))
    return AgentDefinition(
        name=name,
        description=str(fields.get("description", "")),
        prompt=prompt,
        tools=_names(fields.get("tools")),
        disallowed_tools=_names(fields.get("disallowedTools")) or (),
        model=_text(fields.get("model")),
        permission_mode=_text(fields.get("permissionMode")),
        max_turns=turns if turns is not None and turns > 0 else None,
        effort=_text(fields.get("effort")),
        background=fields.get("background") in (True, "true"),
        color=_text(fields.get("color")),
        initial_prompt=_text(fields.get("initialPrompt")),
        omits_memory=fields.get("omitClaudeMd") in (True, "true"),
        hooks=fields.get("hooks"),
    )


def _names(value: Any) -> tuple[str, ...] | None:
    """A list of names, also one that is written in a line."""
    if isinstance(value, str):
        return tuple(_parts(value))
    if isinstance(value, Sequence):
        return tuple(each.strip() for each in value if isinstance(each, str) and each.strip())
    return None


def _parts(text: str) -> list[str]:
    """What stands between commas, except those in parentheses."""
    parts, depth, begun = [], 0, 0
    for position, character in enumerate(text):
        if character == "(":
            depth += 1
        elif character == ")":
            depth = max(depth - 1, 0)
        elif character == "," and not depth:
            parts.append(text[begun:position])
            begun = position + 1
    parts.append(text[begun:])
    return [part.strip() for part in parts if part.strip()]


def _text(value: Any) -> str | None:
    return value.strip() if isinstance(value, str) and value.strip() else None


def _number(value: Any) -> int | None:
    if isinstance(value, str) and value.strip().isdecimal():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
