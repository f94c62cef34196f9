#!/usr/bin/env python3
"""Writes docs/behaviours.md from tests/behaviours.toml, and checks the table against the marks of tests and scenarios.

usage: scripts/build_behaviours.py [--check | ROW...]

  --check   write nothing; fail when the page is not up to date, or a row and the marks contradict each other
  ROW       print what shows this row, such as LOOP-08

A test shows a row by `@pytest.mark.feature("ROW")`, a scenario of tests/interop by its list `shows`. A scenario that is
`open` shows nothing yet.
"""

from __future__ import annotations

import ast
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomlkit

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests"
TABLE = TESTS / "behaviours.toml"
TARGET = ROOT / "docs" / "behaviours.md"

DONE, PARTIAL, MISSING, NOT_OURS = "done", "partial", "missing", "not ours"
STATUSES = [DONE, PARTIAL, MISSING, NOT_OURS]

HEAD = """\
# Behaviours

What the library and the agent do, row by row. Written by `scripts/build_behaviours.py` from `tests/behaviours.toml`;
change that, not this. Tests and interchange scenarios are marked with the rows that they show; a row that claims to be
done without one fails the checks, and so does a mark on a row that claims to be missing.
`scripts/build_behaviours.py ROW` prints what shows a row.
"""


@dataclass(frozen=True)
class Row:
    """One behaviour."""

    id: str
    does: str
    status: str = DONE
    why: str = ""

    @property
    def shown(self) -> bool:
        """Whether tests must show it."""
        return self.status in (DONE, PARTIAL)


def areas() -> dict[str, tuple[str, list[Row]]]:
    """Each area's title and rows."""
    table: dict[str, Any] = tomlkit.parse(TABLE.read_text(encoding="utf-8")).unwrap()
    return {
        area: (rows.pop("title"), [row(key, value) for key, value in rows.items()])
        for area, rows in table.items()
    }


def row(key: str, value: str | dict[str, str]) -> Row:
    return Row(key, value) if isinstance(value, str) else Row(key, **value)


def marks() -> dict[str, set[str]]:
    """Which tests and scenarios show each row."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in sorted(TESTS.rglob("*.py")):
        for name in marked(ast.parse(path.read_text(encoding="utf-8"))):
            found[name].add(str(path.relative_to(ROOT)))
    for path in sorted((TESTS / "interop" / "scenarios").glob("*.driver.json")):
        scenario = json.loads(path.read_text(encoding="utf-8"))
        for name in [] if scenario.get("open") else scenario.get("shows", []):
            found[name].add(f"scenario {path.name.removesuffix('.driver.json')}")
    return found


def marked(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "feature"
        ):
            yield from (argument.value for argument in node.args if isinstance(argument, ast.Constant))


def contradictions(rows: list[Row], found: dict[str, set[str]]) -> Iterator[str]:
    """Where the table and the marks do not say the same."""
    known = {row.id for row in rows}
    for name in sorted(set(found) - known):
        yield f"{name} is no row of the table, but is marked by {', '.join(sorted(found[name]))}"
    for row in rows:
        if row.status not in STATUSES:
            yield f"{row.id}: no status is called {row.status!r}"
        elif row.status != DONE and not row.why:
            yield f"{row.id}: {row.status}, without a reason"
        elif row.shown and row.id not in found:
            yield f"{row.id}: {row.status}, but nothing shows it"
        elif not row.shown and row.id in found:
            yield f"{row.id}: {row.status}, but shown by {', '.join(sorted(found[row.id]))}"


def page(chapters: dict[str, tuple[str, list[Row]]]) -> str:
    count = Counter(row.status for _, rows in chapters.values() for row in rows)
    text = [HEAD, f"{sum(count.values())} rows: " + ", ".join(f"{count[s]} {s}" for s in STATUSES) + ".\n"]
    for title, rows in chapters.values():
        text += [f"## {title}\n", "| Row | Behaviour | Status |", "|---|---|---|"]
        text += [
            f"| {row.id} | {cell(row.does)} | {cell(row.status + (': ' if row.why else '') + row.why)} |"
            for row in rows
        ]
        text.append("")
    return "\n".join(text)


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def explain(rows: list[Row], found: dict[str, set[str]], names: list[str]) -> int:
    for row in rows:
        if row.id in names:
            print(f"{row.id} ({row.status}) {row.does}", *sorted(found.get(row.id, ())), sep="\n  ")
    unknown = set(names) - {row.id for row in rows}
    if unknown:
        print(f"no such row: {', '.join(sorted(unknown))}\n\n{__doc__}")
    return 2 if unknown else 0


def main(arguments: list[str]) -> int:
    chapters, found = areas(), marks()
    rows = [row for _, group in chapters.values() for row in group]
    if arguments and arguments != ["--check"]:
        return explain(rows, found, arguments)
    wrong = list(contradictions(rows, found))
    text = page(chapters)
    if not arguments:
        TARGET.write_text(text, encoding="utf-8")
    elif not TARGET.is_file() or TARGET.read_text(encoding="utf-8") != text:
        wrong.append(f"{TARGET.relative_to(ROOT)} is not up to date; run scripts/build_behaviours.py")
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
