"""Where the field keeps its files: the configuration folder and, in it, a folder of transcripts a project."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

__all__ = [
    "check_session_id",
    "config_dir",
    "home_dir",
    "is_session_id",
    "project_dir",
    "project_key",
    "projects_dir",
    "transcript_path",
]

_KEY_LIMIT = 200
_NOT_PLAIN = re.compile(r"[^a-zA-Z0-9]")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_FIXED_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def config_dir(environ: Mapping[str, str]) -> Path:
    """The folder of settings, transcripts and plugins."""
    chosen = environ.get("CLAUDE_CONFIG_DIR")
    if chosen:
        return Path(chosen)
    return home_dir(environ) / ".claude"


def home_dir(environ: Mapping[str, str]) -> Path:
    """The user's home; the root of the file system for users whom the system does not know, as containers have them."""
    home = environ.get("HOME")
    if home:
        return Path(home)
    try:
        return Path.home()
    except RuntimeError:
        return Path(os.sep)


def project_key(directory: str) -> str:
    """The name of a project's folder: its path with everything but ASCII letters and digits replaced."""
    # Characters outside the basic plane count as two, as they do in the programs that set the rule.
    units = directory.encode("utf-16-le", "surrogatepass")
    plain = "".join(chr(int.from_bytes(units[i : i + 2], "little")) for i in range(0, len(units), 2))
    key = _NOT_PLAIN.sub("-", plain)
    if len(key) <= _KEY_LIMIT:
        return key
    return f"{key[:_KEY_LIMIT]}-{_base36(abs(_hash32(plain)))}"


def projects_dir(environ: Mapping[str, str]) -> Path:
    """The folder that holds a folder of transcripts for each project."""
    return config_dir(environ) / "projects"


def project_dir(environ: Mapping[str, str], directory: str) -> Path:
    """The folder that holds the transcripts of sessions in `directory`."""
    fixed = environ.get("CLAUDE_CODE_PROJECT_DIR_NAME", "")
    if not (environ.get("CLAUDE_CONFIG_DIR") and _FIXED_NAME.fullmatch(fixed)):
        fixed = project_key(os.path.realpath(directory))
    return projects_dir(environ) / fixed


def transcript_path(folder: Path, session_id: str) -> Path:
    """The file that holds the transcript of one session."""
    return folder / f"{session_id}.jsonl"


def is_session_id(text: str) -> bool:
    """Whether `text` is a UUID, as every session id is."""
    return _UUID.fullmatch(text) is not None


def check_session_id(text: str) -> None:
    """Raise ValueError for what is no session id."""
    if not is_session_id(text):
        raise ValueError(f"Invalid session_id: {text}")


def _hash32(text: str) -> int:
    value = 0
    for unit in text:
        value = (value * 31 + ord(unit)) & 0xFFFFFFFF
    return value - 0x100000000 if value >= 0x80000000 else value


def _base36(number: int) -> str:
    digits = ""
    while True:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
        if not number:
            return digits
