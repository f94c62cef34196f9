"""Takes a shell line apart: every command in it, wherever it stands, its files and its variables."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING

from .shell_check import check
from .shell_line import Assignment, Command, Redirect, ShellLine, Word
from .shell_words import WORD_TYPES, read_word, static_text

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_MAX_LENGTH = 10_000
_PLAIN_FOLDER = re.compile(r"[\w./@+-]+\Z")
_SETS_HOME = re.compile(rb"(?<![$\w{])HOME(?:\+?=|\s)")
_COMMANDS = frozenset({"command", "declaration_command", "unset_command"})
_REDIRECTS = frozenset({"file_redirect", "herestring_redirect", "heredoc_redirect"})
_NOT_WORDS = frozenset({"file_descriptor", "heredoc_start", "heredoc_body", "heredoc_end", "comment"})


@lru_cache(maxsize=1)
def _parser() -> Parser:
    import tree_sitter  # noqa: PLC0415 - the agent starts without it
    import tree_sitter_bash  # noqa: PLC0415

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


@lru_cache(maxsize=64)
def read_line(text: str, home: str) -> ShellLine:
    """Take a command line apart."""
    try:
        source = text.encode()
    except UnicodeEncodeError:
        return ShellLine(text, unchecked="it holds characters that no shell can be given", understood=False)
    if len(source) > _MAX_LENGTH:
        return ShellLine(text, unchecked="it is too long to be checked", understood=False)
    tree = _parser().parse(source)
    reader = _Reader(source, home)
    try:
        reader.read(tree.root_node)
    except RecursionError:
        return ShellLine(text, unchecked="it is nested too deeply to be checked", understood=False)
    found = check(tree.root_node, source)
    return ShellLine(
        text,
        reader.commands(),
        reader.redirects(),
        tuple(reader.assignments),
        tuple(reader.documents),
        tuple(reader.filled_in),
        found.reason,
        found.only_grouped,
        reader.runs_behind,
        found.only_behind,
        not tree.root_node.has_error,
    )


class _Reader:
    """Collects what a syntax tree runs, touches and sets."""

    def __init__(self, source: bytes, home: str) -> None:
        self._source = source
        # A line that sets HOME decides itself what `~` means; odd characters would be taken apart.
        decides = _SETS_HOME.search(source) is not None
        self._home = home if _PLAIN_FOLDER.match(home) and not decides else None
        self._commands: list[tuple[int, Command]] = []
        self._redirects: list[tuple[int, Redirect]] = []
        self._pipes: list[int] = []
        self.assignments: list[Assignment] = []
        self.documents: list[str] = []
        self.filled_in: list[str] = []
        self.runs_behind = False

    def commands(self) -> tuple[Command, ...]:
        """The commands in the order in which they stand."""
        ordered = sorted(self._commands, key=itemgetter(0))
        return tuple(replace(command, segment=bisect(self._pipes, at)) for at, command in ordered)

    def redirects(self) -> tuple[Redirect, ...]:
        """The redirects, each with the command that stands before it."""
        starts = sorted(at for at, _ in self._commands)
        ordered = sorted(self._redirects, key=itemgetter(0))
        return tuple(replace(redirect, part=max(0, bisect(starts, at) - 1)) for at, redirect in ordered)

    def read(self, node: Node) -> None:
        """Read a node and everything below it, without recursion: nesting is the writer's choice."""
        waiting = [node]
        taken: set[int] = set()
        while waiting:
            current = waiting.pop()
            if current.id not in taken:
                self._take(current, taken)
            if current.type != "command_substitution" or static_text(self._text(current)) is None:
                waiting.extend(reversed(current.children))

    def _take(self, node: Node, taken: set[int]) -> None:
        if node.type in _COMMANDS:
            self._take_command(node, (), taken)
        elif node.type == "redirected_statement":
            self._take_redirected(node, taken)
        elif node.type == "test_command":
            self._add(node, tuple(self._test_words(node)), whole=True)
        elif node.type in _REDIRECTS:
            self._take_redirect(node)
        elif node.type == "variable_assignment":
            self.assignments.append(self._assignment(node))
        elif node.type in {"|", "|&"}:
            self._pipes.append(node.start_byte)
        elif node.type == "&" and not node.is_named:
            self.runs_behind = True

    def _take_redirected(self, node: Node, taken: set[int]) -> None:
        """A command before redirects: words after a redirect's target belong to it all the same."""
        body = _last_command(node.child_by_field_name("body"))
        trailing = [
            word for child in node.children if child.type in _REDIRECTS for word in self._trailing(child)
        ]
        if body is not None and body.type in _COMMANDS:
            self._take_command(body, tuple(trailing), taken)
        elif trailing:
            self._add(node, tuple(trailing))

    def _trailing(self, redirect: Node) -> list[Word]:
        words = [child for child in redirect.children if child.type in WORD_TYPES]
        first = 0 if redirect.type == "heredoc_redirect" else 1
        return [self._word(child) for child in words[first:]]

    def _take_command(self, node: Node, trailing: tuple[Word, ...], taken: set[int]) -> None:
        taken.add(node.id)
        words: list[Word] = []
        assignments: list[Assignment] = []
        for child in node.children:
            if child.type == "variable_assignment":
                taken.add(child.id)
                if node.type == "command":
                    assignments.append(self._assignment(child))
                else:
                    words.append(self._word(child))
            elif child.type in _REDIRECTS:
                words.extend(self._trailing(child))
            elif child.type == "command_name":
                words.append(self._word(child.children[0]) if child.children else self._word(child))
            elif child.type in WORD_TYPES or child.type == "variable_name" or _is_bare(child):
                words.append(self._word(child))
        if words:
            whole = not trailing and all(child.type not in _REDIRECTS for child in node.children)
            self._add(node, (*words, *trailing), tuple(assignments), whole=whole)
        else:
            self.assignments.extend(assignments)

    def _add(
        self,
        node: Node,
        words: tuple[Word, ...],
        assignments: tuple[Assignment, ...] = (),
        *,
        whole: bool = False,
    ) -> None:
        source = self._text(node) if whole else ""
        command = Command(words, assignments, "" if "\\\n" in source else source)
        self._commands.append((node.start_byte, command))

    def _test_words(self, node: Node) -> Iterator[Word]:
        for child in node.children:
            if child.type in WORD_TYPES or not child.children:
                yield self._word(child)
            else:
                yield from self._test_words(child)

    def _take_redirect(self, node: Node) -> None:
        if node.type == "heredoc_redirect":
            self._take_document(node)
            return
        targets = [child for child in node.children if child.type in WORD_TYPES]
        operator = next((child.type for child in node.children if not child.is_named), "")
        if not targets:
            return
        target = self._word(targets[0])
        if node.type == "herestring_redirect":
            self.documents.append(target.literal)
        if not _duplicates(operator, target):
            self._redirects.append((node.start_byte, Redirect(operator, target)))

    def _take_document(self, node: Node) -> None:
        bodies = [self._text(child) for child in node.children if child.type == "heredoc_body"]
        self.documents.extend(bodies)
        starts = [self._text(child) for child in node.children if child.type == "heredoc_start"]
        if not any(mark in start for start in starts for mark in "'\"\\"):
            self.filled_in.extend(bodies)

    def _assignment(self, node: Node) -> Assignment:
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        word = self._word(value) if value is not None and value.type in WORD_TYPES else None
        return Assignment(self._text(node), "" if name is None else self._text(name), word)

    def _word(self, node: Node) -> Word:
        return read_word(node, self._source, self._home)

    def _text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _last_command(node: Node | None) -> Node | None:
    """The command that redirects after a list belong to."""
    while node is not None and node.type in {"list", "pipeline", "negated_command"}:
        node = node.children[-1]
    return node


def _is_bare(node: Node) -> bool:
    """Whether the parser made a token of its own of what is a word among others."""
    return not node.is_named and node.type != "$"


def _duplicates(operator: str, target: Word) -> bool:
    """Whether a redirect only joins streams that are open already, or is a text instead of a file."""
    if operator == "<<<":
        return True
    return operator in {">&", "<&"} and re.fullmatch(r"[0-9]*-?", target.literal) is not None
