"""ClaudeAgentOptions: everything a run can be told before it starts."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from .approval import CanUseTool, PermissionMode
from .hook_matchers import HookEvent, HookMatcher
from .mcp_config import McpServerConfig
from .option_values import (
    AgentDefinition,
    EffortLevel,
    SdkBeta,
    SdkPluginConfig,
    SessionStoreFlushMode,
    SettingSource,
    SystemPromptCustom,
    SystemPromptFile,
    SystemPromptPreset,
    TaskBudget,
    ThinkingConfig,
    ToolsPreset,
)
from .sandbox import SandboxSettings

__all__ = ["DEFAULT_CLOSE_TIMEOUT", "DEFAULT_CONTROL_TIMEOUT", "DEFAULT_STDERR_TAIL", "ClaudeAgentOptions"]

DEFAULT_CONTROL_TIMEOUT = 60.0
DEFAULT_CLOSE_TIMEOUT = 5.0
DEFAULT_STDERR_TAIL = 16 * 1024


@dataclass
class ClaudeAgentOptions:
    """Options of a run. All may be left out; wrong ones are refused before anything is started."""

    tools: list[str] | ToolsPreset | None = None
    """The built-in tools the model has. None: the agent's default set; []: none."""
    allowed_tools: list[str] = field(default_factory=list)
    """Calls that run without asking, such as `Read` or `Bash(git log:*)`. It hides no tool: see `tools`."""
    system_prompt: str | SystemPromptPreset | SystemPromptCustom | SystemPromptFile | None = None
    """None: an empty one. The preset is the agent's own."""
    mcp_servers: dict[str, McpServerConfig] | str | Path = field(default_factory=dict)
    """MCP servers by name, or the path of a file with them, or its JSON text."""
    strict_mcp_config: bool = False
    """Use only the servers of `mcp_servers`, none from files of the project or the user."""
    permission_mode: PermissionMode | None = None
    continue_conversation: bool = False
    """Go on with the latest session of the folder."""
    resume: str | None = None
    """The id of the session to go on with."""
    session_id: str | None = None
    """The id (a UUID) that a new session gets."""
    max_turns: int | None = None
    max_budget_usd: float | None = None
    disallowed_tools: list[str] = field(default_factory=list)
    """Calls that are refused whatever else allows them; a bare tool name hides the tool."""
    model: str | None = None
    fallback_model: str | None = None
    """Used while `model` is overloaded; several are separated by commas."""
    betas: list[SdkBeta] = field(default_factory=list)
    permission_prompt_tool_name: str | None = None
    """An MCP tool that decides in place of `can_use_tool`."""
    cwd: str | Path | None = None
    cli_path: str | Path | None = None
    """The agent executable: a path, or a name that is looked up on PATH."""
    settings: str | None = None
    """The path of a settings file, or its JSON text."""
    add_dirs: list[str | Path] = field(default_factory=list)
    """Folders beside `cwd` that the agent may work in."""
    env: dict[str, str] = field(default_factory=dict)
    """Variables that the agent gets beside, and before, the inherited ones."""
    extra_args: dict[str, str | None] = field(default_factory=dict)
    """Further flags for the agent, without their dashes; None: a flag without a value."""
    max_buffer_size: int | None = None
    """How many bytes one frame may have; a longer one is lost, not the session. None: 64 MiB."""
    debug_stderr: Any = sys.stderr
    """Where the agent's stderr goes when `extra_args` holds `debug-to-stderr`."""
    stderr: Callable[[str], None] | None = None
    """Called with each line that the agent writes to stderr. None: only the tail is kept, for errors."""
    can_use_tool: CanUseTool | None = None
    """Asked about each call that no rule, mode or hook has decided."""
    hooks: dict[HookEvent, list[HookMatcher]] | None = None
    user: str | None = None
    """The user that the agent runs as (POSIX, needs the right to change users)."""
    include_partial_messages: bool = False
    """Also report the pieces of a reply while it is being written."""
    include_hook_events: bool = False
    """Also report the runs of hooks."""
    forward_subagent_text: bool = False
    """Also report what subagents say, not only what they do."""
    verbatim_prompts: bool = False
    """Take prompts as they are: no slash commands, no `@file`."""
    fork_session: bool = False
    """With `resume`: go on under a new id and leave the old session as it is."""
    resume_session_at: str | None = None
    """With `resume`: only up to the message with this uuid."""
    resume_drops_turn: str | None = None
    """With `resume_session_at`: the turn that may be lost; anything else refuses to resume."""
    agents: dict[str, AgentDefinition] | None = None
    """Subagents by name."""
    setting_sources: list[SettingSource] | None = None
    """Which settings files count. None: the agent's default; []: none."""
    skills: list[str] | Literal["all"] | None = None
    """Which skills the model may use without asking."""
    sandbox: SandboxSettings | None = None
    plugins: list[SdkPluginConfig] = field(default_factory=list)
    max_thinking_tokens: int | None = None
    """Older form of `thinking`, which wins when both are given."""
    thinking: ThinkingConfig | None = None
    effort: EffortLevel | None = None
    output_format: dict[str, Any] | None = None
    """`{"type": "json_schema", "schema": {...}}`: the result must be data of this schema."""
    enable_file_checkpointing: bool = False
    """Keep what files held before each prompt, so that `rewind_files` can restore them."""
    session_store: Any | None = None
    """Where transcripts are copied to and resumed from: an object with the methods of SessionStore."""
    session_store_flush: SessionStoreFlushMode = "batched"
    load_timeout_ms: int = 60_000
    """How long one call of the session store may take while a session is loaded."""
    task_budget: TaskBudget | None = None
    client_app: str | None = None
    """Names your program to the model provider."""

    initialize_timeout: float | None = None
    """Seconds until a started agent must have answered. None: 60, or CLAUDE_CODE_STREAM_CLOSE_TIMEOUT
    (milliseconds) where that is longer."""
    control_timeout: float | None = DEFAULT_CONTROL_TIMEOUT
    """Seconds until the agent must have answered a control request such as an interrupt. None: no limit."""
    close_timeout: float | tuple[float, float] = DEFAULT_CLOSE_TIMEOUT
    """Seconds the agent has to end by itself once its input is closed, and again after SIGTERM; then it
    is killed. A pair sets the two apart."""
    timeout: float | None = None
    """Seconds that the agent may work: on a whole `query()`, with a client on each turn. Then it is
    interrupted and stopped, and RunTimeoutError raised. None: no limit."""
    idle_timeout: float | None = None
    """Seconds that the agent may say nothing while it works and waits for no callback; then likewise, with
    IdleTimeoutError. A tool that runs long may be silent for as long."""
    inherit_env: bool | list[str] = True
    """Which variables of this process the agent gets: all, none, or the named ones. Without PATH, HOME
    and the like few agents work; `env` is added in any case."""
    stderr_tail: int = DEFAULT_STDERR_TAIL
    """How many of the last bytes of the agent's stderr are kept for errors."""
    raise_on_api_error: bool = False
    """Raise ApiError, or a branch of it, right behind the result of a turn that the model's API has failed.
    A run raises it at its end in any case; with a client, and with several prompts, the turns go on
    without it, and the failure is only told by the result. A client may be used further."""
    max_consecutive_tool_errors: int | None = None
    """How many calls of tools may fail in a row before the agent is taken to make no progress. Then it is
    interrupted and stopped, and NoProgressError raised. Subagents are counted apart. None: no limit."""
