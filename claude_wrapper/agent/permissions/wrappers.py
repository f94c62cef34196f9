"""Looks past harmless wrappers and variables in front of a command, so that an allow rule may apply."""

from __future__ import annotations

import re

from .runners import KEYWORDS, SAFE_VALUE, SAFE_VARIABLES
from .shell_line import Assignment, Command, Word

_DURATION = re.compile(r"[0-9]+(?:\.[0-9]+)?[smhd]?\Z", re.ASCII)
_NICENESS = re.compile(r"-{1,2}[0-9]+\Z|\+?[0-9]+\Z", re.ASCII)
_SIGNAL = re.compile(r"[A-Z0-9+-]+\Z", re.ASCII)
_TIMEOUT_FLAGS = frozenset({"--foreground", "--preserve-status", "-v", "--verbose"})
_TIMEOUT_VALUES = {"-k": _DURATION, "--kill-after": _DURATION, "-s": _SIGNAL, "--signal": _SIGNAL}
_PLAIN_WRAPPERS = frozenset({"builtin", "command", "nohup", "xargs"})
_VARIABLE = re.compile(r"[A-Za-z_]\w*=", re.ASCII)
_BUFFERING = re.compile(r"-[ioe](?:[0L]|[0-9]+[KMG]?)\Z", re.ASCII)


def sets_safe_variables_only(assignments: tuple[Assignment, ...]) -> bool:
    """Whether the variables before a command cannot change what it does."""
    return all(_is_safe(item) for item in assignments)


def unwrapped(command: Command) -> list[Command]:
    """The command itself and each command that a harmless wrapper in it would run, from outside in."""
    found = [command]
    words = command.words
    while words:
        inner = _inner(words)
        if inner is None or not inner:
            break
        words = inner
        found.append(Command(words))
    return found


def shows_what_it_starts(command: Command) -> bool:
    """Whether a wrapper is so plain that what only reads needs no question behind it either."""
    if command.words[0].value == "timeout":
        return len(command.words) > 1 and not command.words[1].literal.startswith("-")
    return command.words[0].value in _PLAIN_WRAPPERS


def behind_env(command: Command) -> Command:
    """What a command runs in the end, seen through harmless wrappers, `env` and variables too, but not `xargs`."""
    words = command.words
    while words:
        name = words[0].value
        inner = _after_env(words[1:]) if name == "env" else None if name == "xargs" else _inner(words)
        if not inner:
            break
        words = inner
    return Command(words)


def _after_env(rest: tuple[Word, ...]) -> tuple[Word, ...] | None:
    while rest and (rest[0].literal in {"-i", "-u"} or _VARIABLE.match(rest[0].literal)):
        rest = rest[2:] if rest[0].literal == "-u" else rest[1:]
    return _program(rest)


def _is_safe(assignment: Assignment) -> bool:
    value = assignment.value
    known = value is None or (value.value is not None and SAFE_VALUE.match(value.value) is not None)
    return assignment.name in SAFE_VARIABLES and known and "+=" not in assignment.raw


def _inner(words: tuple[Word, ...]) -> tuple[Word, ...] | None:
    """What the first word runs with the rest of the words, if it is a wrapper used in a known way."""
    name, rest = words[0].value, words[1:]
    if name == "timeout":
        return _after_timeout(rest)
    if name == "nice":
        return _after_nice(rest)
    if name == "stdbuf":
        while rest and _BUFFERING.match(rest[0].literal):
            rest = rest[1:]
        return None if rest == words[1:] else _program(rest)
    if name == "command" and rest and rest[0].literal == "--":
        return _program(rest[1:])
    if name in {"time", "nohup", "command", "builtin", "noglob", "xargs"}:
        return _program(rest)
    return None


def _after_timeout(rest: tuple[Word, ...]) -> tuple[Word, ...] | None:
    while rest and rest[0].literal.startswith("-"):
        option, value = rest[0].literal, rest[1].literal if len(rest) > 1 else ""
        shape = _TIMEOUT_VALUES.get(option)
        if shape is not None and shape.match(value):
            rest = rest[2:]
        elif option in _TIMEOUT_FLAGS or _fits_at_once(option):
            rest = rest[1:]
        else:
            return None
    if not rest or not _DURATION.match(rest[0].literal):
        return None
    return _program(rest[1:])


def _fits_at_once(option: str) -> bool:
    """`--signal=KILL`: an option and its value in one word."""
    name, is_given, value = option.partition("=")
    shape = _TIMEOUT_VALUES.get(name)
    return bool(is_given) and name.startswith("--") and shape is not None and shape.match(value) is not None


def _after_nice(rest: tuple[Word, ...]) -> tuple[Word, ...] | None:
    if len(rest) > 1 and rest[0].literal == "-n" and _NICENESS.match(rest[1].literal):
        return _program(rest[2:])
    if rest and _NICENESS.match(rest[0].literal) and rest[0].literal.startswith("-"):
        return _program(rest[1:])
    return _program(rest)


def _program(rest: tuple[Word, ...]) -> tuple[Word, ...] | None:
    """The rest, if it begins with the name of a program and not with an option or a variable."""
    if not rest or rest[0].value is None or rest[0].literal in KEYWORDS or rest[0].literal == "[[":
        return None
    return None if rest[0].literal.startswith("-") or "=" in rest[0].literal else rest
