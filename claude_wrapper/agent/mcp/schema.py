"""The schema of a tool's input in the form that the model's API takes: an object, without alternatives at its root."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["flattened"]

_JOINED = ("allOf", "anyOf", "oneOf")


def flattened(schema: Mapping[str, Any]) -> dict[str, Any]:
    """What branches of the root ask for in one object; what only some of them need may be left out."""
    if not any(name in schema for name in _JOINED):
        return dict(schema) if schema.get("type") == "object" else {**schema, "type": "object"}
    properties = _object(schema.get("properties"))
    required = _texts(schema.get("required"))
    for name in _JOINED:
        branches = [each for each in _list(schema.get(name)) if isinstance(each, dict) and "$ref" not in each]
        needed: list[set[str]] = []
        for branch in map(flattened, branches):
            properties = {**_object(branch.get("properties")), **properties}
            needed.append(_texts(branch.get("required")))
        if needed:
            required |= set.union(*needed) if name == "allOf" else set.intersection(*needed)
    flat = {name: value for name, value in schema.items() if name not in _JOINED}
    flat |= {"type": "object", "properties": properties}
    flat.pop("required", None)
    return {**flat, "required": sorted(required)} if required else flat


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _texts(value: Any) -> set[str]:
    return {each for each in _list(value) if isinstance(each, str)}
