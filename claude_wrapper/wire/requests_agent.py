"""Control requests of the agent: what it asks of its host, and the host's answers."""

from __future__ import annotations

from functools import cache
from typing import Any

from msgspec import UNSET, UnsetType

from .bodies import BadRequest, BodyDecoder, UnknownRequest
from .permissions import CanUseTool
from .records import Object, OptionalText, Part, Text

__all__ = [
    "AgentRequest",
    "DialogCancelled",
    "DialogCompleted",
    "DialogReply",
    "Elicitation",
    "ElicitationReply",
    "HookCallback",
    "McpMessage",
    "McpMessageReply",
    "RequestUserDialog",
    "decode_agent_request",
]


class HookCallback(Part, tag_field="subtype", tag="hook_callback"):
    """Calls a hook of the host; the answer is a hook output."""

    callback_id: str
    input: Any
    """The event: an object when it is read; an agent may put a hook input struct here."""
    tool_use_id: OptionalText = UNSET


class McpMessage(Part, tag_field="subtype", tag="mcp_message"):
    """A JSON-RPC message to a server that runs in the host, or, from the host, of such a server."""

    server_name: str
    message: Object


class McpMessageReply(Part):
    """The server's JSON-RPC reply. There is one for notifications too, without an id."""

    mcp_response: Object


class Elicitation(Part, tag_field="subtype", tag="elicitation"):
    """An MCP server asks the user to fill in a form or to visit an address."""

    mcp_server_name: str
    message: str
    mode: Text = UNSET
    requested_schema: Object | UnsetType | None = UNSET
    property_order: list[str] | UnsetType | None = UNSET
    url: OptionalText = UNSET
    elicitation_id: OptionalText = UNSET
    title: OptionalText = UNSET
    display_name: OptionalText = UNSET
    description: OptionalText = UNSET


class ElicitationReply(Part):
    """The user's answer; `action` is accept, decline or cancel."""

    action: str
    content: Object | UnsetType | None = UNSET


class RequestUserDialog(Part, tag_field="subtype", tag="request_user_dialog"):
    """Asks for one of the dialogs that the host named at the start."""

    dialog_kind: str
    payload: Any
    tool_use_id: Text = UNSET


class DialogCompleted(Part, tag_field="behavior", tag="completed"):
    """The user finished the dialog."""

    result: Any


class DialogCancelled(Part, tag_field="behavior", tag="cancelled"):
    """The user closed the dialog."""


DialogReply = DialogCompleted | DialogCancelled

AgentRequest = CanUseTool | HookCallback | McpMessage | Elicitation | RequestUserDialog
"""Everything that an agent asks, told apart by `subtype`."""


def decode_agent_request(raw: bytes) -> AgentRequest | UnknownRequest | BadRequest:
    """Decode the raw body of an agent's request."""
    return _decoder().decode(raw)


@cache
def _decoder() -> BodyDecoder[AgentRequest]:
    return BodyDecoder(AgentRequest)
