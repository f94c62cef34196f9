"""JSON schemas of Python types, in the part of JSON Schema that every agent takes.

Agents check against draft 7 and some refuse a schema with a keyword that they do not know; the Messages
API wants an object at the root and no keyword that has changed its meaning since.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, get_args

import msgspec

from .errors import OptionsError

__all__ = ["WRAPPER", "Described", "Schema", "describe", "is_pydantic", "name_of"]

Schema = dict[str, Any]

WRAPPER = "output"
"""The key under which a value stands that is no object."""

_OF_NAMES = frozenset({"properties", "patternProperties", "$defs", "definitions"})
"""Keywords whose values are schemas by name."""
_OF_ONE = frozenset(
    {"items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"}
)
_OF_MANY = frozenset({"anyOf", "oneOf", "allOf"})
_PLAIN = frozenset(
    {
        *("$ref", "type", "enum", "const", "title", "description", "default", "format", "pattern"),
        *("required", "minProperties", "maxProperties", "minLength", "maxLength", "minItems", "maxItems"),
        *("uniqueItems", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("contentEncoding", "contentMediaType"),
    }
)


class Described(NamedTuple):
    """The schema of a type, and whether its values are put into an object, under `output`."""

    schema: Schema
    wrapped: bool


def describe(kind: Any) -> Described:
    """Return the schema of a type. Raises OptionsError for a type that no schema can describe."""
    schema = _with_root(_cleaned(_generated(kind)))
    if schema.get("type") == "object" and not _OF_MANY & schema.keys():
        return Described(schema, wrapped=False)
    definitions = {"$defs": schema.pop("$defs")} if "$defs" in schema else {}
    root: Schema = {"type": "object", "properties": {WRAPPER: schema}, "required": [WRAPPER]}
    return Described({**root, "additionalProperties": False, **definitions}, wrapped=True)


def is_pydantic(kind: Any) -> bool:
    """Whether a type is a class of pydantic, or holds one."""
    return hasattr(kind, "__pydantic_validator__") or any(is_pydantic(part) for part in get_args(kind))


def name_of(kind: Any) -> str:
    """Return what a type is called in messages."""
    return kind.__name__ if isinstance(kind, type) and not get_args(kind) else str(kind)


def _generated(kind: Any) -> Schema:
    try:
        if is_pydantic(kind):
            from pydantic import TypeAdapter  # noqa: PLC0415  # only for users who have it

            return TypeAdapter(kind).json_schema()
        return msgspec.json.schema(kind)
    except Exception as error:
        # Both libraries raise what they like for a type they do not know.
        raise OptionsError(f"The type {name_of(kind)} has no JSON schema: {error}") from error


def _cleaned(schema: Any) -> Any:
    """Leave out what is no keyword of draft 7, and close the objects that nobody declared open."""
    if not isinstance(schema, dict):
        return schema
    clean: Schema = {}
    for key, value in schema.items():
        if key in _PLAIN:
            clean[key] = value
        elif key in _OF_NAMES:
            clean[key] = {name: _cleaned(part) for name, part in value.items()}
        elif key in _OF_ONE:
            clean[key] = _cleaned(value)
        elif key in _OF_MANY:
            clean[key] = [_cleaned(part) for part in value]
    if "prefixItems" in schema:
        clean["items"] = _tuple_items(schema)
    if "properties" in clean:
        clean.setdefault("additionalProperties", False)
    return clean


def _tuple_items(schema: Schema) -> Schema:
    """Describe the items of a tuple without their order, which no two drafts write in the same way."""
    parts = [
        _cleaned(part) for part in (*schema["prefixItems"], schema.get("items")) if isinstance(part, dict)
    ]
    distinct = [part for index, part in enumerate(parts) if part not in parts[:index]]
    return distinct[0] if len(distinct) == 1 else {"anyOf": distinct}


def _with_root(schema: Schema) -> Schema:
    """Put the definition that the root refers to in its place."""
    reference = schema.get("$ref")
    if reference is None:
        return schema
    definitions = schema["$defs"]
    name = reference.removeprefix("#/$defs/")
    rest = {key: value for key, value in schema.items() if key not in {"$ref", "$defs"}}
    root: Schema = {**definitions[name], **rest}
    if reference not in _references([root, definitions]):
        definitions = {key: value for key, value in definitions.items() if key != name}
    return {**root, "$defs": definitions} if definitions else root


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _references(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key == "$ref" and isinstance(item, str):
                yield item
            else:
                yield from _references(item)
