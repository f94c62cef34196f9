"""Finding the worktrees of a git repository by its files, without git."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["worktrees"]


def worktrees(directory: Path) -> list[Path]:
    """Return the worktrees of the repository that a folder is in, that folder's own among them."""
    top, git = _top(directory)
    if git is None:
        return []
    common = _pointed(git / "commondir", git) or git
    found = [common.parent if common.name == ".git" else top]
    for entry in sorted(_entries(common / "worktrees")):
        pointer = _pointed(entry / "gitdir", entry)
        if pointer is not None:
            found.append(pointer.parent)
    return found


def _top(directory: Path) -> tuple[Path, Path | None]:
    """Return the top of the worktree that a folder is in, and the folder of git's own files for it."""
    for folder in (directory, *directory.parents):
        git = folder / ".git"
        if git.is_dir():
            return folder, git
        if git.is_file():
            return folder, _pointed(git, folder, prefix="gitdir:")
    return directory, None


def _pointed(file: Path, base: Path, prefix: str = "") -> Path | None:
    """Return the path that stands in a file; None when there is none."""
    try:
        text = os.fsdecode(file.read_bytes()).strip()
    except OSError:
        return None
    path = text.removeprefix(prefix).strip()
    return Path(os.path.normpath(base / path)) if path and text.startswith(prefix) else None


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []
