"""The words behind a subcommand: options and arguments in the way that command lines of the kind take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from msgspec import field

__all__ = ["Option", "Shape", "Words", "WordsError", "nearest", "read_words"]


class WordsError(Exception):
    """The words cannot be understood; the text is for stderr."""


class Option(NamedTuple):
    """One option. `kind` is `switch`, `value` (one) or `many` (all words up to the next option)."""

    names: str
    field: str
    kind: str
    help: str

    @property
    def title(self) -> str:
        """The option as help and complaints name it."""
        ending = {"switch": "", "value": f" <{self.field}>", "many": f" <{self.field}...>"}[self.kind]
        return ", ".join(self.names.split()) + ending


class Shape(NamedTuple):
    """What a subcommand takes: its options, the arguments it needs, and the name of further ones."""

    help: str
    options: tuple[Option, ...] = ()
    needs: tuple[str, ...] = ()
    may: tuple[str, ...] = ()
    rest: str | None = None

    def usage(self, name: str) -> str:
        """What `--help` prints."""
        words = [f"<{each}>" for each in self.needs] + [f"[{each}]" for each in self.may]
        words += [f"[{self.rest}...]"] if self.rest else []
        lines = [" ".join(["Usage: claude-agent", name, "[options]", *words]), "", self.help, "", "Options:"]
        lines += [f"  {each.title:<32} {each.help}" for each in self.options]
        return "\n".join([*lines, f"  {'-h, --help':<32} print this text"]) + "\n"


class Words(msgspec.Struct):
    """What was found."""

    arguments: list[str] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)
    switches: set[str] = field(default_factory=set)
    help: bool = False


def read_words(words: Sequence[str], shape: Shape) -> Words:
    """Read what stands behind a subcommand; raises WordsError."""
    found = Words()
    known = {name: option for option in shape.options for name in option.names.split()}
    rest = list(reversed(words))
    while rest:
        word = rest.pop()
        if word == "--":
            found.arguments.extend(reversed(rest))
            break
        if not word.startswith("-") or word == "-":
            found.arguments.append(word)
        elif word in {"-h", "--help"}:
            found.help = True
            return found
        else:
            _take(found, known, word, rest)
    _check(found, shape)
    return found


def nearest(word: str, known: Sequence[str]) -> str | None:
    """What a mistyped word may have meant."""
    import difflib  # noqa: PLC0415  # start-up: only a mistyped command line needs it

    near = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return near[0] if near else None


def _take(found: Words, known: dict[str, Option], word: str, rest: list[str]) -> None:
    name, joined, value = word.partition("=")
    option = known.get(name)
    if option is None or (joined and option.kind == "switch"):
        meant = nearest(name, list(known))
        raise WordsError(f"error: unknown option '{word}'" + (f"\n(Did you mean {meant}?)" if meant else ""))
    if option.kind == "switch":
        found.switches.add(option.field)
        return
    if not joined:
        if not rest:
            raise WordsError(f"error: option '{option.title}' argument missing")
        value = rest.pop()
    if option.kind == "value":
        found.values[option.field] = value
        return
    items = found.lists.setdefault(option.field, [])
    items.append(value)
    while not joined and rest and not rest[-1].startswith("-"):
        items.append(rest.pop())


def _check(found: Words, shape: Shape) -> None:
    given = len(found.arguments)
    if given < len(shape.needs):
        raise WordsError(f"error: missing required argument '{shape.needs[given]}'")
    if shape.rest is None:
        # Words too many are left out, as they are by other agents.
        del found.arguments[len(shape.needs) + len(shape.may) :]
