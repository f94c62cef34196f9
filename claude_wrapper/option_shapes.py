"""Whether each option, taken by itself, has a type and value that an agent can be started with.

Messages name the option, what was given and what to give. Values of options that may hold
secrets (environment, settings, servers, flags) are never repeated, only their types.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, get_args

from .approval import PermissionMode
from .errors import OptionsError
from .option_values import AgentDefinition, EffortLevel, SessionStoreFlushMode, SettingSource, ThinkingDisplay
from .options import ClaudeAgentOptions

__all__ = ["check_positive", "check_shapes", "given", "is_positive", "refuse"]

Check = Callable[[str, Any], None]

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")

_OWN_FLAGS = frozenset({"input-format", "output-format", "print"})
"""Flags that decide how the two programs talk; changing them would end the conversation."""


def check_shapes(options: Any) -> None:
    """Raise OptionsError for the first option with a wrong type or value."""
    if not isinstance(options, ClaudeAgentOptions):
        hint = "; write ClaudeAgentOptions(**options)" if isinstance(options, Mapping) else ""
        hint = "; call it" if options is ClaudeAgentOptions else hint
        hint = "; import it from claude_wrapper" if type(options).__name__ == "ClaudeAgentOptions" else hint
        raise OptionsError(f"The options must be ClaudeAgentOptions, got {_kind(options)}{hint}")
    for name, check in _CHECKS.items():
        value = getattr(options, name)
        if value is not None or name in _NEVER_NONE:
            check(name, value)


def given(value: Any) -> str:
    """Describe a value that holds no secret for an error message."""
    text = repr(value)
    if len(text) > 80:
        text = text[:77] + "..."
    return f"{text} ({type(value).__name__})"


def _kind(value: Any) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else f"a {type(value).__name__}"


def refuse(name: str, what: str) -> OptionsError:
    """Return the error for an option; `what` says what it must be and what was given."""
    return OptionsError(f"ClaudeAgentOptions.{name} {what}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple | set | frozenset)


def _text(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise refuse(name, f"must be a string, got {given(value)}")
    _no_nul(name, value)


def _no_nul(name: str, value: Any) -> None:
    if "\0" in os.fspath(value):
        raise refuse(name, "holds a NUL character, which no program can be given")


def _path(name: str, value: Any) -> None:
    if not isinstance(value, str | os.PathLike):
        raise refuse(name, f"must be a string or a Path, got {given(value)}")
    _no_nul(name, value)


def _private_text(name: str, value: Any) -> None:
    if not isinstance(value, str | os.PathLike):
        raise refuse(name, f"must be a file's path or JSON text, got a {type(value).__name__}")
    _no_nul(name, value)


def _flag(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise refuse(name, f"must be True or False, got {given(value)}")


def _texts(name: str, value: Any) -> None:
    if isinstance(value, str):
        raise refuse(name, f"must be a list of strings, got {given(value)}; did you mean {[value]!r}?")
    if not _is_list(value):
        raise refuse(name, f"must be a list of strings, got {given(value)}")
    for item in value:
        if not isinstance(item, str):
            raise refuse(name, f"must hold strings only, got {given(item)} in it")
        _no_nul(name, item)


def _paths(name: str, value: Any) -> None:
    if isinstance(value, str | os.PathLike) or not _is_list(value):
        raise refuse(name, f"must be a list of folders, got {given(value)}")
    for item in value:
        _path(name, item)


def _one_of(*names: str) -> Check:
    def check(name: str, value: Any) -> None:
        if value not in names:
            raise refuse(name, f"must be one of {', '.join(names)}, got {given(value)}")

    return check


def _whole(least: int) -> Check:
    def check(name: str, value: Any) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise refuse(name, f"must be a whole number of at least {least}, got {given(value)}")

    return check


def is_positive(value: Any) -> bool:
    """Whether this is a number above 0."""
    return _is_number(value) and value > 0


def check_positive(name: str, value: Any) -> None:
    """Refuse what is no number above 0."""
    if not is_positive(value):
        raise refuse(name, f"must be a number greater than 0, got {given(value)}")


def _callable(name: str, value: Any) -> None:
    if not callable(value):
        raise refuse(name, f"must be a function, got {given(value)}")


def _mapping(name: str, value: Any) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise refuse(name, f"must be a dict, got a {type(value).__name__}")
    return value


def _uuid(name: str, value: Any) -> None:
    _text(name, value)
    if value and not _UUID.fullmatch(value):
        raise refuse(name, f"must be a UUID, got {given(value)}")


def _sources(name: str, value: Any) -> None:
    _texts(name, value)
    known = get_args(SettingSource)
    for item in value:
        if item not in known:
            raise refuse(name, f"may hold {', '.join(known)}; got {given(item)} in it")


def _tools(name: str, value: Any) -> None:
    if isinstance(value, Mapping):
        _preset(name, value)
    else:
        _texts(name, value)


def _preset(name: str, value: Mapping[str, Any]) -> None:
    if value.get("type") != "preset" or value.get("preset", "claude_code") != "claude_code":
        raise refuse(name, "as a dict must be {'type': 'preset', 'preset': 'claude_code'}")


def _system_prompt(name: str, value: Any) -> None:
    if isinstance(value, str):
        return _no_nul(name, value)
    if not isinstance(value, Mapping):
        raise refuse(name, f"must be a string or a dict, got {given(value)}")
    kind = value.get("type")
    if kind == "preset":
        return _member(name, value, "append", str) if "append" in value else _preset(name, value)
    if kind == "custom":
        return _member(name, value, "prompt", str)
    if kind == "file":
        return _member(name, value, "path", str, os.PathLike)
    raise refuse(name, f"as a dict needs the type 'preset', 'custom' or 'file', got {given(kind)}")


def _member(name: str, value: Mapping[str, Any], key: str, *types: type) -> None:
    if not isinstance(value.get(key), types):
        raise refuse(name, f"needs {key!r} as a {types[0].__name__}, got {given(value.get(key))}")


def _skills(name: str, value: Any) -> None:
    if value == "all":
        return
    if isinstance(value, str):
        raise refuse(name, f"must be a list of names or 'all', got {given(value)}; did you mean {[value]!r}?")
    _texts(name, value)
    for item in value:
        if not item or any(letter in "(),\ufeff" or not letter.isprintable() for letter in item):
            raise refuse(name, f"must hold names of skills, or PLUGIN:SKILL, got {given(item)} in it")


def _rules(name: str, value: Any) -> None:
    _texts(name, value)
    for item in value:
        if not item or ("(" in item and ")" not in item):
            raise refuse(
                name,
                f"must hold tools such as Read, or calls such as Bash(git log:*), got {given(item)} in it",
            )


def _thinking(name: str, value: Any) -> None:
    value = _mapping(name, value)
    kind = value.get("type")
    if kind not in ("adaptive", "enabled", "disabled"):
        raise refuse(name, f"needs the type 'adaptive', 'enabled' or 'disabled', got {given(kind)}")
    if kind == "enabled":
        _whole(1)(f"{name}['budget_tokens']", value.get("budget_tokens"))
    display = value.get("display")
    if display not in (None, *get_args(ThinkingDisplay), "highlights"):
        raise refuse(name, f"has the unknown display {given(display)}; use 'summarized' or 'omitted'")


def _task_budget(name: str, value: Any) -> None:
    _whole(1)(f"{name}['total']", _mapping(name, value).get("total"))


def _output_format(name: str, value: Any) -> None:
    value = _mapping(name, value)
    if value.get("type") != "json_schema" or not isinstance(value.get("schema"), Mapping):
        raise refuse(name, "must be {'type': 'json_schema', 'schema': {...}}")


def _plugins(name: str, value: Any) -> None:
    if not _is_list(value):
        raise refuse(name, f"must be a list of dicts, got {given(value)}")
    for plugin in value:
        if not isinstance(plugin, Mapping):
            raise refuse(
                name, f"must hold dicts such as {{'type': 'local', 'path': ...}}, got {given(plugin)}"
            )
        if plugin.get("type") != "local":
            raise refuse(name, f"knows only plugins of the type 'local', got {given(plugin.get('type'))}")
        _path(f"{name}[...]['path']", plugin.get("path"))


def _agents(name: str, value: Any) -> None:
    for key, agent in _mapping(name, value).items():
        if not isinstance(agent, AgentDefinition):
            raise refuse(name, f"must map names to AgentDefinition, got a {type(agent).__name__} for {key!r}")
        _text(f"{name}[{key!r}].description", agent.description)
        _text(f"{name}[{key!r}].prompt", agent.prompt)
        for field, check in _OF_AGENTS.items():
            value = getattr(agent, field)
            if value is not None:
                check(f"{name}[{key!r}].{field}", value)


def _effort_of_agent(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        _one_of(*get_args(EffortLevel))(name, value)


def _servers_of_agent(name: str, value: Any) -> None:
    if not _is_list(value) or not all(isinstance(item, str | Mapping) for item in value):
        raise refuse(name, f"must be a list of names or of dicts, got a {type(value).__name__}")


def _env(name: str, value: Any) -> None:
    for key, item in _mapping(name, value).items():
        if not isinstance(key, str) or not key or "=" in key:
            raise refuse(name, f"has {given(key)} as a variable's name")
        if not isinstance(item, str):
            raise refuse(name, f"must map names to strings, got a {type(item).__name__} for {key}")
        _no_nul(name, key + item)


def _extra_args(name: str, value: Any) -> None:
    for flag, item in _mapping(name, value).items():
        if not isinstance(flag, str) or not flag or flag.startswith("-"):
            raise refuse(name, f"must hold flags without their dashes, got {given(flag)}")
        if flag in _OWN_FLAGS:
            raise refuse(name, f"cannot set {flag}: the library sets how it talks to the agent")
        if item is not None and not isinstance(item, str):
            hint = "; a flag without a value is None" if isinstance(item, bool) else ""
            raise refuse(
                name, f"must map flags to strings or None, got a {type(item).__name__} for {flag}{hint}"
            )
        _no_nul(name, flag + (item or ""))


def _close_timeout(name: str, value: Any) -> None:
    steps: Iterable[Any] = value if isinstance(value, tuple) and len(value) == 2 else (value,)
    for step in steps:
        if not _is_number(step) or step < 0:
            raise refuse(name, f"must be seconds, or a pair of seconds, of at least 0; got {given(value)}")


def _inherit_env(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        _texts(name, value)


def _user(name: str, value: Any) -> None:
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise refuse(name, f"must be a user's name, got {given(value)}")


def _any_mapping(name: str, value: Any) -> None:
    _mapping(name, value)


def _stream(name: str, value: Any) -> None:
    if not callable(getattr(value, "write", None)):
        raise refuse(name, f"must be a stream to write to, got {given(value)}")


_OF_AGENTS: dict[str, Check] = {
    **dict.fromkeys(("tools", "disallowedTools", "skills"), _texts),
    **dict.fromkeys(("model", "initialPrompt"), _text),
    "memory": _one_of("user", "project", "local"),
    "mcpServers": _servers_of_agent,
    "maxTurns": _whole(1),
    "background": _flag,
    "effort": _effort_of_agent,
    "permissionMode": _one_of(*get_args(PermissionMode), "manual"),
}

_NEVER_NONE = frozenset(
    {
        *("load_timeout_ms", "session_store_flush", "close_timeout", "inherit_env", "stderr_tail"),
        "raise_on_api_error",
    }
)

_CHECKS: dict[str, Check] = {
    "tools": _tools,
    "system_prompt": _system_prompt,
    "permission_mode": _one_of(*get_args(PermissionMode), "manual"),
    "session_id": _uuid,
    "max_turns": _whole(0),
    "max_budget_usd": check_positive,
    "cwd": _path,
    "cli_path": _path,
    "settings": _private_text,
    "add_dirs": _paths,
    "env": _env,
    "extra_args": _extra_args,
    "max_buffer_size": _whole(1),
    "stderr": _callable,
    "can_use_tool": _callable,
    "user": _user,
    "agents": _agents,
    "setting_sources": _sources,
    "skills": _skills,
    "sandbox": _any_mapping,
    "plugins": _plugins,
    "max_thinking_tokens": _whole(0),
    "thinking": _thinking,
    "effort": _one_of(*get_args(EffortLevel)),
    "output_format": _output_format,
    "session_store_flush": _one_of(*get_args(SessionStoreFlushMode)),
    "load_timeout_ms": _whole(0),
    "task_budget": _task_budget,
    "initialize_timeout": check_positive,
    "timeout": check_positive,
    "idle_timeout": check_positive,
    "control_timeout": check_positive,
    "close_timeout": _close_timeout,
    "inherit_env": _inherit_env,
    "stderr_tail": _whole(0),
    "max_consecutive_tool_errors": _whole(1),
    "betas": _texts,
    "debug_stderr": _stream,
    **dict.fromkeys(("allowed_tools", "disallowed_tools"), _rules),
    **dict.fromkeys(
        (
            *("resume", "model", "fallback_model", "permission_prompt_tool_name", "resume_session_at"),
            *("resume_drops_turn", "client_app"),
        ),
        _text,
    ),
    **dict.fromkeys(
        (
            *("strict_mcp_config", "continue_conversation", "include_partial_messages"),
            *("include_hook_events", "forward_subagent_text", "verbatim_prompts", "fork_session"),
            *("enable_file_checkpointing", "raise_on_api_error"),
        ),
        _flag,
    ),
}
