"""From the path of a transcript to the key that a session store knows it by."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import NamedTuple

from .paths import is_session_id

__all__ = ["TranscriptKey", "key_of"]

_SUFFIX = ".jsonl"


class TranscriptKey(NamedTuple):
    """Names a transcript: the session's own, or with a subpath a further one of the session."""

    project_key: str
    session_id: str
    subpath: str = ""


def key_of(path: str, projects: Path) -> TranscriptKey | None:
    """Return the key of a transcript below the folder `projects`; None for what is no transcript.

    A folder of that name elsewhere will do as well: an agent may name the same folder by another path,
    through a link or from within a container.
    """
    whole = PurePath(os.path.normpath(path))
    base = PurePath(os.path.normpath(projects))
    if whole.is_relative_to(base):
        return _key(whole.relative_to(base).parts)
    parts = whole.parts
    if "projects" not in parts:
        return None
    start = len(parts) - parts[::-1].index("projects")
    key = _key(parts[start:])
    return key if key is not None and is_session_id(key.session_id) else None


def _key(parts: Sequence[str]) -> TranscriptKey | None:
    if len(parts) == 2 and parts[1].endswith(_SUFFIX):
        return TranscriptKey(parts[0], parts[1].removesuffix(_SUFFIX))
    if len(parts) > 3:
        return TranscriptKey(parts[0], parts[1], "/".join(parts[2:]).removesuffix(_SUFFIX))
    return None
