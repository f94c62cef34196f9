"""Where a path really leads: absolute, `..` and symlinks resolved, inside the working folders or not."""

from __future__ import annotations

# ruff: noqa: PTH100, PTH112, PTH114, PTH118, PTH119, PTH120
# Paths are texts here: a rule speaks of what was written, and pathlib would tidy that away.
import os
import re
import unicodedata
from collections.abc import Iterable

GLOB_CHARACTERS = frozenset("*?[")
_OF_A_PROCESS = re.compile(r"/proc/[^/]+/(?:task/[^/]+/)?(cwd|root)(?=/|\Z)")


def absolute(path: str, cwd: str, home: str) -> str:
    """The path as its text reads: `~` and relative parts filled in, `.` and `..` taken out."""
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    joined = os.path.normpath(os.path.join(cwd, path))
    return "/" + joined.lstrip("/") if joined.startswith("//") else joined


def places(path: str, cwd: str, home: str) -> tuple[str, ...]:
    """Every name under which a rule may know the file: as written, and where symlinks lead."""
    written = absolute(path, cwd, home)
    # `..` after a symlink leads elsewhere than its text says, so the untidied path is resolved as well.
    unfolded = os.path.join(cwd, home + path[1:] if path == "~" or path.startswith("~/") else path)
    try:
        found = [written, os.path.realpath(written), os.path.realpath(unfolded)]
        if written.startswith("/proc/"):
            # The process that will open the file is another one, with folders of its own.
            leads = {"cwd": cwd, "root": ""}
            of_process = _OF_A_PROCESS.sub(lambda match: leads[match[1]], unfolded, count=1)
            found.append(os.path.realpath(of_process or os.sep))
        return tuple(dict.fromkeys(found))
    except ValueError:  # no file can have such a name; it belongs nowhere
        return written, os.sep


def parent(path: str) -> str:
    """The folder that a path stands in."""
    return os.path.dirname(path)


def last_part(path: str) -> str:
    """The name at the end of a path."""
    return os.path.basename(path)


def joined(folder: str, path: str) -> str:
    """The path as seen from a folder, not tidied."""
    return os.path.join(folder, path)


def complete(path: str | os.PathLike[str]) -> str:
    """The path from the root on."""
    return os.path.abspath(os.fspath(path))


def is_folder(path: str) -> bool:
    """Whether there is a folder at this path."""
    return os.path.isdir(path)


def link_at(path: str, cwd: str, home: str) -> str | None:
    """The full path if a symlink stands there."""
    written = absolute(path, cwd, home)
    return written if not path.endswith("/") and os.path.islink(written) else None


def is_inside(path: str, folder: str) -> bool:
    """Whether the path is the folder or lies below it."""
    return path == folder or path.startswith(folder if folder.endswith("/") else folder + "/")


def all_inside(names: Iterable[str], within: Iterable[str]) -> bool:
    """Whether a file lies inside one of the folders under each of its names."""
    within = tuple(within)
    return all(any(is_inside(name, folder) for folder in within) for name in names)


def before_glob(path: str) -> str:
    """The folder that a pattern of the shell surely starts in."""
    kept: list[str] = []
    for part in path.split("/"):
        if GLOB_CHARACTERS.intersection(part):
            break
        kept.append(part)
    else:
        return path
    prefix = "/".join(kept)
    return prefix if prefix or not path.startswith("/") else "/"


def folded(path: str) -> str:
    """The path as a file system sees it that knows no case and one form of accents."""
    return unicodedata.normalize("NFC", path).casefold() if not path.isascii() else path.lower()


def shown(path: str, cwd: str, home: str) -> str:
    """The path as a person reads it best: short inside the current folder, `~` for home."""
    target = absolute(path, cwd, home)
    if target != cwd and is_inside(target, cwd):
        return target[len(cwd) :].lstrip("/")
    if target != home and is_inside(target, home):
        return "~" + target[len(home) :]
    return target
