"""Changes that a shell line would make through links that lead out of the working folders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from . import paths
from .file_commands import CHANGES_FILES_ONLY, named_files
from .files import path_rule
from .ground import Ground
from .readonly import files_shown
from .shell_line import ShellLine
from .wrappers import behind_env

Folders = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LinkOut:
    """A file of the working folders that is really elsewhere."""

    written: str
    target: str
    by_redirect: bool = False
    is_removed: bool = False
    """The link alone would go away."""


def links_out(line: ShellLine, ground: Ground, folders: Folders) -> LinkOut | None:
    """The first such change of the line; `folders` are those in which its commands may run."""
    every = [found for folder in folders for found in _in_folder(line, ground, folder)]
    return next((found for found in every if not found.is_removed), every[0] if every else None)


def _in_folder(line: ShellLine, ground: Ground, folder: str) -> Iterator[LinkOut]:
    for command in line.commands:
        inner = behind_env(command)
        if inner.words[0].literal not in CHANGES_FILES_ONLY or files_shown(inner) is not None:
            continue
        for path in named_files(inner):
            link = paths.link_at(path, folder, ground.home) if inner.words[0].literal == "rm" else None
            found = _leading_out(path, ground, folder)
            if found is not None and link is not None:
                yield LinkOut(link, found.target, is_removed=True)
            elif found is not None:
                yield found
    for redirect in line.redirects:
        target = redirect.target.value
        if redirect.writes and target is not None and not redirect.target.is_glob:
            found = _leading_out(target, ground, folder)
            if found is not None:
                yield LinkOut(found.written, found.target, by_redirect=True)


def _leading_out(path: str, ground: Ground, folder: str) -> LinkOut | None:
    names = ground.names_of(path, folder)
    target = ground.leads_out(names)
    if target is None or target == names[0] or paths.GLOB_CHARACTERS.intersection(path):
        return None
    if path_rule("allow", ("Edit",), names, ground) is not None:
        return None
    return LinkOut(names[0], target)
