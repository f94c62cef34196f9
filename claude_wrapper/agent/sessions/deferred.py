"""A call that a hook put off: how it stands in the transcript, to be found when the session goes on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from claude_wrapper.store.entries import StoredEntry

__all__ = ["DeferredCall", "deferred_in", "note_of"]

_KIND = "hook_deferred_tool"


class DeferredCall(msgspec.Struct, frozen=True):
    """What was to be called."""

    id: str
    name: str
    input: dict[str, Any]


def note_of(call_id: str, name: str, tool_input: dict[str, Any], mode: str) -> dict[str, Any]:
    """What is written down of a call that was put off."""
    return {
        "type": _KIND,
        "toolUseID": call_id,
        "toolName": name,
        "toolInput": tool_input,
        "hookName": f"PreToolUse:{name}",
        "hookEvent": "PreToolUse",
        "permissionMode": mode,
    }


def deferred_in(entries: Iterable[StoredEntry]) -> DeferredCall | None:
    """The call at the end of a conversation that is still to be run, if there is one."""
    found: DeferredCall | None = None
    for entry in entries:
        note = entry.attachment or {}
        if note.get("type") == _KIND:
            found = _read(note)
        elif found is not None and (entry.type == "assistant" or found.id in _answered(entry)):
            # It has a result, or the conversation has gone on without one.
            found = None
    return found


def _read(note: dict[str, Any]) -> DeferredCall | None:
    call_id, name, tool_input = note.get("toolUseID"), note.get("toolName"), note.get("toolInput")
    whole = isinstance(call_id, str) and isinstance(name, str) and isinstance(tool_input, dict)
    return DeferredCall(call_id, name, tool_input) if whole else None  # type: ignore[arg-type]


def _answered(entry: StoredEntry) -> list[Any]:
    content = (entry.message or {}).get("content")
    blocks = content if entry.type == "user" and isinstance(content, list) else []
    return [block.get("tool_use_id") for block in blocks if isinstance(block, dict)]
