"""Files that carry what must not stand on a command line, for as long as an agent runs."""

from __future__ import annotations

import contextlib
import logging
import os
import stat
import sys
import time
from pathlib import Path

__all__ = ["PrivateFile", "PrivateFolder"]

logger = logging.getLogger("claude_wrapper.spawn")

_PREFIX = "claude-wrapper-"

_ABANDONED_SECONDS = 24 * 3600
"""How old a folder must be to count as left behind: its owner may live in another container, unseen."""


class PrivateFile:
    """An argument that is the path of a file: what the file is called and what it holds."""

    __slots__ = ("content", "name")

    def __init__(self, name: str, content: bytes) -> None:
        self.name = name
        self.content = content

    def __repr__(self) -> str:
        return f"PrivateFile({self.name!r}, {len(self.content)} bytes)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PrivateFile) and (self.name, self.content) == (other.name, other.content)

    def __hash__(self) -> int:
        return hash((self.name, self.content))


class PrivateFolder:
    """A folder of one agent's private files, readable by nobody else; made when the first file is."""

    def __init__(self, owner: tuple[int, int] | None = None) -> None:
        self._owner = owner
        """The user and group that the agent runs as, when they are not ours."""
        self._path: Path | None = None

    def write(self, file: PrivateFile) -> Path:
        """Write a file, whose name may lead through folders, and return its path."""
        path = self.path / file.name
        self._make_folder(path.parent)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(file.content)
        self._give(path)
        return path

    @property
    def path(self) -> Path:
        """The folder, made when it is first asked for."""
        if self._path is None:
            import tempfile  # noqa: PLC0415  # start-up: most agents need no file

            _sweep(tempfile.gettempdir())
            # The name says whose it is, so that what a killed program leaves behind can be told from what is in use.
            self._path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
            self._give(self._path)
        return self._path

    def remove(self) -> None:
        """Remove the folder and its files; does nothing when there is none."""
        path, self._path = self._path, None
        if path is not None:
            _remove(path)

    def _make_folder(self, path: Path) -> None:
        if not path.exists():
            self._make_folder(path.parent)
            path.mkdir(mode=0o700)
            self._give(path)

    def _give(self, path: Path) -> None:
        if self._owner is not None and sys.platform != "win32":
            os.chown(path, *self._owner)


def _remove(path: Path) -> None:
    import shutil  # noqa: PLC0415  # likewise

    shutil.rmtree(path, ignore_errors=True)


if sys.platform == "win32":

    def _sweep(folder: str) -> None:
        """There is no harmless way to ask whether a process lives; the system cleans its folder itself."""

else:

    def _sweep(folder: str) -> None:
        """Remove the folders of programs that ended without removing theirs."""
        with contextlib.suppress(OSError):
            for path in Path(folder).glob(f"{_PREFIX}*-*"):
                owner = path.name.removeprefix(_PREFIX).split("-", 1)[0]
                if owner.isdecimal() and not _is_alive(int(owner)) and _is_old_and_ours(path):
                    logger.debug("removing %s, left behind by process %s", path, owner)
                    _remove(path)

    def _is_alive(pid: int) -> bool:
        try:
            os.kill(pid, 0)
        except OSError as error:
            return not isinstance(error, ProcessLookupError)
        return True

    def _is_old_and_ours(path: Path) -> bool:
        with contextlib.suppress(OSError):
            status = path.lstat()
            old = time.time() - status.st_mtime > _ABANDONED_SECONDS
            return old and stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
        return False
