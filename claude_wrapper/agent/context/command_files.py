"""Commands that users keep in files: `commands/NAME.md` and `skills/NAME/SKILL.md`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from .memory_files import text_of
from .memory_text import parted

__all__ = ["CommandFile", "command_files"]

_MOST_FILES = 1000
_OFF = frozenset({"false", "no", "off", "0"})
_DESCRIPTION_LIMIT = 1536


class CommandFile(msgspec.Struct, frozen=True):
    """One of them. `folder` is that of a skill, None for a plain command."""

    name: str
    source: str
    body: str
    fields: Mapping[str, Any]
    folder: Path | None = None

    @property
    def description(self) -> str:
        """What it is for: as its head says, or else its first line."""
        said = self.fields.get("description")
        first = next((line for line in self.body.splitlines() if line.strip()), "")
        return str(said if isinstance(said, str) and said.strip() else first).strip()[:_DESCRIPTION_LIMIT]

    @property
    def argument_hint(self) -> str:
        """What may be written behind its name."""
        hint = self.fields.get("argument-hint")
        if isinstance(hint, list):
            return f"[{', '.join(map(str, hint))}]"
        return hint if isinstance(hint, str) else ""

    @property
    def argument_names(self) -> list[str]:
        """The names under which its text speaks of its arguments."""
        names = self.fields.get("arguments")
        if isinstance(names, str):
            return names.split()
        return [str(name) for name in names] if isinstance(names, list) else []

    @property
    def for_users(self) -> bool:
        """Whether users may give it."""
        return str(self.fields.get("user-invocable", True)).strip().lower() not in _OFF


def command_files(places: Sequence[tuple[str, Path]]) -> dict[str, CommandFile]:
    """The commands by name, skills first; `places` are folders with their sources, the strongest first."""
    skills: dict[str, CommandFile] = {}
    commands: dict[str, CommandFile] = {}
    for source, folder in places:
        # What comes with a project reads nothing of the user's that is not in it.
        root = None if source == "userSettings" else Path(os.path.realpath(folder.parent))
        for name, path in _skills_in(folder / "skills"):
            _add(skills, name, source, path, root, path.parent)
        for name, path in _commands_in(folder / "commands"):
            _add(commands, name, source, path, root, None)
    return {
        **{name: skills[name] for name in sorted(skills)},
        **{name: commands[name] for name in sorted(commands) if name not in skills},
    }


def _add(
    found: dict[str, CommandFile], name: str, source: str, path: Path, root: Path | None, folder: Path | None
) -> None:
    if name in found:
        return
    real = Path(os.path.realpath(path))
    text = text_of(real) if root is None or root in real.parents else None
    if text is not None:
        fields, body = parted(text)
        found[name] = CommandFile(name, source, body, fields, folder)


def _skills_in(folder: Path) -> Iterator[tuple[str, Path]]:
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208  # names are all that is wanted
    except OSError:
        return
    for name in names[:_MOST_FILES]:
        yield name, folder / name / "SKILL.md"


def _commands_in(folder: Path) -> Iterator[tuple[str, Path]]:
    count = 0
    for where, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".md") and count < _MOST_FILES:
                count += 1
                path = Path(where, name)
                yield ":".join([*Path(where).relative_to(folder).parts, path.stem]), path
