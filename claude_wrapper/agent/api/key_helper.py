"""The user's command that gives the key of the API: run when a key is needed, its output kept for a while."""

from __future__ import annotations

import time
from collections.abc import Mapping

import anyio

from .api_error import ApiError
from .failure import Failure

__all__ = ["KeyHelper"]

_TTL = 300.0
_PATIENCE = 60.0
_LONGEST_COMPLAINT = 200


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

    def forget(self) -> None:
        """Run the command again when the next key is needed."""
        self._until = 0.0

    async def _run(self) -> str:
        try:
            with anyio.fail_after(_PATIENCE):
                done = await anyio.run_process(self._command, env=self._environment, check=False)
        except (OSError, TimeoutError) as error:
            raise _failed(str(error) or "no answer in time") from error
        key = done.stdout.decode(errors="replace").strip()
        if done.returncode != 0:
            complaint = done.stderr.decode(errors="replace").strip()[:_LONGEST_COMPLAINT]
            raise _failed(f"exit code {done.returncode}{': ' if complaint else ''}{complaint}")
        if not key:
            raise _failed("it printed nothing")
        return key


def _failed(what: str) -> ApiError:
    failure = Failure(cause="no_reply", message=what)
    return ApiError(failure, f"API Error: apiKeyHelper gave no key: {what}", "authentication_failed")


def _ttl(environment: Mapping[str, str]) -> float:
    text = environment.get("CLAUDE_CODE_API_KEY_HELPER_TTL_MS", "").strip()
    return int(text) / 1000 if text.isascii() and text.isdigit() else _TTL
