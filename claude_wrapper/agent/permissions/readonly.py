"""Whether a command only shows things, and which files it would read for that."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from . import paths
from . import readonly_commands as data
from .readonly_commands import ReadOnly
from .shell_line import Command, Word

_PLAIN_WORD = re.compile(r"[\w./:@+][\w./:@+-]*\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class FileUse:
    """A file that a command is given; with a pattern of the shell, the folder that it starts in."""

    path: str
    is_glob: bool = False


def files_shown(command: Command) -> tuple[FileUse, ...] | None:
    """The files that a read-only command reads; None if the command may do more than read."""
    if not command.words or any(word.value is None for word in command.words):
        return None
    name, words = command.words[0].value, command.words[1:]
    if (
        name is None
        or (command.words[0].is_glob and name not in {"[", "[["})
        or (name == "cd" and any(word.is_glob for word in words))
    ):
        return None
    if name == "git":
        return _git(words)
    if name == "cd" and [word.literal for word in words] == ["-"]:
        return ()
    if name == "find":
        return _find(words)
    if name == "sed":
        return _sed(words)
    if name == "xargs":
        return _xargs(words)
    known = data.READ_ONLY.get(name)
    return None if known is None else _known(name, known, words)


def _known(name: str, known: ReadOnly, words: tuple[Word, ...]) -> tuple[FileUse, ...] | None:
    if known.only is not None:
        fits = len(words) >= known.fewest_arguments and all(_text(word) in known.only for word in words)
        return () if fits else None
    plain: list[Word] = []
    found: list[FileUse] = []
    options = True
    waiting = iter(words)
    pattern_given = not known.pattern_first
    for word in waiting:
        text = _text(word)
        if options and text == "--":
            options = False
        elif options and text.startswith("-") and len(text) > 1 and name not in {"echo", "expr"}:
            if _is_one_of(text, known.refused) or word.is_glob:
                return None
            pattern_given = pattern_given or _is_one_of(text, known.pattern_options)
            if text in known.valued:
                next(waiting, None)
            elif text[:2] not in known.valued:
                found.extend(_in_option(text))
        else:
            plain.append(word)
    if not _words_fit(name, known, plain):
        return None
    if not known.takes_files:
        return ()
    return (*found, *_uses(plain[0 if pattern_given else 1 :], name))


def _words_fit(name: str, known: ReadOnly, plain: list[Word]) -> bool:
    if known.most_words is not None and len(plain) > known.most_words:
        return False
    if known.words is not None and not all(known.words.match(_text(word)) for word in plain):
        return False
    texts = data.PROGRAM_TEXTS.get(name)
    if texts is not None and any(texts.search(_text(word)) for word in plain[:1]):
        return False
    # A pattern may turn out as the name of a file that looks like one of the refused options.
    return not (
        known.refused and any(word.is_glob and word.literal[:1] in paths.GLOB_CHARACTERS for word in plain)
    )


def _uses(words: Iterable[Word], name: str) -> Iterator[FileUse]:
    files = [
        FileUse(paths.before_glob(_text(word)) if word.is_glob else _text(word), word.is_glob)
        for word in words
    ]
    if not files:
        yield FileUse("~" if name == "cd" else ".")
    yield from files


def _in_option(text: str) -> Iterator[FileUse]:
    """A file that may be named inside an option: `--file=x`, `-f/x`."""
    value = text.partition("=")[2] if text.startswith("--") else text[2:]
    if value and (text.startswith(("--", "-f")) or not value.isalnum()):
        yield FileUse(value)
        # The value may begin later, behind further letters.
        starts = [at for at in (value.find("/"), value.find("~"), value.find("..")) if at > 0]
        yield from (FileUse(value[at:]) for at in starts)


def _is_one_of(text: str, options: frozenset[str]) -> bool:
    """Whether an argument is one of the options, cut short, with a value, or among short ones."""
    if "-" in options:
        return True
    if text.startswith("--"):
        name = text.partition("=")[0]
        return any(option.startswith(name) for option in options if option.startswith("--"))
    letters = {option[1] for option in options if len(option) == 2}
    return not letters.isdisjoint(text[1:])


def _text(word: Word) -> str:
    return word.value or ""


def _xargs(words: tuple[Word, ...]) -> tuple[FileUse, ...] | None:
    """`xargs` that only shows its input again: what it runs takes the words that it is given for texts."""
    texts = [_text(word) for word in words]
    while texts and (texts[0] in data.XARGS_OPTIONS or texts[0] == "-n"):
        if texts[0] == "-n" and (len(texts) < 2 or data.XARGS_COUNTS.match(texts[1]) is None):
            return None
        texts = texts[2 if texts[0] == "-n" else 1 :]
    return () if not texts or texts[0] in {"echo", "printf"} else None


def _find(words: tuple[Word, ...]) -> tuple[FileUse, ...] | None:
    found: list[FileUse] = []
    waiting = iter(words)
    expression = False
    for word in waiting:
        text = _text(word)
        if word.is_glob:
            return None
        if text in data.FIND_TESTS or text in data.FIND_FILES:
            value = next(waiting, None)
            if value is None or value.is_glob:
                return None
            if text in data.FIND_FILES:
                found.append(FileUse(_text(value)))
            expression = True
        elif text in data.FIND_WORDS:
            expression = expression or text not in {"-P", "-H"}
        elif expression or text.startswith("-"):
            return None
        else:
            found.append(FileUse(text))
    return tuple(found) or (FileUse("."),)


def _sed(words: tuple[Word, ...]) -> tuple[FileUse, ...] | None:
    """`sed -n` with a script that only prints lines by their numbers, or one that replaces in its input."""
    options = {word.literal for word in words if word.literal.startswith("-")}
    plain = [word for word in words if not word.literal.startswith("-")]
    if any(word.is_glob for word in words) or not plain:
        return None
    if options <= data.SED_DIALECTS:
        return () if len(plain) == 1 and data.SED_REPLACES.match(plain[0].literal) else None
    if not options <= data.SED_DIALECTS | data.SED_QUIET or options.isdisjoint(data.SED_QUIET):
        return None
    if data.SED_PRINTS.match(plain[0].literal) is None:
        return None
    return tuple(FileUse(_text(word)) for word in plain[1:])


def _leaves_the_index(rest: list[str]) -> bool:
    """Whether `git grep` is to search files that nobody has put into the repository."""
    return any(
        _is_one_of(word, data.GIT_GREP_REFUSED) for word in rest if word.startswith("--") and word != "--"
    )


def _git(words: tuple[Word, ...]) -> tuple[FileUse, ...] | None:
    texts = [_text(word) for word in words]
    if any(word.is_glob for word in words):
        return None
    while texts[:1] in (["--no-pager"], ["-P"]):
        texts = texts[1:]
    if not texts:
        return None
    verb, rest = texts[0], texts[1:]
    if verb in data.GIT_ONLY and set(rest) <= data.GIT_ONLY[verb]:
        return (FileUse("."),)
    if rest and (verb, rest[0]) in data.GIT_PAIRS:
        allowed = data.GIT_PAIRS[verb, rest[0]]
        fits = all(item in allowed if allowed is not None else _PLAIN_WORD.match(item) for item in rest[1:])
        return (FileUse("."),) if fits else None
    if verb not in data.GIT_ANY_WORDS or (verb == "grep" and _leaves_the_index(rest)):
        return None
    last_option = rest.index("--") if "--" in rest else len(rest)
    options = [item for item in rest[:last_option] if item.startswith("-") and item != "-"]
    if any(_is_one_of(item, data.GIT_REFUSED) for item in options):
        return None
    files = (item.partition(":")[2] or item for item in rest if item not in options)
    return (FileUse("."), *map(FileUse, files), *(use for item in options for use in _in_option(item)))
