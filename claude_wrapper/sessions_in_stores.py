"""The functions that list and read the sessions in a session store."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Sequence
from typing import Any

import anyio
import msgspec

from claude_wrapper.messages import SessionKey
from claude_wrapper.session_records import SDKSessionInfo, SessionMessage
from claude_wrapper.session_store import SessionStore, project_key_for_directory, session_key
from claude_wrapper.session_views import messages, session_info
from claude_wrapper.store.lines import EntryLines
from claude_wrapper.store.methods import implements
from claude_wrapper.store.paths import is_session_id
from claude_wrapper.store.shown import page
from claude_wrapper.store.subagents import METADATA_TYPE, agent_id_of, find_subpath, parentage
from claude_wrapper.store.summary import SUMMARY_READER, Facts, milliseconds, read_facts, time_of
from claude_wrapper.wire.codec import encode

__all__ = [
    "get_session_info_from_store",
    "get_session_messages_from_store",
    "get_subagent_messages_from_store",
    "list_sessions_from_store",
    "list_subagents_from_store",
]

logger = logging.getLogger("claude_wrapper.sessions")

_AT_ONCE = 16
"""How many transcripts are loaded side by side."""

# `directory` is in all of these the folder that the agent worked in, the current one if left out.


class _Row(msgspec.Struct):
    """A session of a list: when it changed, and what the store knows of it without loading it."""

    session_id: str
    mtime: int
    facts: Facts | None


async def list_sessions_from_store(
    session_store: SessionStore, directory: str | None = None, limit: int | None = None, offset: int = 0
) -> list[SDKSessionInfo]:
    """Return the sessions of a directory in a store, the newest first.

    Uses the summaries that the store has; sessions without one that is up to date are loaded.
    Raises ValueError for a store that can list neither sessions nor summaries.
    """
    rows = await _rows(session_store, project_key_for_directory(directory))
    wanted = len(rows) if limit is None or limit <= 0 else max(offset, 0) + limit
    infos: list[SDKSessionInfo] = []
    while rows and len(infos) < wanted:
        count = min(_AT_ONCE, wanted - len(infos))
        infos += await _infos(session_store, rows[:count], directory)
        del rows[:count]
    return list(page(infos, limit, offset))


async def get_session_info_from_store(
    session_store: SessionStore, session_id: str, directory: str | None = None
) -> SDKSessionInfo | None:
    """Return what a list tells of one session; None when the store has no such session."""
    if not is_session_id(session_id):
        return None
    entries = await session_store.load(session_key(session_id, directory))
    if not entries:
        return None
    times = [written for entry in entries if (written := time_of(entry.get("timestamp"))) is not None]
    return _info_of(session_id, max(times, default=milliseconds(time.time())), entries, directory)


async def get_session_messages_from_store(
    session_store: SessionStore,
    session_id: str,
    directory: str | None = None,
    limit: int | None = None,
    offset: int = 0,
) -> list[SessionMessage]:
    """Return the messages of a session: of its newest branch, since it was last compacted."""
    if not is_session_id(session_id):
        return []
    entries = await session_store.load(session_key(session_id, directory))
    return messages(EntryLines(entries or []), limit, offset)


async def list_subagents_from_store(
    session_store: SessionStore, session_id: str, directory: str | None = None
) -> list[str]:
    """Return the ids of a session's subagents; raises ValueError for a store that cannot list them."""
    if not is_session_id(session_id):
        return []
    if not implements(session_store, "list_subkeys"):
        raise ValueError("The session store has no list_subkeys(), without which subagents cannot be listed")
    subpaths = await _subpaths(session_store, session_key(session_id, directory))
    ids = dict.fromkeys(map(agent_id_of, subpaths))
    return [agent_id for agent_id in ids if agent_id is not None]


async def get_subagent_messages_from_store(
    session_store: SessionStore,
    session_id: str,
    agent_id: str,
    directory: str | None = None,
    limit: int | None = None,
    offset: int = 0,
) -> list[SessionMessage]:
    """Return the messages of one subagent; none when there is no such session or subagent."""
    if not is_session_id(session_id):
        return []
    key = session_key(session_id, directory)
    subpaths = [f"subagents/agent-{agent_id}"]
    if implements(session_store, "list_subkeys"):
        subpaths = await _subpaths(session_store, key)
    subpath = find_subpath(agent_id, subpaths)
    if subpath is None:
        return []
    entries: Sequence[Any] = await session_store.load({**key, "subpath": subpath}) or []
    metadata = [entry for entry in entries if entry.get("type") == METADATA_TYPE]
    return messages(EntryLines(entries), limit, offset, parentage(metadata[-1] if metadata else {}))


async def _subpaths(store: SessionStore, key: SessionKey) -> list[str]:
    return await store.list_subkeys({"project_key": key["project_key"], "session_id": key["session_id"]})


async def _rows(store: SessionStore, project_key: str) -> list[_Row]:
    """Return the sessions of a project, the newest first."""
    can_list, can_sum = implements(store, "list_sessions"), implements(store, "list_session_summaries")
    if not can_list and not can_sum:
        raise ValueError("The session store has neither list_sessions() nor list_session_summaries()")
    summaries = await store.list_session_summaries(project_key) if can_sum else []
    known = {
        row["session_id"]: _Row(row["session_id"], row["mtime"], read_facts(row["data"])) for row in summaries
    }
    if can_list:
        listed = [
            _Row(row["session_id"], row["mtime"], None) for row in await store.list_sessions(project_key)
        ]
        rows = [_fresher(row, known.get(row.session_id)) for row in listed]
    else:
        rows = list(known.values())
    return sorted(rows, key=lambda row: row.mtime, reverse=True)


def _fresher(listed: _Row, known: _Row | None) -> _Row:
    return listed if known is None or known.mtime < listed.mtime else known


async def _infos(store: SessionStore, rows: list[_Row], directory: str | None) -> list[SDKSessionInfo]:
    infos: list[SDKSessionInfo | None] = [None] * len(rows)

    async def load(place: int, row: _Row) -> None:
        try:
            entries = await store.load(session_key(row.session_id, directory))
        except Exception as error:  # noqa: BLE001  # a user's store may raise anything; the other sessions are there
            logger.warning("session %s could not be loaded from the store: %r", row.session_id, error)
            infos[place] = SDKSessionInfo(row.session_id, "", row.mtime)
        else:
            infos[place] = _info_of(row.session_id, row.mtime, entries or [], directory)

    async with anyio.create_task_group() as tasks:
        for place, row in enumerate(rows):
            if row.facts is None:
                tasks.start_soon(load, place, row)
            else:
                infos[place] = _view(row.facts, row.session_id, row.mtime, None, directory)
    return [info for info in infos if info is not None]


def _info_of(
    session_id: str, modified: int, entries: Sequence[Any], directory: str | None
) -> SDKSessionInfo | None:
    facts = Facts()
    for raw in entries:
        entry = SUMMARY_READER.entry(raw)
        if entry is not None:
            facts.take(entry)
    size = sum(len(encode(entry)) + 1 for entry in entries)
    return _view(facts, session_id, modified, size, directory)


def _view(
    facts: Facts, session_id: str, modified: int, size: int | None, directory: str | None
) -> SDKSessionInfo | None:
    where = os.path.realpath(directory or ".")
    return session_info(facts, session_id, modified, size=size, directory=where)
