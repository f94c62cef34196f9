"""One writer at a time for the files of a folder, among all processes of this machine."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["locked"]

_PATIENCE = 5.0
_PAUSE = 0.005
_STALE = 10.0


@contextmanager
def locked(folder: Path, name: str) -> Iterator[None]:
    """Hold the lock of a file in a folder that is there; raises OSError when somebody keeps it too long."""
    if sys.platform == "win32":
        with _lock_file(folder / f".{name}.lock"):
            yield
        return
    import fcntl  # noqa: PLC0415  # not on every system

    # The folder itself is locked, so that no lock file is left in projects.
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _patiently(lambda: fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB), BlockingIOError)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _lock_file(path: Path) -> Iterator[None]:
    def take() -> None:
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > _STALE:
                path.unlink()
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))

    _patiently(take, FileExistsError)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def _patiently(take: Callable[[], None], taken: type[OSError]) -> None:
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            return take()
        except taken as error:
            if time.monotonic() > end:
                raise TimeoutError("another process keeps it locked") from error
        time.sleep(_PAUSE)
