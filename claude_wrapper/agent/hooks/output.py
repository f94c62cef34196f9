"""Reading what a hook answers: JSON that says what is to be done, or plain text."""

from __future__ import annotations

from typing import Any

import msgspec

from claude_wrapper.wire.codec import decode_object
from claude_wrapper.wire.hook_outputs import HookOutput

__all__ = [
    "MisplacedAnswerError",
    "UnusableAnswerError",
    "hook_output",
    "read_answer",
    "says_async",
    "without_nulls",
]


class UnusableAnswerError(Exception):
    """An answer that means nothing to the agent; the text says what is wrong with it."""


class MisplacedAnswerError(UnusableAnswerError):
    """An answer to an event that was not asked about."""


def hook_output(fields: dict[str, Any]) -> HookOutput:
    """An answer from its fields; what is null counts as left out. Raises ValidationError."""
    fields = without_nulls(fields)
    specific = fields.get("hookSpecificOutput")
    if isinstance(specific, dict):
        fields["hookSpecificOutput"] = without_nulls(specific)
    return msgspec.convert(fields, HookOutput)


def without_nulls(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields that are not null: hosts and scripts write null for what they leave out."""
    return {key: value for key, value in fields.items() if value is not None}


def read_answer(text: str, event: str) -> HookOutput | str:
    """What a hook printed: an answer if it is a JSON object, else the text itself, trimmed.

    Raises UnusableAnswerError for an object that is no answer, or one to another event.
    """
    text = text.strip()
    fields = _object(text)
    if fields is None:
        return text
    try:
        output = hook_output(fields)
    except msgspec.ValidationError as error:
        raise UnusableAnswerError(f"The hook's answer cannot be used: {error}\nIt was: {text}") from error
    specific = output.hook_specific_output
    if isinstance(specific, msgspec.Struct) and specific.__struct_config__.tag != event:
        told = specific.__struct_config__.tag
        raise MisplacedAnswerError(f"The hook was asked about {event} and answered about {told}: {text}")
    return output


def says_async(line: bytes) -> bool:
    """Whether a hook's first line asks not to be waited for."""
    fields = _object(line.decode("utf-8", "replace").strip())
    return fields is not None and fields.get("async") is True


def _object(text: str) -> dict[str, Any] | None:
    if not text.startswith("{"):
        return None
    try:
        return decode_object(text.encode("utf-8", "replace"))
    except msgspec.DecodeError:
        return None
