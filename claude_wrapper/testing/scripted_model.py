"""The scripted model: a server on loopback that answers the Messages API from a script.

with ScriptedModel([call("Bash", command="ls"), say("done")]) as model:
    run_agent(env=model.environment())
    assert model.requests[1].tool_results
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import final

from claude_wrapper.testing.answering import Answerer
from claude_wrapper.testing.faults import ScriptError
from claude_wrapper.testing.gates import DEFAULT_WAIT, Gate
from claude_wrapper.testing.model_request import ModelRequest, RequestKind
from claude_wrapper.testing.model_server import LOOPBACK, Backend, ModelServer
from claude_wrapper.testing.request_log import RequestLog
from claude_wrapper.testing.script import Order, Script, TurnSource
from claude_wrapper.testing.script_file import ScriptFile

__all__ = ["ScriptedModel"]


@final
class ScriptedModel:
    """Answers the Messages API on 127.0.0.1 from a script; a context manager, plain or async.

    `script` is a list of turns, a `Script`, or the path of a script file; the other arguments
    down to `toolless` are those of `Script` and go with a list. `hold_limit` bounds how long a
    reply stands at a gate, `log` names a file that gets a JSON line for each request.

    Leaving the context raises ScriptError when the script did not fit what was asked of it
    (used up, a gate that nobody opened), unless the test has failed anyway.
    """

    def __init__(
        self,
        script: Sequence[TurnSource] | Script | Path | str = (),
        *,
        sub: Mapping[str, Sequence[TurnSource]] | None = None,
        side: Mapping[str, Sequence[TurnSource]] | None = None,
        order: Order = "history",
        count_all: bool = False,
        toolless: bool = False,
        port: int = 0,
        hold_limit: float = 30.0,
        log: Path | str | None = None,
    ) -> None:
        if isinstance(script, (str, Path)):
            current = ScriptFile(Path(script)).current
        else:
            if not isinstance(script, Script):
                script = Script(
                    script, sub=sub, side=side, order=order, count_all=count_all, toolless=toolless
                )
            current = script.current
        self._log = RequestLog(None if log is None else Path(log))
        self._gates: dict[str, Gate] = {}
        self._problems: list[str] = []
        answerer = Answerer(current, self._log, self.gate, self._problems)
        backend = Backend(answerer.answer, self.gate, self._problems.append, hold_limit)
        self._server = ModelServer(backend, port)

    def start(self) -> ScriptedModel:
        """Listen; returns when connections are accepted."""
        self._server.start()
        return self

    def close(self) -> None:
        """Drop every connection and close the port."""
        self._server.stop()
        self._log.close()

    def __enter__(self) -> ScriptedModel:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
        if error is None and self._problems:
            raise ScriptError("; ".join(self._problems))

    async def __aenter__(self) -> ScriptedModel:
        return self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        # Closing takes a few milliseconds and is bounded, so it may hold up the loop.
        self.__exit__(kind, error, traceback)

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return self._server.port

    @property
    def url(self) -> str:
        """The base URL for a client."""
        return f"http://{LOOPBACK}:{self.port}"

    def environment(self, **more: str) -> dict[str, str]:
        """Variables that lead an agent here, with a made-up key."""
        return {
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": "sk-test",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            **more,
        }

    def gate(self, name: str) -> Gate:
        """The gate of this name, as `stall(name)` uses it."""
        return self._gates.setdefault(name, Gate(name))

    @property
    def requests(self) -> list[ModelRequest]:
        """The requests that the script answered, in order; side requests and token counts left out."""
        return self._log.entries("turn")

    @property
    def traffic(self) -> list[ModelRequest]:
        """Every request, in order."""
        return self._log.entries()

    @property
    def problems(self) -> list[str]:
        """Where the script did not fit what was asked of it."""
        return list(self._problems)

    def wait_request(
        self, number: int, timeout: float = DEFAULT_WAIT, *, kind: RequestKind = "turn"
    ) -> ModelRequest:
        """Block until the request of this number (from 1) is there."""
        self._log.arrival(kind, number).wait(timeout)
        return self._log.entries(kind)[number - 1]

    async def request(
        self, number: int, timeout: float = DEFAULT_WAIT, *, kind: RequestKind = "turn"
    ) -> ModelRequest:
        """Wait in an event loop (asyncio or trio) until the request of this number (from 1) is there."""
        await self._log.arrival(kind, number).reached(timeout)
        return self._log.entries(kind)[number - 1]
