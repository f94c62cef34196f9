"""Everything that a line might run, seen through wrappers, nested shells and quoted scripts.

This is for rules that refuse: it rather sees too much than too little. What is found here never
allows anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from .hidden import hides_its_program
from .runners import EVALUATES, RUNNERS, SHELLS, Runner, changes_the_shell
from .shell import read_line
from .shell_line import Command, Redirect, ShellLine

Arguments = tuple[str, ...]

_MOST_COMMANDS = 400
_DEEPEST = 6
_PIECES = re.compile(r"&&|\|\||[;|&\n(){}`]|\$\(|<\(|>\(")
_SUBSTITUTED = re.compile(r"\$\([^()]*\)?|`[^`]*`?")
_NESTED = re.compile(r"\$\{[^}]*(?:`|\$\()|\\`")
_BRACES = re.compile(r"([^{}]*)\{([^{}]*,[^{}]*)\}([^{}]*)\Z")
_BRACE_PATTERN = re.compile(r"\{[^{}]*,[^{}]*\}")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=", re.ASCII)
_FIND_ACTIONS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_FD_ACTIONS = frozenset({"-x", "--exec", "-X", "--exec-batch"})
_GIT_VALUED = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"}
)


@dataclass(frozen=True, slots=True)
class Revealed:
    """The commands found, each as its arguments; the files that streams are led to."""

    commands: tuple[Arguments, ...]
    redirects: tuple[Redirect, ...]
    complete: bool
    """False if there was too much, or the line could not be read: something may have been missed."""
    lines: tuple[ShellLine, ...] = ()
    """The line itself and every command line found inside it."""
    hidden: bool = False
    """Some program is only known when the line runs: its name, or the text that names it, is worked out."""


@lru_cache(maxsize=64)
def reveal(line: ShellLine, home: str) -> Revealed:
    """Find every command in a line."""
    search = _Search(home)
    search.add_line(line, 0)
    return Revealed(
        tuple(search.found),
        tuple(search.redirects),
        search.complete and line.understood,
        tuple(search.lines),
        search.hidden,
    )


@dataclass
class _Search:
    home: str
    found: dict[Arguments, None] = field(default_factory=dict)
    redirects: dict[Redirect, None] = field(default_factory=dict)
    lines: list[ShellLine] = field(default_factory=list)
    complete: bool = True
    hidden: bool = False

    def add_text(self, text: str, depth: int) -> None:
        """A command line inside a command line."""
        if depth > _DEEPEST:
            self.complete = False
            return
        self.add_line(read_line(text, self.home), depth)

    def add_line(self, line: ShellLine, depth: int) -> None:
        self.redirects.update(dict.fromkeys(line.redirects))
        self.lines.append(line)
        values = _known_values(line)
        for command in line.commands:
            self.add(_filled_in(command, values), depth)
        if any(_reads_script(command) for command in line.commands):
            for text in (*line.documents, *_printed(line)):
                self.add_text(text, depth + 1)
        if not line.understood:
            self.add_pieces(_BRACE_PATTERN.sub(lambda found: found[0].replace(",", " "), line.text), depth)
        for text in (*_worked_out(line), *_nested(line)):
            self.add_pieces(text, depth)
        if "\\\n" in line.text:
            self.add_text(line.text.replace("\\\n", ""), depth + 1)

    def add_pieces(self, text: str, depth: int) -> None:
        """What may be commands in a text that is not read as a command line."""
        for piece in _PIECES.split(text):
            self.add(tuple(piece.replace("'", "").replace('"', "").replace("\\", "").split()), depth)

    def add(self, arguments: Arguments, depth: int) -> None:
        """A command, and what it would run in turn."""
        while arguments and _ASSIGNMENT.match(arguments[0]):
            arguments = arguments[1:]
        if not arguments or arguments in self.found:
            return
        if len(self.found) >= _MOST_COMMANDS or depth > _DEEPEST:
            self.complete = False
            return
        self.found[arguments] = None
        program = _name(arguments[0])
        self.hidden = self.hidden or hides_its_program(program, arguments)
        for inner in _inner_commands(program, arguments):
            self.add(inner, depth + 1)
        for script in _scripts(program, arguments):
            self.add_text(script, depth + 1)


def _name(program: str) -> str:
    return program.rsplit("/", 1)[-1].lower()


def _inner_commands(program: str, arguments: Arguments) -> Iterator[Arguments]:
    runner = RUNNERS.get(program)
    if runner is not None:
        yield from _run_by(runner, arguments)
        if program == "coproc":  # it may be given a name
            yield arguments[2:]
    elif program in {"find", "gfind"}:
        yield from _after(arguments, _FIND_ACTIONS)
    elif program in {"fd", "fdfind"}:
        yield from _after(arguments, _FD_ACTIONS)
    elif program == "git":
        yield from _plain_git(arguments)


def _run_by(runner: Runner, arguments: Arguments) -> Iterator[Arguments]:
    at, before = 1, runner.arguments
    while at < len(arguments):
        word = arguments[at]
        if word == "--":
            at += 1
            break
        if word.startswith("-") and len(word) > 1:
            at += 2 if word in runner.valued or word in runner.script_options else 1
        elif _ASSIGNMENT.match(word):
            at += 1
        elif before > 0:
            before -= 1
            at += 1
        else:
            break
    if arguments[at:]:
        yield arguments[at:]
    if runner.arguments == 1 and before == 1 and arguments[at + 1 :]:
        yield arguments[at + 1 :]


def _after(arguments: Arguments, actions: frozenset[str]) -> Iterator[Arguments]:
    for at, word in enumerate(arguments):
        if word in actions:
            rest = arguments[at + 1 :]
            end = next((number for number, item in enumerate(rest) if item in {";", "+"}), len(rest))
            yield rest[:end]


def _plain_git(arguments: Arguments) -> Iterator[Arguments]:
    """The git command without the options that stand before it."""
    at = 1
    while at < len(arguments) and arguments[at].startswith("-"):
        at += 2 if arguments[at] in _GIT_VALUED else 1
    if at > 1 and at < len(arguments):
        yield (arguments[0], *arguments[at:])


def _scripts(program: str, arguments: Arguments) -> Iterator[str]:
    """Command lines that a command is given as text."""
    runner = RUNNERS.get(program)
    if program == "alias":
        yield from (word.partition("=")[2] for word in arguments[1:] if "=" in word)
    if runner is None:
        return
    if runner.joins and len(arguments) > 1:
        yield " ".join(arguments[1:])
        yield from (word for word in arguments[1:] if " " in word)
    for at, word in enumerate(arguments[1:], start=1):
        value, attached = _script_option(runner, word)
        before = "env " if program == "env" else ""  # its text may begin with options
        if attached:
            yield before + attached
        if value and at + 1 < len(arguments):
            yield from (before + text for text in arguments[at + 1 : at + 3])


def _script_option(runner: Runner, word: str) -> tuple[bool, str]:
    """Whether the next argument is a script, and the one that stands in this word itself."""
    for option in runner.script_options:
        if word == option:
            return True, ""
        if option.startswith("--"):
            if word.startswith(option + "="):
                return False, word[len(option) + 1 :]
        elif word.startswith("-") and not word.startswith("--") and option[1] in word[1:]:
            # Options may share a dash (`bash -ec`); the script follows, or stands right behind (`env -Sx`).
            return True, word.split(option[1], 1)[1]
    return False, ""


def _reads_script(command: Command) -> bool:
    """Whether the command is a shell that is told what to do by its input."""
    words = command.arguments
    return any(_name(word) in SHELLS for word in words[:4]) and not any(word == "-c" for word in words)


def _worked_out(line: ShellLine) -> Iterator[str]:
    """Substitutions in texts that the shell itself goes through once more, quoted or not."""
    for text in (*_evaluated(line), *line.filled_in):
        for found in _SUBSTITUTED.finditer(text):
            yield found[0].strip("$()`")


def _nested(line: ShellLine) -> Iterator[str]:
    """Words in which substitutions stand inside other things, where a parser may not see them."""
    for command in line.commands:
        yield from (word.raw for word in command.words if word.value is None and _NESTED.search(word.raw))


def _evaluated(line: ShellLine) -> Iterator[str]:
    """Values that may be taken for arithmetic or a prompt, and arguments of builtins that do so."""
    for item in (*line.assignments, *(item for command in line.commands for item in command.assignments)):
        if item.value is not None:
            yield item.value.literal
    for command in line.commands:
        if changes_the_shell(command.arguments) or command.words[0].literal in EVALUATES:
            yield from command.arguments[1:]


def _printed(line: ShellLine) -> Iterator[str]:
    for command in line.commands:
        words = command.arguments
        if words and _name(words[0]) in {"echo", "printf"}:
            yield " ".join(words[1:])


def _known_values(line: ShellLine) -> dict[str, str]:
    every = (*line.assignments, *(item for command in line.commands for item in command.assignments))
    return {item.name: item.value.literal for item in every if item.value is not None}


def _filled_in(command: Command, values: dict[str, str]) -> Arguments:
    """The arguments, with variables that the line itself sets and brace patterns written out."""
    words: list[str] = []
    for word in command.words:
        if word.variable in values:
            words.extend(values[word.variable].split() or [""])
            continue
        braces = _BRACES.match(word.literal) if word.value is not None and "{" in word.raw else None
        if braces is None:
            words.append(word.literal)
        else:
            words.extend(braces[1] + middle + braces[3] for middle in braces[2].split(","))
    return tuple(words)
