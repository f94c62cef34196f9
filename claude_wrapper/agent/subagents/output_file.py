"""The file by which a task's transcript can be found while it runs: a link in the folder for temporary files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from claude_wrapper.store.paths import project_key

__all__ = ["link_output"]


def link_output(
    environ: Mapping[str, str], cwd: Path, session_id: str, task_id: str, transcript: Path | None
) -> str:
    """Make the link and name it; where it cannot be made safely, or there is nothing to link to, the path itself."""
    if transcript is None:
        return ""
    top = Path(environ.get("CLAUDE_CODE_TMPDIR") or environ.get("TMPDIR") or "/tmp") / f"claude-{os.getuid()}"  # noqa: S108  # checked below
    folder = top / project_key(os.path.realpath(cwd)) / session_id / "tasks"
    link = folder / f"{task_id}.output"
    try:
        top.mkdir(mode=0o700, parents=True, exist_ok=True)
        if top.is_symlink() or top.stat().st_uid != os.getuid():
            return str(transcript)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        link.symlink_to(transcript)
    except OSError:
        return str(transcript)
    return str(link)
