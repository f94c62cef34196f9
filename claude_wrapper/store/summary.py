"""What a session is about: the facts of its transcript, folded from its entries in order."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from .first_prompt import opening_of
from .lines import EntryReader

__all__ = [
    "SUMMARY_READER",
    "Facts",
    "SummaryEntry",
    "fold",
    "milliseconds",
    "read_facts",
    "time_of",
]

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

Text = str | UnsetType


class SummaryEntry(msgspec.Struct, rename="camel"):
    """An entry, as far as a summary needs it."""

    type: str = ""
    is_sidechain: bool = False
    is_meta: bool = False
    is_compact_summary: bool = False
    timestamp: str = ""
    cwd: str = ""
    git_branch: str | None = None
    custom_title: str | None = None
    ai_title: str | None = None
    last_prompt: str | None = None
    summary: str | None = None
    tag: str | None = None
    message: Any = None


SUMMARY_READER = EntryReader(SummaryEntry)


class Facts(msgspec.Struct, omit_defaults=True):
    """The facts, under the names by which stores keep them."""

    is_sidechain: bool | UnsetType = UNSET
    """Whether the transcript is that of a subagent."""
    created_at: int | UnsetType = UNSET
    cwd: Text = UNSET
    first_prompt: Text = UNSET
    first_prompt_locked: bool | UnsetType = UNSET
    command_fallback: Text = UNSET
    """The first slash command, for a session without any other prompt."""
    git_branch: Text = UNSET
    custom_title: Text = UNSET
    ai_title: Text = UNSET
    last_prompt: Text = UNSET
    summary_hint: Text = UNSET
    tag: Text = UNSET

    @property
    def title(self) -> str | None:
        """The title that somebody gave the session, or else the one that a model gave it."""
        return self.custom_title or self.ai_title or None

    @property
    def opening(self) -> str | None:
        """The first prompt, or else the first command."""
        return self.first_prompt or self.command_fallback or None

    @property
    def headline(self) -> str | None:
        """What a list shows of the session; None for one that no list shows."""
        if self.is_sidechain is True:
            return None
        return self.title or self.last_prompt or self.summary_hint or self.opening

    def take(self, entry: SummaryEntry) -> None:
        """Take in the next entry."""
        if self.is_sidechain is UNSET:
            self.is_sidechain = entry.is_sidechain
        if self.created_at is UNSET and entry.timestamp:
            time = time_of(entry.timestamp)
            self.created_at = UNSET if time is None else time
        self.cwd = self.cwd or entry.cwd or UNSET
        if entry.type == "user" and self.first_prompt_locked is not True:
            self._look_for_prompt(entry)
        for name in ("git_branch", "custom_title", "ai_title", "last_prompt"):
            value = getattr(entry, name)
            if value is not None:
                setattr(self, name, value)
        if entry.summary is not None:
            self.summary_hint = entry.summary
        if entry.type == "tag":
            self.tag = entry.tag or UNSET

    def _look_for_prompt(self, entry: SummaryEntry) -> None:
        if entry.is_meta or entry.is_compact_summary or not isinstance(entry.message, dict):
            return
        prompt, command = opening_of(entry.message.get("content"))
        self.command_fallback = self.command_fallback or command or UNSET
        if prompt is not None:
            self.first_prompt, self.first_prompt_locked = prompt, True


_FACTS_READER = EntryReader(Facts)


def fold(data: dict[str, Any], entries: Iterable[Any]) -> dict[str, Any]:
    """Return what a store keeps of a session, with further entries taken in; foreign keys are kept."""
    facts = read_facts(data)
    for raw in entries:
        entry = SUMMARY_READER.entry(raw)
        if entry is not None:
            facts.take(entry)
    foreign = {key: value for key, value in data.items() if key not in Facts.__struct_fields__}
    return {**foreign, **msgspec.to_builtins(facts)}


def read_facts(data: Any) -> Facts:
    """Read what a store has kept of a session."""
    return _FACTS_READER.entry(data) or Facts()


def milliseconds(seconds: float) -> int:
    """Return a time of a file system in the milliseconds of the protocol."""
    return int(seconds * 1000)


def time_of(timestamp: Any) -> int | None:
    """Return the milliseconds since 1970 of an entry's time; None for what is no time."""
    try:
        time = msgspec.convert(timestamp, datetime)
    except msgspec.ValidationError:
        return None
    if time.tzinfo is None:
        time = time.replace(tzinfo=timezone.utc)
    return (time - _EPOCH) // timedelta(milliseconds=1)
