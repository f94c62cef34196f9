"""Words the result of a search, a page of it at a time; pure."""

from __future__ import annotations

from typing import Any

from .contract import ToolOutput

__all__ = ["content_report", "count_report", "files_report"]


class _Page:
    """The entries from `offset` on, `limit` of them (0: all), and how to say so."""

    def __init__(self, entries: list[str], limit: int, offset: int) -> None:
        self.total = len(entries)
        rest = entries[offset:]
        self.entries = rest[:limit] if limit else rest
        self.applied: dict[str, int] = {}
        if limit and len(rest) > limit:
            self.applied["appliedLimit"] = limit
        if offset:
            self.applied["appliedOffset"] = offset
        self.is_past_end = offset > 0 and self.total > 0 and not rest

    @property
    def note(self) -> str:
        """Such as `limit: 2, offset: 1`; empty when all is shown."""
        return ", ".join(
            f"{key.removeprefix('applied').lower()}: {value}" for key, value in self.applied.items()
        )


def _lines(text: str) -> list[str]:
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def files_report(names: list[str], limit: int, offset: int) -> ToolOutput:
    """The names of the files that match."""
    page = _Page(names, limit, offset)
    structured: dict[str, Any] = {
        "mode": "files_with_matches",
        "filenames": page.entries,
        "numFiles": len(page.entries),
        "totalFiles": page.total,
        **page.applied,
    }
    if page.is_past_end:
        return ToolOutput(
            f"No entries at this offset. [Showing results with pagination = {page.note}]", structured
        )
    if not page.entries:
        return ToolOutput("No files found", structured)
    head = " ".join(part for part in (f"Found {_counted(len(page.entries), 'file')}", page.note) if part)
    return ToolOutput("\n".join([head, *page.entries]), structured)


def content_report(text: str, limit: int, offset: int) -> ToolOutput:
    """The lines that match, with those around them."""
    page = _Page(_lines(text), limit, offset)
    content = "\n".join(page.entries)
    structured: dict[str, Any] = {
        "mode": "content",
        "numFiles": 0,
        "filenames": [],
        "content": content,
        "numLines": len(page.entries),
        "totalLines": page.total,
        **page.applied,
    }
    shown = _or_nothing(content, page)
    if page.note:
        shown += f"\n\n[Showing results with pagination = {page.note}]"
    return ToolOutput(shown, structured)


def count_report(text: str, limit: int, offset: int) -> ToolOutput:
    """How many lines match in each file, and in all."""
    counts = sorted(line.replace("\0", ":", 1) for line in _lines(text))
    matches = sum(int(line.rpartition(":")[2]) for line in counts)
    page = _Page(counts, limit, offset)
    content = "\n".join(page.entries)
    structured: dict[str, Any] = {
        "mode": "count",
        "numFiles": page.total,
        "filenames": [],
        "content": content,
        "numMatches": matches,
        **page.applied,
    }
    total = f"Found {_counted(matches, 'total occurrence')} across {_counted(page.total, 'file')}."
    if page.note:
        total += f" with pagination = {page.note}"
    return ToolOutput(f"{_or_nothing(content, page)}\n\n{total}", structured)


def _or_nothing(content: str, page: _Page) -> str:
    return content or ("No entries at this offset" if page.is_past_end else "No matches found")
