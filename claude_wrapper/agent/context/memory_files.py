"""Files with instructions for the model: where they stand, which a run reads, and what they bring in."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from .globs import expanded, is_below, is_path
from .memory_text import files_named, parted, without_comments

__all__ = ["MemoryFile", "MemoryFiles", "MemoryPlaces", "text_of"]

_MOST_BYTES = 4 * 1024 * 1024
_MOST_RULES = 1000
_HOPS = 4
_AUTO_LINES = 200
_AUTO_BYTES = 25 * 1024


class MemoryPlaces(msgspec.Struct, frozen=True):
    """Where a run looks."""

    cwd: Path
    home: Path
    config: Path
    managed: Path
    sources: frozenset[str]
    """Of `userSettings`, `projectSettings` and `localSettings`, whose files count."""
    excluded: tuple[str, ...] = ()
    """Patterns of files that do not count, whoever's they are but the administrator's."""
    added: tuple[Path, ...] = ()
    """Further folders with instructions of their own."""
    notes: Path | None = None
    """What the model has written down for itself."""


class MemoryFile(msgspec.Struct, frozen=True):
    """A file that was read, and why."""

    path: Path
    kind: str
    text: str
    reason: str
    parent: Path | None = None
    globs: tuple[str, ...] = ()
    trigger: Path | None = None


class _Rule(msgspec.Struct, frozen=True):
    """A file that counts once a file of its kind is read."""

    file: MemoryFile
    root: Path


class MemoryFiles:
    """Reads each of them once."""

    def __init__(self, places: MemoryPlaces) -> None:
        self._places = places
        self._seen: set[Path] = set()
        self._rules: list[_Rule] = []

    def at_start(self) -> list[MemoryFile]:
        """Those that the model is to know from the beginning, the most general first."""
        places = self._places
        found = [*self._file(places.managed / "CLAUDE.md", "Managed", places.managed)]
        found += self._rules_in(places.managed / ".claude" / "rules", "Managed", places.managed)
        if "userSettings" in places.sources:
            found += self._file(places.config / "CLAUDE.md", "User", places.config)
            found += self._rules_in(places.config / "rules", "User", places.cwd)
        for folder in (*reversed(places.cwd.parents), places.cwd):
            found += self._folder(folder)
        for folder in places.added:
            found += self._folder(folder)
        found += self._own_notes()
        return found

    def on_read(self, path: Path) -> list[MemoryFile]:
        """Those that count now that a file is read."""
        real = _real(path)
        if real is None or not _is_in(real, self._places.cwd):
            return []
        self._seen.add(real)
        found = [*self._awakened(real)]
        below = [each for each in reversed(real.parents) if _is_in(each, self._places.cwd)][1:]
        for folder in below:
            fresh = self._folder(folder, "nested_traversal")
            found += [msgspec.structs.replace(each, trigger=path) for each in fresh]
            found += self._awakened(real)
        return found

    def _awakened(self, path: Path) -> Iterator[MemoryFile]:
        for rule in list(self._rules):
            if not _is_in(path, rule.root):
                continue
            relative = str(path.relative_to(rule.root))
            if any(is_below(pattern, relative) for pattern in rule.file.globs):
                self._rules.remove(rule)
                yield msgspec.structs.replace(rule.file, reason="path_glob_match", trigger=path)

    def _folder(self, folder: Path, reason: str = "session_start") -> list[MemoryFile]:
        """What a folder says of itself."""
        found: list[MemoryFile] = []
        if "projectSettings" in self._places.sources:
            found += self._file(folder / "CLAUDE.md", "Project", folder, reason)
            found += self._file(folder / ".claude" / "CLAUDE.md", "Project", folder, reason)
            if folder / ".claude" != self._places.config:
                found += self._rules_in(folder / ".claude" / "rules", "Project", folder, reason)
        if "localSettings" in self._places.sources:
            found += self._file(folder / "CLAUDE.local.md", "Local", folder, reason)
        return found

    def _file(
        self,
        path: Path,
        kind: str,
        within: Path,
        reason: str = "session_start",
        parent: Path | None = None,
        hops: int = 0,
    ) -> Iterator[MemoryFile]:
        """A file and what it brings in."""
        raw = self._read(path, kind, within)
        if raw is None:
            return
        text = without_comments(parted(raw)[1])
        if text.strip():
            yield MemoryFile(path, kind, text.strip(), reason, parent)
        if hops == _HOPS:
            return
        for name in files_named(text):
            yield from self._file(
                self._named(name, path),
                kind,
                # What comes with a project reads nothing of the user's that is not in it.
                Path("/") if kind in {"User", "Managed"} else self._places.cwd,
                "include",
                path,
                hops + 1,
            )

    def _named(self, name: str, path: Path) -> Path:
        if name.startswith("~/"):
            return self._places.home / name[2:]
        return Path(os.path.normpath(path.parent / name))

    def _rules_in(
        self, folder: Path, kind: str, root: Path, reason: str = "session_start"
    ) -> list[MemoryFile]:
        """Rules that always count; those for files of a kind wait for such a file."""
        found: list[MemoryFile] = []
        for path in _markdown_in(folder):
            raw = self._read(path, kind, folder if kind in {"User", "Managed"} else root)
            if raw is None:
                continue
            fields, text = parted(raw)
            text = without_comments(text).strip()
            globs = _globs(fields.get("paths"))
            if not text:
                continue
            if globs:
                self._rules.append(_Rule(MemoryFile(path, kind, text, reason, globs=globs), root))
                continue
            found.append(MemoryFile(path, kind, text, reason))
            for name in files_named(text):
                found += self._file(self._named(name, path), kind, self._places.cwd, "include", path, hops=1)
        return found

    def _own_notes(self) -> list[MemoryFile]:
        notes = self._places.notes
        if notes is None:
            return []
        raw = self._read(notes, "Managed", notes.parent)
        if raw is None or not raw.strip():
            return []
        text = "\n".join(raw.strip().split("\n")[:_AUTO_LINES])
        return [
            MemoryFile(notes, "AutoMem", text.encode()[:_AUTO_BYTES].decode(errors="ignore"), "session_start")
        ]

    def _read(self, path: Path, kind: str, within: Path) -> str | None:
        """The text of a file that counts and was not read yet; None for whatever is no readable text."""
        real = _real(path)
        if real is None or real in self._seen or not _is_in(real, _real(within) or within):
            return None
        if kind != "Managed" and any(
            is_path(pattern, str(name))
            for written in self._places.excluded
            for pattern in expanded(written)
            for name in (path, real)
        ):
            return None
        text = text_of(real)
        if text is not None:
            self._seen.add(real)
        return text


def text_of(real: Path) -> str | None:
    """The text of a file, opened where it really is; None for whatever is no readable text."""
    try:
        # A pipe of this name would never answer a plain open.
        descriptor = os.open(real, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode) or state.st_size > _MOST_BYTES:
            return None
        data = _all_of(descriptor)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    if b"\0" in data or len(data) > _MOST_BYTES:
        return None
    return data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")


def _all_of(descriptor: int) -> bytes:
    data = b""
    while piece := os.read(descriptor, _MOST_BYTES + 1 - len(data)):
        data += piece
    return data


def _markdown_in(folder: Path) -> list[Path]:
    """The files of a folder and of those in it, by name; links to folders are not followed."""
    found: list[Path] = []
    for where, folders, names in os.walk(folder):
        folders.sort()
        found += [Path(where, name) for name in sorted(names) if name.endswith(".md")]
        if len(found) >= _MOST_RULES:
            break
    return found[:_MOST_RULES]


def _globs(paths: object) -> tuple[str, ...]:
    """The patterns of a rule; none where it counts for all files."""
    written: Sequence[object] = (
        [paths] if isinstance(paths, str) else paths if isinstance(paths, list) else []
    )
    texts = [part for each in written if isinstance(each, str) for part in _split(each)]
    globs = [pattern.removesuffix("/**") for text in texts for pattern in expanded(text)]
    return () if any(glob == "**" for glob in globs) else tuple(glob for glob in globs if glob)


def _split(text: str) -> list[str]:
    """Patterns between commas; a comma in braces belongs to its pattern."""
    parts, depth = [""], 0
    for character in text:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def _real(path: Path) -> Path | None:
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError):
        return None


def _is_in(path: Path, folder: Path) -> bool:
    return path == folder or folder in path.parents
