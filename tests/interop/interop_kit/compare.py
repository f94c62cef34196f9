"""Finds where two plays differ and says it as a person would want to read it."""

import difflib
import json
from collections.abc import Iterator
from typing import Any

from interop_kit.normalise import Record

WIDTH = 160
MOST = 12


def differences(reference: Record, other: Record) -> list[str]:
    """One line for each difference, the first ones first; none when the plays are equal."""
    lines = [
        line
        for section in reference
        for line in section_differences(section, reference[section], other[section])
    ]
    return lines[:MOST] + ([f"... and {len(lines) - MOST} more"] if len(lines) > MOST else [])


def section_differences(section: str, reference: Any, other: Any) -> Iterator[str]:
    """Lists of runs are compared run by run, lists of rows first by their kinds, then row by row."""
    if section in ("messages", "callbacks", "calls"):
        for run, (left, right) in enumerate(zip(reference, other, strict=True)):
            yield from row_differences(f"run {run} {section}", left, right)
    elif section == "requests":
        yield from row_differences(section, reference, other)
    else:
        yield from value_differences(section, reference, other)


def row_differences(where: str, reference: list[Any], other: list[Any]) -> Iterator[str]:
    """Rows that are missing or too many, then members of rows that stand for each other."""
    labels = [label(row) for row in reference], [label(row) for row in other]
    matcher = difflib.SequenceMatcher(a=labels[0], b=labels[1], autojunk=False)
    for tag, low, high, other_low, other_high in matcher.get_opcodes():
        if tag == "equal":
            for offset in range(high - low):
                at = f"{where}[{low + offset}] {labels[0][low + offset]}"
                yield from value_differences(at, reference[low + offset], other[other_low + offset])
            continue
        after = labels[0][low - 1] if low else "the start"
        if high > low:
            yield f"{where}: missing after {after}: {', '.join(labels[0][low:high])}"
        if other_high > other_low:
            yield f"{where}: not expected after {after}: {', '.join(labels[1][other_low:other_high])}"


def label(row: Any) -> str:
    """What kind of row this is, in a few words."""
    kind = row.get("kind", "request")
    if kind == "request":
        return f"request of {len(row['messages'])} messages"
    data = row["data"] if isinstance(row.get("data"), dict) else row
    names = [row.get("class") or data.get("type"), data.get("subtype"), row.get("event"), row.get("tool")]
    names += [row.get("method"), (row.get("mro") or [None])[0], stream_label(row)]
    return " ".join([kind, *(str(name) for name in names if name), *block_labels(row)])


def stream_label(row: dict[str, Any]) -> str | None:
    event = row.get("event")
    return event.get("type") if isinstance(event, dict) else None


def block_labels(row: dict[str, Any]) -> list[str]:
    inner = row.get("message") if isinstance(row.get("message"), dict) else row
    content = inner.get("content") if isinstance(inner, dict) else None
    if not isinstance(content, list):
        return []
    return [f"[{block.get('class') or block.get('type')}]" for block in content if isinstance(block, dict)]


def value_differences(where: str, reference: Any, other: Any) -> Iterator[str]:
    """Members that are missing, too many, or not equal, named by their path."""
    if isinstance(reference, dict) and isinstance(other, dict):
        if "mro" in reference and "mro" in other:
            yield from fault_differences(where, reference.get("mro"), other.get("mro"))
        for key in [*reference, *(key for key in other if key not in reference)]:
            path = f"{where}.{key}"
            if key not in other:
                yield f"{path}: missing, should be {short(reference[key])}"
            elif key not in reference:
                yield f"{path}: not expected, is {short(other[key])}"
            elif key != "mro":
                yield from value_differences(path, reference[key], other[key])
    elif isinstance(reference, list) and isinstance(other, list) and len(reference) == len(other):
        for index, (left, right) in enumerate(zip(reference, other, strict=True)):
            yield from value_differences(f"{where}[{index}]", left, right)
    elif reference != other or isinstance(reference, bool) is not isinstance(other, bool):
        yield f"{where}: {short(other)}, should be {short(reference)}"


def fault_differences(where: str, reference: Any, other: Any) -> Iterator[str]:
    """An exception may be finer than the reference's, not another one."""
    if reference and reference[0] not in other:
        yield f"{where}: raises {other}, should be caught as {reference[0]}"


def short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"
