"""Making the settings of a run out of its command line, settings files and environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import msgspec

from claude_wrapper.store.paths import is_session_id
from claude_wrapper.wire.permissions import PermissionMode

from .api.tuning import Thinking, Wishes
from .argument_values import (
    check_autocompact,
    effort,
    names_in,
    number_above_zero,
    schema,
    subagents,
    text_or_file,
    thinking_tokens,
    turn_limit,
    whole_above_zero,
)
from .cli import Arguments, UsageError
from .contradictions import refuse_contradictions
from .permissions.policy import AddedDirectory, Policy
from .permissions.rules import RuleBehavior
from .settings import ModelSettings, SessionChoice, Settings
from .settings_files import SettingsError, SettingsFile, given_settings, is_trusted, settings_files

__all__ = ["load_settings"]

_ALL_SOURCES = ("user", "project", "local")
_BEHAVIORS: tuple[RuleBehavior, ...] = ("deny", "ask", "allow")
_object_decoder = msgspec.json.Decoder(dict[str, Any])


def load_settings(arguments: Arguments, environ: Mapping[str, str], cwd: Path) -> Settings:
    """Raises UsageError and SettingsError for what must keep a run from starting."""
    files, warnings = _files(arguments, environ, cwd)
    environment = dict(environ)
    for each in files:
        environment.update(each.environment())
    policy, problems = _policy(arguments, files, environment, cwd)
    output_format = arguments.value("output_format") or "text"
    refuse_contradictions(arguments, output_format)
    check_autocompact(arguments)
    subagents(arguments)
    return Settings(
        cwd=cwd,
        prompt=arguments.words[0] if arguments.words else None,
        output_format=output_format,
        input_format=arguments.value("input_format") or "text",
        verbose=arguments.has("verbose"),
        partial_messages=arguments.has("include_partial_messages"),
        hook_events=arguments.has("include_hook_events"),
        replay_prompts=arguments.has("replay_user_messages"),
        session_mirror=arguments.has("session_mirror"),
        await_initialize=arguments.has("await_initialize"),
        state_events=_state_events(environment),
        model=_model(arguments, files, environment, warnings),
        system_prompt=text_or_file(arguments, "system_prompt", cwd),
        append_system_prompt=text_or_file(arguments, "append_system_prompt", cwd),
        tools=_tools(arguments),
        policy=policy,
        permission_prompt_tool=_prompt_tool(arguments),
        max_turns=turn_limit(arguments, environment),
        max_budget_usd=number_above_zero(arguments, "max_budget_usd"),
        json_schema=schema(arguments),
        mcp_servers=_mcp_servers(arguments, cwd),
        session=_session(arguments),
        files=tuple(files),
        environ=environment,
        entrypoint=environment.get("CLAUDE_CODE_ENTRYPOINT") or "sdk-cli",
        warnings=(*warnings, *problems),
    )


def _files(
    arguments: Arguments, environ: Mapping[str, str], cwd: Path
) -> tuple[list[SettingsFile], list[str]]:
    """The settings in order of precedence, lowest first, and what had to be left out of them."""
    chosen = arguments.value("setting_sources")
    sources = _ALL_SOURCES if chosen is None else tuple(part.strip() for part in chosen.split(","))
    unknown = [name for name in sources if name not in _ALL_SOURCES] if chosen else []
    if unknown:
        raise UsageError(
            f"--setting-sources does not know '{unknown[0]}': it takes {', '.join(_ALL_SOURCES)}", plain=True
        )
    if arguments.has("restricted") or arguments.has("safe_mode"):
        sources = ()
    root = arguments.value("project_config_root")
    files, warnings = [], []
    for each in settings_files(sources, environ, cwd / root if root else cwd):
        if each.source == "projectSettings" and each.has_allow_rules() and not is_trusted(environ, cwd):
            count = len(each.rules("allow")) + len(each.directories())
            warnings.append(
                f"Ignoring {count} permission grants of {each.path}: this workspace has not been trusted."
            )
            files.append(each.without_grants())
        else:
            files.append(each)
    given = arguments.value("settings")
    if given is not None:
        files.append(given_settings(given, cwd))
    return files, warnings


def _policy(
    arguments: Arguments, files: list[SettingsFile], environ: Mapping[str, str], cwd: Path
) -> tuple[Policy, list[str]]:
    mode, bypass = _mode(arguments, files, environ)
    given = [cwd / Path(path).expanduser() for path in arguments.list("add_dirs")]
    missing = [
        f"--add-dir: there is no folder {path}, so it is left out." for path in given if not path.is_dir()
    ]
    directories = [AddedDirectory(str(path), "cliArg") for path in given if path.is_dir() and path != cwd]
    for each in files:
        directories += [AddedDirectory(str(cwd / path), each.source) for path in each.directories()]
    policy = Policy(
        mode=mode,
        directories=tuple(directories),
        original_cwd=str(cwd),
        home=environ.get("HOME") or str(Path.home()),
        roots={each.source: str(each.root) for each in files if each.root is not None},
        bypass_available=bypass,
    )
    problems = []
    for behavior in _BEHAVIORS:
        for each in files:
            policy, found = policy.with_rules(each.rules(behavior), behavior, each.source)
            problems += found
    policy, found = policy.with_rules(arguments.list("allowed_tools"), "allow", "cliArg")
    problems += found
    policy, found = policy.with_rules(arguments.list("disallowed_tools"), "deny", "cliArg")
    problems += found
    useless = [f"The permission rule {each.text} has no effect: {each.problem}." for each in problems]
    return policy, missing + useless


def _mode(
    arguments: Arguments, files: list[SettingsFile], environ: Mapping[str, str]
) -> tuple[PermissionMode, bool]:
    """The mode to start in, and whether bypassing everything is open to this run."""
    mode = arguments.value("permission_mode")
    if arguments.has("skip_permissions"):
        mode = "bypassPermissions"
    if mode is None:
        for each in files:
            named = each.default_mode()
            if named is not None and not (
                named == "auto" and each.source in {"projectSettings", "localSettings"}
            ):
                mode = named
    if mode in {None, "manual"} or mode not in _MODES:
        mode = "default"
    wants_bypass = mode == "bypassPermissions" or arguments.has("allow_skip_permissions")
    if mode == "bypassPermissions" and _is_root(environ):
        raise UsageError(
            "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons",
            plain=True,
        )
    return cast("PermissionMode", mode), wants_bypass


_MODES = frozenset({"default", "acceptEdits", "plan", "bypassPermissions", "dontAsk", "auto"})


def _is_root(environ: Mapping[str, str]) -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0 and environ.get("IS_SANDBOX") not in {"1", "true"}


def _model(
    arguments: Arguments, files: list[SettingsFile], environ: Mapping[str, str], warnings: list[str]
) -> ModelSettings:
    name = arguments.value("model") or environ.get("ANTHROPIC_MODEL")
    wanted = effort(arguments, warnings)
    for each in reversed(files):
        name = name or _text(each.values.get("model"))
        wanted = wanted or _text(each.values.get("effortLevel"))
    wishes = Wishes(
        thinking=cast("Thinking | None", arguments.value("thinking")),
        thinking_tokens=thinking_tokens(arguments),
        display=arguments.value("thinking_display") or _display(arguments),
        effort=wanted,
        task_budget=whole_above_zero(arguments, "task_budget"),
    )
    return ModelSettings(
        name=name or None,
        fallbacks=names_in(arguments, "fallback_model"),
        wishes=wishes.with_environment(environ),
        betas=tuple(arguments.list("betas")),
    )


def _display(arguments: Arguments) -> str | None:
    """How thinking is to be shown where nobody says it: not at all where only the answer is printed."""
    return None if arguments.value("output_format") == "stream-json" else "omitted"


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _tools(arguments: Arguments) -> tuple[str, ...] | None:
    if not arguments.has("tools"):
        return None
    names = tuple(arguments.list("tools"))
    return None if "default" in names else names


def _prompt_tool(arguments: Arguments) -> str | None:
    return (
        None if arguments.value("permission_prompts") == "none" else arguments.value("permission_prompt_tool")
    )


def _mcp_servers(arguments: Arguments, cwd: Path) -> dict[str, dict[str, Any]]:
    servers: dict[str, dict[str, Any]] = {}
    for given in arguments.list("mcp_config"):
        text = given.strip()
        try:
            if not (text.startswith("{") and text.endswith("}")):
                path = cwd / given
                if not path.is_file():
                    raise SettingsError(f"Invalid MCP configuration:\nMCP config file not found: {path}")
                text = path.read_text(encoding="utf-8")
            found = _object_decoder.decode(text)
        except (OSError, UnicodeDecodeError, msgspec.DecodeError) as error:
            raise SettingsError(f"Invalid MCP configuration:\n{error}") from error
        configs = found.get("mcpServers")
        if not isinstance(configs, dict) or not all(isinstance(each, dict) for each in configs.values()):
            raise SettingsError("Invalid MCP configuration:\nmcpServers is no object of servers")
        servers.update(configs)
    return servers


def _session(arguments: Arguments) -> SessionChoice:
    chosen = SessionChoice(
        session_id=arguments.value("session_id"),
        resume=arguments.value("resume"),
        continue_newest=arguments.has("continue_newest"),
        fork=arguments.has("fork_session"),
        resume_at=arguments.value("resume_session_at"),
        drops_turn=arguments.value("resume_drops_turn"),
        persist=not arguments.has("no_session_persistence"),
        title=arguments.value("name"),
    )
    if chosen.session_id is not None and not is_session_id(chosen.session_id):
        raise UsageError("Invalid session ID. Must be a valid UUID.")
    return chosen


def _state_events(environ: Mapping[str, str]) -> str | None:
    if environ.get("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS") in {"1", "true"}:
        return "all"
    marked = next(
        (value for key, value in environ.items() if key.upper() == "CLAUDE_CODE_SDK_READS_SESSION_STATE"),
        None,
    )
    return "host" if marked in {"1", "true"} else None
