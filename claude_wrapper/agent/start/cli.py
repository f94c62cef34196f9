"""The command line: arguments to values, and the help text."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import field

from claude_wrapper.agent.permissions.rules import split_rules

from .flags import FLAGS, Flag
from .foreign_flags import BY_NAME, foreign_refusal

__all__ = ["Arguments", "UsageError", "help_text", "invalid_value", "parse_arguments"]


class UsageError(Exception):
    """The command line cannot be understood; the text says what is wrong with it.

    `plain` texts stand alone on stderr, the others behind `Error: `.
    """

    def __init__(self, text: str, *, plain: bool = False) -> None:
        super().__init__(text)
        self.line = text if plain else f"Error: {text}"


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
        if flag is not None and not (joined and flag.kind == "switch"):
            _take(found, flag, value if joined else None, rest)
        else:
            _take_letters(found, word, rest)
    refusal = foreign_refusal({*found.switches, *found.values, *found.lists})
    if refusal is not None and not (found.has("help") or found.has("version")):
        raise UsageError(refusal, plain=True)
    return found


def invalid_value(name: str, value: str, why: str) -> UsageError:
    """The complaint about the value of a flag."""
    flag = next(flag for flag in BY_NAME.values() if flag.field == name)
    return UsageError(f"error: option '{flag.title}' argument '{value}' is invalid. {why}", plain=True)


def _take_letters(found: Arguments, word: str, rest: list[str]) -> None:
    """Several flags of one letter behind one dash, or such a flag and its value in one word."""
    flag = BY_NAME.get(word[:2])
    if word.startswith("--") or flag is None or len(word) < 3:  # a dash, a letter, and more
        raise UsageError(f"error: unknown option '{word}'{_nearest(word)}", plain=True)
    if flag.kind == "switch":
        _take(found, flag, None, rest)
        rest.append(f"-{word[2:]}")
    else:
        _take(found, flag, word[2:], rest)


def _take(found: Arguments, flag: Flag, value: str | None, rest: list[str]) -> None:
    if flag.kind == "switch":
        found.switches.add(flag.field)
        return
    if flag.kind == "maybe":
        if value is None and rest and not rest[-1].startswith("-"):
            value = rest.pop()
        if value is not None:
            _check_choice(flag, value)
        found.values[flag.field] = value or ""
        return
    first = _next(flag, value, rest)
    if flag.kind == "value":
        _check_choice(flag, first)
        found.values[flag.field] = first
        return
    items = [first]
    while flag.kind in {"list", "many"} and value is None and rest and not rest[-1].startswith("-"):
        items.append(rest.pop())
    if flag.kind == "list":
        items = [part for item in items for part in split_rules(item)]
    found.lists.setdefault(flag.field, []).extend(items)


def _next(flag: Flag, value: str | None, rest: list[str]) -> str:
    if value is not None:
        return value
    if not rest:
        raise UsageError(f"error: option '{flag.title}' argument missing", plain=True)
    return rest.pop()


def _check_choice(flag: Flag, value: str) -> None:
    if flag.choices and value not in flag.choices:
        raise invalid_value(flag.field, value, f"It takes one of: {', '.join(flag.choices)}.")


def help_text() -> str:
    """What `--help` prints."""
    rows = []
    for flag in FLAGS:
        choices = f" ({', '.join(flag.choices)})" if flag.choices else ""
        rows.append(f"  {flag.title:<48} {flag.help}{choices}")
    usage = "Usage: claude-agent [options] [prompt]\n\nA coding agent: it answers prompts, from the command line or as frames on stdin.\n\nOptions:"
    return "\n".join([usage, *rows]) + "\n"


def _nearest(name: str) -> str:
    import difflib  # noqa: PLC0415  # start-up: only a mistyped command line needs it

    near = difflib.get_close_matches(name, [each for each in BY_NAME if len(each) > 2], n=1, cutoff=0.7)
    return f"\n(Did you mean {near[0]}?)" if near else ""
