"""What can be seen to be wrong in a JSON schema without the library that validates with it, whose start costs time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import OptionsError

__all__ = ["check_keywords"]

_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
_OF_SCHEMAS = ("anyOf", "oneOf", "allOf", "prefixItems")
_OF_NAMED_SCHEMAS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_SCHEMAS = ("items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else")


def check_keywords(tool: str, schema: Mapping[str, Any]) -> None:
    """Raise OptionsError, with the place, for a keyword with a value that it cannot have."""
    problem = _problem(schema, "")
    if problem is not None:
        place, what = problem
        raise OptionsError(
            f"The input schema of the tool {tool!r} is invalid{place and f' at {place}'}: {what}"
        )


def _problem(schema: Any, place: str) -> tuple[str, str] | None:
    if isinstance(schema, bool):
        return None
    if not isinstance(schema, Mapping):
        return place, f"a schema must be a dict, got {schema!r}"
    what = _of_values(schema)
    if what is not None:
        return place, what
    for inner, where in _inner(schema, place):
        problem = _problem(inner, where)
        if problem is not None:
            return problem
    return None


def _of_values(schema: Mapping[str, Any]) -> str | None:
    kinds = schema.get("type", [])
    for kind in kinds if isinstance(kinds, list | tuple) else [kinds]:
        if kind not in _TYPES:
            return f"the type {kind!r} is none of {', '.join(_TYPES)}"
    required = schema.get("required", [])
    if not isinstance(required, list | tuple) or not all(isinstance(name, str) for name in required):
        return f"'required' must be a list of names, got {required!r}"
    for keyword in (*_OF_SCHEMAS, "enum"):
        if not isinstance(schema.get(keyword, []), list | tuple):
            return f"{keyword!r} must be a list, got {schema[keyword]!r}"
    for keyword in _OF_NAMED_SCHEMAS:
        if not isinstance(schema.get(keyword, {}), Mapping):
            return f"{keyword!r} must be a dict, got {schema[keyword]!r}"
    return None


def _inner(schema: Mapping[str, Any], place: str) -> list[tuple[Any, str]]:
    inner = [(schema[keyword], f"{place}/{keyword}") for keyword in _SCHEMAS if keyword in schema]
    # Older drafts have a list of schemas here.
    inner = [pair for pair in inner if not isinstance(pair[0], list | tuple)]
    for keyword in _OF_SCHEMAS:
        inner += [(each, f"{place}/{keyword}/{n}") for n, each in enumerate(schema.get(keyword, ()))]
    for keyword in _OF_NAMED_SCHEMAS:
        inner += [(each, f"{place}/{keyword}/{name}") for name, each in schema.get(keyword, {}).items()]
    return inner
