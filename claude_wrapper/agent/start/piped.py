"""The prompt of a run in print mode: on the command line, on stdin, or on both."""

from __future__ import annotations

import os
import sys

from claude_wrapper.agent.pipes.stdin import read_available

from .cli import UsageError
from .settings import Settings

__all__ = ["read_prompt"]

_WAIT_SECONDS = 3.0
_NO_LIMIT_SECONDS = 1e9
_MOST_BYTES = 10 * 1024 * 1024


async def read_prompt(settings: Settings) -> str:
    """Read the prompt; raises UsageError if there is none."""
    prompt = settings.prompt or ""
    piped = await _piped_text(_WAIT_SECONDS if prompt else _NO_LIMIT_SECONDS)
    if piped is None:
        sys.stderr.write("Warning: stdin stayed open without data for 3 s, so the run goes on without it.\n")
    text = "\n".join(part for part in (piped, prompt) if part)
    if not text:
        raise UsageError("There is no prompt: give one as an argument or on stdin.")
    if not text.strip():
        raise UsageError("Input contained only whitespace: there is nothing to answer.")
    return text


async def _piped_text(wait: float) -> str | None:
    """What comes on stdin; None if nothing has come after `wait` seconds."""
    try:
        if os.isatty(0):
            return ""
        data = await read_available(0, wait, _MOST_BYTES)
    except OSError:
        return ""
    except OverflowError as error:
        raise UsageError("The text on stdin is larger than 10 MB.") from error
    return None if data is None else data.decode("utf-8", "replace")
