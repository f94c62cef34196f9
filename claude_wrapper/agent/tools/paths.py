"""How a path that the model wrote becomes a path on disk, the same way for every tool."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

from .contract import InputRejected, ToolContext, ToolFailure

__all__ = [
    "absolute",
    "failure",
    "missing_text",
    "os_error_text",
    "reject_null_bytes",
    "shown",
    "size_text",
    "with_absolute",
]


def absolute(text: str, context: ToolContext) -> Path:
    """The path in full, `..` folded away as text, links not followed; blanks around it are a slip."""
    text = text.strip()
    if text == "~" or text.startswith("~/"):
        text = context.environment.get("HOME", "") + text[1:] or text
    return Path(os.path.normpath(context.cwd / text))


def with_absolute(tool_input: dict[str, Any], key: str, context: ToolContext) -> dict[str, Any]:
    """The input with the path under `key` in full, where there is one."""
    value = tool_input.get(key)
    if not isinstance(value, str):
        return dict(tool_input)
    return {**tool_input, key: str(absolute(value, context))}


def shown(path: str, context: ToolContext) -> str:
    """A path as results show it: relative to the current folder when it lies inside."""
    prefix = f"{context.cwd}{os.sep}"
    return path.removeprefix(prefix)


def reject_null_bytes(text: str, parameter: str) -> None:
    """No file system takes a NUL, and cutting the path there would open another file."""
    if "\0" in text:
        raise InputRejected(f"The parameter `{parameter}` holds a NUL character, which no path can have.")


def kind_of(path: Path) -> str | None:
    """What is there: a folder, a file, a link that leads nowhere; None if nothing is, or can be, by that name."""
    try:
        return "folder" if stat.S_ISDIR(path.stat().st_mode) else "file"
    except OSError:
        return "link" if is_link(path) else None


def is_link(path: Path) -> bool:
    """Whether the last step is a symbolic link."""
    try:
        return path.is_symlink()
    except OSError:  # a name that is too long is none
        return False


def missing_text(path: Path, context: ToolContext) -> str:
    """What to say of a file that is not there, with the likeliest slip of the pen."""
    text = f"File does not exist. Note: your current working directory is {context.cwd}."
    near = _near_miss(path)
    return f"{text} Did you mean {near}?" if near else text


def _near_miss(path: Path) -> str | None:
    """A neighbour with another extension or other letter case."""
    try:
        names = sorted(each.name for each in path.parent.iterdir())
    except OSError:
        return None
    names = [name for name in names if name != path.name]  # a link that leads nowhere
    folded = path.name.casefold()
    same_letters = (name for name in names if name.casefold() == folded)
    same_stem = (name for name in names if path.stem and Path(name).stem == path.stem)
    return next(same_letters, None) or next(same_stem, None)


def os_error_text(error: OSError, what: str, path: str | Path) -> str:
    """An operating system error in the form that models know from the field: `EACCES: …, open 'PATH'`."""
    import errno  # noqa: PLC0415  # only when something fails

    code = errno.errorcode.get(error.errno or 0, "EIO")
    reason = {
        "ENOENT": "no such file or directory",
        "EISDIR": "illegal operation on a directory",
        "EACCES": "permission denied",
        "EPERM": "operation not permitted",
    }.get(code, (error.strerror or "input/output error").lower())
    return f"{code}: {reason}, {what} '{path}'"


def size_text(size: int) -> str:
    """A size as people read it: 39.1KB, 2MB."""
    unit, divisor = ("KB", 1024) if size < 1024**2 else ("MB", 1024**2) if size < 1024**3 else ("GB", 1024**3)
    return f"{size / divisor:.1f}".removesuffix(".0") + unit


def failure(error: OSError, what: str, path: str | Path) -> ToolFailure:
    """The same as a failed call."""
    return ToolFailure(os_error_text(error, what, path))
