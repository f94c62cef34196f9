"""The agent's questions to its host: permission, hooks and messages to its MCP servers."""

from __future__ import annotations

from typing import Any

import msgspec

from claude_wrapper.agent.hooks.output import hook_output, without_nulls
from claude_wrapper.agent.hooks.run import HookFailedError, HookGoneError, HookTimeoutError
from claude_wrapper.agent.host.interrupts import Interruption
from claude_wrapper.agent.mcp.channel import LostError, McpChannelError
from claude_wrapper.errors import ControlError, ControlTimeoutError
from claude_wrapper.link.peer import ControlPeer
from claude_wrapper.wire.codec import decode_object
from claude_wrapper.wire.hook_outputs import HookOutput
from claude_wrapper.wire.permissions import CanUseTool, PermissionReply
from claude_wrapper.wire.requests_agent import Elicitation, ElicitationReply, HookCallback, McpMessage

__all__ = ["HostGoneError", "HostLink", "HostRefusedError"]


class HostGoneError(Exception):
    """The host closed the channel: nobody answers any more."""


class HostRefusedError(Exception):
    """The host did not answer a question about permission; the text says how it failed."""


class HostLink:
    """Asks the host over the control channel."""

    def __init__(self, peer: ControlPeer, interruption: Interruption) -> None:
        self._peer = peer
        self._interruption = interruption

    async def can_use_tool(self, question: CanUseTool) -> PermissionReply:
        """Ask whether a call may run; waits as long as it takes. Raises HostRefusedError."""
        try:
            return _permission_reply(await self._peer.request(question))
        except HostGoneError as error:
            raise HostRefusedError(f"AbortError: {error}") from error
        except (ControlError, msgspec.DecodeError) as error:
            raise HostRefusedError(f"Error: {error}") from error

    async def elicit(self, question: Elicitation) -> ElicitationReply:
        """Put a question of a server; waits as long as it takes. Raises HostRefusedError."""
        try:
            raw = await self._peer.request(question)
            fields = decode_object(bytes(raw)) if raw is not None else {}
            reply: ElicitationReply = msgspec.convert(without_nulls(fields), ElicitationReply)
        except (HostGoneError, ControlError, msgspec.DecodeError) as error:
            raise HostRefusedError(str(error)) from error
        return reply

    async def call_hook(self, callback_id: str, event: Any, tool_use_id: str, seconds: float) -> HookOutput:
        """Call a hook; raises HookTimeoutError, HookGoneError and HookFailedError."""
        question = HookCallback(callback_id=callback_id, input=event, tool_use_id=tool_use_id)
        try:
            with self._interruption.question() as scope:
                raw = await self._peer.request(question, timeout=seconds)
            if not scope.cancelled_caught:
                return hook_output(decode_object(bytes(raw)) if raw is not None else {})
        except ControlTimeoutError as error:
            raise HookTimeoutError(str(error)) from error
        except HostGoneError as error:
            raise HookGoneError(str(error)) from error
        except (ControlError, msgspec.DecodeError) as error:
            raise HookFailedError(str(error)) from error
        await self._interruption.about_to_stop()
        raise HookGoneError("the question was taken back")

    async def mcp_message(
        self,
        server: str,
        message: dict[str, Any],
        seconds: float | None,
        revocation: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Send a JSON-RPC message to a server in the host; returns its reply. Raises McpChannelError.

        `revocation` is the message that takes it back, when it is a call of a tool.
        """
        request = McpMessage(server_name=server, message=message)
        if revocation is None:
            return await self._mcp_reply(request, seconds, None)
        withdrawal = McpMessage(server_name=server, message=revocation)
        reply: dict[str, Any] = {}
        with self._interruption.question() as scope:
            reply = await self._mcp_reply(request, seconds, withdrawal)
        if not scope.cancelled_caught:
            return reply
        await self._interruption.about_to_stop()
        raise LostError("the call was taken back")

    async def _mcp_reply(
        self, request: McpMessage, seconds: float | None, revocation: McpMessage | None
    ) -> dict[str, Any]:
        try:
            raw = await self._peer.request(request, timeout=seconds, revocation=revocation)
            reply = decode_object(bytes(raw)).get("mcp_response") if raw is not None else None
        except HostGoneError as error:
            raise LostError(str(error)) from error
        except (ControlError, msgspec.DecodeError) as error:
            raise McpChannelError(str(error)) from error
        if not isinstance(reply, dict):
            raise McpChannelError("the host's answer holds no reply of the server")
        return reply


def _permission_reply(raw: msgspec.Raw | None) -> PermissionReply:
    fields = decode_object(bytes(raw)) if raw is not None else {}
    # Hosts write null for what they leave out.
    reply: PermissionReply = msgspec.convert(without_nulls(fields), PermissionReply)
    return reply
