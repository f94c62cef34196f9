"""The functions that change the sessions in a session store."""

from __future__ import annotations

from typing import Any, cast

from claude_wrapper.messages import SessionKey
from claude_wrapper.session_records import ForkSessionResult
from claude_wrapper.session_store import SessionStore, session_key
from claude_wrapper.store.duplicate import Duplicate, check_place, stamped
from claude_wrapper.store.edits import check_tag, check_title, tag_entry, title_entry
from claude_wrapper.store.lines import EntryLines
from claude_wrapper.store.methods import implements
from claude_wrapper.store.paths import check_session_id

__all__ = [
    "delete_session_via_store",
    "fork_session_via_store",
    "rename_session_via_store",
    "tag_session_via_store",
]

# `directory` is in all of these the folder that the agent worked in, the current one if left out.


async def rename_session_via_store(
    session_store: SessionStore, session_id: str, title: str, directory: str | None = None
) -> None:
    """Give a session a title; raises ValueError for a bad id or an empty title."""
    check_session_id(session_id)
    await _append(
        session_store, session_key(session_id, directory), title_entry(session_id, check_title(title))
    )


async def tag_session_via_store(
    session_store: SessionStore, session_id: str, tag: str | None, directory: str | None = None
) -> None:
    """Give a session a tag; None takes it away. Raises ValueError for a bad id or an empty tag."""
    check_session_id(session_id)
    tag = None if tag is None else check_tag(tag)
    await _append(session_store, session_key(session_id, directory), tag_entry(session_id, tag))


async def delete_session_via_store(
    session_store: SessionStore, session_id: str, directory: str | None = None
) -> None:
    """Remove a session from a store; one that cannot remove anything keeps it. ValueError for a bad id."""
    check_session_id(session_id)
    if implements(session_store, "delete"):
        await session_store.delete(session_key(session_id, directory))


async def fork_session_via_store(
    session_store: SessionStore,
    session_id: str,
    directory: str | None = None,
    up_to_message_id: str | None = None,
    title: str | None = None,
) -> ForkSessionResult:
    """Copy a session into a new one, up to and including one message if that is named.

    Raises ValueError for a bad id, for a message that is not there, and when there is nothing to copy.
    """
    check_session_id(session_id)
    check_place(up_to_message_id)
    entries = await session_store.load(session_key(session_id, directory))
    copy = Duplicate(EntryLines(entries or []), session_id, up_to_message_id, title)
    await session_store.append(session_key(copy.session_id, directory), cast("Any", list(copy.entries())))
    return ForkSessionResult(copy.session_id)


async def _append(store: SessionStore, key: SessionKey, entry: dict[str, Any]) -> None:
    await store.append(key, [cast("Any", stamped(entry))])
