"""The command line's flags, one row each; the parser and the help text are made from this table."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["FLAGS", "PERMISSION_MODES", "Flag"]

PERMISSION_MODES = ("acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "manual", "plan")
_YES_NO = ("true", "false", "1", "0", "yes", "no", "on", "off")


class Flag(NamedTuple):
    """One flag.

    `kind` is `switch` (no value), `value` (one), `list` (several, joined by commas, spaces or given
    as further arguments), `many` (several, each whole), `each` (one, and the flag may be repeated) or
    `maybe` (a value that may be left out).
    """

    names: str
    field: str
    kind: str
    help: str
    value: str = ""
    """What the value is called."""
    choices: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The flag as help and complaints name it."""
        names = ", ".join(self.names.split())
        if self.kind == "switch":
            return names
        return f"{names} [{self.value}]" if self.kind == "maybe" else f"{names} <{self.value}>"


FLAGS = (
    Flag("-p --print", "print_mode", "switch", "answer the prompt, print the answer, exit"),
    Flag(
        "--output-format", "output_format", "value", "how to print", "format", ("text", "json", "stream-json")
    ),
    Flag("--input-format", "input_format", "value", "how prompts come in", "format", ("text", "stream-json")),
    Flag("--verbose", "verbose", "switch", "print every message, not only the result"),
    Flag("--model", "model", "value", "the model: an alias or a full name", "model"),
    Flag(
        "--fallback-model",
        "fallback_model",
        "value",
        "models for when the model is overloaded: a,b",
        "models",
    ),
    Flag("--effort", "effort", "value", "how much the model should think", "level"),
    Flag("--thinking", "thinking", "value", "thinking mode", "mode", ("enabled", "adaptive", "disabled")),
    Flag("--max-thinking-tokens", "max_thinking_tokens", "value", "tokens for thinking", "tokens"),
    Flag(
        "--thinking-display",
        "thinking_display",
        "value",
        "whether thinking is shown",
        "display",
        ("summarized", "omitted", "highlights"),
    ),
    Flag("--betas", "betas", "list", "beta headers for the API", "betas..."),
    Flag("--system-prompt", "system_prompt", "value", "replace the system prompt", "prompt"),
    Flag("--system-prompt-file", "system_prompt_file", "value", "replace it by a file's text", "file"),
    Flag("--append-system-prompt", "append_system_prompt", "value", "add to the system prompt", "prompt"),
    Flag(
        "--append-system-prompt-file", "append_system_prompt_file", "value", "add a file's text to it", "file"
    ),
    Flag(
        "--append-subagent-system-prompt",
        "append_subagent_system_prompt",
        "value",
        "the same for subagents",
        "prompt",
    ),
    Flag(
        "--system-prompt-snapshot",
        "system_prompt_snapshot",
        "value",
        "keep the prompt on resume",
        "on|off",
        ("on", "off"),
    ),
    Flag(
        "--exclude-dynamic-system-prompt-sections",
        "exclude_dynamic_sections",
        "switch",
        "a prompt equal in all folders",
    ),
    Flag(
        "--tools",
        "tools",
        "list",
        "the built-in tools to offer; `default` for all, empty for none",
        "tools...",
    ),
    Flag(
        "--allowedTools --allowed-tools", "allowed_tools", "list", "tools that run without asking", "tools..."
    ),
    Flag(
        "--disallowedTools --disallowed-tools", "disallowed_tools", "list", "tools that never run", "tools..."
    ),
    Flag("--permission-mode", "permission_mode", "value", "how calls are approved", "mode", PERMISSION_MODES),
    Flag(
        "--permission-prompt-tool",
        "permission_prompt_tool",
        "value",
        "who is asked: `stdio` or an MCP tool",
        "tool",
    ),
    Flag(
        "--permission-prompts",
        "permission_prompts",
        "value",
        "whether anybody is asked",
        "target",
        ("host", "none"),
    ),
    Flag("--dangerously-skip-permissions", "skip_permissions", "switch", "run every call without asking"),
    Flag(
        "--allow-dangerously-skip-permissions",
        "allow_skip_permissions",
        "switch",
        "let that mode be entered later",
    ),
    Flag("--add-dir", "add_dirs", "many", "further folders to work in", "directories..."),
    Flag("--max-turns", "max_turns", "value", "replies of the model before the run ends", "turns"),
    Flag("--max-budget-usd", "max_budget_usd", "value", "dollars before the run ends", "amount"),
    Flag("--task-budget", "task_budget", "value", "tokens the model is told it has", "tokens"),
    Flag("--json-schema", "json_schema", "value", "JSON Schema of the answer", "schema"),
    Flag("--mcp-config", "mcp_config", "many", "MCP servers: a file or JSON", "configs..."),
    Flag("--strict-mcp-config", "strict_mcp_config", "switch", "only servers of --mcp-config"),
    Flag("--settings", "settings", "value", "settings: a file or JSON", "file-or-json"),
    Flag("--managed-settings", "managed_settings", "value", "settings above all others", "json"),
    Flag("--setting-sources", "setting_sources", "value", "settings files: user,project,local", "sources"),
    Flag(
        "--project-config-root",
        "project_config_root",
        "value",
        "the folder whose .claude is read",
        "directory",
    ),
    Flag("--agents", "agents", "value", "subagents", "json"),
    Flag("--agent", "agent", "value", "the agent to be", "agent"),
    Flag("--plugin-dir", "plugin_dirs", "each", "folders of plugins", "path"),
    Flag("--plugin-dir-no-mcp", "plugin_dirs_no_mcp", "each", "the same, without their MCP servers", "path"),
    Flag("-c --continue", "continue_newest", "switch", "go on with the newest session of this folder"),
    Flag("-r --resume", "resume", "maybe", "go on with a session", "value"),
    Flag("--session-id", "session_id", "value", "the id of the new session", "uuid"),
    Flag("--fork-session", "fork_session", "switch", "go on in a copy of the session"),
    Flag("--resume-session-at", "resume_session_at", "value", "cut the history after this message", "uuid"),
    Flag("--resume-drops-turn", "resume_drops_turn", "value", "cut only what belongs to this prompt", "uuid"),
    Flag("--rewind-files", "rewind_files", "value", "put files back as they were at this message", "uuid"),
    Flag("--no-session-persistence", "no_session_persistence", "switch", "write no transcript"),
    Flag("--session-mirror", "session_mirror", "switch", "repeat transcript lines as frames"),
    Flag("-n --name", "name", "value", "the session's title", "name"),
    Flag("--include-partial-messages", "include_partial_messages", "switch", "show the model's stream"),
    Flag("--include-hook-events", "include_hook_events", "switch", "show command hooks"),
    Flag("--forward-subagent-text", "forward_subagent_text", "switch", "show what subagents say"),
    Flag("--replay-user-messages", "replay_user_messages", "switch", "repeat prompts when they are taken in"),
    Flag("--prompt-suggestions", "prompt_suggestions", "maybe", "suggest a next prompt", "value", _YES_NO),
    Flag("--await-initialize", "await_initialize", "switch", "the first line is the initialize request"),
    Flag("--initialize-fields", "initialize_fields", "value", "fields that the request brings", "fields"),
    Flag(
        "--managed-settings-in-initialize",
        "managed_settings_in_initialize",
        "switch",
        "the request brings settings",
    ),
    Flag("--autocompact", "autocompact", "value", "when to compact: auto or a number", "auto|tokens"),
    Flag("--disable-slash-commands", "disable_slash_commands", "switch", "prompts are never commands"),
    Flag("--bare", "bare", "switch", "no hooks, skills, commands, memory or discovery"),
    Flag("--restricted", "restricted", "switch", "no commands, files in the working folders only"),
    Flag("--safe-mode", "safe_mode", "switch", "without customizations"),
    Flag("--init", "init", "switch", "run the Setup hooks first"),
    Flag("--init-only", "init_only", "switch", "run the Setup hooks and exit"),
    Flag("--maintenance", "maintenance", "switch", "run the Setup hooks for maintenance first"),
    Flag("-d --debug", "debug", "maybe", "write a debug log", "filter"),
    Flag("--debug-file", "debug_file", "value", "where to write it", "path"),
    Flag("-v -V --version", "version", "switch", "print the version"),
    Flag("-h --help", "help", "switch", "print this text"),
)
