"""What a run is to do, as one frozen value made from the command line, settings files and environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from claude_wrapper.agent.api.tuning import Wishes
from claude_wrapper.agent.config.file import SettingsFile
from claude_wrapper.agent.permissions.policy import Policy

from .mcp_servers import ServerChoice
from .settings_watch import SettingsWatch

__all__ = ["ModelSettings", "SessionChoice", "Settings"]


class ModelSettings(msgspec.Struct, frozen=True):
    """What is asked of the model."""

    name: str | None = None
    """None is the default model."""
    fallbacks: tuple[str, ...] = ()
    wishes: Wishes = msgspec.field(default_factory=Wishes)
    betas: tuple[str, ...] = ()


class SessionChoice(msgspec.Struct, frozen=True):
    """Which session to run in."""

    session_id: str | None = None
    resume: str | None = None
    continue_newest: bool = False
    fork: bool = False
    resume_at: str | None = None
    drops_turn: str | None = None
    persist: bool = True
    title: str | None = None

    @property
    def goes_on(self) -> bool:
        """Whether an older session is gone on with."""
        return self.resume is not None or self.continue_newest


@dataclass(frozen=True)
class Settings:
    """Everything that is fixed when the run begins."""

    cwd: Path
    prompt: str | None = None
    output_format: str = "text"
    input_format: str = "text"
    verbose: bool = False
    partial_messages: bool = False
    hook_events: bool = False
    replay_prompts: bool = False
    session_mirror: bool = False
    await_initialize: bool = False
    no_commands: bool = False
    """A prompt that is a command is answered with the news that there are none."""
    compact_window: int | None = None
    """The window by which conversations are compacted, if a flag names one; 0 leaves it to the model."""
    state_events: str | None = None
    """`host`: frames marked for the host program; `all`: unmarked ones; None: no state frames."""
    model: ModelSettings = field(default_factory=ModelSettings)
    system_prompt: str | None = None
    append_system_prompt: str | None = None
    tools: tuple[str, ...] | None = None
    """The built-in tools to offer; None is the default set."""
    policy: Policy = field(default_factory=Policy)
    permission_prompt_tool: str | None = None
    no_prompts: bool = False
    """Nobody answers questions about permission, whoever may be there."""
    max_turns: int | None = None
    max_budget_usd: float | None = None
    json_schema: dict[str, Any] | None = None
    mcp: ServerChoice = field(default_factory=ServerChoice)
    subagents: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    """Types of subagents that the command line defines, as they are written."""
    agent_files: tuple[str, ...] = ()
    """Whose files may define further ones: `user`, `project`."""
    forward_subagent_text: bool = False
    """Hosts see what subagents say, not only which tools they use."""
    append_subagent_prompt: str | None = None
    """What every subagent is told behind its own prompt."""
    session: SessionChoice = field(default_factory=SessionChoice)
    files: tuple[SettingsFile, ...] = field(default=(), repr=False)
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The environment of the agent itself, secrets and all; tools get `tool_environment`."""
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The settings of all files together, as they are in force."""
    watch: SettingsWatch | None = field(default=None, repr=False, compare=False)
    """Notices that the files have changed; they are read again while the run goes on."""
    entrypoint: str = "sdk-cli"
    warnings: tuple[str, ...] = ()
    """Lines for stderr."""
    skipped: tuple[str, ...] = ()
    """What settings say that is not in force, among the warnings."""
    doubtful: tuple[str, ...] = ()
    """Rules on the command line that are none, among the warnings."""
    notes: tuple[str, ...] = ()
    """The same, in words that scripts know and that stand alone."""
    memory_sources: frozenset[str] | None = None
    """Whose files with instructions the model is to know; None: nobody's, not even the administrator's."""
    setup: str | None = None
    """Hooks set the project up first (`init`), or look after it (`maintenance`)."""
    only_setup: bool = False
    """They do, and that is all."""
    no_hooks: bool = False
    """Hooks of settings stay off (`--bare`, `--safe-mode`); those of the host are called."""
    suggest_prompts: bool = False
    """After a turn, the host is told what the user might want to say next."""

    @property
    def api_key_helper(self) -> str | None:
        """A shell command whose output is the key of the API."""
        command = self.values.get("apiKeyHelper")
        return command if isinstance(command, str) and command.strip() else None
