"""What the model has seen of which file, so that it cannot overwrite what it does not know."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

__all__ = ["Digest", "ReadLedger", "Sighting", "digest_of", "new_digest"]


class Digest(Protocol):
    """A fingerprint in the making."""

    def update(self, data: bytes, /) -> None: ...

    def digest(self) -> bytes: ...


def new_digest() -> Digest:
    """The beginning of a fingerprint that is fed piece by piece."""
    import hashlib  # noqa: PLC0415  # loads a large library, which most starts have no use for yet

    return hashlib.blake2b(digest_size=16)


def digest_of(data: bytes) -> bytes:
    """A short fingerprint of a file's bytes."""
    digest = new_digest()
    digest.update(data)
    return digest.digest()


@dataclass(frozen=True, slots=True)
class Sighting:
    """One file as the model last saw it."""

    mtime_ns: int
    size: int
    digest: bytes
    complete: bool
    """The model saw all of it, not a range."""

    def is_current(self, data: bytes, stat: os.stat_result) -> bool:
        """Whether the file still holds what was seen; a new time on the same bytes is no change."""
        if stat.st_size != self.size:
            return False
        return stat.st_mtime_ns == self.mtime_ns or digest_of(data) == self.digest


class ReadLedger:
    """Sightings by real path, so that one file under two names is one entry."""

    __slots__ = ("_sightings",)

    def __init__(self) -> None:
        self._sightings: dict[str, Sighting] = {}

    def note(self, path: Path, digest: bytes, stat: os.stat_result, *, complete: bool) -> None:
        """Record that the model has now seen the file with this digest, all of it or a part."""
        self._sightings[os.path.realpath(path)] = Sighting(
            mtime_ns=stat.st_mtime_ns, size=stat.st_size, digest=digest, complete=complete
        )

    def paths(self) -> list[str]:
        """The files that the model knows something of."""
        return list(self._sightings)

    def find(self, path: Path) -> Sighting | None:
        """What the model knows of the file, if anything."""
        return self._sightings.get(os.path.realpath(path))
