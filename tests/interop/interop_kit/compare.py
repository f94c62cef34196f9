"""Finds where two plays differ and says it as a person would want to read it."""

import difflib
import json
import re
from collections.abc import Iterator
from typing import Any

from interop_kit.labels import label
from interop_kit.normalise import Record
from interop_kit.rules import METHODS_WITHOUT_RESULT

WIDTH = 160
ID = re.compile(r"<id\d+>")


def differences(reference: Record, other: Record) -> list[str]:
    """One line for each difference, the first ones first; none when the plays are equal."""
    return Comparison().lines(reference, other)


class Comparison:
    """Two plays side by side, and which id of the one stands for which of the other.

    Ids that chance made have no value of their own; what counts is that each of them stands wherever its counterpart
    stands, and nowhere else.
    """

    def __init__(self) -> None:
        self._partner: dict[str, str] = {}
        self._taken: dict[str, str] = {}

    def lines(self, reference: Record, other: Record) -> list[str]:
        found: list[str] = []
        for section, value in reference.items():
            found += self._section(section, value, other[section])
        return found

    def _section(self, section: str, reference: Any, other: Any) -> Iterator[str]:
        """Lists of runs are compared run by run, lists of rows first by their kinds, then row by row."""
        if section in ("messages", "callbacks", "calls"):
            for run, (left, right) in enumerate(zip(reference, other, strict=True)):
                yield from self._rows(f"run {run} {section}", left, right)
        elif section in ("requests", "web"):
            yield from self._rows(section, reference, other)
        elif section == "transcripts" and len(reference) == len(other):
            for index, (left, right) in enumerate(zip(reference, other, strict=True)):
                yield from self._value(f"transcripts[{index}].name", left["name"], right["name"])
                yield from self._rows(f"transcripts[{index}]", left["entries"], right["entries"])
        else:
            yield from self._value(section, reference, other)

    def _rows(self, where: str, reference: list[Any], other: list[Any]) -> Iterator[str]:
        """Rows that are missing or too many, then members of rows that stand for each other."""
        left, right = [label(row) for row in reference], [label(row) for row in other]
        matcher = difflib.SequenceMatcher(a=left, b=right, autojunk=False)
        for tag, low, high, other_low, other_high in matcher.get_opcodes():
            if tag == "equal":
                for offset in range(high - low):
                    at = f"{where}[{low + offset}] {left[low + offset]}"
                    yield from self._value(at, reference[low + offset], other[other_low + offset])
                continue
            after = left[low - 1] if low else "the start"
            if high > low:
                yield f"{where}: missing after {after}: {', '.join(left[low:high])}"
            if other_high > other_low:
                yield f"{where}: not expected after {after}: {', '.join(right[other_low:other_high])}"

    def _value(self, where: str, reference: Any, other: Any) -> Iterator[str]:
        """Members that are missing, too many, or not equal, named by their path."""
        if isinstance(reference, dict) and isinstance(other, dict):
            yield from self._object(where, reference, other)
        elif isinstance(reference, list) and isinstance(other, list) and len(reference) == len(other):
            for index, (left, right) in enumerate(zip(reference, other, strict=True)):
                yield from self._value(f"{where}[{index}]", left, right)
        elif isinstance(reference, str) and isinstance(other, str):
            if not self._same_text(reference, other):
                yield f"{where}: {text_difference(reference, other)}"
        elif reference != other or isinstance(reference, bool) is not isinstance(other, bool):
            yield f"{where}: {short(other)}, should be {short(reference)}"

    def _object(self, where: str, reference: dict[str, Any], other: dict[str, Any]) -> Iterator[str]:
        for key in [*reference, *(key for key in other if key not in reference)]:
            path = f"{where}.{key}"
            if key not in other:
                yield f"{path}: missing, should be {short(reference[key])}"
            elif key not in reference:
                yield f"{path}: not expected, is {short(other[key])}"
            elif key == "result" and reference[key] is None and is_without_result(reference):
                continue
            elif key == "mro":
                yield from fault_differences(where, reference["mro"], other["mro"])
            else:
                yield from self._value(path, reference[key], other[key])

    def _same_text(self, reference: str, other: str) -> bool:
        """Equal but for ids, and these partners of each other."""
        reference, other = sentence_alone(reference), sentence_alone(other)
        if ID.sub("<id>", reference) != ID.sub("<id>", other):
            return False
        pairs = zip(ID.findall(reference), ID.findall(other), strict=True)
        return all(self._are_partners(left, right) for left, right in pairs)

    def _are_partners(self, left: str, right: str) -> bool:
        """Whether the two ids stand for each other; two that nobody has seen do from now on."""
        if left not in self._partner and right not in self._taken:
            self._partner[left], self._taken[right] = right, left
        return self._partner.get(left) == right


def fault_differences(where: str, reference: list[str], other: list[str]) -> Iterator[str]:
    """An exception may be finer than the reference's, not another one."""
    if reference and reference[0] not in other:
        yield f"{where}: raises {other}, should be caught as {reference[0]}"


def is_without_result(call: dict[str, Any]) -> bool:
    """Whether this is a call of a method that is declared to return nothing."""
    return call.get("method") in METHODS_WITHOUT_RESULT


def sentence_alone(text: str) -> str:
    """The caller's own sentence without the mark that words of a vendor stood around it: they need not."""
    found = re.fullmatch(r"(.*)<words: \[(\"[^\"]*\")\]>", text)
    return found[1] + str(json.loads(found[2])) if found else text


def text_difference(reference: str, other: str) -> str:
    """Both texts, or in long ones the part where they part."""
    if max(len(reference), len(other)) <= WIDTH:
        return f"{short(other)}, should be {short(reference)}"
    pairs = zip(reference, other, strict=False)
    same = next(
        (index for index, (left, right) in enumerate(pairs) if left != right), min(len(reference), len(other))
    )
    part = slice(max(0, same - WIDTH // 4), same + WIDTH // 4)
    return f"from character {same}: {short(other[part])}, should be {short(reference[part])}"


def short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"
