"""Whether a parsed line does only what its commands show: the parser's view, checked token by token.

A line passes if each of its tokens is one that the shell reads the same way, and if nothing in it
(substitutions, functions, variables ...) could make it run or touch something that is not written there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .odd_characters import odd_characters
from .shell_words import static_text

if TYPE_CHECKING:
    from tree_sitter import Node

_STRUCTURE = frozenset(
    {
        "program",
        "list",
        "pipeline",
        "command",
        "command_name",
        "redirected_statement",
        "file_redirect",
        "herestring_redirect",
        "negated_command",
        "if_statement",
        "elif_clause",
        "else_clause",
        "while_statement",
        "for_statement",
        "do_group",
        "test_command",
        "unary_expression",
        "binary_expression",
        "declaration_command",
        "unset_command",
        "string",
        "concatenation",
    }
)
_ONE_LINE = frozenset(
    {"command", "test_command", "unary_expression", "binary_expression", "negated_command"}
    | {
        "declaration_command",
        "unset_command",
        "file_redirect",
        "herestring_redirect",
        "command_name",
    }
)
_LISTS = frozenset({"program", "do_group", "if_statement", "elif_clause", "else_clause", "while_statement"})
_OPERATORS = frozenset(
    {"&&", "||", ";", "|", "|&", "!", "while", "until", "do", "done", "if", "then", "elif", "else", "fi"}
    | {">", ">>", "<", ">|", "&>", "&>>", ">&", "<&", "<<", "<<<", "[", "]", "[[", "]]", "=", "==", "!=", '"'}
    | {"for", "in", "export", "declare", "typeset", "local", "readonly", "unset", "\n"}
)
_ARITHMETIC_TESTS = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_VARIABLE_TESTS = frozenset({"-v", "-R"})
_TEST_OPERATORS = frozenset({"[", "]", "[[", "]]", "!", "=", "==", "!=", '"'})
_LEAVES = {
    "word": re.compile(r"(?![#=])(?:[^\s\\'\"`$;&|<>(){}]|\\[^\s]|\{\})+\Z"),
    "number": re.compile(r"-?[0-9]+\Z", re.ASCII),
    "string_content": re.compile(r'(?:[^"\\`$]|\\[^\n])+\Z'),
    "raw_string": re.compile(r"'[^']*'\Z"),
    "file_descriptor": re.compile(r"[0-9]+\Z", re.ASCII),
    "variable_name": re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z", re.ASCII),
    "comment": re.compile(r"#[^\n]*\Z"),
    "test_operator": re.compile(r"-[a-zA-Z]+\Z", re.ASCII),
}
_SUM = re.compile(rb"\$\(\([0-9 +*/%-]+\)\)\Z")
_GAP = re.compile(r"(?:[ \t]|\n|(?<=[ \t\n])\\\n)*\Z")
_BRACES = re.compile(r"\{\}")
_HEREDOC_START = re.compile(r"(?:(['\"])(\w+)\1|\\(\w+))\Z")

_WHY = {
    "command_substitution": "it uses the output of another command",
    "process_substitution": "it uses another command in the place of a file",
    "simple_expansion": "it uses a variable whose value is not known",
    "expansion": "it uses a variable whose value is not known",
    "arithmetic_expansion": "it calculates",
    "ansi_c_string": "it holds text with escape codes",
    "subshell": "it groups commands",
    "compound_statement": "it groups commands",
    "function_definition": "it defines a function",
    "brace_expression": "it holds a brace pattern",
    "c_style_for_statement": "it loops over values",
    "case_statement": "it chooses among patterns",
    "variable_assignment": "it sets a variable for what follows",
    "variable_assignments": "it sets variables for what follows",
    "&": "it leaves a command running in the background",
}
_UNCLEAR = "it could not be read with certainty"


@dataclass(frozen=True, slots=True)
class Checked:
    """What the check of a line found."""

    reason: str | None
    """Why the line may do more than its commands show, or None."""
    only_grouped: bool = False
    """Nothing but commands in parentheses."""
    only_behind: bool = False
    """Nothing but commands left in the background."""


def check(root: Node, source: bytes) -> Checked:
    """Whether the line does only what its commands show."""
    if root.has_error:
        return Checked("it could not be read as a command line")
    text = source.decode()
    if not text.isascii() or any(character < " " or character == "\x7f" for character in text):
        reason = odd_characters(text)
        if reason is not None:
            return Checked(reason)
    checker = _Checker(source)
    try:
        reason = checker.check(root)
    except RecursionError:
        return Checked("it is nested too deeply to be checked")
    if reason is None and (not _is_gap(source[checker.end :]) or not _is_gap(source[: root.start_byte])):
        reason = _UNCLEAR
    if reason is not None:
        return Checked(reason)
    grouped, behind = checker.groups, checker.runs_behind
    reason = _WHY["subshell"] if grouped else _WHY["&"] if behind else None
    return Checked(reason, grouped and not behind, behind and not grouped)


def _is_brace_in_word(node: Node, text: str) -> bool:
    parent = node.parent
    return text in {"{", "}"} and parent is not None and parent.type == "concatenation"


def _is_plain_group(node: Node) -> bool:
    """Whether one statement stands in parentheses, and these in a list."""
    parent = node.parent
    return (
        [child.type for child in node.children][::2] == ["(", ")"]
        and node.child_count == 3
        and parent is not None
        and parent.type in {"program", "list", "pipeline"}
    )


def _leaves(node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if current.child_count:
            waiting.extend(current.children)
        else:
            yield current


def _is_gap(piece: bytes) -> bool:
    return not piece or _GAP.match(piece.decode("utf-8", "replace")) is not None


class _Checker:
    """Goes through the tokens in order; `end` is where the last one ended."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self.end = 0
        self.groups = False
        self.runs_behind = False

    def check(self, node: Node) -> str | None:
        """Check a node, its tokens and the gaps between them."""
        if node.is_missing:
            return _UNCLEAR
        if node.type == "heredoc_redirect":
            return self._check_heredoc(node)
        if not node.child_count and node.type not in _STRUCTURE:
            return self._check_leaf(node)
        if node.type == "simple_expansion":
            return self._check_variable(node)
        if node.type == "arithmetic_expansion":
            return self._check_sum(node)
        if node.type == "command_substitution":
            return self._check_printed(node)
        if node.type == "variable_assignment":
            return self._check_assignment(node)
        if node.type == "subshell" and _is_plain_group(node):
            self.groups = True
            return self._check_children(node)
        if node.type not in _STRUCTURE:
            return _WHY.get(node.type, _UNCLEAR)
        return self._check_children(node)

    def _check_children(self, node: Node) -> str | None:
        if node.type == "command" and not all(child.is_named for child in node.children):
            return _UNCLEAR
        if node.type == "file_redirect" and not self._joins_or_names(node):
            return _UNCLEAR
        if node.type == "for_statement" and not self._is_plain_loop(node):
            return "it loops over values"
        previous: Node | None = None
        for child in node.children:
            if previous is not None and not self._gap_fits(node, previous, child):
                return _UNCLEAR
            reason = self.check(child)
            if reason is not None:
                return reason
            previous = child
        if node.type == "concatenation":
            return self._check_braces(node)
        if node.type == "test_command":
            return self._check_test(node)
        return None

    def _is_plain_loop(self, loop: Node) -> bool:
        """`for name in words; do`, where nothing hangs on the name: uses of the variable do not pass."""
        kinds = [child.type for child in loop.children]
        if kinds[:1] != ["for"] or kinds[1:3] != ["variable_name", "in"] or kinds[-2:] != [";", "do_group"]:
            return False
        name, head = loop.children[1], self._source[loop.start_byte : loop.children[-1].start_byte]
        if re.fullmatch(rb"[a-z][a-z0-9]*", self._source[name.start_byte : name.end_byte]) is None:
            return False
        return b"\n" not in head and all(kind in _LEAVES for kind in kinds[3:-2])

    def _joins_or_names(self, redirect: Node) -> bool:
        """Whether what follows `>&` is a stream, or surely a file: the shell splits `>& -x` up."""
        parts = [self._source[child.start_byte : child.end_byte] for child in redirect.children]
        at = next((at for at, part in enumerate(parts) if part in {b">&", b"<&"}), None)
        if at is None:
            return True
        target = parts[at + 1] if at + 1 < len(parts) else b""
        named = rb"|[A-Za-z_./~\"'].*" if parts[at] == b">&" else b""
        return re.fullmatch(rb"[0-9]+|-" + named, target, re.DOTALL) is not None

    def _gap_fits(self, parent: Node, left: Node, right: Node) -> bool:
        """Whether the space between two parts is what the shell needs to see them as two, or as one."""
        gap = self._source[left.end_byte : right.start_byte].decode("utf-8", "replace")
        if parent.type == "concatenation":
            return not gap
        if parent.type == "string":
            return True
        if parent.type in _ONE_LINE:
            return self._parts_stand_apart(parent, left, gap)
        if right.children and right.children[0].type == "file_descriptor" and not gap:
            return False
        if (
            parent.type in _LISTS
            and left.is_named
            and right.is_named
            and left.type not in {"elif_clause", "do_group"}
        ):
            return "\n" in gap or right.type in {"comment", "do_group", "elif_clause", "else_clause"}
        return True

    @staticmethod
    def _parts_stand_apart(parent: Node, left: Node, gap: str) -> bool:
        if "\n" in gap.replace("\\\n", ""):
            return False
        if left.type == "file_descriptor":
            return not gap
        if parent.type in {"file_redirect", "herestring_redirect"} and not left.is_named:
            return True
        return bool(gap)

    def _check_leaf(self, node: Node) -> str | None:
        gap = self._source[self.end : node.start_byte]
        text = self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")
        if self.end > node.start_byte or not _is_gap(gap):
            return _UNCLEAR
        self.end = node.end_byte
        if not node.is_named:
            return self._check_operator(node, text)
        shape = _LEAVES.get(node.type)
        if shape is None:
            return _WHY.get(node.type, _UNCLEAR)
        if node.type == "comment" and self._source[: node.start_byte][-1:] not in {
            b"",
            b" ",
            b"\t",
            b"\n",
            b";",
        }:
            return _UNCLEAR
        if shape.match(text) is None and not _is_brace_in_word(node, text):
            return "it holds escaped white space" if re.search(r"\\\s", text) else _UNCLEAR
        return None

    def _check_operator(self, node: Node, text: str) -> str | None:
        if node.type == "&" and node.parent is not None and node.parent.type in {"program", "list"}:
            self.runs_behind = True
            return None
        if node.type in {"(", ")"} and node.parent is not None and node.parent.type == "subshell":
            return None
        return None if node.type in _OPERATORS and text == node.type else _WHY.get(node.type, _UNCLEAR)

    def _check_variable(self, node: Node) -> str | None:
        if self._source[node.start_byte : node.end_byte] != b"$HOME":
            return _WHY["simple_expansion"]
        self.end = node.end_byte
        return None

    def _check_printed(self, node: Node) -> str | None:
        """A text that is only printed, in quotes so that nothing splits it up."""
        text = self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")
        if node.parent is None or node.parent.type != "string" or static_text(text) is None:
            return _WHY["command_substitution"]
        self.end = node.end_byte
        return None

    def _check_sum(self, node: Node) -> str | None:
        """Numbers alone; a name could stand for a text in which more is worked out."""
        text = self._source[node.start_byte : node.end_byte]
        if self.end > node.start_byte or not _is_gap(self._source[self.end : node.start_byte]):
            return _UNCLEAR
        if _SUM.match(text) is None:
            return _WHY["arithmetic_expansion"]
        self.end = node.end_byte
        return None

    def _check_assignment(self, node: Node) -> str | None:
        parent = node.parent
        alone = parent is not None and parent.type == "program" and parent.child_count == 1
        if parent is None or not (alone or parent.type in {"command", "declaration_command"}):
            return _WHY["variable_assignment"]
        if [child.type for child in node.children[:2]] != ["variable_name", "="] or node.child_count > 3:
            return _UNCLEAR
        reasons = (self.check(child) for child in node.children)
        return next((reason for reason in reasons if reason is not None), None)

    def _check_braces(self, node: Node) -> str | None:
        """Only the empty pair of braces is one that the shell leaves alone for certain."""
        bare = b"".join(
            self._source[child.start_byte : child.end_byte] if child.type in {"word", "number"} else b"-"
            for child in node.children
        )
        if b"{" in _BRACES.sub("", bare.decode("utf-8", "replace")).encode() or bare.count(
            b"{"
        ) != bare.count(b"}"):
            return "it holds a brace pattern"
        return None

    def _check_test(self, node: Node) -> str | None:
        """In single brackets the shell sees other operators than the parser does."""
        text = self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")
        calculating = _VARIABLE_TESTS if text.startswith("[ ") else _VARIABLE_TESTS | _ARITHMETIC_TESTS
        if calculating.intersection(text.split()):
            return "it calculates"
        allowed = _TEST_OPERATORS | ({"&&", "||"} if text.startswith("[[") else set())
        operators = {leaf.type for leaf in _leaves(node) if not leaf.is_named}
        return None if operators <= allowed else _UNCLEAR

    def _check_heredoc(self, node: Node) -> str | None:
        """Text for a command's input, if it is taken as it stands and ends where it seems to."""
        parts = {child.type: child for child in node.children}
        if [child.type for child in node.children[:2]] != ["<<", "heredoc_start"] or len(parts) != len(
            node.children
        ):
            return _UNCLEAR
        start, body, end = (parts.get(name) for name in ("heredoc_start", "heredoc_body", "heredoc_end"))
        if start is None or body is None or end is None or self._source.count(b"<<") != 1:
            return _UNCLEAR
        operator = node.children[0]
        if self._source[operator.start_byte : operator.end_byte] != b"<<":
            return _UNCLEAR
        if self._source[start.end_byte : start.end_byte + 1] not in {b" ", b"\t", b"\n"}:
            return _UNCLEAR
        named = _HEREDOC_START.match(
            self._source[start.start_byte : start.end_byte].decode("utf-8", "replace")
        )
        if named is None:
            return "it fills in a text before it is used"
        return self._check_document(node, named[2] or named[3], start.end_byte, body)

    def _check_document(self, node: Node, delimiter: str, header_end: int, body: Node) -> str | None:
        end = node.children[-1]
        header = self._source[header_end : body.start_byte]
        lines = self._source[body.start_byte : body.end_byte].decode("utf-8", "replace").split("\n")
        after = self._source[end.end_byte : end.end_byte + 1]
        closes = self._source[end.start_byte - 1 : end.end_byte] == b"\n" + delimiter.encode()
        if header.count(b"\n") != 1 or not header.endswith(b"\n") or delimiter in lines or not closes:
            return _UNCLEAR
        if after not in {b"", b"\n"}:
            return _UNCLEAR
        if any(child.type not in {"heredoc_body", "heredoc_end"} for child in node.children[2:]):
            return "more follows where a text begins that it is given"
        self.end = end.end_byte
        return None
