"""The command line: arguments to values, and the help text."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import field

from .flags import BY_NAME, FLAGS, Flag
from .permissions.rules import split_rules

__all__ = ["Arguments", "UsageError", "help_text", "parse_arguments"]


class UsageError(Exception):
    """The command line cannot be understood; the text says what is wrong with it."""


class Arguments(msgspec.Struct):
    """What the command line says; a flag that is not there leaves its field empty."""

    words: list[str] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)
    switches: set[str] = field(default_factory=set)

    def value(self, name: str) -> str | None:
        """The value of a flag, None without it."""
        return self.values.get(name)

    def list(self, name: str) -> list[str]:
        """The values of a flag that takes several."""
        return self.lists.get(name, [])

    def has(self, name: str) -> bool:
        """Whether a switch, or any other flag, was given."""
        return name in self.switches or name in self.values or name in self.lists


def parse_arguments(argv: Sequence[str]) -> Arguments:
    """Read a command line; both `--flag value` and `--flag=value` are understood for every flag."""
    found = Arguments()
    rest = list(reversed(argv))
    while rest:
        word = rest.pop()
        if word == "--":
            found.words.extend(reversed(rest))
            break
        if not word.startswith("-") or word == "-":
            found.words.append(word)
            continue
        name, joined, value = word.partition("=")
        flag = BY_NAME.get(name)
        if flag is None:
            raise UsageError(f"unknown option '{name}'{_nearest(name)}")
        _take(found, flag, name, value if joined else None, rest)
    return found


def _take(found: Arguments, flag: Flag, name: str, value: str | None, rest: list[str]) -> None:
    if flag.kind == "switch":
        if value is not None:
            raise UsageError(f"option '{name}' takes no value")
        found.switches.add(flag.field)
    elif flag.kind == "maybe":
        if value is None and rest and not rest[-1].startswith("-"):
            value = rest.pop()
        found.values[flag.field] = value or ""
    elif flag.kind == "value":
        if value is None:
            if not rest:
                raise UsageError(f"option '{name} <value>' argument missing")
            value = rest.pop()
        if flag.choices and value not in flag.choices:
            raise UsageError(
                f"option '{name}' does not know '{value}': it takes one of {', '.join(flag.choices)}"
            )
        found.values[flag.field] = value
    else:
        _take_list(found, flag, name, value, rest)


def _take_list(found: Arguments, flag: Flag, name: str, value: str | None, rest: list[str]) -> None:
    items = [value] if value is not None else []
    if value is None:
        if not rest:
            raise UsageError(f"option '{name} <value>' argument missing")
        items.append(rest.pop())
        while rest and not rest[-1].startswith("-"):
            items.append(rest.pop())
    if flag.kind == "list":
        items = [part for item in items for part in split_rules(item)]
    found.lists.setdefault(flag.field, []).extend(items)


def help_text() -> str:
    """What `--help` prints."""
    rows = []
    for flag in FLAGS:
        head = ", ".join(flag.names.split())
        if flag.kind != "switch":
            head += {"value": " <value>", "maybe": " [value]"}.get(flag.kind, " <values...>")
        choices = f" ({', '.join(flag.choices)})" if flag.choices else ""
        rows.append(f"  {head:<44} {flag.help}{choices}")
    usage = "Usage: claude-agent [options] [prompt]\n\nA coding agent: it answers prompts, from the command line or as frames on stdin.\n\nOptions:"
    return "\n".join([usage, *rows]) + "\n"


def _nearest(name: str) -> str:
    import difflib  # noqa: PLC0415  # start-up: only a mistyped command line needs it

    near = difflib.get_close_matches(name, BY_NAME, n=1, cutoff=0.75)
    return f" (did you mean {near[0]}?)" if near else ""
