"""Control requests that ask the session something and change nothing."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import UNSET

from claude_wrapper.agent.calls.mcp_status import statuses
from claude_wrapper.agent.compaction.window import Window
from claude_wrapper.agent.context.usage import ContextShares, measure
from claude_wrapper.agent.turns.parts import Parts
from claude_wrapper.agent.turns.usage_text import cost_lines
from claude_wrapper.agent.version import AGENT_VERSION, COMPATIBLE_VERSION
from claude_wrapper.link.peer import RequestRefusedError
from claude_wrapper.wire.replies_ask import (
    BinaryVersionReply,
    ContextCategory,
    ContextUsageReply,
    FileSuggestionsReply,
    HooksListingReply,
    ModelsReply,
    PermissionRulesReply,
    ReadFileReply,
    SessionCostReply,
    SettingsReply,
    UsageReply,
)
from claude_wrapper.wire.replies_steer import OutputStylesReply, PluginsReply, SkillsReply
from claude_wrapper.wire.requests_ask import (
    FileSuggestions,
    GetBinaryVersion,
    GetContextUsage,
    GetHooksListing,
    GetSessionCost,
    GetSettings,
    GetTaskOutput,
    GetUsage,
    ListModels,
    ListPermissionRules,
    ReadFile,
)
from claude_wrapper.wire.requests_steer import ReloadOutputStyles, ReloadPlugins, ReloadSkills

from .initialize import models

__all__ = ["Answers"]

_MOST_BYTES = 10 * 1024 * 1024
_EDITABILITY = {
    "userSettings": "persistent",
    "projectSettings": "persistent",
    "localSettings": "persistent",
    "session": "session",
    "cliArg": "session",
}
"""For how long a host's change of a rule would hold; rules of other sources cannot be changed."""


class AgentVersionReply(BinaryVersionReply, kw_only=True):
    """The version, and the agent's own beside it."""

    agent: str
    agent_version: str


class Answers:
    """Serves them."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def handlers(self) -> dict[type, Callable[[Any], Awaitable[Any]]]:
        """The handler of each request."""
        return {
            GetContextUsage: self._context_usage,
            GetSettings: self._settings,
            ListModels: self._models,
            GetBinaryVersion: self._version,
            GetSessionCost: self._cost,
            GetUsage: self._usage,
            GetTaskOutput: self._task_output,
            GetHooksListing: self._hooks,
            ListPermissionRules: self._rules,
            FileSuggestions: self._suggestions,
            ReadFile: self._read_file,
            ReloadSkills: self._skills,
            ReloadOutputStyles: self._styles,
            ReloadPlugins: self._plugins,
        }

    async def _context_usage(self, request: GetContextUsage) -> ContextUsageReply:
        parts = self._parts
        model = parts.brief.model
        shares = measure(parts.brief.system, parts.toolbox.definitions(), parts.session.history.messages)
        window = parts.compactor.window
        size = window.size
        return ContextUsageReply(
            categories=_categories(shares, window),
            total_tokens=shares.total,
            max_tokens=size,
            raw_max_tokens=size,
            percentage=round(100 * shares.total / size) if size else 0,
            model=model.name,
            is_auto_compact_enabled=window.automatic,
            auto_compact_threshold=window.threshold if window.automatic else UNSET,
            autocompact_source="settings" if window.chosen else "auto",
            memory_files=[],
            mcp_tools=[],
            agents=[],
            grid_rows=[],
        )

    async def _settings(self, request: GetSettings) -> SettingsReply:
        parts = self._parts
        effective = _without_variables(parts.settings.values)
        sources = [
            {
                "source": each.source,
                "settings": _without_variables(each.values),
                "path": str(each.path or ""),
            }
            for each in parts.settings.files
        ]
        tuning = parts.brief.tuning
        return SettingsReply(
            effective=effective,
            sources=sources,
            applied={"model": parts.brief.model.name, "effort": tuning.effort},
        )

    async def _models(self, request: ListModels) -> ModelsReply:
        return ModelsReply(models=models(self._parts.settings.environ))

    async def _version(self, request: GetBinaryVersion) -> AgentVersionReply:
        return AgentVersionReply(
            version=COMPATIBLE_VERSION, agent="claude-wrapper", agent_version=AGENT_VERSION
        )

    async def _cost(self, request: GetSessionCost) -> SessionCostReply:
        return SessionCostReply(text="\n".join(cost_lines(self._parts.meter)))

    async def _usage(self, request: GetUsage) -> UsageReply:
        meter = self._parts.meter
        return UsageReply(
            session={
                "total_cost_usd": meter.total_cost_usd,
                "total_api_duration_ms": int(meter.api_ms),
                "total_duration_ms": int(meter.wall_ms),
                "total_lines_added": 0,
                "total_lines_removed": 0,
                "model_usage": meter.model_usage(),
            },
            subscription_type=None,
            rate_limits_available=False,
            rate_limits=None,
            behaviors=None,
        )

    async def _task_output(self, request: GetTaskOutput) -> dict[str, Any]:
        found = self._parts.commands.output_of(request.task_id)
        if found is None:
            raise RequestRefusedError(f"get_task_output: this session has no command {request.task_id}")
        text, size, cut = found
        return {"output": text, "total_bytes": size, "truncated": cut}

    async def _hooks(self, request: GetHooksListing) -> HooksListingReply:
        return HooksListingReply(events=[], hooks=[], event_catalog=[])

    async def _rules(self, request: ListPermissionRules) -> PermissionRulesReply:
        policy = self._parts.access.policy
        rules = [
            {
                "rule": str(each.rule),
                "behavior": each.behavior,
                "source": each.source,
                "editability": "readonly"
                if policy.managed_only
                else _EDITABILITY.get(each.source, "readonly"),
            }
            for each in policy.rules
        ]
        state = {
            "rules": rules,
            "workspaceDirectories": [
                {"path": each.path, "source": each.source} for each in policy.directories
            ],
            "originalCwd": policy.original_cwd,
            "managedOnly": policy.managed_only,
        }
        return PermissionRulesReply(state=state)

    async def _suggestions(self, request: FileSuggestions) -> FileSuggestionsReply:
        return FileSuggestionsReply(suggestions=[], cwd=str(self._parts.settings.cwd))

    async def _read_file(self, request: ReadFile) -> ReadFileReply:
        """A file of the working folders; whatever else is asked for is denied, and so is what cannot be read."""
        path = (self._parts.settings.cwd / request.path).resolve()
        folders = self._parts.access.directories(self._parts.settings.cwd)
        inside = any(path.is_relative_to(folder.resolve()) for folder in folders)
        limit = request.max_bytes if isinstance(request.max_bytes, int) else _MOST_BYTES
        try:
            if not inside:
                raise PermissionError
            data, truncated = _read_start(path, max(limit, 0))
        except OSError as error:
            raise RequestRefusedError(f"read denied: {request.path}") from error
        as_bytes = request.encoding == "base64"
        text = base64.b64encode(data).decode() if as_bytes else data.decode("utf-8", "replace")
        return ReadFileReply(
            contents=text,
            abs_path=str(path),
            requested_path=request.path,
            lossy=UNSET if as_bytes else text.encode() != data,
            truncated=True if truncated else UNSET,
            encoding="base64" if as_bytes else UNSET,
        )

    async def _skills(self, request: ReloadSkills) -> SkillsReply:
        return SkillsReply(skills=[])

    async def _styles(self, request: ReloadOutputStyles) -> OutputStylesReply:
        return OutputStylesReply(available_output_styles=["default"])

    async def _plugins(self, request: ReloadPlugins) -> PluginsReply:
        servers = statuses(self._parts.servers.servers.values())
        return PluginsReply(commands=[], agents=[], plugins=[], mcp_servers=servers, error_count=0)


def _without_variables(values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings without variables: they may hold secrets, and the host has its own."""
    return {key: value for key, value in values.items() if key != "env"}


def _read_start(path: Path, limit: int) -> tuple[bytes, bool]:
    with path.open("rb") as file:
        data = file.read(limit + 1)
    return data[:limit], len(data) > limit


def _categories(shares: ContextShares, window: Window) -> list[ContextCategory]:
    used = [
        ("system_prompt", "System prompt", shares.system),
        ("system_tools", "System tools", shares.tools),
        ("messages", "Messages", shares.messages),
    ]
    categories = [
        ContextCategory(id=id_, name=name, tokens=tokens, color="inactive", kind="used")
        for id_, name, tokens in used
        if tokens
    ]
    if window.buffer:
        id_, name = ("autocompact", "Autocompact") if window.automatic else ("compact", "Compact")
        categories.append(
            ContextCategory(
                id=f"{id_}_buffer",
                name=f"{name} buffer",
                tokens=window.buffer,
                color="inactive",
                kind="buffer",
            )
        )
    free = max(window.size - shares.total - window.buffer, 0)
    categories.append(
        ContextCategory(id="free_space", name="Free space", tokens=free, color="promptBorder", kind="free")
    )
    return categories
