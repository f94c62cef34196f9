"""Which built-in tools do what, as far as permission is concerned (as of 2026-11)."""

from __future__ import annotations

READ_PATH_FIELDS = {"Read": "file_path", "Glob": "path", "Grep": "path", "LSP": "filePath"}
WRITE_PATH_FIELDS = {
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "Write": "file_path",
    "NotebookEdit": "notebook_path",
}
PATH_RULE_TOOLS = frozenset({"Read", "Edit"})
PATH_RULES_IGNORED = frozenset({"Write", "MultiEdit", "NotebookEdit", "Glob", "Grep", "LSP"})

ONLY_A_PERSON_ANSWERS = frozenset({"AskUserQuestion", "ExitPlanMode"})

CHANGES_NOTHING_OUTSIDE = frozenset(
    {
        "Agent",
        "BashOutput",
        "EnterPlanMode",
        "KillShell",
        "ListAgents",
        "ListMcpResourcesTool",
        "ReadMcpResourceTool",
        "ReportFindings",
        "StructuredOutput",
        "TaskCreate",
        "TaskGet",
        "TaskList",
        "TaskOutput",
        "TaskStop",
        "TaskUpdate",
        "TodoWrite",
        "ToolSearch",
    }
)

PRIMARY_FIELDS = frozenset({"command", "file_path", "path", "notebook_path", "url"})
"""Fields that have a rule form of their own, so that `field:value` rules do not speak of them."""

DESCRIBING_FIELDS = {
    "Glob": "pattern",
    "Grep": "pattern",
    "WebFetch": "url",
    "WebSearch": "query",
    "Agent": "description",
    "Skill": "skill",
}

_ALIASES = {"Task": "Agent"}


def canonical_name(name: str) -> str:
    """The name that rules and decisions use for a tool."""
    return _ALIASES.get(name, name)
