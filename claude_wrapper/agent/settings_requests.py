"""Control requests that change settings: for this session, or in a file for later ones."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from claude_wrapper.link.peer import RequestRefusedError
from claude_wrapper.wire.replies_steer import RepoRootReply
from claude_wrapper.wire.requests_steer import ApplyFlagSettings, RegisterRepoRoot, UpdateSettings

from .parts import Parts
from .permissions.policy import AddedDirectory
from .permissions.rules import RuleBehavior
from .settings_files import SettingsFile
from .settings_store import SettingsStore, change_settings_file

__all__ = ["SettingsRequests"]

_BEHAVIORS: tuple[RuleBehavior, ...] = ("deny", "ask", "allow")
_KINDS: dict[str, type] = {"permissions": dict, "env": dict, "hooks": dict, "model": str, "effortLevel": str}


class SettingsRequests:
    """Serves them."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._store = SettingsStore(parts.settings.environ, parts.settings.cwd)

    def handlers(self) -> dict[type, Callable[[Any], Awaitable[Any]]]:
        """The handler of each request."""
        return {
            ApplyFlagSettings: self._apply,
            UpdateSettings: self._update,
            RegisterRepoRoot: self._register,
        }

    async def _apply(self, request: ApplyFlagSettings) -> None:
        """Put other settings in the place of those of the command line."""
        wrong = [
            name
            for name, kind in _KINDS.items()
            if request.settings.get(name) is not None and not isinstance(request.settings[name], kind)
        ]
        if wrong:
            raise RequestRefusedError(
                f"apply_flag_settings: nothing was applied, since these settings are not valid: {', '.join(wrong)}"
            )
        given = SettingsFile("flagSettings", request.settings, self._parts.settings.cwd)
        access = self._parts.access
        kept = tuple(rule for rule in access.policy.rules if rule.source != "flagSettings")
        access.policy = access.policy.changed(rules=kept)
        for behavior in _BEHAVIORS:
            access.add_rules(given.rules(behavior), behavior, "flagSettings")
        if isinstance(request.settings.get("model"), str):
            self._parts.brief.use_model(request.settings["model"])
        if isinstance(request.settings.get("effortLevel"), str):
            self._parts.brief.use_effort(request.settings["effortLevel"])

    async def _update(self, request: UpdateSettings) -> dict[str, Any]:
        """Write settings to a file of the user's."""
        path = self._store.path(request.source) if request.source != "projectSettings" else None
        if path is None:
            raise RequestRefusedError(f"update_settings: there is no file for {request.source}")
        try:
            change_settings_file(path, lambda values: values.update(request.settings))
        except OSError as error:
            raise RequestRefusedError(
                f"update_settings: {path} cannot be written: {error.strerror}"
            ) from error
        return {}

    async def _register(self, request: RegisterRepoRoot) -> RepoRootReply:
        """Add a folder to work in."""
        folder = Path(request.directory)
        if not folder.is_absolute() or not folder.is_dir():
            raise RequestRefusedError(f"register_repo_root: there is no folder {request.directory}")
        access = self._parts.access
        if all(each.path != str(folder) for each in access.policy.directories):
            added = AddedDirectory(str(folder), "session")
            access.policy = access.policy.changed(directories=(*access.policy.directories, added))
        return RepoRootReply(directory=str(folder))
