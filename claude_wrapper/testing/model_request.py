"""A request that the scripted model has seen."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal

from claude_wrapper.testing import lenient_json
from claude_wrapper.testing.gates import DEFAULT_WAIT, Moment

__all__ = ["ModelRequest", "Outcome", "RequestKind"]

RequestKind = Literal["turn", "side", "tokens", "other"]
"""`turn`: answered from the script; `side`: a request without tools, which agents make for titles and
the like; `tokens`: a token count; `other`: anything else (probes, unknown paths)."""

Outcome = Literal["pending", "sent", "failed", "cut", "abandoned"]
"""`failed`: answered with an error status; `cut`: broken off by the script; `abandoned`: the client
hung up before the reply was out."""


class ModelRequest:
    """One request: `path`, `headers` (names in lower case), `body`, `time`, and how it ended (`outcome`)."""

    def __init__(
        self, method: str, path: str, header_list: list[tuple[str, str]], raw_body: bytes, time: float
    ) -> None:
        self.method = method
        self.path = path
        self.header_list = header_list
        self.raw_body = raw_body
        self.time = time
        """Seconds since the epoch at which the request was complete."""
        self.kind: RequestKind = "other"
        self.list_name = ""
        """The list of the script that answered: `main`, a marker of `sub` or `side`, or nothing."""
        self.outcome: Outcome = "pending"
        self.end = Moment(f"the reply to {method} {path} is over")

    def __repr__(self) -> str:
        # Headers and body stay out: they may hold a key or somebody's prompt.
        return f"<ModelRequest {self.method} {self.path} {self.kind} {self.outcome}>"

    @cached_property
    def headers(self) -> dict[str, str]:
        """The headers, names in lower case; of repeated ones the last."""
        return {name.lower(): value for name, value in self.header_list}

    @cached_property
    def body(self) -> Any:
        """The body as a JSON value; an empty dict when it is no JSON."""
        try:
            return lenient_json.decode(self.raw_body)
        except ValueError:
            return {}

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation that was sent."""
        messages: list[dict[str, Any]] = self.body.get("messages", [])
        return messages

    @property
    def tool_names(self) -> list[str]:
        """The names of the tools that the model was offered, in order."""
        return [tool.get("name", "") for tool in self.body.get("tools") or []]

    @property
    def tool_results(self) -> list[dict[str, Any]]:
        """The `tool_result` blocks of the newest message."""
        content = self.messages[-1]["content"] if self.messages else ""
        if isinstance(content, str):
            return []
        return [block for block in content if block.get("type") == "tool_result"]

    def wait_end(self, timeout: float = DEFAULT_WAIT) -> Outcome:
        """Block until the reply is over, and tell how it ended."""
        self.end.wait(timeout)
        return self.outcome

    async def ended(self, timeout: float = DEFAULT_WAIT) -> Outcome:
        """Wait in an event loop until the reply is over, and tell how it ended."""
        await self.end.reached(timeout)
        return self.outcome
