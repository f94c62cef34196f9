"""The hooks that the definition of a subagent brings: they are asked while it is at work."""

from __future__ import annotations

from claude_wrapper.agent.hooks.hook import Hook

from .definition import AgentDefinition

__all__ = ["hooks_of"]


def hooks_of(definition: AgentDefinition) -> dict[str, list[Hook]]:
    """Its hooks by event. The end of its work is meant where they name the end of a turn."""
    if not definition.hooks:
        return {}
    from claude_wrapper.agent.hooks.section import read_section  # noqa: PLC0415  # few bring any

    hooks, _ = read_section(definition.hooks, definition.name)
    at_the_end = [*hooks.pop("Stop", ()), *hooks.pop("SubagentStop", ())]
    # What it is told of its own beginning would come too early for it to hear.
    hooks.pop("SubagentStart", None)
    return hooks | ({"SubagentStop": at_the_end} if at_the_end else {})
