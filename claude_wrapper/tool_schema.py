"""Python types to JSON schemas: what the model is told about a tool's input."""

from __future__ import annotations

import types
from collections import abc
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from .errors import OptionsError
from .tool_schema_check import check_keywords

__all__ = ["input_schema_of"]

Schema = dict[str, Any]

_PLAIN: dict[Any, str] = {
    str: "string",
    bytes: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    list: "array",
    dict: "object",
    type(None): "null",
    **dict.fromkeys((tuple, set, frozenset, abc.Sequence, abc.Set, abc.Iterable), "array"),
    **dict.fromkeys((abc.Mapping, abc.MutableMapping), "object"),
}

_KEYWORDS = ("properties", "$ref", "anyOf", "oneOf", "allOf", "enum", "const")


def input_schema_of(tool: str, source: Any) -> Schema:
    """Return the schema of a tool's input.

    `source` is a dict of names and types, all of them required; a TypedDict or dataclass; a pydantic
    model; or a JSON schema. Raises OptionsError for a schema that describes no object.
    """
    if isinstance(source, Mapping):
        schema = _given_schema(tool, source) if _is_schema(source) else _object_of(source)
    else:
        schema = _class_schema(source, ()) or {}
        if schema.get("type") != "object":
            # Nothing is known of the input's fields; the function takes them as they come.
            schema = {"type": "object"}
        schema.setdefault("properties", {})
    try:
        msgspec.json.encode(schema)
    except (TypeError, ValueError) as error:
        raise OptionsError(
            f"The input schema of the tool {tool!r} holds what JSON cannot: {error}"
        ) from error
    return schema


def _given_schema(tool: str, source: Mapping[str, Any]) -> Schema:
    schema = {"type": "object", **source}
    if schema["type"] != "object":
        raise OptionsError(
            f"The input schema of the tool {tool!r} has the type {schema['type']!r}; a tool's input is an object"
        )
    check_keywords(tool, schema)
    return schema


def _is_schema(source: Mapping[str, Any]) -> bool:
    """Tell a JSON schema from a dict of names and types: the values of its keywords are no types."""
    if isinstance(source.get("type"), str | list):
        return True
    return any(isinstance(source.get(keyword), str | list | dict) for keyword in _KEYWORDS)


def _object_of(fields: Mapping[str, Any], seen: tuple[Any, ...] = ()) -> Schema:
    properties = {name: _schema(kind, seen) for name, kind in fields.items()}
    return {"type": "object", "properties": properties, "required": list(fields)}


def _schema(kind: Any, seen: tuple[Any, ...]) -> Schema:
    if kind in (Any, object):
        return {}
    if isinstance(kind, Mapping):
        return dict(kind) if _is_schema(kind) else _object_of(kind, seen)
    if kind is None or (isinstance(kind, abc.Hashable) and kind in _PLAIN):
        return {"type": _PLAIN[type(None) if kind is None else kind]}
    if get_origin(kind) is not None:
        return _generic(kind, seen)
    if isinstance(kind, type):
        return _class_schema(kind, seen) or {"type": "string"}
    return {"type": "string"}


def _generic(kind: Any, seen: tuple[Any, ...]) -> Schema:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return _choice(arguments)
    if origin is Union or origin is types.UnionType:
        return _union(arguments, seen)
    if hasattr(kind, "__metadata__"):
        text = next((note for note in kind.__metadata__ if isinstance(note, str)), None)
        schema = _schema(kind.__origin__, seen)
        return schema if text is None else {**schema, "description": text}
    if _wrapper(kind):
        return _schema(arguments[0], seen)
    schema = {"type": _PLAIN.get(origin, "string")}
    if schema["type"] == "array" and arguments and (origin is not tuple or arguments[1:] == (...,)):
        schema["items"] = _schema(arguments[0], seen)
    return schema


def _union(arguments: Iterable[Any], seen: tuple[Any, ...]) -> Schema:
    # What may be None is left out by the model rather than set to null.
    schemas = [_schema(kind, seen) for kind in arguments if kind is not type(None)]
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _choice(values: Iterable[Any]) -> Schema:
    values = list(values)
    names = {_PLAIN.get(type(value)) for value in values}
    name = names.pop() if len(names) == 1 else None
    return {"type": name, "enum": values} if name else {"enum": values}


def _class_schema(kind: Any, seen: tuple[Any, ...]) -> Schema | None:
    if not isinstance(kind, type):
        return None
    if kind in seen:
        # A type that holds itself: the model is told the outermost level.
        return {"type": "object"}
    if issubclass(kind, Enum):
        return _choice(member.value for member in kind)
    if hasattr(kind, "__required_keys__"):
        return _typed_dict(kind, (*seen, kind))
    if hasattr(kind, "__dataclass_fields__"):
        return _dataclass(kind, (*seen, kind))
    if hasattr(kind, "model_json_schema"):
        schema: Schema = kind.model_json_schema() if not seen else {"type": "object"}
        return schema
    return next(({"type": name} for plain, name in _PLAIN.items() if issubclass(kind, plain)), None)


def _typed_dict(kind: Any, seen: tuple[Any, ...]) -> Schema:
    hints = get_type_hints(kind, include_extras=True)
    # Where annotations are strings, the class itself has not seen what is marked in them.
    required = [
        name for name, hint in hints.items() if _is_required(hint, default=name in kind.__required_keys__)
    ]
    return _with_required({name: _schema(hint, seen) for name, hint in hints.items()}, required)


def _is_required(hint: Any, *, default: bool) -> bool:
    while (name := _wrapper(hint)) or hasattr(hint, "__metadata__"):
        if name in {"Required", "NotRequired"}:
            return name == "Required"
        hint = hint.__origin__ if hasattr(hint, "__metadata__") else get_args(hint)[0]
    return default


def _wrapper(hint: Any) -> str | None:
    """Return the name of a mark around a field's type, from `typing` or `typing_extensions`."""
    name = getattr(get_origin(hint), "_name", None)
    return name if name in {"Required", "NotRequired", "ReadOnly"} else None


def _dataclass(kind: Any, seen: tuple[Any, ...]) -> Schema:
    import dataclasses  # noqa: PLC0415  # loaded already when there is a dataclass

    hints = get_type_hints(kind, include_extras=True)
    fields = [field for field in dataclasses.fields(kind) if field.init]
    missing = dataclasses.MISSING
    required = [
        field.name for field in fields if field.default is missing and field.default_factory is missing
    ]
    return _with_required({field.name: _schema(hints[field.name], seen) for field in fields}, required)


def _with_required(properties: Schema, required: list[str]) -> Schema:
    schema: Schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = sorted(required)
    return schema
