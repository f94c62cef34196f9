"""The difference of two texts as hunks of a unified diff, in the shape that hosts show."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from typing import Any, NamedTuple

__all__ = ["structured_patch"]

_CONTEXT = 3
_NO_NEWLINE = "\\ No newline at end of file"
_MAX_EDITS = 400
"""Up to this many differing lines the shortest difference is looked for; the cost grows with its square."""


class _Span(NamedTuple):
    """Lines old[old_start:old_end] became new[new_start:new_end]."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def structured_patch(old: str, new: str) -> list[dict[str, Any]]:
    """The hunks, three lines of context around each change."""
    if old == new:
        return []
    old_lines, new_lines = _lines(old), _lines(new)
    spans = _changed_spans(old_lines, new_lines)
    return [_hunk(group, old_lines, new_lines) for group in _grouped(spans)]


def _lines(text: str) -> list[str]:
    """The lines with their newlines: a last line without one differs from the same line with one."""
    lines = text.split("\n")
    last = lines.pop()
    lines = [f"{line}\n" for line in lines]
    if last:
        lines.append(last)
    return lines


def _changed_spans(old: list[str], new: list[str]) -> list[_Span]:
    """What changed, in order."""
    start = 0
    shorter = min(len(old), len(new))
    while start < shorter and old[start] == new[start]:
        start += 1
    # The equal lines at the end are left to the search: cutting them off here would move
    # an insertion among equal lines from their end to their beginning.
    trace = _shortest(old[start:], new[start:])
    if trace is not None:
        return _spans_of(trace, len(old) - start, len(new) - start, start)
    return _between_anchors(old, new)


def _between_anchors(old: list[str], new: list[str]) -> list[_Span]:
    """For texts that differ a lot: only lines that are unique in both hold them together."""
    spans: list[_Span] = []
    old_at, new_at = 0, 0
    for old_next, new_next in [*_anchors(old, new), (len(old), len(new))]:
        if old_next > old_at or new_next > new_at:
            spans.append(_Span(old_at, old_next, new_at, new_next))
        old_at, new_at = old_next + 1, new_next + 1
    return spans


def _anchors(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """The longest run of unique common lines that stand in the same order in both."""
    counts_old, counts_new = Counter(old), Counter(new)
    places = {line: index for index, line in enumerate(new) if counts_new[line] == 1}
    pairs = [(i, places[line]) for i, line in enumerate(old) if counts_old[line] == 1 and line in places]
    tops: list[int] = []
    piles: list[int] = []
    back: list[int] = []
    for index, (_, position) in enumerate(pairs):
        pile = bisect_left(tops, position)
        back.append(piles[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [position]
        piles[pile : pile + 1] = [index]
    chain: list[tuple[int, int]] = []
    index = piles[-1] if piles else -1
    while index >= 0:
        chain.append(pairs[index])
        index = back[index]
    chain.reverse()
    return chain


def _shortest(old: list[str], new: list[str]) -> list[dict[int, int]] | None:
    """Myers' greedy search: for each number of edits, how far each diagonal reaches in `old`."""
    reach = {1: 0}
    trace: list[dict[int, int]] = []
    for edits in range(min(len(old) + len(new), _MAX_EDITS) + 1):
        trace.append(dict(reach))
        for diagonal in range(-edits, edits + 1, 2):
            x = _step(reach, diagonal, edits)
            y = x - diagonal
            while x < len(old) and y < len(new) and old[x] == new[y]:
                x += 1
                y += 1
            reach[diagonal] = x
            if x >= len(old) and y >= len(new):
                return trace
    return None


def _step(reach: dict[int, int], diagonal: int, edits: int) -> int:
    """Where the better of "insert" (down) and "delete" (right) leads on this diagonal."""
    if _inserts(reach, diagonal, edits):
        return reach[diagonal + 1]
    return reach[diagonal - 1] + 1


def _inserts(reach: dict[int, int], diagonal: int, edits: int) -> bool:
    return diagonal == -edits or (diagonal != edits and reach[diagonal - 1] < reach[diagonal + 1])


def _spans_of(trace: list[dict[int, int]], x: int, y: int, offset: int) -> list[_Span]:
    """Walk the search back from the ends of both texts; edits that touch become one span."""
    spans: list[_Span] = []
    for edits in range(len(trace) - 1, 0, -1):
        reach = trace[edits]
        diagonal = x - y
        inserts = _inserts(reach, diagonal, edits)
        before = diagonal + 1 if inserts else diagonal - 1
        x = reach[before]
        y = x - before
        end_x, end_y = (x, y + 1) if inserts else (x + 1, y)
        if spans and spans[-1].old_start == end_x + offset and spans[-1].new_start == end_y + offset:
            last = spans.pop()
            spans.append(_Span(x + offset, last.old_end, y + offset, last.new_end))
        else:
            spans.append(_Span(x + offset, end_x + offset, y + offset, end_y + offset))
    spans.reverse()
    return spans


def _grouped(spans: list[_Span]) -> list[list[_Span]]:
    """Changes whose contexts touch or overlap share a hunk."""
    groups: list[list[_Span]] = []
    for span in spans:
        if groups and span.old_start - groups[-1][-1].old_end <= 2 * _CONTEXT:
            groups[-1].append(span)
        else:
            groups.append([span])
    return groups


def _hunk(group: list[_Span], old: list[str], new: list[str]) -> dict[str, Any]:
    first, last = group[0], group[-1]
    before = min(_CONTEXT, first.old_start)
    after = min(_CONTEXT, len(old) - last.old_end)
    lines: list[str] = []
    position = first.old_start - before
    for span in group:
        lines += _marked(" ", old[position : span.old_start])
        lines += _marked("-", old[span.old_start : span.old_end])
        lines += _marked("+", new[span.new_start : span.new_end])
        position = span.old_end
    lines += _marked(" ", old[position : position + after])
    return {
        "oldStart": first.old_start - before + 1,
        "oldLines": last.old_end + after - first.old_start + before,
        "newStart": first.new_start - before + 1,
        "newLines": last.new_end + after - first.new_start + before,
        "lines": lines,
    }


def _marked(mark: str, lines: list[str]) -> list[str]:
    marked: list[str] = []
    for line in lines:
        marked.append(mark + line.removesuffix("\n"))
        if not line.endswith("\n"):
            marked.append(_NO_NEWLINE)
    return marked
