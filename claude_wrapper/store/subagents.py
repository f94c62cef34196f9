"""The transcripts of a session's subagents: how they are called, where they are, whose call began them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from .lines import EntryReader

__all__ = [
    "METADATA_TYPE",
    "Parentage",
    "agent_id_of",
    "find_subpath",
    "is_safe_subpath",
    "parentage",
    "subagent_files",
    "subpath_of",
]

METADATA_TYPE = "agent_metadata"
"""The type of the entry that takes, in a store, the place of the file beside a subagent's transcript."""

_NAME = re.compile(r"agent-(.+)")


class Parentage(msgspec.Struct, rename="camel"):
    """What began a subagent: a tool call, and the subagent that made it, if one did."""

    tool_use_id: str | None = None
    parent_agent_id: str | None = None


_parentage_reader = EntryReader(Parentage)


def agent_id_of(subpath: str) -> str | None:
    """Return the id of the subagent whose transcript has this path within the session, without suffix."""
    path = PurePosixPath(subpath)
    name = _NAME.fullmatch(path.name)
    return name[1] if name is not None and path.parts[0] == "subagents" and len(path.parts) > 1 else None


def find_subpath(agent_id: str, subpaths: Iterable[str]) -> str | None:
    """Return the path of a subagent's transcript among those of the session."""
    return next((subpath for subpath in subpaths if agent_id_of(subpath) == agent_id), None)


def is_safe_subpath(subpath: str) -> bool:
    """Whether a path, which somebody else has chosen, stays within its session."""
    path = PurePosixPath(subpath.replace("\\", "/"))
    absolute = path.is_absolute() or ":" in subpath or "\0" in subpath
    return bool(path.parts) and not absolute and ".." not in path.parts


def subagent_files(transcript: Path) -> dict[str, Path]:
    """Return the transcripts of a session's subagents by their paths within it, without suffix."""
    folder = transcript.with_suffix("")
    files = sorted((folder / "subagents").rglob("agent-*.jsonl"), key=lambda path: (len(path.parts), path))
    return {subpath_of(path, folder): path for path in files if path.is_file()}


def subpath_of(path: Path, folder: Path) -> str:
    """Return the path of a transcript within its session, without suffix."""
    return path.relative_to(folder).with_name(path.name.removesuffix(".jsonl")).as_posix()


def parentage(metadata: Any) -> Parentage:
    """Read whose call began a subagent: from the text of its file, or from its entry."""
    read = _parentage_reader.line if isinstance(metadata, bytes) else _parentage_reader.entry
    return read(metadata) or Parentage()
