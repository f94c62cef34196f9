"""A file for transcript entries that a slow session store has not taken yet, so that they need no memory."""

from __future__ import annotations

import tempfile
from collections import deque
from typing import IO, Any

import msgspec

from claude_wrapper.store.keys import TranscriptKey
from claude_wrapper.wire.codec import encode

__all__ = ["Batch", "Spill"]

Batch = dict[TranscriptKey, list[Any]]

_decoder = msgspec.json.Decoder(list[tuple[TranscriptKey, list[Any]]])


class Spill:
    """Batches on disk, taken back in the order in which they were put there.

    The file has no name, so that nobody else can open it and nothing is left of it. It starts anew
    whenever all that was in it has been taken back.
    """

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._sizes: deque[int] = deque()
        self._read = self._written = 0

    def put(self, batch: Batch) -> None:
        """Write a batch behind the others; OSError where the disk takes it not."""
        if self._file is None:
            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  # it lives as long as this
        data = encode(list(batch.items()))
        self._file.seek(self._written)
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) :]
        self._written += len(data)
        self._sizes.append(len(data))

    def take(self) -> Batch:
        """Take the oldest batch back; OSError or msgspec.DecodeError where the disk does not give it."""
        assert self._file is not None
        size = self._sizes.popleft()
        self._file.seek(self._read)
        self._read += size
        try:
            return dict(_decoder.decode(self._file.read(size)))
        finally:
            if not self._sizes:
                self._read = self._written = 0
                self._file.truncate(0)

    def close(self) -> None:
        """Forget everything."""
        self._sizes.clear()
        self._read = self._written = 0
        if self._file is not None:
            self._file.close()
            self._file = None
