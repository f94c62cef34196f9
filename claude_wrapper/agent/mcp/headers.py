"""The headers of a server behind a URL: those of its configuration, and those that a command prints."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import anyio
import msgspec

__all__ = ["Headers"]

_SECONDS = 10.0
_MOST_BYTES = 1024 * 1024
_decoder = msgspec.json.Decoder(dict[str, str])


class Headers:
    """The command runs for each connection, and again when the server refuses what it gave."""

    def __init__(
        self,
        fixed: Mapping[str, str],
        helper: str | None,
        cwd: Path,
        environment: Mapping[str, str],
    ) -> None:
        self._fixed = dict(fixed)
        self._helper = helper
        self._cwd = cwd
        self._environment = dict(environment)
        self._found: dict[str, str] | None = None

    @property
    def can_be_made_anew(self) -> bool:
        """Whether other headers may come of asking again."""
        return self._helper is not None

    @property
    def signs_in(self) -> bool:
        """Whether the configuration says who we are."""
        return any(name.lower() == "authorization" for name in self._fixed)

    def forget(self) -> None:
        """Run the command again for the next request."""
        self._found = None

    async def all(self) -> dict[str, str]:
        """The headers of a request. Without what a command fails to give, the server will say what it misses."""
        if self._helper is None:
            return self._fixed
        if self._found is None:
            self._found = await self._printed(self._helper)
        return {**self._fixed, **self._found}

    async def _printed(self, command: str) -> dict[str, str]:
        from claude_wrapper.agent.processes.child import Pump, start  # noqa: PLC0415  # hardly anybody has one

        output = bytearray()
        try:
            child = start(
                ["/bin/sh", "-c", command],
                cwd=self._cwd,
                environment=self._environment,
                separate_stderr=True,
            )
        except OSError:
            return {}
        assert child.stderr is not None
        pumps = [Pump(child.stdout, output.extend), Pump(child.stderr, lambda _: None)]
        try:
            with anyio.move_on_after(_SECONDS):
                code = await child.wait()
                await pumps[0].ended.wait()
                if code == 0 and len(output) <= _MOST_BYTES:
                    return _decoder.decode(output)
        except (msgspec.DecodeError, RecursionError):
            return {}
        finally:
            await child.stop()
            for pump in pumps:
                pump.detach()
            child.close_pipes()
        return {}
