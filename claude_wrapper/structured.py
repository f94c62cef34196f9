"""Structured output by type: the option that asks for it, and the value that a result holds.

options = ClaudeAgentOptions(output_format=output_format(Invoice))
messages = [message async for message in query(prompt="Read invoice.pdf", options=options)]
invoice = structured_result(messages, Invoice)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec

from .errors import StructuredOutputError
from .messages import ResultMessage
from .structured_schema import WRAPPER, Described, describe, is_pydantic, name_of

__all__ = ["output_format", "structured_result"]

T = TypeVar("T")


def output_format(kind: Any) -> dict[str, Any]:
    """Return the value of `ClaudeAgentOptions.output_format` that asks for data of a type.

    The type is a msgspec Struct, a dataclass, a TypedDict, a pydantic model, or built of such:
    `list[Invoice]`, `Invoice | Refusal`. Raises OptionsError for a type without a JSON schema.
    """
    return {"type": "json_schema", "schema": describe(kind).schema}


def structured_result(source: ResultMessage | Iterable[Any], kind: type[T]) -> T:
    """Return the structured output of a result, or of the last result among messages, as that type.

    A value that the model put under one key too many, such as `{"output": {...}}`, is taken out of
    it. Raises StructuredOutputError when the run failed, gave no data, or gave data that do not fit.
    """
    result = source if isinstance(source, ResultMessage) else _last_result(source)
    value = _unwrapped(_value_of(result), describe(kind))
    text = msgspec.json.encode(value)
    try:
        return _converted(text, kind)
    except ValueError as error:
        raise StructuredOutputError(
            f"The structured output does not fit {name_of(kind)}: {error}", text.decode(), error
        ) from error


def _last_result(messages: Iterable[Any]) -> ResultMessage:
    results = [message for message in messages if isinstance(message, ResultMessage)]
    if not results:
        raise StructuredOutputError("There is no result among the messages")
    return results[-1]


def _value_of(result: ResultMessage) -> Any:
    if result.is_error:
        reasons = "; ".join(map(str, result.errors or ())) or result.result or result.subtype
        raise StructuredOutputError(f"The run gave no structured output: {reasons}", result.result)
    if result.structured_output is not None:
        return result.structured_output
    text = result.result or ""
    try:
        return msgspec.json.decode(_without_fence(text))
    except (msgspec.DecodeError, RecursionError) as error:
        message = "The agent answered with text instead of structured output"
        raise StructuredOutputError(
            message if text else "The agent gave no structured output", text
        ) from error


def _without_fence(text: str) -> str:
    """Take JSON out of the code block that models like to put around it."""
    lines = text.strip().splitlines()
    fenced = len(lines) > 2 and lines[0] in {"```", "```json"} and lines[-1] == "```"
    return "\n".join(lines[1:-1]) if fenced else text


def _unwrapped(value: Any, described: Described) -> Any:
    if not isinstance(value, dict) or len(value) != 1:
        return value
    ((key, inner),) = value.items()
    if described.wrapped:
        return inner if key == WRAPPER else value
    is_closed = described.schema.get("additionalProperties") is False
    is_foreign = is_closed and key not in described.schema["properties"]
    return inner if is_foreign and isinstance(inner, dict) else value


def _converted(text: bytes, kind: type[T]) -> T:
    if is_pydantic(kind):
        from pydantic import TypeAdapter  # noqa: PLC0415  # only for users who have it

        return TypeAdapter(kind).validate_json(text)
    return msgspec.json.decode(text, type=kind)
