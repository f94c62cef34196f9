"""Making the settings of a run out of its command line, settings files and environment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from claude_wrapper.agent.api.catalog import find_model
from claude_wrapper.agent.api.tuning import Thinking, Wishes
from claude_wrapper.agent.config.file import SettingsFile
from claude_wrapper.agent.config.merged import merged, value_of
from claude_wrapper.store.paths import is_session_id

from .argument_values import (
    compact_window,
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
from .contradictions import refuse_contradictions, suggests
from .load_files import chosen_sources, load_files, with_variables
from .load_policy import load_policy
from .mcp_servers import choose_servers
from .settings import ModelSettings, SessionChoice, Settings
from .settings_watch import SettingsWatch

__all__ = ["load_settings"]

_TOOLS_OF_BARE = ("Bash", "Edit", "Read")


def load_settings(arguments: Arguments, environ: Mapping[str, str], cwd: Path) -> Settings:
    """Raises UsageError and SettingsError for what must keep a run from starting."""
    files, warnings, notes = load_files(arguments, environ, cwd)
    environment = with_variables(environ, files)
    skipped = tuple(warnings)
    model = _model(arguments, files, environment, warnings)
    policy, problems = load_policy(arguments, files, environment, cwd)
    if policy.mode == "auto" and not find_model(model.name, environment).takes_auto:
        policy = policy.changed(mode="default")
    output_format = arguments.value("output_format") or "text"
    refuse_contradictions(arguments, output_format)
    window = compact_window(arguments)
    bare = arguments.has("bare") or environment.get("CLAUDE_CODE_SIMPLE") == "1"
    chosen = choose_servers(arguments, files, environment, cwd, bare=bare)
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
        no_commands=arguments.has("disable_slash_commands"),
        compact_window=window,
        state_events=_state_events(environment),
        model=model,
        system_prompt=text_or_file(arguments, "system_prompt", cwd),
        append_system_prompt=text_or_file(arguments, "append_system_prompt", cwd),
        tools=_tools(arguments, bare=bare),
        policy=policy,
        permission_prompt_tool=_prompt_tool(arguments),
        no_prompts=arguments.value("permission_prompts") == "none",
        max_turns=turn_limit(arguments, environment),
        max_budget_usd=number_above_zero(arguments, "max_budget_usd"),
        json_schema=schema(arguments),
        mcp=chosen,
        subagents=subagents(arguments),
        agent_files=() if bare else _agent_files(arguments),
        forward_subagent_text=arguments.has("forward_subagent_text"),
        append_subagent_prompt=arguments.value("append_subagent_system_prompt"),
        session=_session(arguments),
        files=tuple(files),
        values=merged(files),
        environ=environment,
        watch=SettingsWatch(arguments, environ, cwd, files),
        entrypoint=environment.get("CLAUDE_CODE_ENTRYPOINT") or "sdk-cli",
        warnings=(
            *chosen.warnings,
            *warnings,
            *problems.rules,
            *problems.unknown,
            *problems.flags,
            *problems.folders,
        ),
        skipped=(*skipped, *problems.rules),
        doubtful=tuple(problems.flags),
        notes=tuple(notes),
        memory_sources=None if bare or arguments.has("safe_mode") else frozenset(chosen_sources(arguments)),
        setup=_setup(arguments),
        only_setup=arguments.has("init_only"),
        no_hooks=bare or arguments.has("safe_mode"),
        suggest_prompts=suggests(arguments),
    )


def _agent_files(arguments: Arguments) -> tuple[str, ...]:
    """Whose files may define subagents."""
    whose = {"userSettings": "user", "projectSettings": "project"}
    return tuple(whose[source] for source in chosen_sources(arguments) if source in whose)


def _setup(arguments: Arguments) -> str | None:
    if arguments.has("init") or arguments.has("init_only"):
        return "init"
    return "maintenance" if arguments.has("maintenance") else None


def _model(
    arguments: Arguments, files: list[SettingsFile], environ: Mapping[str, str], warnings: list[str]
) -> ModelSettings:
    name = arguments.value("model") or environ.get("ANTHROPIC_MODEL")
    wanted = effort(arguments, warnings)
    for each in reversed(files):
        name = name or _text(each.values.get("model"))
        wanted = wanted or _text(each.values.get("effortLevel"))
    name = name or environ.get("ANTHROPIC_DEFAULT_MODEL")
    wishes = Wishes(
        thinking=cast("Thinking | None", arguments.value("thinking")),
        thinking_tokens=thinking_tokens(arguments),
        display=_display(arguments),
        effort=wanted,
        task_budget=whole_above_zero(arguments, "task_budget"),
    )
    return ModelSettings(
        name=name or None,
        fallbacks=names_in(arguments, "fallback_model") or tuple(value_of(files, "fallbackModel") or ()),
        wishes=wishes.with_environment(environ),
        betas=tuple(arguments.list("betas")),
    )


def _display(arguments: Arguments) -> str | None:
    """How thinking is to be shown: where only the answer is printed, and nobody says it, not at all.

    Where messages are shown, hosts that want no text are still told how the thinking goes on: None.
    """
    wanted = arguments.value("thinking_display")
    output = arguments.value("output_format")
    whole = output == "stream-json" or (output == "json" and arguments.has("verbose"))
    if whole:
        return None if wanted == "omitted" else wanted
    return wanted or "omitted"


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _tools(arguments: Arguments, *, bare: bool) -> tuple[str, ...] | None:
    if not arguments.has("tools"):
        return _TOOLS_OF_BARE if bare else None
    names = tuple(arguments.list("tools"))
    return None if "default" in names else names


def _prompt_tool(arguments: Arguments) -> str | None:
    return (
        None if arguments.value("permission_prompts") == "none" else arguments.value("permission_prompt_tool")
    )


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
