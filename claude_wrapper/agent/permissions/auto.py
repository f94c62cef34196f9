"""What rules mean in the mode in which a model checks calls: broad ones are set aside, narrow ones stay."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .rules import SourcedRule
from .runners import RUNNERS

__all__ = ["narrow_rules"]

_INTERPRETERS = frozenset(RUNNERS) | {
    "awk",
    "bash",
    "bun",
    "bunx",
    "cargo",
    "deno",
    "go",
    "java",
    "make",
    "node",
    "npm",
    "npx",
    "osascript",
    "perl",
    "php",
    "pip",
    "pipx",
    "pnpm",
    "powershell",
    "pwsh",
    "python",
    "python3",
    "ruby",
    "sh",
    "uv",
    "uvx",
    "yarn",
    "zsh",
}
"""Programs that run whatever they are given."""
_WHOLE = frozenset({"Agent", "Bash", "Monitor", "PowerShell", "Workflow"})
"""Tools that can do anything."""
_WORDS = re.compile(r"[\s:*]+")


def narrow_rules(rules: Iterable[SourcedRule]) -> tuple[SourcedRule, ...]:
    """The rules without those that allow so much that a check would have nothing left to see."""
    return tuple(rule for rule in rules if rule.behavior != "allow" or not _is_broad(rule))


def _is_broad(rule: SourcedRule) -> bool:
    tool, content = rule.rule.tool, rule.rule.content
    if tool in {"Agent", "Monitor"}:
        return True
    if content is None or not content.strip("*: "):
        return tool in _WHOLE or "*" in tool
    if tool not in {"Bash", "PowerShell"} or "*" not in content:
        return False
    words = [word for word in _WORDS.split(content) if word]
    if not words:
        return True
    program = words[0].rsplit("/", 1)[-1].rstrip("0123456789.")
    return program in _INTERPRETERS or words[0] in _INTERPRETERS
