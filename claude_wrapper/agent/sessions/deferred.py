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
    source: str
    """The entry of the transcript that has the call."""


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
    sources: dict[str, str] = {}
    for entry in entries:
        if entry.type == "assistant" and entry.uuid is not None:
            sources.update(dict.fromkeys(_ids(entry, "id"), entry.uuid))
        note = entry.attachment or {}
        if note.get("type") == _KIND:
            found = _read(note, sources)
        elif found is not None and (entry.type == "assistant" or found.id in _ids(entry, "tool_use_id")):
            # It has a result, or the conversation has gone on without one.
            found = None
    return found


def _read(note: dict[str, Any], sources: dict[str, str]) -> DeferredCall | None:
    call_id, name, tool_input = note.get("toolUseID"), note.get("toolName"), note.get("toolInput")
    if not isinstance(call_id, str) or not isinstance(name, str) or not isinstance(tool_input, dict):
        return None
    # What is not a call of the conversation is nobody's wish.
    source = sources.get(call_id)
    return None if source is None else DeferredCall(call_id, name, tool_input, source)


def _ids(entry: StoredEntry, name: str) -> list[str]:
    """Ids in the blocks of a message."""
    content = (entry.message or {}).get("content")
    blocks = content if isinstance(content, list) else []
    found = (block.get(name) for block in blocks if isinstance(block, dict))
    return [each for each in found if isinstance(each, str)]
