"""Files that a program changes because an option, a second word or its own little language names them."""

from __future__ import annotations

import re
from collections.abc import Iterator

_OPTIONS = {
    "sort": ("-o", "--output"),
    "strace": ("-o", "--output"),
    "time": ("-o", "--output"),
    "tree": ("-o", "--output"),
    "tar": ("-f", "--file"),
    "curl": ("-o", "--output"),
    "wget": ("-O", "--output-document"),
}
_SECOND_WORD = frozenset({"uniq", "xxd"})
_FIND_OUTPUTS = frozenset({"-fprint", "-fprint0", "-fprintf", "-fls"})
_SED_FILES = re.compile(
    r"(?:(?:^|[;{}\n])\s*[0-9$,]*\s*[rRwW]\s*|[/|#,:@!%gpiImM0-9$]\s*[rRwW]\s+)([^\s;}]+)"
)


def by_options(program: str, arguments: tuple[str, ...]) -> Iterator[str]:
    """The files that are changed, though they are no plain arguments of a program that changes files."""
    words = arguments[1:]
    if program in _OPTIONS:
        yield from _values(words, *_OPTIONS[program])
    if program == "tar" and words and not words[0].startswith("-") and "f" in words[0]:
        yield from words[1:2]
    elif program in _SECOND_WORD:
        yield from [word for word in words if not word.startswith("-")][1:2]
    elif program == "find":
        yield from (words[at + 1] for at, word in enumerate(words[:-1]) if word in _FIND_OUTPUTS)
        yield from (word for word in words if "-delete" in words and not word.startswith("-"))
    elif program == "git":
        yield from _written_by_git(words)
    elif program == "sed":
        yield from (file for script in _sed_scripts(words) for file in _SED_FILES.findall(script))


def _written_by_git(words: tuple[str, ...]) -> Iterator[str]:
    short = "-o" if {"archive", "format-patch"}.intersection(words) else "--output"
    yield from (value for value in _values(words, short, "--output"))


def _sed_scripts(words: tuple[str, ...]) -> tuple[str, ...]:
    given = (*_values(words, "-e", "--expression"),)
    return given or tuple(word for word in words if not word.startswith("-"))[:1]


def _values(words: tuple[str, ...], short: str, long: str) -> Iterator[str]:
    """The values of an option: the next word, or what stands in the same one."""
    for at, word in enumerate(words):
        name, _, value = word.partition("=")
        if word.startswith("--"):
            if len(name) > 3 and long.startswith(name):
                yield from (value,) if value else words[at + 1 : at + 2]
        elif len(short) == 2 and word.startswith("-") and short[1] in word:
            attached = word.split(short[1], 1)[1]
            yield from (attached,) if attached else words[at + 1 : at + 2]
