"""What changes in a running session when its settings files do, and who is asked before."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from claude_wrapper.agent.config.merged import merged
from claude_wrapper.agent.start.settings import Settings
from claude_wrapper.agent.start.settings_watch import SettingsChange
from claude_wrapper.agent.tools.environment import without_secrets
from claude_wrapper.agent.turns.parts import Parts
from claude_wrapper.wire.hook_session_inputs import ConfigChangeInput

if TYPE_CHECKING:
    from claude_wrapper.agent.api.client import ModelClient
    from claude_wrapper.agent.tools.contract import ToolContext

    from .hook_wiring import HookWiring

__all__ = ["SettingsReload"]

_NAMES = {
    "userSettings": "user_settings",
    "projectSettings": "project_settings",
    "localSettings": "local_settings",
    "policySettings": "policy_settings",
}


class SettingsReload:
    """Brings new settings into force: rules, folders, hooks, variables and the command that gives keys.

    With which model, effort and mode the session works was settled at its start.
    """

    def __init__(self, settings: Settings, context: ToolContext, wiring: HookWiring) -> None:
        self._watch = settings.watch
        self._environ = dict(settings.environ)
        self._told = set(settings.warnings) | set(settings.notes)
        self._context = context
        self._wiring = wiring
        self._lock = anyio.Lock()
        self._parts: Parts | None = None
        self._client: ModelClient | None = None

    def serve(self, parts: Parts, client: ModelClient) -> None:
        """Whom to change."""
        self._parts = parts
        self._client = client
        if self._watch is not None:
            parts.access.writing = self._watch.writing

    async def refresh(self) -> None:
        """See to it that what is decided next is decided by the settings as they are."""
        watch = self._watch
        if watch is None or not (self._lock.locked() or watch.stale()):
            return
        async with self._lock:
            for change in await anyio.to_thread.run_sync(watch.changes):
                taken = not await self._objected(change) and change.usable
                watch.settle(change, taken=taken)
                if taken:
                    self._bring_into_force()
                self._tell(change.told)

    async def _objected(self, change: SettingsChange) -> bool:
        """Whether a hook wants the old settings kept. It cannot keep an administrator's away."""
        hooks = self._parts.hooks if self._parts is not None else None
        if hooks is None or change.known or not hooks.has("ConfigChange"):
            return False
        source = _NAMES[change.source]
        event = ConfigChangeInput(**hooks.fields.bare(), source=source, file_path=str(change.path))
        outcome = await hooks.occur(event, source, told=False)
        return outcome.block is not None and change.source != "policySettings"

    def _bring_into_force(self) -> None:
        watch, parts = self._watch, self._parts
        assert watch is not None
        assert parts is not None
        fresh, problems = watch.policy(parts.access.policy)
        parts.access.renew(fresh)
        environ = watch.environment()
        self._renew_variables(environ)
        problems += self._wiring.renew(watch.files, environ)
        parts.settings = replace(parts.settings, files=watch.files, values=merged(watch.files))
        parts.compactor.settings = parts.settings
        parts.brief.limit(parts.settings.values.get("availableModels"))
        if self._client is not None:
            self._client.use_key_helper(parts.settings.api_key_helper)
        self._tell(problems)

    def _renew_variables(self, environ: dict[str, str]) -> None:
        """Give commands the variables that settings name now. The agent keeps those that it started with."""
        old, new = without_secrets(self._environ), without_secrets(environ)
        for name in old.keys() - new.keys():
            self._context.environment.pop(name, None)
        for name, value in new.items():
            if old.get(name) != value:
                self._context.environment[name] = value
        self._environ = environ

    def _tell(self, lines: list[str] | tuple[str, ...]) -> None:
        """Tell the user, once, what is not in force."""
        for line in lines:
            if line not in self._told:
                self._told.add(line)
                sys.stderr.write(f"{line}\n")
