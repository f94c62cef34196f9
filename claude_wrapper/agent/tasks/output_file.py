"""The file in which can be read what a task has said so far: it lies in the folder for temporary files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from claude_wrapper.store.paths import project_key

__all__ = ["link_output", "output_path", "tasks_folder"]


def tasks_folder(environ: Mapping[str, str], cwd: Path, session_id: str) -> Path:
    """Where the files of a session's tasks lie."""
    return _top(environ) / project_key(os.path.realpath(cwd)) / session_id / "tasks"


def output_path(environ: Mapping[str, str], cwd: Path, session_id: str, task_id: str) -> Path | None:
    """A path for a task's file, in a folder that nobody else can write to; None where there is none."""
    top, folder = _top(environ), tasks_folder(environ, cwd, session_id)
    try:
        top.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = top.lstat()
        if top.is_symlink() or state.st_uid != os.getuid() or state.st_mode & 0o022:
            return None
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return None
    return folder / f"{task_id}.output"


def link_output(
    environ: Mapping[str, str], cwd: Path, session_id: str, task_id: str, transcript: Path | None
) -> str:
    """Make a link to a transcript and name it; where it cannot be made safely, the transcript itself."""
    if transcript is None:
        return ""
    link = output_path(environ, cwd, session_id, task_id)
    if link is None:
        return str(transcript)
    try:
        link.symlink_to(transcript)
    except OSError:
        return str(transcript)
    return str(link)


def _top(environ: Mapping[str, str]) -> Path:
    usual = "/tmp"  # noqa: S108  # what is below is looked at before it is used
    return Path(environ.get("CLAUDE_CODE_TMPDIR") or environ.get("TMPDIR") or usual) / f"claude-{os.getuid()}"
