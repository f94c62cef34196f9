"""What Write and Edit share: opening a file for a change, judging whether the model may change it, saving."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .atomic import ChangedMeanwhileError, create_file, replace_file
from .contract import InputRejected, ToolContext, ToolFailure
from .ledger import Sighting, digest_of
from .paths import absolute, failure, is_link, os_error_text, reject_null_bytes
from .textfile import NotRegularError, TextFile, decode, read_bytes

__all__ = [
    "CURRENT_NOTE",
    "Target",
    "open_target",
    "reject_stale",
    "require_no_link",
    "require_seen",
    "require_writable",
    "save",
]

CURRENT_NOTE = "(this is what you know of the file now; reading it again is not needed)"
_MAX_BYTES = 256 * 1024 * 1024
_STALE = "File has been modified since it was read. Read it again before writing to it."


@dataclass(frozen=True, slots=True)
class Target:
    """A file that is to be changed, in the state it was found in."""

    shown: str
    """The path as the model wrote it."""
    path: Path
    """The real path."""
    data: bytes
    file: TextFile
    state: os.stat_result | None
    """None: there is no such file yet."""
    sighting: Sighting | None

    @property
    def exists(self) -> bool:
        return self.state is not None

    @property
    def is_stale(self) -> bool:
        """The file is no longer what the model saw."""
        if self.sighting is None or self.state is None:
            return False
        return not self.sighting.is_current(self.data, self.state)


def open_target(tool_input: dict[str, Any], context: ToolContext) -> Target:
    """Look at the file as it is now; raises InputRejected for what is no file that can be changed."""
    shown: str = tool_input["file_path"]
    reject_null_bytes(shown, "file_path")
    path = absolute(shown, context)
    real = Path(os.path.realpath(path))
    try:
        data, state = read_bytes(real, _MAX_BYTES)
    except FileNotFoundError:
        return Target(shown, real, b"", decode(b""), None, None)
    except IsADirectoryError:
        raise InputRejected(f"{path} is a directory; name a file in it.") from None
    except NotRegularError:
        raise InputRejected(f"{path} is a device, pipe or socket; only regular files are written.") from None
    except OSError as error:
        raise InputRejected(os_error_text(error, "open", path)) from error
    if state.st_size > _MAX_BYTES:
        raise InputRejected(f"{path} is larger than {_MAX_BYTES >> 20} MB; change it with a shell command.")
    return Target(shown, real, data, decode(data), state, context.read_files.find(real))


def require_no_link(tool_input: dict[str, Any], context: ToolContext) -> None:
    """A change replaces the file, so it must not be named by a link; asked for permission, such a call is denied."""
    path = absolute(tool_input["file_path"], context)
    if is_link(path):
        leads = os.path.realpath(path)
        raise InputRejected(
            f"{path} is a symbolic link, which is not written through. Name the file it leads to: {leads}"
        )


def require_seen(target: Target) -> None:
    """The model must know what it is about to change."""
    if target.exists and target.sighting is None:
        raise InputRejected("File has not been read yet. Read it first before writing to it.")


def reject_stale() -> InputRejected:
    """The refusal of a change that is based on an older state of the file."""
    return InputRejected(_STALE)


def require_writable(target: Target) -> None:
    """A change must not turn bytes that we cannot read into something else."""
    if target.file.flaw == "binary":
        raise InputRejected(
            f"{target.shown} holds NUL bytes, so it is binary or in an encoding without a mark; it was left alone. "
            "Change it with a program that knows its format."
        )
    if target.file.flaw is not None:
        raise InputRejected(
            f"{target.shown} is not valid {target.file.encoding.upper()}, and writing it would damage it; it was left "
            "alone. Convert it first (iconv), or change it with a shell command in its own encoding."
        )


def save(target: Target, text: str, context: ToolContext, *, complete: bool) -> None:
    """Write the text, and note that the model knows it (`complete`: knows all of it)."""
    data = target.file.encode(text)
    context.before_change(target.path)
    try:
        if target.state is None:
            create_file(target.path, data)
        else:
            replace_file(target.path, data, target.state)
        state = target.path.stat()
    except (ChangedMeanwhileError, FileExistsError):
        raise ToolFailure(_STALE) from None
    except OSError as error:
        raise failure(error, "open", target.path) from error
    context.read_files.note(target.path, digest_of(data), state, complete=complete)
