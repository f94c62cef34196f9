"""One MCP server of a session: its handshake, its tools, its calls, over whatever channel it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import anyio

from .channel import (
    AuthNeededError,
    Channel,
    Listener,
    LostError,
    McpChannelError,
    NoAnswerError,
    SessionGoneError,
)
from .protocol import PROTOCOL_VERSION, Requests, RpcError, result_of

__all__ = ["CallLostError", "Dial", "McpServer", "Outlook", "ServerFailedError"]

_MOST_PAGES = 50
_LISTS = {"tools": "tools/list", "resources": "resources/list", "prompts": "prompts/list"}
_ASK_SECONDS = 60.0
_LATE = "the server did not answer in time"

Dial = Callable[[Listener], Channel]


class ServerFailedError(Exception):
    """The server cannot be used, or a call of it failed; the text says why."""


class CallLostError(ServerFailedError):
    """Nobody is left to say what became of the call."""


class Outlook(Protocol):
    """What a server has around it."""

    def roots(self) -> list[str]:
        """The addresses of the folders that are worked in."""
        ...

    def changed(self, server: McpServer) -> None:
        """What the server offers is not what it was."""
        ...

    def elicited(self, server: McpServer, question: str) -> None:
        """What a server had asked the user to do elsewhere is done."""
        ...

    async def elicit(self, server: McpServer, params: dict[str, Any]) -> dict[str, Any]:
        """Put a question of the server to the user."""
        ...


class McpServer:
    """`tools` and its like are as the server described them.

    `status` is pending, connected, failed, needs-auth or disabled.
    """

    def __init__(
        self,
        name: str,
        dial: Dial,
        client: Mapping[str, Any],
        *,
        scope: str = "dynamic",
        kind: str = "sdk",
        shown: Mapping[str, Any] | None = None,
        call_seconds: float | None = None,
        outlook: Outlook | None = None,
    ) -> None:
        self.name = name
        self.scope = scope
        self.kind = kind
        self.shown = shown
        """Its configuration, as far as hosts may see it."""
        self.call_seconds = call_seconds
        self.status = "pending"
        self.error: str | None = None
        self.tools: list[dict[str, Any]] = []
        self.resources: list[dict[str, Any]] = []
        self.prompts: list[dict[str, Any]] = []
        self.info: dict[str, Any] = {}
        self._dial = dial
        self._client = dict(client)
        self._outlook = outlook
        self._requests = Requests()
        self._channel: Channel | None = None
        self._connecting = anyio.Lock()
        self._greeted = anyio.Event()
        self._seconds = 30.0
        self._calls = 0
        self._questions: list[anyio.CancelScope] = []

    @property
    def source(self) -> str:
        """Where the server comes from, in a word."""
        return "sdk" if self.kind == "sdk" else self.scope

    @property
    def capabilities(self) -> dict[str, Any]:
        """What the server says it can do."""
        found = self.info.get("capabilities")
        return found if isinstance(found, dict) else {}

    async def connect(self, seconds: float) -> None:
        """Do the handshake; afterwards the status tells how it went."""
        self._seconds = seconds
        try:
            with anyio.fail_after(seconds):
                async with self._connecting:
                    await self.hang_up()
                    await self._greet()
                    self.tools = await self._all("tools")
                    for kind in ("resources", "prompts"):
                        if kind in self.capabilities:
                            setattr(self, kind, await self._all(kind))
        except AuthNeededError:
            await self._failed("needs-auth", None)
        except (McpChannelError, RpcError, TimeoutError) as error:
            await self._failed("failed", str(error) or _LATE)
        else:
            self.status, self.error = "connected", None
        finally:
            self._greeted.set()

    async def spoken_to(self) -> None:
        """Wait until the first request of the handshake is about to go out."""
        await self._greeted.wait()

    async def switch_off(self) -> None:
        """Let go of the server until it is connected again."""
        await self._failed("disabled", None)

    def adopt_manifest(self, initialize: Mapping[str, Any], tools: Mapping[str, Any] | None) -> bool:
        """Take over results of the handshake that the host had already; False if they cannot be used."""
        if initialize.get("protocolVersion") != PROTOCOL_VERSION or not isinstance(
            (tools or {}).get("tools"), list
        ):
            return False
        assert tools is not None
        self._channel = self._dial(self)
        self.info = dict(initialize)
        self.tools = [tool for tool in tools["tools"] if isinstance(tool, dict)]
        self._requests.skip(2)
        self.status = "connected"
        self._greeted.set()
        return True

    async def call(self, tool: str, arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
        """Run a tool; raises ServerFailedError."""
        try:
            return await self._answered(
                lambda: self._requests.call_tool(tool, arguments, meta), self.call_seconds
            )
        except NoAnswerError as error:
            seconds = self.call_seconds or 0
            raise ServerFailedError(
                f'the tool "{tool}" of MCP server "{self.name}" timed out after {seconds:g}s'
            ) from error
        except TimeoutError as error:
            raise ServerFailedError(_LATE) from error
        except LostError as error:
            raise CallLostError(str(error)) from error
        except (McpChannelError, RpcError) as error:
            raise ServerFailedError(str(error)) from error

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Make another request; raises ServerFailedError."""
        try:
            return await self._answered(lambda: self._requests.other(method, params), _ASK_SECONDS)
        except (McpChannelError, RpcError, TimeoutError) as error:
            raise ServerFailedError(str(error) or _LATE) from error

    async def heard(self, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        """What the server says by itself."""
        if method == "roots/list" and self._outlook is not None:
            return {"roots": [{"uri": each} for each in self._outlook.roots()]}
        if method == "elicitation/create" and self._outlook is not None:
            return await self._question(self._outlook, params)
        if method == "notifications/elicitation/complete" and self._outlook is not None:
            self._outlook.elicited(self, str(params.get("elicitationId") or ""))
            return None
        changed = method.removeprefix("notifications/").removesuffix("/list_changed")
        if method.endswith("/list_changed") and changed in _LISTS and self.status == "connected":
            try:
                with anyio.fail_after(self._seconds):
                    setattr(self, changed, await self._all(changed))
            except (McpChannelError, RpcError, TimeoutError):
                return None
            if self._outlook is not None:
                self._outlook.changed(self)
        return None

    async def _question(self, outlook: Outlook, params: dict[str, Any]) -> dict[str, Any]:
        """Ask the user, no longer than the calls last that a question may belong to."""
        with anyio.CancelScope() as scope:
            self._questions.append(scope)
            try:
                return await outlook.elicit(self, params)
            finally:
                self._questions.remove(scope)
        return {"action": "cancel"}

    async def _answered(self, request: Callable[[], dict[str, Any]], seconds: float | None) -> dict[str, Any]:
        self._calls += 1
        try:
            return await self._asked(request, seconds)
        finally:
            self._calls -= 1
            if not self._calls:
                for scope in self._questions:
                    scope.cancel()

    async def _asked(self, request: Callable[[], dict[str, Any]], seconds: float | None) -> dict[str, Any]:
        """A server that had died, or forgot us, is greeted anew, once."""
        for last in (False, True):
            channel = await self._open_channel()
            message = request()
            revocation = self._requests.cancelled(message["id"])
            try:
                reply = await channel.mcp_message(self.name, message, seconds, revocation)
            except SessionGoneError:
                if last:
                    raise
                await self.hang_up()
            else:
                return result_of(reply)
        raise AssertionError

    async def _open_channel(self) -> Channel:
        if self.status != "connected":
            raise McpChannelError(f"it is {self.status}")
        with anyio.fail_after(self._seconds):
            async with self._connecting:
                if self._channel is None or self._channel.over:
                    await self.hang_up()
                    await self._greet()
        assert self._channel is not None
        return self._channel

    async def _greet(self) -> None:
        self._requests = Requests()
        self._channel = self._dial(self)
        self._greeted.set()
        self.info = await self._ask(
            self._requests.initialize(self._client, of_host=self.kind == "sdk"),
        )
        await self._send(self._requests.initialized())

    async def _failed(self, status: str, error: str | None) -> None:
        self.status, self.error = status, error
        self.tools, self.resources, self.prompts, self.info = [], [], [], {}
        await self.hang_up()

    async def hang_up(self) -> None:
        """Close the channel."""
        channel, self._channel = self._channel, None
        if channel is not None:
            with anyio.CancelScope(shield=True):
                await channel.close()

    async def _all(self, kind: str) -> list[dict[str, Any]]:
        """A list of the server's, all pages of it."""
        found: list[dict[str, Any]] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            try:
                page = await self._ask(self._requests.a_list(_LISTS[kind], cursor))
            except RpcError:
                if kind in self.capabilities or self.kind == "sdk":
                    raise
                break
            listed = page.get(kind)
            found += [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str):
                break
        return found

    async def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        return result_of(await self._send(message))

    async def _send(self, message: dict[str, Any]) -> dict[str, Any]:
        assert self._channel is not None
        return await self._channel.mcp_message(self.name, message, None)
