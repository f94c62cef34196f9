"""Sentences for what went wrong with a run, with the way out where there is one."""

from __future__ import annotations

import signal

from claude_wrapper.errors import ClaudeSDKError, ProcessError

from .ending import Ending
from .printable import printable
from .wording import result_line, stop_reason

__all__ = ["complaint"]

_STDERR_LINES = 10

_NO_KEY = """there is no key for the API. Do one of these:
  - set ANTHROPIC_API_KEY, or ANTHROPIC_AUTH_TOKEN where a gateway wants a bearer token
  - set ANTHROPIC_BASE_URL to an endpoint that speaks the Messages API, with the key that it wants (any
    word as ANTHROPIC_API_KEY if it wants none)
  - see an agent at work without any: claude-wrapper demo"""

_REFUSED_KEY = """the API refused the key ({reason}). Check ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN and \
ANTHROPIC_BASE_URL."""


def complaint(ending: Ending, *, resumable: bool = True) -> str:
    """Return what to tell the user on stderr; nothing where the run ended well or nobody would read it."""
    if ending.output_error is not None:
        return "" if isinstance(ending.output_error, BrokenPipeError) else _unwritable(ending.output_error)
    text = _reason(ending)
    if text and resumable and ending.session_id and not ending.is_unauthenticated:
        text += f'\n  Go on with: claude-wrapper run --resume {ending.session_id} "..."'
    return printable(text)


def _reason(ending: Ending) -> str:
    result = ending.result
    if ending.is_cut_short:
        how = f"interrupted by {ending.signal_name}" if ending.signal is not None else "timed out"
        return f"{how} after {result_line(result)}" if result is not None else how
    if ending.error is not None:
        return _told(ending.error)
    if result is None:
        return "the agent ended without a result"
    if not result.is_error:
        return ""
    if ending.lacks_credentials:
        return _NO_KEY
    if ending.is_unauthenticated:
        return _REFUSED_KEY.format(reason=stop_reason(result))
    return f"stopped after {result_line(result)}: {stop_reason(result)}"


def _unwritable(error: OSError) -> str:
    return f"the output cannot be written: {error.strerror or error}"


def _told(error: ClaudeSDKError) -> str:
    """Return an error's reason, exit code and last lines of stderr."""
    if not isinstance(error, ProcessError):
        return str(error)
    reason = str(error).partition("\nError output: ")[0]
    if error.exit_code is not None and error.exit_code < 0:
        reason += f", killed by {_signal_name(-error.exit_code)}"
    lines = (error.stderr or "").splitlines()[-_STDERR_LINES:]
    said = ["  The last lines of its stderr:", *(f"    {line}" for line in lines)] if lines else []
    return "\n".join([reason, *said])


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
