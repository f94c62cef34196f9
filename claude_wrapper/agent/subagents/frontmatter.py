"""The head of a text file between lines of dashes: the small part of YAML that such heads are written in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["BadHeadError", "parted"]

_FENCE = "---"


class BadHeadError(ValueError):
    """The head cannot be read."""


def parted(text: str) -> tuple[dict[str, Any], str]:
    """The fields of the head and the text behind it; no fields where there is no head. Raises BadHeadError."""
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].rstrip() != _FENCE:
        return {}, text
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() == _FENCE:
            return _fields(lines[1:number]), "\n".join(lines[number + 1 :]).strip()
    raise BadHeadError("the head does not end")


def _fields(lines: list[str]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for line, block in _entries(lines):
        key, colon, value = line.partition(":")
        if not colon or not key.strip() or key != key.lstrip():
            raise BadHeadError(f"not a field: {line.strip()}")
        fields[key.strip()] = _value(value.strip(), block)
    return fields


def _entries(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Each line at the margin, with the lines that belong to it."""
    head: str | None = None
    block: list[str] = []
    for line in lines:
        if not line.strip() or line.lstrip().startswith("#"):
            if head is not None:
                block.append("" if not line.strip() else line)
            continue
        if line[0].isspace() or line.startswith("- "):
            if head is None:
                raise BadHeadError(f"nothing for this to belong to: {line.strip()}")
            block.append(line)
            continue
        if head is not None:
            yield head, block
        head, block = line, []
    if head is not None:
        yield head, block


def _value(text: str, block: list[str]) -> Any:
    if text[:1] in {"|", ">"}:
        lines = _unindented(block)
        return ("\n" if text[0] == "|" else " ").join(lines).strip()
    items = [line.strip() for line in block if line.strip() and not line.lstrip().startswith("#")]
    if not text and items:
        if all(item.startswith("-") for item in items):
            return [_scalar(item[1:].strip()) for item in items]
        return _nested(items)
    if items:
        # A plain text may go on in further lines.
        return _scalar(" ".join([text, *items]))
    if text.startswith(("[", "{")):
        return _flow(text)
    return _scalar(text)


def _nested(items: list[str]) -> dict[str, Any]:
    """Fields of fields; deeper ones are kept as they are written."""
    found: dict[str, Any] = {}
    for item in items:
        key, _, value = item.partition(":")
        found[key.strip()] = _scalar(value.strip())
    return found


def _flow(text: str) -> Any:
    if not (text.startswith("[") and text.endswith("]")):
        raise BadHeadError(f"not a list: {text}")
    inner = text[1:-1].strip()
    return [_scalar(part.strip()) for part in inner.split(",") if part.strip()]


def _scalar(text: str) -> Any:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    if text[:1] in {'"', "'"}:
        raise BadHeadError(f"a quote that does not end: {text}")
    text = text.split(" #", 1)[0].rstrip()
    if ": " in text:
        raise BadHeadError(f"a colon in a text without quotes: {text}")
    named: dict[str, Any] = {"true": True, "false": False, "null": None, "~": None, "": None}
    if text.lower() in named:
        return named[text.lower()]
    return int(text) if text.lstrip("-").isdecimal() else text


def _unindented(block: list[str]) -> list[str]:
    indents = [len(line) - len(line.lstrip()) for line in block if line.strip()]
    margin = min(indents, default=0)
    return [line[margin:].rstrip() for line in block]
