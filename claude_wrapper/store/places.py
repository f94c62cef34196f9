"""Finding transcripts: by session, by project with its worktrees, or all there are."""

from __future__ import annotations

import os
import shutil
import stat
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from .paths import is_session_id, project_dir, projects_dir, transcript_path
from .worktrees import worktrees

__all__ = ["Found", "all_folders", "find_transcript", "folders_of", "remove_transcript", "transcripts"]

_CUT = 200
"""Where the names of project folders are cut; what follows is a hash that programs have made differently."""


class Found(NamedTuple):
    """A transcript that is there, and what the file system says of it."""

    path: Path
    size: int
    modified: float
    directory: str | None
    """The folder the session belongs to, where it was found by that."""

    @property
    def session_id(self) -> str:
        """The session's id."""
        return self.path.stem


def folders_of(environ: Mapping[str, str], directory: str) -> Iterator[Path]:
    """Yield the folders that hold the transcripts of one directory: as a rule one, or none."""
    folder = project_dir(environ, directory)
    if folder.is_dir():
        yield folder
        return
    # Some programs compose the characters of a path before they make a name of it.
    composed = unicodedata.normalize("NFC", directory)
    if composed != directory:
        yield from folders_of(environ, composed)
    if len(folder.name) > _CUT:
        start = folder.name[: _CUT + 1]
        yield from (other for other in all_folders(environ) if other.name.startswith(start))


def all_folders(environ: Mapping[str, str]) -> list[Path]:
    """Return the folders of all projects."""
    return sorted(entry for entry in _entries(projects_dir(environ)) if entry.is_dir())


def transcripts(environ: Mapping[str, str], directory: str | None, *, include_worktrees: bool) -> list[Found]:
    """Return the transcripts of a directory, or all, the newest first; of each session the newest."""
    newest: dict[str, Found] = {}
    for found in _in_directories(environ, _directories(directory, include_worktrees=include_worktrees)):
        known = newest.get(found.session_id)
        if known is None or known.modified < found.modified:
            newest[found.session_id] = found
    return sorted(newest.values(), key=lambda found: (-found.modified, found.session_id))


def find_transcript(environ: Mapping[str, str], session_id: str, directory: str | None) -> Found | None:
    """Return the transcript of a session: the directory's own, or one of its worktrees', or any."""
    if not is_session_id(session_id):
        return None
    if directory:
        places = [directory, *map(str, worktrees(Path(directory).absolute()))]
        pairs = ((folder, place) for place in places for folder in folders_of(environ, place))
        return next(_existing(session_id, pairs), None)
    found = _existing(session_id, ((folder, None) for folder in all_folders(environ)))
    return max(found, key=lambda found: found.modified, default=None)


def remove_transcript(found: Found) -> None:
    """Remove a transcript, and the transcripts of its subagents."""
    found.path.unlink()
    shutil.rmtree(found.path.with_suffix(""), ignore_errors=True)


def _directories(directory: str | None, *, include_worktrees: bool) -> list[str] | None:
    if not directory:
        return None
    others = worktrees(Path(directory).absolute()) if include_worktrees else []
    # The only worktree is not joined in: a folder within it is a project of its own.
    return [directory, *map(str, others)] if len(others) > 1 else [directory]


def _in_directories(environ: Mapping[str, str], directories: list[str] | None) -> Iterator[Found]:
    if directories is None:
        for folder in all_folders(environ):
            yield from _in_folder(folder, None)
        return
    for directory in directories:
        for folder in folders_of(environ, directory):
            yield from _in_folder(folder, directory)


def _in_folder(folder: Path, directory: str | None) -> Iterator[Found]:
    for path in _entries(folder):
        if path.suffix == ".jsonl" and is_session_id(path.stem):
            yield from _existing(path.stem, [(folder, directory)])


def _existing(session_id: str, folders: Iterable[tuple[Path, str | None]]) -> Iterator[Found]:
    for folder, directory in folders:
        path = transcript_path(folder, session_id)
        try:
            status = path.stat()
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode) and status.st_size:
            real = None if directory is None else os.path.realpath(directory)
            yield Found(path, status.st_size, status.st_mtime, real)


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []
