"""Copying sessions from the disk into a session store."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, cast

from claude_wrapper.messages import SessionKey
from claude_wrapper.session_store import SessionStore
from claude_wrapper.store.lines import FileLines, WholeReader
from claude_wrapper.store.paths import check_session_id
from claude_wrapper.store.places import find_transcript
from claude_wrapper.store.subagents import METADATA_TYPE, subagent_files

__all__ = ["import_session_to_store"]

_BATCH = 500

_reader = WholeReader(Any)


async def import_session_to_store(
    session_id: str,
    store: SessionStore,
    *,
    directory: str | None = None,
    include_subagents: bool = True,
    batch_size: int = _BATCH,
) -> None:
    """Append the transcripts of a session on this machine's disk to a store, line by line.

    Raises ValueError for a bad id, FileNotFoundError when there is no such session.
    """
    check_session_id(session_id)
    found = find_transcript(os.environ, session_id, directory)
    if found is None:
        raise FileNotFoundError(f"Session {session_id} not found")
    size = batch_size if batch_size > 0 else _BATCH
    key: SessionKey = {"project_key": found.path.parent.name, "session_id": session_id}
    for batch in _batches(found.path, size):
        await store.append(key, cast("list[Any]", batch))
    if not include_subagents:
        return
    for subpath, path in subagent_files(found.path).items():
        for batch in chain(_batches(path, size), _metadata(path)):
            await store.append({**key, "subpath": subpath}, cast("list[Any]", batch))


def _batches(path: Path, size: int) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    with FileLines(path) as lines:
        for _, entry in lines.read(_reader):
            batch.append(entry)
            if len(batch) == size:
                yield batch
                batch = []
    if batch:
        yield batch


def _metadata(path: Path) -> Iterator[list[dict[str, Any]]]:
    """Give what stands in the file beside a subagent's transcript, as the entry that takes its place."""
    try:
        entry = _reader.line(path.with_suffix(".meta.json").read_bytes())
    except FileNotFoundError:
        return
    if entry is not None:
        yield [{**entry, "type": METADATA_TYPE}]
