"""Whether a session keeps checkpoints of files, and where; and going back to one on request."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from claude_wrapper.agent.start.settings import Settings
from claude_wrapper.link.peer import RequestRefusedError
from claude_wrapper.store.paths import config_dir
from claude_wrapper.wire.replies_steer import RewindFilesReply

from .session import Session
from .start import SessionStart

if TYPE_CHECKING:
    from claude_wrapper.agent.checkpoints.ledger import Checkpoints

__all__ = ["checkpoints_of", "rewind", "told_by_threads"]

_OFF = "File rewinding is not enabled."
_SWITCH = "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"
_ON = frozenset({"1", "true", "yes", "on"})


def checkpoints_of(settings: Settings, start: SessionStart, session: Session) -> Checkpoints | None:
    """The checkpoints of a session; None where they were not asked for."""
    if settings.environ.get(_SWITCH, "").lower() not in _ON:
        return None
    # Copying and comparing files is nothing that other sessions need.
    from claude_wrapper.agent.checkpoints.ledger import Checkpoints  # noqa: PLC0415
    from claude_wrapper.agent.checkpoints.stored import stored_checkpoints  # noqa: PLC0415

    folder = config_dir(settings.environ) / "file-history" / start.session_id
    known = stored_checkpoints(start.transcript.path) if start.transcript is not None else []
    return Checkpoints(folder, settings.cwd, session.note_files, known)


def told_by_threads(checkpoints: Checkpoints) -> Callable[[Path], None]:
    """How tools, which change files in threads, tell of it: checkpoints and transcript belong to the event loop."""
    from anyio import from_thread  # noqa: PLC0415  # as above

    def before_change(path: Path) -> None:
        from_thread.run_sync(checkpoints.before_change, path)

    return before_change


def rewind(checkpoints: Checkpoints | None, message_id: str, *, dry_run: bool) -> RewindFilesReply:
    """Bring files to where they were at a message, or say what that would change."""
    if checkpoints is None and dry_run:
        return RewindFilesReply(can_rewind=False, error=_OFF)
    if checkpoints is None:
        raise RequestRefusedError(_OFF)
    from claude_wrapper.agent.checkpoints.ledger import NoCheckpointError  # noqa: PLC0415  # as above

    try:
        if not dry_run:
            return RewindFilesReply(can_rewind=True, skipped_links=checkpoints.rewind(message_id))
        changes = checkpoints.preview(message_id)
    except NoCheckpointError as error:
        if not dry_run:
            raise RequestRefusedError(str(error)) from error
        return RewindFilesReply(can_rewind=False, error=str(error))
    except OSError as error:
        raise RequestRefusedError(f"The files cannot be put back: {error.strerror or error}") from error
    return RewindFilesReply(
        can_rewind=True,
        files_changed=changes.files,
        insertions=changes.insertions,
        deletions=changes.deletions,
    )
