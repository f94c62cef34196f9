"""Which tools a subagent has, of those that its caller has."""

from __future__ import annotations

from collections.abc import Iterable

from claude_wrapper.agent.calls.toolbox import Toolbox

from .definition import AgentDefinition

__all__ = ["NoToolsError", "spawnable", "toolbox_for"]

_NEVER = frozenset({"AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "StructuredOutput", "TaskOutput"})
"""Tools that only make sense where somebody listens, or that end the run."""
_ALIASES = {"Task": "Agent"}


class NoToolsError(Exception):
    """A subagent would have nothing to work with; the text says why."""


def toolbox_for(definition: AgentDefinition, parent: Toolbox, *, deeper: bool) -> Toolbox:
    """The tools of one subagent; `deeper`: it may start others. Raises NoToolsError."""
    offered = [name for name in parent.all_names() if name not in _NEVER and (deeper or name != "Agent")]
    denied = [_bare(each) for each in definition.disallowed_tools]
    offered = [name for name in offered if not _is_among(name, denied)]
    wanted = definition.tools
    if wanted is not None and "*" not in wanted:
        names = [_bare(each) for each in wanted]
        chosen = [name for name in offered if _is_among(name, names)]
        if wanted and not chosen:
            raise NoToolsError(_no_tools(definition, list(wanted)))
        offered = chosen
    return parent.selected(offered)


def spawnable(tools: Iterable[str] | None) -> frozenset[str] | None:
    """The types of subagents that a list of tools limits its owner to; None where it does not."""
    for each in tools or ():
        name, opened, rest = each.partition("(")
        if opened and _ALIASES.get(name.strip(), name.strip()) == "Agent":
            return frozenset(part.strip() for part in rest.rstrip(") ").split(",") if part.strip())
    return None


def _bare(text: str) -> str:
    name = text.partition("(")[0].strip()
    return _ALIASES.get(name, name)


def _is_among(name: str, names: Iterable[str]) -> bool:
    """Whether a tool is named, or the server that it comes from."""
    for each in names:
        if each == name:
            return True
        server = each.removesuffix("__*").removesuffix("*")
        if each.startswith("mcp__") and (name.startswith(server + "__") or server == "mcp__"):
            return name.startswith("mcp__")
    return False


def _no_tools(definition: AgentDefinition, wanted: list[str]) -> str:
    return (
        f"Agent '{definition.name}' would be spawned with zero tools — refusing. Of its list of tools nothing "
        f"is there: {', '.join(wanted)}. Another list, or another subagent_type, is needed."
    )
