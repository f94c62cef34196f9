"""What the host may answer so that calls like this one need not be asked about again."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from claude_wrapper.wire.permissions import PermissionUpdateBody, RuleBody

from . import paths
from .policy import Policy
from .runners import RUNNERS
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


def add_folder_at(path: str) -> Suggestions:
    """Work in the folder that a path lies in, or in the folder itself."""
    return add_folder(path if paths.is_folder(path) else paths.parent(path))


def read_folder(path: str) -> Suggestions:
    """Read in the folder that a file lies in, or in the folder itself; nothing for the root."""
    folder = path if paths.is_folder(path) else paths.parent(path)
    if folder == "/":
        return ()
    return (allow_rules("Read", [f"/{folder}/**"], "session"),)


def command_rule(command: Command, written: str) -> str:
    """The content of a Bash rule for commands like this one: program and subcommand, else all of it."""
    words = [word.literal for word in command.words[:2]]
    if len(words) == 2 and words[0] not in _NO_PREFIX and sets_safe_variables_only(command.assignments):
        bare = all(word.raw == word.literal for word in command.words[:2])
        if bare and _SUBCOMMAND.match(words[1]):
            return f"{words[0]} {words[1]} *"
    return written.replace("*", "\\*")
