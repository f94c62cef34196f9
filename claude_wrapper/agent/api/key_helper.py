"""The user's command that gives the key of the API: run when a key is needed, its output kept for a while."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from .api_error import ApiError
from .failure import Failure

if TYPE_CHECKING:
    from claude_wrapper.agent.processes.child import Child

__all__ = ["KeyHelper"]

_TTL = 300.0
_PATIENCE = 60.0
_LAST_OUTPUT = 0.1
"""Seconds to wait behind the end for output of processes that the command did not wait for."""
_LONGEST_COMPLAINT = 200
_MOST_BYTES = 1024 * 1024
"""Of each stream; a key is shorter, and what comes later is thrown away."""


class KeyHelper:
    """Runs the command, at most once at a time. The key is in no log and in no error text."""

    def __init__(self, command: str, environment: Mapping[str, str]) -> None:
        self._command = command
        self._environment = dict(environment)
        self._ttl = _ttl(environment)
        self._running = anyio.Lock()
        self._until = 0.0
        self.last: str | None = None
        """The newest key, also when it is no longer to be used."""

    async def key(self) -> str:
        """The key; raises ApiError if the command gives none."""
        async with self._running:
            if self.last is None or time.monotonic() >= self._until:
                self.last = await self._run()
                self._until = time.monotonic() + self._ttl
            return self.last

    def use(self, command: str) -> None:
        """Run another command for the next key."""
        if command != self._command:
            self._command = command
            self.forget()

    def forget(self) -> None:
        """Run the command again when the next key is needed."""
        self._until = 0.0

    async def _run(self) -> str:
        # All about processes, which few have a use for at the start.
        from claude_wrapper.agent.processes.child import start  # noqa: PLC0415

        try:
            child = start(
                ["/bin/sh", "-c", self._command],
                cwd=Path.cwd(),
                environment=self._environment,
                separate_stderr=True,
            )
        except OSError as error:
            raise _failed(str(error)) from error
        code, stdout, stderr = await _outcome(child)
        if code is None:
            raise _failed("no answer in time")
        if code != 0:
            complaint = stderr.decode(errors="replace").strip()[:_LONGEST_COMPLAINT]
            raise _failed(f"exit code {code}{': ' if complaint else ''}{complaint}")
        key = stdout.decode(errors="replace").strip()
        if not key:
            raise _failed("it printed nothing")
        return key


async def _outcome(child: Child) -> tuple[int | None, bytes, bytes]:
    """The exit code and what was printed; without a code the command was too slow, and has been ended."""
    from claude_wrapper.agent.processes.child import Pump  # noqa: PLC0415  # as above

    code: int | None = None
    streams = {pipe: bytearray() for pipe in (child.stdout, child.stderr) if pipe is not None}
    pumps = [Pump(pipe, partial(_take, stream)) for pipe, stream in streams.items()]
    try:
        with anyio.move_on_after(_PATIENCE):
            code = await child.wait()
            with anyio.move_on_after(_LAST_OUTPUT):
                for pump in pumps:
                    await pump.ended.wait()
    finally:
        if code is None:
            await child.stop()
        for pump in pumps:
            pump.detach()
        child.close_pipes()
    stdout, stderr = streams.values()
    return code, bytes(stdout), bytes(stderr)


def _take(stream: bytearray, data: bytes) -> None:
    stream += data[: max(_MOST_BYTES - len(stream), 0)]


def _failed(what: str) -> ApiError:
    failure = Failure(cause="no_reply", message=what)
    return ApiError(failure, f"API Error: apiKeyHelper gave no key: {what}", "authentication_failed")


def _ttl(environment: Mapping[str, str]) -> float:
    text = environment.get("CLAUDE_CODE_API_KEY_HELPER_TTL_MS", "").strip()
    return int(text) / 1000 if text.isascii() and text.isdigit() else _TTL
