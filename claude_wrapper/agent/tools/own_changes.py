"""Files that a command of the model's own has changed: it named them, so the change is no surprise to it."""

from __future__ import annotations

from pathlib import Path

from .ledger import ReadLedger, digest_of
from .textfile import NotRegularError, read_bytes

__all__ = ["OwnChanges"]

_LARGEST = 16 << 20


class OwnChanges:
    """Looks at the known files that a command names, before and after it."""

    def __init__(self, command: str, ledger: ReadLedger) -> None:
        self._ledger = ledger
        self._paths = [
            path for path in map(Path, ledger.paths()) if path.name in command and self._is_current(path)
        ]

    def accept(self) -> None:
        """The command is over: what it has changed counts as known in its new state."""
        for path in self._paths:
            if not self._is_current(path):
                self._note(path)

    def _is_current(self, path: Path) -> bool:
        sighting = self._ledger.find(path)
        try:
            state = path.stat()
        except OSError:
            return False
        return sighting is not None and (state.st_size, state.st_mtime_ns) == (
            sighting.size,
            sighting.mtime_ns,
        )

    def _note(self, path: Path) -> None:
        sighting = self._ledger.find(path)
        try:
            data, state = read_bytes(path, _LARGEST)
        except (OSError, NotRegularError):
            return
        if sighting is not None and state.st_size <= _LARGEST:
            self._ledger.note(path, digest_of(data), state, complete=sighting.complete)
