"""Envelopes of the control channel, which both sides use in both directions."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from .records import Frame, Part

__all__ = [
    "ControlCancelFrame",
    "ControlFailure",
    "ControlReply",
    "ControlRequestFrame",
    "ControlResponseFrame",
    "ControlSuccess",
    "KeepAliveFrame",
]


class ControlRequestFrame(Frame, tag="control_request"):
    """A request to the other side. The body stays raw, so that a bad one can still be answered."""

    request_id: str
    request: msgspec.Raw


class ControlSuccess(Part, tag_field="subtype", tag="success"):
    """The request was carried out; `response` is its answer, absent where there is nothing to say."""

    request_id: str
    response: msgspec.Raw | UnsetType = UNSET
    pending_permission_requests: list[Any] | UnsetType = UNSET
    pending_user_dialog_requests: list[Any] | UnsetType = UNSET


class ControlFailure(Part, tag_field="subtype", tag="error"):
    """The request was refused or failed; `error` says why."""

    request_id: str
    error: str
    error_code: str | UnsetType | None = UNSET
    model: str | UnsetType | None = UNSET
    """The model that stays in use, if another one was asked for."""


ControlReply = ControlSuccess | ControlFailure


class ControlResponseFrame(Frame, tag="control_response"):
    """The answer to a request of the other side."""

    response: ControlReply


class ControlCancelFrame(Frame, tag="control_cancel_request"):
    """The sender no longer needs an answer to its own request."""

    request_id: str


class KeepAliveFrame(Frame, tag="keep_alive"):
    """Says only that the sender lives."""

    startup_mark: Any = UNSET
