"""Finding the checkpoints of a session that is gone on with, in its transcript."""

from __future__ import annotations

from pathlib import Path

import msgspec

from .ledger import Checkpoint

__all__ = ["stored_checkpoints"]

_MARK = b'"file-history-snapshot"'


class _Line(msgspec.Struct):
    type: str
    snapshot: Checkpoint


_decoder = msgspec.json.Decoder(_Line)


def stored_checkpoints(transcript: Path) -> list[Checkpoint]:
    """The checkpoints in a transcript, each as it was last written; those that cannot be read are left out."""
    found: dict[str, Checkpoint] = {}
    try:
        with transcript.open("rb") as file:
            for line in file:
                if _MARK not in line:
                    continue
                try:
                    read = _decoder.decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError):
                    continue
                if read.type == "file-history-snapshot":
                    found[read.snapshot.message_id] = read.snapshot
    except OSError:
        return []
    return list(found.values())
