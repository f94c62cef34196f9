"""The text of a file with instructions: its head, comments that are not for the model, and the files it brings in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from .heads import BadHeadError, fields_of, split

__all__ = ["files_named", "parted", "without_comments"]

_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_COMMENT_BEGINS = re.compile(r" {0,3}<!--")
_IMPORT = re.compile(r"(?:^|(?<=[\s*]))@((?:[^\s\\]|\\ )+)", re.MULTILINE)
_TICKS = re.compile(r"`+")
_FIRST_OF_PATH = re.compile(r"[\w./~-]")


def parted(text: str) -> tuple[Mapping[str, Any], str]:
    """The fields of the head and what stands behind it; no fields where the head cannot be read."""
    head, rest = split(text)
    try:
        return ({} if head is None else fields_of(head)), rest
    except BadHeadError:
        return {}, rest


def without_comments(text: str) -> str:
    """The text without HTML comments that begin a line, outside of code."""
    if "<!--" not in text:
        return text
    kept: list[str] = []
    lines = _with_code(text)
    for line, is_code in lines:
        if is_code or not _COMMENT_BEGINS.match(line):
            kept.append(line)
            continue
        comment = [line]
        while "-->" not in comment[-1]:
            following = next(lines, None)
            if following is None:
                break
            comment.append(following[0])
        _, end, rest = comment[-1].partition("-->")
        if not end:
            kept += comment
        elif rest.strip():
            kept.append(rest)
    return "\n".join(kept)


def files_named(text: str) -> list[str]:
    """The files that a text brings in by `@path`, as they are written; code brings in nothing."""
    if "@" not in text:
        return []
    prose = "\n".join("" if is_code else line for line, is_code in _with_code(text))
    names: dict[str, None] = {}
    for found in _IMPORT.finditer(_without_spans(prose)):
        name = found[1].rstrip("*").partition("#")[0].replace("\\ ", " ")
        if name and _FIRST_OF_PATH.match(name):
            names[name] = None
    return list(names)


def _with_code(text: str) -> Iterator[tuple[str, bool]]:
    """The lines, and whether each belongs to a block of code."""
    fence: str | None = None
    after_blank, in_list = True, False
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence is not None:
            yield line, True
            if mark is not None and mark[1].startswith(fence) and not line[mark.end() :].strip():
                fence = None
            continue
        if mark is not None:
            fence = mark[1]
            yield line, True
            continue
        is_indented = line.startswith(("    ", "\t"))
        yield line, is_indented and after_blank and not in_list
        if line.strip() and not is_indented:
            in_list = line.lstrip()[:2] in {"- ", "* ", "+ "} or line.lstrip()[:1].isdigit()
        after_blank = not line.strip() or (is_indented and after_blank)


def _without_spans(text: str) -> str:
    """The text without what stands between equal runs of backticks in a paragraph."""
    if "`" not in text:
        return text
    return "\n\n".join(_without_spans_of(paragraph) for paragraph in text.split("\n\n"))


def _without_spans_of(paragraph: str) -> str:
    runs = list(_TICKS.finditer(paragraph))
    later: dict[int, list[int]] = {}
    for number in range(len(runs) - 1, -1, -1):
        later.setdefault(len(runs[number][0]), []).append(number)
    kept, at, number = [], 0, 0
    while number < len(runs):
        run = runs[number]
        same = later[len(run[0])]
        while same and same[-1] <= number:
            same.pop()
        if same:
            number = same[-1]
            kept.append(paragraph[at : run.start()])
            at = runs[number].end()
        number += 1
    return "".join([*kept, paragraph[at:]])
