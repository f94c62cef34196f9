"""The names of tools that rules may speak of (as of 2026-11)."""

from __future__ import annotations

from claude_wrapper.agent.permissions.rules import Rule

__all__ = ["unknown_tool"]

_KNOWN = frozenset(
    {
        "Agent",
        "AskUserQuestion",
        "Bash",
        "BashOutput",
        "CronCreate",
        "CronDelete",
        "CronList",
        "Edit",
        "EnterPlanMode",
        "EnterWorktree",
        "ExitPlanMode",
        "ExitWorktree",
        "Glob",
        "Grep",
        "KillShell",
        "ListAgents",
        "ListMcpResourcesTool",
        "LS",
        "LSP",
        "Monitor",
        "MultiEdit",
        "NotebookEdit",
        "NotebookRead",
        "PowerShell",
        "Read",
        "ReadMcpResourceTool",
        "ReportFindings",
        "ScheduleWakeup",
        "SendMessage",
        "Skill",
        "SlashCommand",
        "StructuredOutput",
        "Task",
        "TaskCreate",
        "TaskGet",
        "TaskList",
        "TaskOutput",
        "TaskStop",
        "TaskUpdate",
        "TodoRead",
        "TodoWrite",
        "ToolSearch",
        "WebFetch",
        "WebSearch",
        "Workflow",
        "Write",
    }
)


def unknown_tool(rule: Rule) -> str | None:
    """What to tell of a rule whose tool nobody knows, so that it will never speak of a call; None if it is known."""
    name = rule.tool
    if name in _KNOWN or "*" in name or name.startswith("mcp__"):
        return None
    import difflib  # noqa: PLC0415  # start-up: only mistaken rules need it

    near = next((known for known in _KNOWN if known.lower() == name.lower()), None)
    near = near or next(iter(difflib.get_close_matches(name, _KNOWN, n=1, cutoff=0.75)), None)
    return f"there is no tool {name}" + (f" (did you mean {near}?)" if near else "")
