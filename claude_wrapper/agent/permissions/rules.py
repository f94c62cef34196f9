"""Permission rules as text: splitting lists, parsing one rule, saying what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from . import tool_kinds

RuleBehavior = Literal["allow", "deny", "ask"]
Source = Literal[
    "policySettings",
    "flagSettings",
    "cliArg",
    "localSettings",
    "projectSettings",
    "userSettings",
    "session",
    "command",
]

WHOLE_TOOL_CONTENTS = frozenset({"", "*", ":*"})
_TOOL = re.compile(r"[A-Za-z_*][\w.*-]*\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class Rule:
    """A tool, and which of its calls; no content means every call."""

    tool: str
    content: str | None = None

    def __str__(self) -> str:
        if self.content is None:
            return self.tool
        return f"{self.tool}({_escaped(self.content)})"


@dataclass(frozen=True, slots=True)
class SourcedRule:
    """A rule, what it does, and which settings it came from."""

    rule: Rule
    behavior: RuleBehavior
    source: Source = "session"


@dataclass(frozen=True, slots=True)
class RuleProblem:
    """A rule that has no effect, and why; shown to the user, never raised."""

    text: str
    problem: str
    source: Source = "session"


def split_rules(text: str) -> list[str]:
    """Split a list as given on a command line: at commas and spaces that stand outside parentheses."""
    found: list[str] = []
    start = at = 0
    while at < len(text):
        if text[at] == "(":
            at = _closing(text, at)
        elif text[at] == "," or text[at].isspace():
            found.append(text[start:at])
            start = at + 1
        at += 1
    found.append(text[start:])
    return [part for part in found if part]


def parse_rule(text: str) -> Rule | RuleProblem:
    """Read `Tool` or `Tool(content)`."""
    stripped = text.strip()
    name, opened, rest = stripped.partition("(")
    if not opened:
        return _named(stripped, None, text)
    if not rest.endswith(")") or _escapes_last(rest):
        return RuleProblem(text, "the parenthesis is not closed at the end of the rule")
    return _named(name.strip(), _unescaped(rest[:-1]), text)


def parse_rules(
    texts: Iterable[str], behavior: RuleBehavior, source: Source
) -> tuple[list[SourcedRule], list[RuleProblem]]:
    """Read the rules of one list; what cannot have an effect comes back as a problem."""
    rules: list[SourcedRule] = []
    problems: list[RuleProblem] = []
    for text in texts:
        parsed = parse_rule(text)
        problem = parsed.problem if isinstance(parsed, RuleProblem) else _no_effect(parsed, behavior)
        if problem is not None:
            problems.append(RuleProblem(text, problem, source))
        if isinstance(parsed, Rule) and (problem is None or behavior != "allow"):
            rules.append(SourcedRule(parsed, behavior, source))
    return rules, problems


def _named(name: str, content: str | None, text: str) -> Rule | RuleProblem:
    if not _TOOL.match(name):
        return RuleProblem(text, "a rule begins with the name of a tool")
    tool = tool_kinds.canonical_name(name)
    if content is not None and content.strip() in WHOLE_TOOL_CONTENTS and not tool.startswith("mcp__"):
        content = None
    return Rule(tool, content)


def _no_effect(rule: Rule, behavior: RuleBehavior) -> str | None:
    """Why a well-formed rule decides nothing, or None."""
    if behavior == "allow" and "*" in rule.tool and not _within_one_server(rule.tool):
        return "an allow rule may use * in a tool's name only after mcp__SERVER__"
    if rule.content is None:
        return None
    if behavior == "allow" and rule.tool.startswith("mcp__"):
        return "MCP tools are allowed as a whole, without parentheses"
    if rule.tool in tool_kinds.PATH_RULES_IGNORED:
        governing = "Read" if rule.tool in tool_kinds.READ_PATH_FIELDS else "Edit"
        return f"paths are governed by {governing}(...) rules"
    if rule.tool in tool_kinds.PATH_RULE_TOOLS and rule.content.startswith("!"):
        return "a rule cannot begin with !"
    return None


def _within_one_server(tool: str) -> bool:
    parts = tool.split("__", 2)
    return len(parts) == 3 and parts[0] == "mcp" and bool(parts[1]) and "*" not in parts[1]


def _closing(text: str, opening: int) -> int:
    """Where the parenthesis that opens here ends; the first closing one should they not balance."""
    depth, first, at = 0, len(text), opening
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif text[at] == "(":
            depth += 1
        elif text[at] == ")":
            first = min(first, at)
            depth -= 1
            if depth == 0:
                return at
        at += 1
    return first


def _escapes_last(text: str) -> bool:
    body = text[:-1]
    return (len(body) - len(body.rstrip("\\"))) % 2 == 1


def _unescaped(content: str) -> str:
    return re.sub(r"\\([()\\])", r"\1", content)


def _escaped(content: str) -> str:
    return re.sub(r"([()\\])", r"\\\1", content)
