"""The words of a shell line: quotes and escapes taken away, expansions recognised."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .shell_line import Word

if TYPE_CHECKING:
    from tree_sitter import Node

WORD_TYPES = frozenset(
    {
        "word",
        "number",
        "string",
        "raw_string",
        "ansi_c_string",
        "translated_string",
        "concatenation",
        "simple_expansion",
        "expansion",
        "command_substitution",
        "process_substitution",
        "arithmetic_expansion",
        "brace_expression",
        "extglob_pattern",
    }
)

_TOKENS = frozenset(
    {"[", "]", "[[", "]]", "!", "=", "==", "!=", "&&", "||", "test_operator", "variable_name"}
)
_PRINTED_DOCUMENT = re.compile(r"\$\(cat <<'([A-Za-z_]\w*)'\n(.*\n)?\1\n[ \t\n]*\)\Z", re.DOTALL | re.ASCII)
_SMALL_SUM = re.compile(r"\$\(\( *([1-9][0-9]{0,8}|0) *([+*-]) *([1-9][0-9]{0,8}|0) *\)\)\Z", re.ASCII)
_ESCAPE = re.compile(r"\\(?:\n|(.))", re.DOTALL)
_ESCAPE_IN_QUOTES = re.compile(r'\\(?:\n|([$`"\\]))')
_UNESCAPED_GLOB = re.compile(r"(?:[^\\*?\[]|\\.)*[*?\[]", re.DOTALL)
_ANSI = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|(.))", re.DOTALL
)
_ANSI_LETTERS = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "e": "\x1b",
    "E": "\x1b",
    "a": "\a",
    "b": "\b",
    "v": "\v",
    "f": "\f",
}


@dataclass
class _Reading:
    """A word while it is being read."""

    home: str | None
    literal: list[str] = field(default_factory=list)
    value: list[str] = field(default_factory=list)
    known: bool = True
    is_glob: bool = False

    def add(self, text: str) -> None:
        self.literal.append(text)
        self.value.append(text)

    def add_unknown(self, text: str) -> None:
        self.literal.append(text)
        self.known = False


def read_word(node: Node, source: bytes, home: str | None) -> Word:
    """Read one word; `home` stands for `~` and `$HOME`, None if the line itself changes it."""
    reading = _Reading(home)
    _read(node, source, reading, first=True)
    raw = source[node.start_byte : node.end_byte].decode("utf-8", "replace")
    literal = "".join(reading.literal)
    variable = _only_variable(node, source)
    return Word(raw, literal, "".join(reading.value) if reading.known else None, reading.is_glob, variable)


def static_text(text: str) -> str | None:
    """The text that a substitution stands for which does nothing but print a quoted here-document."""
    found = _PRINTED_DOCUMENT.match(text)
    if found is None or found[1] in (found[2] or "").split("\n"):
        return None
    depth = 0
    for character in found[2] or "":
        depth += (character == "(") - (character == ")")
        if depth < 0:  # some shells would take it for the end of the substitution
            return None
    return (found[2] or "").rstrip("\n")


def _sum(text: str) -> str | None:
    """What a small calculation comes to."""
    found = _SMALL_SUM.match(text)
    if found is None:
        return None
    left, right = int(found[1]), int(found[3])
    return str({"+": left + right, "-": left - right, "*": left * right}[found[2]])


def _read(node: Node, source: bytes, reading: _Reading, *, first: bool) -> None:
    text = source[node.start_byte : node.end_byte].decode("utf-8", "replace")
    if node.type in {"word", "number"} and not node.child_count:
        _read_bare(node, text, reading, first=first)
    elif node.type == "raw_string":
        reading.add(text[1:-1])
    elif node.type in {"concatenation", "string", "translated_string"}:
        _read_parts(node, source, reading, quoted=node.type != "concatenation")
    elif node.type == "ansi_c_string":
        reading.add(_ANSI.sub(_ansi, text[2:-1]))
    elif node.type == "simple_expansion" and text == "$HOME" and reading.home is not None:
        reading.literal.append(text)
        reading.value.append(reading.home)
    elif node.type == "command_substitution" and (printed := static_text(text)) is not None:
        reading.add(printed)
    elif node.type == "arithmetic_expansion" and (result := _sum(text)) is not None:
        reading.literal.append(text)
        reading.value.append(result)
    elif not node.child_count and node.type in _TOKENS:
        reading.add(text)
    else:
        reading.add_unknown(text)


def _read_parts(node: Node, source: bytes, reading: _Reading, *, quoted: bool) -> None:
    """Read what a word is put together from; quoted text between its named parts counts as well."""
    if not quoted:
        for at, child in enumerate(node.children):
            _read(child, source, reading, first=at == 0)
        return
    at = node.start_byte + source[node.start_byte : node.end_byte].index(b'"') + 1
    for child in node.children:
        if child.type not in {
            "simple_expansion",
            "expansion",
            "command_substitution",
            "arithmetic_expansion",
        }:
            continue
        _read_quoted(source[at : child.start_byte], reading)
        _read(child, source, reading, first=False)
        at = child.end_byte
    _read_quoted(source[at : node.end_byte].removesuffix(b'"'), reading)


def _read_quoted(piece: bytes, reading: _Reading) -> None:
    reading.add(_ESCAPE_IN_QUOTES.sub(lambda found: found[1] or "", piece.decode("utf-8", "replace")))


def _read_bare(node: Node, text: str, reading: _Reading, *, first: bool) -> None:
    reading.is_glob = reading.is_glob or _UNESCAPED_GLOB.match(text) is not None
    plain = _ESCAPE.sub(lambda found: found[1] or "", text)
    parent = node.parent
    in_parts = parent is not None and parent.type == "concatenation"
    if re.search(r"[=:]~", text) or (in_parts and re.match(r"~[^/]*\Z", text)):
        # The shell may see an assignment or only a part of a user's name here.
        reading.add_unknown(plain)
        return
    if not (first and text.startswith("~")):
        reading.add(plain)
        return
    name, slash, rest = plain.partition("/")
    if name == "~" and reading.home is not None:
        reading.literal.append(plain)
        reading.value.append(reading.home + slash + rest)
    else:
        reading.add_unknown(plain)


def _only_variable(node: Node, source: bytes) -> str | None:
    """The name, for a word that is `$NAME`, `${NAME}` or one of them in double quotes."""
    text = source[node.start_byte : node.end_byte].decode("utf-8", "replace")
    found = re.fullmatch(r'"?\$(?:(\w+)|\{(\w+)\})"?', text, re.ASCII)
    return found and (found[1] or found[2])


def _ansi(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if code:
        point = int(code, 16)
        return chr(point) if point < 0x110000 and not 0xD800 <= point < 0xE000 else ""
    if found[4]:
        return chr(int(found[4], 8) & 0xFF)
    return _ANSI_LETTERS.get(found[5], found[5])
