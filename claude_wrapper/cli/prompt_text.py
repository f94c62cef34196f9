"""The prompt of a run: from the command line, from stdin, or from both."""

from __future__ import annotations

import os
import sys
import threading

__all__ = ["MAX_BYTES", "PromptError", "read_prompt"]

MAX_BYTES = 10 * 1024 * 1024

_PATIENCE = 3.0
"""Seconds until something must have arrived on stdin that the command line does not ask for."""


class PromptError(Exception):
    """There is no usable prompt; the text says why."""


def read_prompt(words: list[str]) -> str:
    """Put the prompt together; raises PromptError.

    `-` stands for stdin and is waited for. Without it, what is piped in comes after the words; a
    pipe that stays open and empty is given up, since services inherit such pipes from their makers.
    """
    before, after = words, []
    if asks := "-" in words:
        place = words.index("-")
        before, after = words[:place], words[place + 1 :]
    parts = [" ".join(before), _stdin_text(waits=asks or not words), " ".join(after)]
    prompt = "\n\n".join(part for part in parts if part.strip())
    if not prompt:
        raise PromptError("there is no prompt: give one as an argument or on stdin")
    return prompt


def _stdin_text(*, waits: bool) -> str:
    if sys.stdin is None or (sys.stdin.isatty() and not waits):
        return ""
    if sys.stdin.isatty():
        print("Type the prompt and end it with Ctrl-D:", file=sys.stderr)
    arrivals = _Arrivals(sys.stdin.fileno())
    if not waits and not arrivals.has_begun.wait(_PATIENCE):
        print(
            f"claude-wrapper: nothing came on stdin within {_PATIENCE:g} s; going on without it",
            file=sys.stderr,
        )
        return ""
    while not arrivals.is_over.wait(_PATIENCE):
        pass  # in steps, since an endless wait would not let Ctrl-C through on Windows
    data = bytes(arrivals.data)
    if len(data) > MAX_BYTES:
        raise PromptError(
            f"stdin has more than {MAX_BYTES // 1024**2} MB; name a file for the agent to read instead"
        )
    return data.decode("utf-8-sig", "replace")


class _Arrivals:
    """Reads a descriptor in a thread, the one way to stop waiting for it that every system has."""

    def __init__(self, descriptor: int) -> None:
        self.data = bytearray()
        self.has_begun = threading.Event()
        self.is_over = threading.Event()
        threading.Thread(target=self._read, args=(descriptor,), daemon=True).start()

    def _read(self, descriptor: int) -> None:
        try:
            while len(self.data) <= MAX_BYTES and (chunk := os.read(descriptor, 1 << 16)):
                self.data += chunk
                self.has_begun.set()
        except OSError:  # nothing can be read, as from a folder
            pass
        finally:
            self.has_begun.set()
            self.is_over.set()
