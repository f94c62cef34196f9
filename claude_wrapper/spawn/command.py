"""Options to a command line: the agent's arguments, and what travels by the initialize request instead.

Nothing large and no secret stands on a command line: systems limit it (128 KiB an argument on
Linux, 32 KiB in all on Windows) and show it to every user.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from claude_wrapper.errors import OptionsError
from claude_wrapper.options import ClaudeAgentOptions

from .environment import build_environment
from .private_files import PrivateFile
from .settings import is_json_text

__all__ = ["Command", "build_command"]

_INLINE_LIMIT = 8 * 1024
"""How many bytes a value may have that can travel otherwise."""

_TOTAL_LIMIT = 24 * 1024
"""How many bytes the whole command line may have before every such value travels otherwise."""

_SECRET_KEYS = frozenset({"env", "headers"})


class Command:
    """What an agent is started with, beside its executable."""

    __slots__ = ("arguments", "env", "initialize")

    def __init__(self) -> None:
        self.arguments: list[str | PrivateFile] = ["--output-format", "stream-json", "--verbose"]
        self.env: dict[str, str] = {}
        self.initialize: dict[str, Any] = {}
        """Fields of the initialize request, by their names on the wire."""

    @property
    def size(self) -> int:
        """How many bytes the arguments have."""
        return sum(_size(argument) + 1 for argument in self.arguments if isinstance(argument, str))

    def flag(self, name: str, wanted: object = True) -> None:
        """Add a flag without a value."""
        if wanted:
            self.arguments.append(f"--{name}")

    def pair(self, name: str, value: str | PrivateFile) -> None:
        """Add a flag and its value, joined where the value could be taken for a flag."""
        if isinstance(value, str) and value.startswith("-"):
            self.joined(name, value)
        else:
            self.arguments += [f"--{name}", value]

    def joined(self, name: str, value: str) -> None:
        """Add a flag and its value as one argument."""
        self.arguments.append(f"--{name}={value}")

    def optional(self, name: str, value: object) -> None:
        """Add a flag and its value, unless the value is empty."""
        if value:
            self.pair(name, str(value))


def build_command(
    options: ClaudeAgentOptions, settings: str | None = None, environ: Mapping[str, str] | None = None
) -> Command:
    """Return what an agent is started with for these options, which must be valid.

    `settings` is a settings file's path or JSON text, with the sandbox merged in; `environ` are the
    variables to inherit from, this process's own if left out.
    """
    command = _arguments(options, settings, _INLINE_LIMIT)
    if command.size > _TOTAL_LIMIT:
        command = _arguments(options, settings, 0)
    command.env = build_environment(options, os.environ if environ is None else environ)
    return command


def _arguments(options: ClaudeAgentOptions, settings: str | None, limit: int) -> Command:
    """Build the arguments in the order that the field knows."""
    command = Command()
    _system_prompt(command, options, limit)
    _tools(command, options)
    _limits_and_model(command, options)
    _permissions(command, options)
    _session(command, options)
    _sources(command, options, settings, limit)
    _output(command, options)
    _resuming(command, options)
    _surroundings(command, options)
    _thinking(command, options)
    _schema(command, options, limit)
    _agents(command, options)
    command.pair("input-format", "stream-json")
    return command


def _system_prompt(command: Command, options: ClaudeAgentOptions, limit: int) -> None:
    prompt = options.system_prompt
    if prompt is None or isinstance(prompt, str):
        _prompt_text(command, prompt or "", limit)
    elif prompt["type"] == "custom":
        _prompt_text(command, prompt["prompt"], limit)
        _snapshot(command, prompt)
    elif prompt["type"] == "file":
        command.pair("system-prompt-file", os.fspath(prompt["path"]))
    else:
        if "append" in prompt:
            text = _clean(prompt["append"])
            if _size(text) > limit:
                command.initialize["appendSystemPrompt"] = text
            else:
                command.pair("append-system-prompt", text)
        if "exclude_dynamic_sections" in prompt:
            command.initialize["excludeDynamicSections"] = prompt["exclude_dynamic_sections"]
        _snapshot(command, prompt)


def _prompt_text(command: Command, prompt: str, limit: int) -> None:
    text = _clean(prompt)
    if _size(text) > limit:
        command.initialize["systemPrompt"] = [text]
    else:
        command.pair("system-prompt", text)


def _snapshot(command: Command, prompt: Mapping[str, Any]) -> None:
    if "snapshot" in prompt:
        command.initialize["systemPromptSnapshot"] = prompt["snapshot"]


def _tools(command: Command, options: ClaudeAgentOptions) -> None:
    tools = options.tools
    if isinstance(tools, Mapping):
        command.pair("tools", "default")
    elif tools is not None:
        command.pair("tools", ",".join(tools))
    command.optional("allowedTools", ",".join(_allowed(options)))


def _allowed(options: ClaudeAgentOptions) -> list[str]:
    allowed = list(options.allowed_tools or ())
    if options.skills == "all":
        skills: Iterable[str] = ("Skill",)
    else:
        skills = (f"Skill({name})" for name in options.skills or ())
    return [*allowed, *(skill for skill in skills if skill not in allowed)]


def _limits_and_model(command: Command, options: ClaudeAgentOptions) -> None:
    command.optional("max-turns", options.max_turns)
    command.optional("max-budget-usd", options.max_budget_usd)
    command.optional("disallowedTools", ",".join(options.disallowed_tools or ()))
    if options.task_budget is not None:
        command.pair("task-budget", str(options.task_budget["total"]))
    command.optional("model", options.model)
    command.optional("fallback-model", options.fallback_model)
    command.optional("betas", ",".join(options.betas or ()))


def _permissions(command: Command, options: ClaudeAgentOptions) -> None:
    asked = "stdio" if options.can_use_tool is not None else options.permission_prompt_tool_name
    command.optional("permission-prompt-tool", asked)
    command.optional("permission-mode", options.permission_mode)


def _session(command: Command, options: ClaudeAgentOptions) -> None:
    command.flag("continue", options.continue_conversation)
    if options.resume:
        command.joined("resume", options.resume)
    if options.session_id:
        command.joined("session-id", options.session_id)


def _sources(command: Command, options: ClaudeAgentOptions, settings: str | None, limit: int) -> None:
    if settings is not None:
        command.pair("settings", _json_argument("settings.json", settings, limit))
    for folder in options.add_dirs or ():
        command.pair("add-dir", os.fspath(folder))
    servers = _servers(options)
    if servers:
        command.pair("mcp-config", _json_argument("mcp.json", servers, limit))


def _servers(options: ClaudeAgentOptions) -> str:
    servers = options.mcp_servers
    if not servers:
        return ""
    if not isinstance(servers, dict):
        return os.fspath(servers)
    configs = {
        name: {key: value for key, value in config.items() if key != "instance"}
        if config.get("type") == "sdk"
        else config
        for name, config in servers.items()
    }
    return _json_text("mcp_servers", {"mcpServers": configs})


def _output(command: Command, options: ClaudeAgentOptions) -> None:
    command.flag("include-partial-messages", options.include_partial_messages)
    command.flag("include-hook-events", options.include_hook_events)
    command.flag("strict-mcp-config", options.strict_mcp_config)
    if options.forward_subagent_text:
        command.initialize["forwardSubagentText"] = True


def _resuming(command: Command, options: ClaudeAgentOptions) -> None:
    command.flag("fork-session", options.fork_session)
    if options.resume_session_at:
        command.joined("resume-session-at", options.resume_session_at)
    if options.resume_drops_turn is not None:
        command.joined("resume-drops-turn", options.resume_drops_turn)
    command.flag("session-mirror", options.session_store is not None)


def _surroundings(command: Command, options: ClaudeAgentOptions) -> None:
    sources = options.setting_sources
    if sources is None and options.skills is not None:
        # Skills live in folders that only count with these.
        sources = ["user", "project"]
    if sources is not None:
        command.joined("setting-sources", ",".join(sources))
    if options.skills is not None and options.skills != "all":
        command.initialize["skills"] = list(options.skills)
    for plugin in options.plugins or ():
        command.pair("plugin-dir", os.fspath(plugin["path"]))
    for name, value in (options.extra_args or {}).items():
        if value is None:
            command.flag(name)
        else:
            command.pair(name, value)


def _thinking(command: Command, options: ClaudeAgentOptions) -> None:
    thinking = options.thinking
    if thinking is None:
        if options.max_thinking_tokens is not None:
            command.pair("max-thinking-tokens", str(options.max_thinking_tokens))
    elif thinking["type"] == "enabled":
        command.pair("max-thinking-tokens", str(thinking["budget_tokens"]))
    else:
        command.pair("thinking", thinking["type"])
    if thinking is not None and thinking["type"] != "disabled":
        command.optional("thinking-display", thinking.get("display"))
    command.optional("effort", options.effort)


def _schema(command: Command, options: ClaudeAgentOptions, limit: int) -> None:
    if options.output_format is None:
        return
    schema = options.output_format["schema"]
    text = _json_text("output_format", schema)
    if _size(text) > limit:
        command.initialize["jsonSchema"] = schema
    else:
        command.pair("json-schema", text)


def _agents(command: Command, options: ClaudeAgentOptions) -> None:
    if options.agents:
        command.initialize["agents"] = {
            name: {field: value for field, value in vars(agent).items() if value is not None}
            for name, agent in options.agents.items()
        }


def _json_text(option: str, value: Any) -> str:
    try:
        return msgspec.json.format(msgspec.json.encode(value), indent=0).decode()
    except (TypeError, ValueError) as error:
        raise OptionsError(f"ClaudeAgentOptions.{option} holds what JSON cannot: {error}") from error


def _json_argument(name: str, value: str, limit: int) -> str | PrivateFile:
    """Return what stands on the command line for JSON text: itself, or a file with it."""
    if is_json_text(value) and (_size(value) > limit or _holds_secrets(value)):
        return PrivateFile(name, value.encode())
    return value


def _holds_secrets(text: str) -> bool:
    try:
        return _has_secret_key(msgspec.json.decode(text.encode()))
    except (UnicodeError, msgspec.DecodeError):
        # The agent will say what is wrong with it; meanwhile it may be anything.
        return True


def _has_secret_key(value: Any) -> bool:
    if isinstance(value, dict):
        return any(
            (key in _SECRET_KEYS and item)
            or (key == "url" and _has_credentials(item))
            or _has_secret_key(item)
            for key, item in value.items()
        )
    return isinstance(value, list) and any(_has_secret_key(item) for item in value)


def _has_credentials(url: Any) -> bool:
    return isinstance(url, str) and ("@" in url or "?" in url)


def _clean(text: str) -> str:
    """Replace lone surrogates, which can neither be encoded nor mean anything."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
