"""Commands that ran in the background when the session was left, of whose end its transcript says nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from claude_wrapper.store.entries import StoredEntry

__all__ = ["LostCommand", "lost_in"]

_BEGUN = re.compile(
    r"\ACommand (?:running in background|was manually backgrounded by user) with ID: (b[0-9a-z]{8})\."
    r"|^Command did not complete within its \d+s timeout and was moved to the background \(ID: (b[0-9a-z]{8})\)\.",
    re.MULTILINE,
)
_OVER = re.compile(r"<task-id>(b[0-9a-z]{8})</task-id>|Successfully stopped task: (b[0-9a-z]{8})\b")


class LostCommand(msgspec.Struct, frozen=True):
    """What is known of one."""

    id: str
    call_id: str
    description: str


def lost_in(entries: Iterable[StoredEntry]) -> list[LostCommand]:
    """Those of a stored conversation."""
    found: dict[str, str] = {}
    named: dict[str, str] = {}
    for entry in entries:
        if entry.type == "assistant":
            named.update(_calls(entry))
            continue
        for call_id, text in _texts(entry):
            if call_id and (begun := _BEGUN.search(text)):
                found[begun[1] or begun[2]] = call_id
            elif found:
                for over in _OVER.finditer(text):
                    found.pop(over[1] or over[2], None)
    return [LostCommand(task, call, named[call]) for task, call in found.items() if call in named]


def _calls(entry: StoredEntry) -> Iterator[tuple[str, str]]:
    """Calls of Bash, and what they say of themselves."""
    for block in _blocks(entry):
        fields = block.get("input")
        if block.get("name") == "Bash" and isinstance(fields, dict):
            yield str(block.get("id")), str(fields.get("description") or fields.get("command") or "")


def _texts(entry: StoredEntry) -> Iterator[tuple[str, str]]:
    """What was said, and to which call; other notes are no answer to any."""
    if entry.attachment is not None:
        yield "", str(entry.attachment)
    content = (entry.message or {}).get("content")
    if isinstance(content, str):
        yield "", content
    for block in _blocks(entry):
        inner = block.get("content", block.get("text"))
        parts = inner if isinstance(inner, list) else [{"text": inner}]
        for part in parts:
            if isinstance(part, dict) and isinstance(part.get("text"), str):
                yield str(block.get("tool_use_id") or ""), part["text"]


def _blocks(entry: StoredEntry) -> list[dict[str, Any]]:
    content = (entry.message or {}).get("content")
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
