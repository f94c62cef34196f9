"""Checks a call's input against the tool's schema and says what is wrong in the field's words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from .contract import InputRejected

__all__ = ["validated"]

_MAX_SAFE_INTEGER = 2**53 - 1
"""Hosts read numbers as doubles; beyond this, two of them look alike."""

_Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class _Issue:
    path: _Path
    details: dict[str, Any]
    """The issue as hosts read it, without path and message."""
    message: str
    kind: str
    """"missing", "unexpected", "type" or "other": in this order they are told to the model."""
    received: str = ""

    def as_json(self) -> dict[str, Any]:
        return {**self.details, "path": list(self.path), "message": self.message}


def validated(tool_name: str, schema: dict[str, Any], tool_input: Any) -> dict[str, Any]:
    """The input with harmless slips repaired ("5" for 5); raises InputRejected with all that is wrong."""
    issues: list[_Issue] = []
    result = _check(schema, tool_input, (), issues)
    if issues:
        raise _rejection(tool_name, issues)
    return dict(result)


def _rejection(tool_name: str, issues: list[_Issue]) -> InputRejected:
    encoded = msgspec.json.encode([issue.as_json() for issue in issues])
    structured = f"InputValidationError: {msgspec.json.format(encoded, indent=2).decode()}"
    lines = list(_told(issues))
    if all(issue.kind == "other" for issue in issues):
        return InputRejected(structured, structured)
    noun = "issue" if len(lines) == 1 else "issues"
    head = f"InputValidationError: {tool_name} failed due to the following {noun}:"
    return InputRejected("\n".join([head, *lines]), structured)


def _told(issues: list[_Issue]) -> Iterator[str]:
    for kind in ("missing", "unexpected", "type", "other"):
        for issue in issues:
            if issue.kind != kind:
                continue
            name = _dotted(issue.path)
            if kind == "missing":
                yield f"The required parameter `{name}` is missing"
            elif kind == "unexpected":
                for key in issue.details["keys"]:
                    yield f"An unexpected parameter `{_dotted((*issue.path, key))}` was provided"
            elif kind == "type":
                expected = issue.details["expected"]
                yield f"The parameter `{name}` type is expected as `{expected}` but provided as `{issue.received}`"
            else:
                yield f"The parameter `{name}` is invalid: {issue.message}"


def _dotted(path: _Path) -> str:
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


def _check(schema: dict[str, Any], value: Any, path: _Path, issues: list[_Issue]) -> Any:
    """The value, repaired where it can be; what is wrong with it is added to `issues`."""
    if "enum" in schema:
        return _check_enum(schema["enum"], value, path, issues)
    expected = schema.get("type")
    if not isinstance(expected, str):  # schemas of other makers may say anything; they are checked elsewhere
        return value
    value = _repaired(expected, value)
    received = _type_name(value)
    if not _fits(expected, value):
        issues.append(_type_issue("number" if expected == "integer" else expected, received, path))
        return value
    if expected == "integer":
        return _check_integer(schema, value, path, issues)
    if expected == "object":
        return _check_object(schema, value, path, issues)
    if expected == "array":
        item = schema.get("items") or {}
        return [_check(item, each, (*path, index), issues) for index, each in enumerate(value)]
    if expected == "string" and len(value) < schema.get("minLength", 0):
        issues.append(_too_small("string", schema["minLength"], path, "characters"))
    return value


def _check_enum(allowed: list[str], value: Any, path: _Path, issues: list[_Issue]) -> Any:
    if value not in allowed:
        options = "|".join(f'"{each}"' for each in allowed)
        details = {"code": "invalid_value", "values": allowed}
        issues.append(_Issue(path, details, f"Invalid option: expected one of {options}", "other"))
    return value


def _check_integer(schema: dict[str, Any], value: Any, path: _Path, issues: list[_Issue]) -> Any:
    if isinstance(value, float):
        if not value.is_integer():
            details: dict[str, Any] = {"expected": "int", "format": "safeint", "code": "invalid_type"}
            message = "Invalid input: expected int, received number"
            issues.append(_Issue(path, details, message, "type", "number"))
            return value
        value = int(value)
    if abs(value) > _MAX_SAFE_INTEGER:
        details = {"code": "too_big", "maximum": _MAX_SAFE_INTEGER, "origin": "int", "inclusive": True}
        issues.append(_Issue(path, details, f"Too big: expected int to be <={_MAX_SAFE_INTEGER}", "other"))
    elif value < schema.get("minimum", value):
        issues.append(_too_small("number", schema["minimum"], path, ""))
    return value


def _check_object(schema: dict[str, Any], value: Any, path: _Path, issues: list[_Issue]) -> dict[str, Any]:
    properties: dict[str, Any] = schema.get("properties", {})
    required = schema.get("required", ())
    result = dict(value)
    for name, field in properties.items():
        if name in value:
            result[name] = _check(field, value[name], (*path, name), issues)
        elif name in required:
            issues.append(_missing(field, (*path, name)))
    unknown = [key for key in value if key not in properties]
    if unknown and schema.get("additionalProperties") is False:
        noun = "key" if len(unknown) == 1 else "keys"
        listed = ", ".join(f'"{key}"' for key in unknown)
        details = {"code": "unrecognized_keys", "keys": unknown}
        issues.append(_Issue(path, details, f"Unrecognized {noun}: {listed}", "unexpected"))
    return result


def _missing(field: dict[str, Any], path: _Path) -> _Issue:
    if "enum" in field:
        issues: list[_Issue] = []
        _check_enum(field["enum"], None, path, issues)
        return issues[0]
    expected = field.get("type", "any")
    expected = "number" if expected == "integer" else expected
    details = {"expected": expected, "code": "invalid_type"}
    return _Issue(path, details, f"Invalid input: expected {expected}, received undefined", "missing")


def _type_issue(expected: str, received: str, path: _Path) -> _Issue:
    details = {"expected": expected, "code": "invalid_type"}
    return _Issue(path, details, f"Invalid input: expected {expected}, received {received}", "type", received)


def _too_small(origin: str, minimum: int, path: _Path, unit: str) -> _Issue:
    details = {"origin": origin, "code": "too_small", "minimum": minimum, "inclusive": True}
    return _Issue(path, details, f"Too small: expected {origin} to be >={minimum} {unit}".rstrip(), "other")


def _repaired(expected: str, value: Any) -> Any:
    """Models often quote numbers and booleans; what is meant is plain."""
    if not isinstance(value, str):
        return value
    if expected == "boolean":
        return {"true": True, "false": False}.get(value, value)
    if expected in ("number", "integer"):
        try:
            number = float(value)
        except ValueError:
            return value
        if number.is_integer():
            return int(number)
        return number if number - number == 0 else value
    return value


_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "number": (int, float),
    "integer": (int, float),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def _fits(expected: str, value: Any) -> bool:
    if isinstance(value, bool):
        return expected == "boolean"
    return isinstance(value, _TYPES.get(expected, (object,)))


def _type_name(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    for name in ("string", "number", "array", "object", "null"):
        if isinstance(value, _TYPES[name]):
            return name
    return "undefined"
