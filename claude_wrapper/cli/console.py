"""Where a command line begins and ends: streams that can take any text, and no traceback for what is expected."""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import TextIO

from .exits import Exit
from .stderr_text import error

__all__ = ["guarded"]


def guarded(argv: Sequence[str] | None) -> int:
    """Run a command line and return its exit code."""
    sys.stdout = _prepared(sys.stdout)
    sys.stderr = _prepared(sys.stderr)
    try:
        code = _dispatch(argv)
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = Exit.INTERRUPTED
    except BrokenPipeError:
        code = Exit.OUTPUT_CLOSED
    except OSError as problem:
        with suppress(OSError):
            error(f"error: cannot write: {problem}")
        code = Exit.OUTPUT_FAILED
    except Exception:  # noqa: BLE001  # whatever it is, its exit code must not be that of something else
        traceback.print_exc()
        code = Exit.BUG
    _abandon_unwritable()
    return int(code)


def _dispatch(argv: Sequence[str] | None) -> int:
    from .arguments import parse  # noqa: PLC0415  # inside the guard against Ctrl-C

    arguments = parse(argv)
    if arguments.command == "demo":
        from .demo_command import demo  # noqa: PLC0415  # each command loads what it needs

        return demo(keep=arguments.keep, as_json=arguments.json)
    if arguments.command == "doctor":
        from .doctor_command import doctor  # noqa: PLC0415  # likewise

        return doctor(agent=arguments.agent, as_json=arguments.json)
    from .run_command import run  # noqa: PLC0415  # likewise

    return run(arguments)


def _prepared(stream: TextIO | None) -> TextIO:
    """Return a stream that never fails on a character: what its encoding lacks is written as an escape."""
    if stream is None:  # closed by the caller, as with `>&-`
        return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123  # it serves until the process ends
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return stream


def _abandon_unwritable() -> None:
    """Point streams that nobody reads any more elsewhere, so that the interpreter does not complain on its way out."""
    for stream in (sys.stdout, sys.stderr):
        if not _is_writable(stream):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def _is_writable(stream: TextIO) -> bool:
    try:
        stream.flush()
    except (OSError, ValueError):
        return False
    return True
