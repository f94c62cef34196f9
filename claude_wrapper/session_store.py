"""The session store: what a class must do that keeps transcripts elsewhere, and one that keeps them in memory."""

# No `from __future__ import annotations` here: TypedDict reads Required from real annotations.

import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

from claude_wrapper.messages import SessionKey
from claude_wrapper.store.paths import project_dir
from claude_wrapper.store.summary import fold

if sys.version_info >= (3, 11):
    from typing import Required, TypedDict
else:
    from typing_extensions import Required, TypedDict

__all__ = [
    "InMemorySessionStore",
    "SessionListSubkeysKey",
    "SessionStore",
    "SessionStoreEntry",
    "SessionStoreListEntry",
    "SessionSummaryEntry",
    "fold_session_summary",
    "project_key_for_directory",
    "session_key",
]


class SessionStoreEntry(TypedDict, total=False):
    """One line of a transcript as a JSON object; the keys beside these are the agent's own affair."""

    type: Required[str]
    uuid: str
    timestamp: str


class SessionStoreListEntry(TypedDict):
    """A session in a store, and when it last changed, in milliseconds since 1970."""

    session_id: str
    mtime: int


class SessionListSubkeysKey(TypedDict):
    """Names a session whose further transcripts are wanted."""

    project_key: str
    session_id: str


class SessionSummaryEntry(TypedDict):
    """What `fold_session_summary` made of a session's entries; `data` is its own affair, but JSON."""

    session_id: str
    mtime: int
    data: dict[str, Any]


class SessionStore(Protocol):
    """Where transcripts are kept beside the local disk. Two methods are needed, the others are optional."""

    async def append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        """Add entries, in order, behind those that are there."""

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        """Return all entries in order; None when there is no such transcript."""

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        """Return the sessions of a project."""
        raise NotImplementedError

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        """Return what `fold_session_summary` made of each session of a project."""
        raise NotImplementedError

    async def delete(self, key: SessionKey) -> None:
        """Remove a transcript; without a `subpath` in the key, those of the session's subagents too."""
        raise NotImplementedError

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        """Return the `subpath` of each further transcript of a session."""
        raise NotImplementedError


def project_key_for_directory(directory: str | Path | None = None) -> str:
    """Return the key under which transcripts of a directory, or of the current one, are kept."""
    return project_dir(os.environ, os.fspath(directory) if directory else ".").name


def session_key(session_id: str, directory: str | None) -> SessionKey:
    """Return the key of a session of a directory, or of the current one."""
    return {"project_key": project_key_for_directory(directory), "session_id": session_id}


def fold_session_summary(
    prev: SessionSummaryEntry | None, key: SessionKey, entries: list[SessionStoreEntry]
) -> SessionSummaryEntry:
    """Return a session's summary with further entries taken in, for a store to call from `append`.

    The store sets `mtime`, to the same time that `list_sessions` gives for the session.
    """
    data = prev["data"] if prev else {}
    mtime = prev["mtime"] if prev else 0
    return {"session_id": key["session_id"], "mtime": mtime, "data": fold(data, entries)}


class InMemorySessionStore(SessionStore):
    """A store that lives as long as the program: for tests, and as a pattern."""

    def __init__(self) -> None:
        self._transcripts: dict[tuple[str, str, str], list[SessionStoreEntry]] = {}
        self._summaries: dict[tuple[str, str], SessionSummaryEntry] = {}
        self._time = 0

    async def append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        """Add entries, in order, behind those that are there."""
        self._transcripts.setdefault(_whole(key), []).extend(entries)
        if not key.get("subpath"):
            session = key["project_key"], key["session_id"]
            summary = fold_session_summary(self._summaries.get(session), key, entries)
            self._summaries[session] = {**summary, "mtime": self._now()}

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        """Return all entries in order; None when there is no such transcript."""
        entries = self._transcripts.get(_whole(key))
        return None if entries is None else list(entries)

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        """Return the sessions of a project."""
        return [
            {"session_id": summary["session_id"], "mtime": summary["mtime"]}
            for summary in self._of(project_key)
        ]

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        """Return what `fold_session_summary` made of each session of a project."""
        return [{**summary, "data": dict(summary["data"])} for summary in self._of(project_key)]

    async def delete(self, key: SessionKey) -> None:
        """Remove a transcript; without a `subpath` in the key, those of the session's subagents too."""
        whole = _whole(key)
        if key.get("subpath"):
            self._transcripts.pop(whole, None)
            return
        self._summaries.pop(whole[:2], None)
        for other in [other for other in self._transcripts if other[:2] == whole[:2]]:
            del self._transcripts[other]

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        """Return the `subpath` of each further transcript of a session."""
        session = key["project_key"], key["session_id"]
        return [subpath for *other, subpath in self._transcripts if tuple(other) == session and subpath]

    def get_entries(self, key: SessionKey) -> list[SessionStoreEntry]:
        """Return the entries of a transcript, none when there is no such transcript."""
        return list(self._transcripts.get(_whole(key), ()))

    def clear(self) -> None:
        """Forget everything."""
        self._transcripts.clear()
        self._summaries.clear()

    def _of(self, project_key: str) -> Iterable[SessionSummaryEntry]:
        return [summary for (project, _), summary in self._summaries.items() if project == project_key]

    def _now(self) -> int:
        """Return the time in milliseconds, later each time, so that the order of changes shows."""
        self._time = max(time.time_ns() // 1_000_000, self._time + 1)
        return self._time


def _whole(key: SessionKey) -> tuple[str, str, str]:
    return key["project_key"], key["session_id"], key.get("subpath") or ""
