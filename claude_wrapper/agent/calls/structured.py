"""Structured output: the tool that takes the run's answer, and the check against the caller's schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from claude_wrapper.agent.tools.contract import ToolContext, ToolFailure, ToolOutput
from claude_wrapper.wire.codec import encode

__all__ = ["STRUCTURED_OUTPUT", "SchemaError", "StructuredOutput", "check_schema"]

STRUCTURED_OUTPUT = "StructuredOutput"
_TYPES = {"object": "object", "array": "array", "string": "string", "integer": "integer", "number": "number"}


class SchemaError(Exception):
    """The caller's schema is no JSON Schema."""


def check_schema(schema: dict[str, Any]) -> None:
    """Raises SchemaError if nothing could be checked against the schema."""
    import jsonschema  # noqa: PLC0415  # start-up: only runs with a schema need it

    try:
        jsonschema.Draft7Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise SchemaError(error.message) from error
    for reference in _references(schema):
        if not _leads_somewhere(reference, schema):
            raise SchemaError(f"the reference {reference} leads nowhere")


def _references(value: Any) -> Iterator[str]:
    """Every `$ref` of a schema."""
    if isinstance(value, dict):
        reference = value.get("$ref")
        if isinstance(reference, str):
            yield reference
        value = list(value.values())
    for item in value if isinstance(value, list) else ():
        yield from _references(item)


def _leads_somewhere(reference: str, schema: dict[str, Any]) -> bool:
    """Whether a reference into the schema itself finds a part of it; others are resolved by their names."""
    if not reference.startswith("#/"):
        return reference == "#" or "$id" in encode(schema).decode()
    place: Any = schema
    for part in unquote(reference[2:]).split("/"):
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(place, dict) and name in place:
            place = place[name]
        elif isinstance(place, list) and name.isdigit() and int(name) < len(place):
            place = place[int(name)]
        else:
            return False
    return True


class StructuredOutput:
    """Takes the answer. The model has to call it once, with a value that fits the schema."""

    name = STRUCTURED_OUTPUT
    description = (
        "Hands in the answer of this task as structured data. Call it exactly once, when the work is done, "
        "with a value that fits the schema; nothing else is read as the answer."
    )

    def __init__(self, schema: dict[str, Any]) -> None:
        self.input_schema = schema
        self._validator: Any = None

    def is_read_only(self, tool_input: dict[str, Any]) -> bool:
        """Nothing but the answer changes, which no other call sees."""
        return True

    def prepare(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        """The answer is taken as it is."""
        return tool_input

    def for_permission(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        """There are no paths in it."""
        return tool_input

    async def check(self, tool_input: dict[str, Any], context: ToolContext) -> None:
        """Whether the answer fits is a matter of running, so that it counts as a try."""

    async def run(self, tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Take the answer, if it fits."""
        problems = self._problems(tool_input)
        if problems:
            raise ToolFailure(f"Output does not match required schema: {', '.join(problems)}")
        done = "Structured output provided successfully"
        return ToolOutput(done, done)

    def _problems(self, value: Any) -> list[str]:
        if self._validator is None:
            import jsonschema  # noqa: PLC0415  # start-up, as above

            self._validator = jsonschema.Draft7Validator(self.input_schema)
        errors = sorted(self._validator.iter_errors(value), key=lambda error: list(map(str, error.path)))
        return [f"{_pointer(error)}: {_told(error)}" for error in errors]


_LENGTHS = {"minLength": "fewer", "maxLength": "more"}


def _pointer(error: Any) -> str:
    return "/" + "/".join(str(step) for step in error.absolute_path) if error.absolute_path else "root"


def _told(error: Any) -> str:
    """What is wrong, in the words that models have seen most."""
    kind, value = error.validator, error.validator_value
    if kind == "type":
        return f"must be {', '.join(value) if isinstance(value, list) else _TYPES.get(value, value)}"
    if kind == "required":
        missing = [name for name in value if name not in error.instance]
        return f"must have required property '{missing[0]}'" if missing else str(error.message)
    if kind == "additionalProperties":
        extra = [name for name in error.instance if name not in error.schema.get("properties", {})]
        return (
            f"must NOT have additional properties ('{extra[0]}' is not allowed)"
            if extra
            else str(error.message)
        )
    if kind in _LENGTHS:
        return f"must NOT have {_LENGTHS[kind]} than {value} characters (got {len(error.instance)})"
    if kind == "enum":
        return f"must be equal to one of the allowed values: {encode(value).decode()}"
    return str(error.message)
