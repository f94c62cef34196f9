"""Which session a run begins in: a new one, or an older one that is gone on with, or a copy of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import field

from claude_wrapper.agent.ids import new_uuid
from claude_wrapper.agent.start.cli import UsageError
from claude_wrapper.agent.start.settings import Settings
from claude_wrapper.store.append import Mirror, TranscriptWriter
from claude_wrapper.store.fork import forked_lines
from claude_wrapper.store.history import Conversation, MessageNotFoundError, read_conversation
from claude_wrapper.store.paths import config_dir, is_session_id, project_dir, transcript_path

from .history import History, history_of

__all__ = ["ResumeError", "SessionStart", "begin_session"]


class ResumeError(Exception):
    """The session that was asked for cannot be gone on with."""


class SessionStart(msgspec.Struct):
    """Where a session begins."""

    session_id: str
    folder: Path
    transcript: TranscriptWriter | None = None
    history: History = field(default_factory=History)
    conversation: Conversation = field(default_factory=Conversation)
    copied: Sequence[dict[str, Any]] = ()

    @property
    def prompt_uuids(self) -> list[str]:
        """Ids of the prompts that the session has answered already."""
        return [entry.uuid for entry in self.conversation.entries if entry.type == "user" and entry.uuid]


def begin_session(settings: Settings, mirror: Mirror | None) -> SessionStart:
    """Find or make the session; raises ResumeError, and UsageError for an id that is taken."""
    folder = project_dir(settings.environ, str(settings.cwd))
    choice = settings.session
    if choice.goes_on:
        start = _go_on(settings, folder)
    else:
        session_id = choice.session_id or new_uuid()
        if choice.session_id is not None and transcript_path(folder, session_id).exists():
            raise UsageError(f"Session ID {session_id} is already in use.")
        start = SessionStart(session_id, folder)
    if choice.persist and settings.environ.get("CLAUDE_CODE_SKIP_PROMPT_HISTORY") != "1":
        start.transcript = TranscriptWriter(transcript_path(start.folder, start.session_id), mirror)
    return start


def _go_on(settings: Settings, folder: Path) -> SessionStart:
    choice = settings.session
    if choice.resume:
        path = _find(settings, folder, choice.resume)
    else:
        newest = _newest(folder)
        if newest is None:
            return SessionStart(choice.session_id or new_uuid(), folder)
        path = newest
    conversation = _read(path, choice.resume_at)
    if choice.drops_turn is not None:
        _check_drop(path, conversation, choice.drops_turn)
    start = SessionStart(
        path.stem,
        path.parent,
        history=history_of(conversation.entries),
        conversation=conversation,
    )
    if choice.fork:
        start.session_id = choice.session_id or new_uuid()
        start.folder = folder
        start.copied = list(forked_lines(path, conversation, start.session_id))
        if transcript_path(folder, start.session_id).exists():
            raise UsageError(f"Session ID {start.session_id} is already in use.")
    return start


def _find(settings: Settings, folder: Path, wanted: str) -> Path:
    """The transcript of a session, in this project's folder or, if it is the only one, in another's."""
    if not is_session_id(wanted):
        return _titled(folder, wanted)
    path = transcript_path(folder, wanted)
    if path.is_file():
        return path
    elsewhere = list(config_dir(settings.environ).glob(f"projects/*/{wanted}.jsonl"))
    if len(elsewhere) != 1:
        raise ResumeError(f"No conversation found with session ID: {wanted}")
    return elsewhere[0]


def _titled(folder: Path, title: str) -> Path:
    """The transcript of the session that bears a title; the newest, if there are several."""
    # Reading what sessions are about is for those who ask by a title.
    from claude_wrapper.store.glance import glance  # noqa: PLC0415

    for path in sorted(folder.glob("*.jsonl"), key=lambda path: path.stat().st_mtime, reverse=True):
        if is_session_id(path.stem) and glance(path).custom_title == title:
            return path
    raise ResumeError(
        f"Error: --resume: '{title}' is neither the id nor the title of a session of this folder."
    )


def _newest(folder: Path) -> Path | None:
    found = [path for path in folder.glob("*.jsonl") if is_session_id(path.stem)]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


def _read(path: Path, until: str | None) -> Conversation:
    try:
        conversation = read_conversation(path, until)
    except MessageNotFoundError as error:
        raise ResumeError(f"No message found with message.uuid of: {until}") from error
    except OSError as error:
        raise ResumeError(f"The session {path.stem} cannot be read: {error.strerror}") from error
    if not conversation.entries:
        raise ResumeError(f"No conversation found with session ID: {path.stem}")
    return conversation


def _check_drop(path: Path, kept: Conversation, prompt: str) -> None:
    """Refuse to cut more than the turn of one prompt."""
    whole = read_conversation(path)
    kept_uuids = {entry.uuid for entry in kept.entries}
    cut = [entry for entry in whole.entries if entry.uuid not in kept_uuids]
    turn = next((entry.prompt_id for entry in cut if entry.uuid == prompt), None)
    if not cut or turn is None:
        raise ResumeError(
            "Resume rejected by --resume-drops-turn: the prompt is not among what would be cut."
        )
    foreign = [entry for entry in cut if entry.type == "user" and entry.prompt_id != turn]
    if foreign:
        raise ResumeError("Resume rejected by --resume-drops-turn: more than that turn would be cut.")
