"""What the host may answer so that calls like this one need not be asked about again."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from claude_wrapper.wire.permissions import PermissionUpdateBody, RuleBody

from . import paths
from .policy import Policy
from .runners import KEYWORDS, RUNNERS, SAFE_VARIABLES
from .shell_line import Command
from .wrappers import sets_safe_variables_only

Suggestions = tuple[PermissionUpdateBody, ...]
Destination = Literal["session", "localSettings"]

_SUBCOMMAND = re.compile(r"[a-z][a-z0-9_-]*\Z")
_NO_PREFIX = frozenset(RUNNERS) | {
    "awk",
    "declare",
    "export",
    "node",
    "perl",
    "php",
    "python",
    "python3",
    "ruby",
}


def allow_rules(tool: str, contents: Iterable[str | None], destination: Destination) -> PermissionUpdateBody:
    """Add allow rules for a tool."""
    unique = dict.fromkeys(contents)
    rules = [RuleBody(tool) if content is None else RuleBody(tool, content) for content in unique]
    return PermissionUpdateBody("addRules", rules=rules, behavior="allow", destination=destination)


def accept_edits(policy: Policy) -> Suggestions:
    """Switch to acceptEdits, unless that would change nothing."""
    if policy.mode == "acceptEdits":
        return ()
    return (PermissionUpdateBody("setMode", mode="acceptEdits", destination="session"),)


def add_folder(path: str) -> Suggestions:
    """Work in a folder from now on; nothing for the root."""
    if path == "/":
        return ()
    return (PermissionUpdateBody("addDirectories", directories=[path], destination="session"),)


def add_directories(*folders: str) -> PermissionUpdateBody:
    """Work in folders from now on, whichever they are."""
    return PermissionUpdateBody("addDirectories", directories=list(folders), destination="session")


def folder_at(path: str) -> str:
    """The folder that a path lies in, or the folder itself."""
    return path if paths.is_folder(path) else paths.parent(path)


def reading_rule(path: str) -> str | None:
    """The content of a rule for reading in the folder of a file, or in the folder itself; none for the root."""
    return _reading_in(folder_at(path))


def read_folder(path: str) -> Suggestions:
    """Read there for the rest of the session."""
    return read_in(folder_at(path))


def read_in(folder: str) -> Suggestions:
    """Read in a folder for the rest of the session; nothing for the root."""
    content = _reading_in(folder)
    return () if content is None else (allow_rules("Read", [content], "session"),)


def _reading_in(folder: str) -> str | None:
    return None if folder == "/" else f"/{folder}/**"


def allow_tools(rules: Iterable[tuple[str, str]], destination: Destination) -> PermissionUpdateBody:
    """Add allow rules for several tools."""
    bodies = [RuleBody(tool, content) for tool, content in rules]
    return PermissionUpdateBody("addRules", rules=bodies, behavior="allow", destination=destination)


def command_rule(command: Command) -> str | None:
    """The content of a Bash rule for commands like this one: program and subcommand, else all of it."""
    words = [word.literal for word in command.words[:2]]
    if len(words) == 2 and words[0] not in _NO_PREFIX and sets_safe_variables_only(command.assignments):
        bare = all(word.raw == word.literal for word in command.words[:2])
        if bare and _SUBCOMMAND.match(words[1]):
            return f"{words[0]} {words[1]} *"
    return None if "\n" in command.written else command.written


def line_rule(text: str) -> str:
    """The content of a Bash rule for a whole line: its beginning if it has a beginning that says something."""
    if "<<" in text:
        return rule_before_document(text) or text
    first, newline, _ = text.partition("\n")
    words = text.split()
    if newline:
        return " ".join(first.split()[:2]) + " *"
    while words and words[0].partition("=")[0] in SAFE_VARIABLES and "=" in words[0]:
        words = words[1:]
    named = words and "=" not in words[0] and words[0] not in _NO_PREFIX - KEYWORDS
    if named and len(words) > 1 and _SUBCOMMAND.match(words[1]):
        return f"{words[0]} {words[1]} *"
    return text


def rule_before_document(text: str) -> str | None:
    """The content of a rule for a command that is given a document: its first words."""
    words = text.partition("<<")[0].split()[:2]
    return None if not words or words[0] in _NO_PREFIX else " ".join(words) + " *"
