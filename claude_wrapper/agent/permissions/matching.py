"""Which rules speak of a call: whole tools for every tool, contents through one matcher per tool."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase

from .call import Call
from .rules import WHOLE_TOOL_CONTENTS, RuleBehavior, SourcedRule
from .tool_kinds import PRIMARY_FIELDS
from .web_hosts import host_matches, host_of

ContentMatcher = Callable[[str, Call, bool], bool]
"""Whether a rule's content speaks of a call; the last argument is True for rules that refuse or ask."""


def whole_tool(rules: Iterable[SourcedRule], tool_name: str) -> SourcedRule | None:
    """The first rule that speaks of every call of a tool."""
    return next((rule for rule in rules if _is_whole(rule) and names_tool(rule, tool_name)), None)


def content_rules(rules: Iterable[SourcedRule], tool_name: str) -> list[SourcedRule]:
    """The rules that speak of some calls of a tool."""
    return [rule for rule in rules if not _is_whole(rule) and names_tool(rule, tool_name)]


def matching_content(rules: Iterable[SourcedRule], call: Call) -> SourcedRule | None:
    """The first rule whose content speaks of the call, for tools whose contents are plain texts."""
    for rule in content_rules(rules, call.tool_name):
        content = rule.rule.content or ""
        wide = rule.behavior != "allow"
        matcher = _MATCHERS.get(call.tool_name)
        if (matcher is not None and matcher(content, call, wide)) or (
            wide and names_parameter(content, call)
        ):
            return rule
    return None


def names_tool(rule: SourcedRule, tool_name: str) -> bool:
    """Whether the rule's tool is this one: by name, as the server it belongs to, or by a pattern."""
    name = rule.rule.tool
    if name == tool_name:
        return True
    if "*" in name:
        return fnmatchcase(tool_name, name)
    return name.startswith("mcp__") and name.count("__") == 1 and tool_name.startswith(name + "__")


def names_parameter(content: str, call: Call) -> bool:
    """`name:value` against an input field of that name; values are texts, numbers and booleans."""
    name, colon, pattern = content.partition(":")
    if not colon or name in PRIMARY_FIELDS or name not in call.tool_input:
        return False
    value = call.tool_input[name]
    if isinstance(value, bool):
        value = "true" if value else "false"
    if not isinstance(value, str | int | float):
        return False
    return fnmatchcase(str(value), pattern.replace("[", "[[]").replace("?", "[?]"))


def is_removed(tool_name: str, rules: Iterable[SourcedRule]) -> bool:
    """Whether deny rules take the tool away from the model altogether."""
    denied: RuleBehavior = "deny"
    return whole_tool((rule for rule in rules if rule.behavior == denied), tool_name) is not None


def _is_whole(rule: SourcedRule) -> bool:
    content = rule.rule.content
    return content is None or (rule.behavior != "allow" and content.strip() in WHOLE_TOOL_CONTENTS)


def _fetch(content: str, call: Call, _wide: bool) -> bool:
    kind, colon, pattern = content.partition(":")
    return bool(colon) and kind.strip() == "domain" and host_matches(pattern, host_of(call.text("url")))


def _agent(content: str, call: Call, _wide: bool) -> bool:
    return (call.text("subagent_type") or "general-purpose") == content


def _skill(content: str, call: Call, wide: bool) -> bool:
    name, arguments = call.text("skill"), call.text("args")
    wanted = content.removesuffix(":*").removesuffix(" *")
    if name.lstrip("/") != wanted.lstrip("/"):
        return False
    return wide or content != wanted or not arguments


_MATCHERS: dict[str, ContentMatcher] = {"WebFetch": _fetch, "Agent": _agent, "Skill": _skill}
