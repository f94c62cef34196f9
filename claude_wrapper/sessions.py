"""The functions that list, read and change the sessions on this machine's disk."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

from claude_wrapper.session_records import ForkSessionResult, SDKSessionInfo, SessionMessage
from claude_wrapper.session_views import messages, session_info
from claude_wrapper.store.append import append_to, write_new
from claude_wrapper.store.duplicate import Duplicate, check_place
from claude_wrapper.store.edits import check_tag, check_title, tag_entry, title_entry
from claude_wrapper.store.glance import glance
from claude_wrapper.store.lines import FileLines
from claude_wrapper.store.paths import check_session_id, transcript_path
from claude_wrapper.store.places import Found, find_transcript, remove_transcript, transcripts
from claude_wrapper.store.subagents import (
    Parentage,
    agent_id_of,
    find_subpath,
    parentage,
    subagent_files,
)
from claude_wrapper.store.summary import milliseconds

__all__ = [
    "delete_session",
    "fork_session",
    "get_session_info",
    "get_session_messages",
    "get_subagent_messages",
    "list_sessions",
    "list_subagents",
    "rename_session",
    "tag_session",
]

# `directory` is in all of these the folder that an agent worked in. A session is looked for among those
# of that folder and of the other worktrees of its repository; without a directory, among all.


def list_sessions(
    directory: str | None = None, limit: int | None = None, offset: int = 0, include_worktrees: bool = True
) -> list[SDKSessionInfo]:
    """Return the sessions of a directory, or all, the newest first.

    Only the beginning and the end of each transcript are read. Transcripts in which nobody said
    anything, and those of subagents, are left out.
    """
    found = transcripts(os.environ, directory, include_worktrees=include_worktrees)
    infos = filter(None, map(_info, found))
    start = max(offset, 0)
    return list(islice(infos, start, start + limit if limit is not None and limit > 0 else None))


def get_session_info(session_id: str, directory: str | None = None) -> SDKSessionInfo | None:
    """Return what `list_sessions` tells of one session; None when there is no such session."""
    found = find_transcript(os.environ, session_id, directory)
    return None if found is None else _info(found)


def get_session_messages(
    session_id: str, directory: str | None = None, limit: int | None = None, offset: int = 0
) -> list[SessionMessage]:
    """Return the messages of a session: of its newest branch, since it was last compacted.

    There are none when there is no such session.
    """
    found = find_transcript(os.environ, session_id, directory)
    return [] if found is None else _messages(found.path, limit, offset, None)


def list_subagents(session_id: str, directory: str | None = None) -> list[str]:
    """Return the ids of a session's subagents."""
    found = find_transcript(os.environ, session_id, directory)
    subpaths = [] if found is None else map(agent_id_of, subagent_files(found.path))
    return [agent_id for agent_id in subpaths if agent_id is not None]


def get_subagent_messages(
    session_id: str,
    agent_id: str,
    directory: str | None = None,
    limit: int | None = None,
    offset: int = 0,
) -> list[SessionMessage]:
    """Return the messages of one subagent; none when there is no such session or subagent."""
    found = find_transcript(os.environ, session_id, directory)
    files = {} if found is None else subagent_files(found.path)
    subpath = find_subpath(agent_id, files)
    return [] if subpath is None else _messages(files[subpath], limit, offset, _parentage(files[subpath]))


def rename_session(session_id: str, title: str, directory: str | None = None) -> None:
    """Give a session a title.

    Raises ValueError for a bad id or an empty title, FileNotFoundError when there is no such session.
    """
    check_session_id(session_id)
    title = check_title(title)
    append_to(_existing(session_id, directory).path, title_entry(session_id, title))


def tag_session(session_id: str, tag: str | None, directory: str | None = None) -> None:
    """Give a session a tag in place of the one it has; None takes that away.

    Raises ValueError for a bad id or an empty tag, FileNotFoundError when there is no such session.
    """
    check_session_id(session_id)
    tag = None if tag is None else check_tag(tag)
    append_to(_existing(session_id, directory).path, tag_entry(session_id, tag))


def delete_session(session_id: str, directory: str | None = None) -> None:
    """Remove a session with its subagents from the disk, for good.

    Raises ValueError for a bad id, FileNotFoundError when there is no such session.
    """
    check_session_id(session_id)
    remove_transcript(_existing(session_id, directory))


def fork_session(
    session_id: str,
    directory: str | None = None,
    up_to_message_id: str | None = None,
    title: str | None = None,
) -> ForkSessionResult:
    """Copy a session into a new one, up to and including one message if that is named.

    Raises ValueError for a bad id, a message that is not there and a session without messages,
    FileNotFoundError when there is no such session.
    """
    check_session_id(session_id)
    check_place(up_to_message_id)
    path = _existing(session_id, directory).path
    with FileLines(path) as lines:
        copy = Duplicate(lines, session_id, up_to_message_id, title)
        write_new(transcript_path(path.parent, copy.session_id), copy.entries())
    return ForkSessionResult(copy.session_id)


def _info(found: Found) -> SDKSessionInfo | None:
    try:
        facts = glance(found.path)
    except OSError:
        # It has gone since it was found, or is somebody else's.
        return None
    modified = milliseconds(found.modified)
    return session_info(facts, found.session_id, modified, size=found.size, directory=found.directory)


def _messages(path: Path, limit: int | None, offset: int, parents: Parentage | None) -> list[SessionMessage]:
    with FileLines(path) as lines:
        return messages(lines, limit, offset, parents)


def _parentage(transcript: Path) -> Parentage:
    try:
        return parentage(transcript.with_suffix(".meta.json").read_bytes())
    except FileNotFoundError:
        return Parentage()


def _existing(session_id: str, directory: str | None) -> Found:
    found = find_transcript(os.environ, session_id, directory)
    if found is None:
        where = f"project directory for {directory}" if directory else "any project directory"
        raise FileNotFoundError(f"Session {session_id} not found in {where}")
    return found
