"""The debug log: a file for whoever looks for a fault, in which no secret is written."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from claude_wrapper.agent.ids import new_uuid
from claude_wrapper.agent.pipes.sinks import FrameSink
from claude_wrapper.agent.start.cli import Arguments
from claude_wrapper.agent.tools.environment import without_secrets
from claude_wrapper.store.paths import config_dir, is_session_id

__all__ = ["LoggedSink", "start_debug_log"]

_ROOT = "claude_wrapper"
_LEAST_SECRET = 8
"""Shorter values are words that stand anywhere."""
_frames = logging.getLogger(f"{_ROOT}.agent.frames")


def start_debug_log(arguments: Arguments, environ: Mapping[str, str], cwd: Path) -> Path | None:
    """Log from now on, if the command line wants it; returns where. A file that cannot be made is no fault."""
    if not (arguments.has("debug") or arguments.has("debug_file")):
        return None
    path = _path(arguments, environ, cwd)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError:
        return None
    handler = logging.StreamHandler(os.fdopen(descriptor, "a", encoding="utf-8", errors="replace"))
    handler.setFormatter(_Masking(environ))
    handler.addFilter(_Topics(arguments.value("debug") or ""))
    logger = logging.getLogger(_ROOT)
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    return path


class LoggedSink:
    """Passes frames on, and logs what kind each is; what it says may be confidential."""

    def __init__(self, sink: FrameSink) -> None:
        self._sink = sink

    def emit(self, frame: Any) -> None:
        name = getattr(frame, "subtype", None)
        _frames.debug("out: %s%s", type(frame).__name__, f" ({name})" if isinstance(name, str) else "")
        self._sink.emit(frame)


def _path(arguments: Arguments, environ: Mapping[str, str], cwd: Path) -> Path:
    given = arguments.value("debug_file")
    if given:
        return cwd / given
    folder = environ.get("CLAUDE_CODE_DEBUG_LOGS_DIR")
    session = arguments.value("session_id") or arguments.value("resume") or ""
    name = session if is_session_id(session) else new_uuid()
    return (cwd / folder if folder else config_dir(environ) / "debug") / f"{name}.txt"


class _Masking(logging.Formatter):
    """Lines without the values of secret variables."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        super().__init__("%(asctime)s [%(levelname)s] %(name)s: %(message)s")
        open_to_all = without_secrets({**environ, "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB": "1"})
        values = {environ[name] for name in environ.keys() - open_to_all.keys()}
        # Headers come as lines of `name: value`.
        values |= {
            part.strip() for value in values for line in value.splitlines() for part in line.split(":", 1)
        }
        self._secrets = sorted((value for value in values if len(value) >= _LEAST_SECRET), key=len)

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        for secret in reversed(self._secrets):
            text = text.replace(secret, "***")
        return text


class _Topics(logging.Filter):
    """Only the topics that are wished for: `frames,control`, or all but some: `!frames`."""

    def __init__(self, wanted: str) -> None:
        super().__init__()
        words = [word.strip() for word in wanted.split(",") if word.strip()]
        self._only = {word for word in words if not word.startswith("!")}
        self._not = {word[1:] for word in words if word.startswith("!")}

    def filter(self, record: logging.LogRecord) -> bool:
        topics = set(record.name.split("."))
        return not topics & self._not and (not self._only or bool(topics & self._only))
