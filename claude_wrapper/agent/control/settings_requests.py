"""Control requests that change settings: for this session, or in a file for later ones."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio.to_thread

from claude_wrapper.agent.config.file import BEHAVIORS, SettingsFile
from claude_wrapper.agent.config.places import SettingsPlaces
from claude_wrapper.agent.config.schema import complaints
from claude_wrapper.agent.turns.parts import Parts
from claude_wrapper.link.peer import RequestRefusedError
from claude_wrapper.wire.replies_steer import RepoRootReply
from claude_wrapper.wire.requests_steer import ApplyFlagSettings, RegisterRepoRoot, UpdateSettings

__all__ = ["SettingsRequests"]

_NOT_FOR_HOSTS = frozenset(
    {"apiKeyHelper", "disableAllHooks", "env", "hooks", "model", "permissions", "sandbox", "statusLine"}
)
"""Settings that run something or widen what may run: a host does not write them for later sessions."""


class SettingsRequests:
    """Serves them."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._places = SettingsPlaces(parts.settings.environ, parts.settings.cwd)
        given = [each.path for each in parts.access.policy.directories if each.source == "cliArg"]
        self._roots = [(path, _resolved(path)) for path in (parts.settings.cwd, *map(Path, given))]
        """Where the session may get further folders, and where these led at its start."""

    def handlers(self) -> dict[type, Callable[[Any], Awaitable[Any]]]:
        """The handler of each request."""
        return {
            ApplyFlagSettings: self._apply,
            UpdateSettings: self._update,
            RegisterRepoRoot: self._register,
        }

    async def _apply(self, request: ApplyFlagSettings) -> None:
        """Put other settings in the place of those of the command line."""
        # A host takes a setting away again by null.
        given = {name: value for name, value in request.settings.items() if value is not None}
        wrong = dict.fromkeys(keys[0] for keys, _ in complaints(given))
        if wrong:
            raise RequestRefusedError(
                f"apply_flag_settings: nothing was applied, since these settings are not valid: {', '.join(wrong)}"
            )
        file = SettingsFile("flagSettings", given, self._parts.settings.cwd)
        rules = [(behavior, file.rules(behavior)) for behavior in BEHAVIORS]
        self._parts.access.replace_rules("flagSettings", rules)
        if isinstance(request.settings.get("model"), str):
            self._parts.brief.use_model(request.settings["model"])
        if isinstance(request.settings.get("effortLevel"), str):
            self._parts.brief.use_effort(request.settings["effortLevel"])

    async def _update(self, request: UpdateSettings) -> dict[str, Any]:
        """Write settings to a file of the user's."""
        # Most sessions write none.
        from claude_wrapper.agent.config.change import SettingsNotWrittenError, change_settings  # noqa: PLC0415

        path = self._places.path(request.source) if request.source != "projectSettings" else None
        if path is None:
            raise RequestRefusedError(f"update_settings: there is no file for {request.source}")
        refused = sorted(_NOT_FOR_HOSTS.intersection(request.settings))
        if refused:
            raise RequestRefusedError(f"update_settings keys not allowed: {', '.join(refused)}")
        try:
            with self._parts.access.writing(path):
                # Another program may keep the file locked for a while.
                await anyio.to_thread.run_sync(
                    lambda: change_settings(
                        path,
                        lambda known: known.update(request.settings),
                        follow_link=request.source == "userSettings",
                    )
                )
        except SettingsNotWrittenError as error:
            raise RequestRefusedError(f"update_settings: cannot be written: {error}") from error
        return {}

    async def _register(self, request: RegisterRepoRoot) -> RepoRootReply:
        """Add a folder to work in, below those that the session was started with: nothing wider."""
        cwd, access = self._parts.settings.cwd, self._parts.access
        named = cwd / request.directory
        try:
            folder = named.resolve(strict=True)
        except (OSError, RuntimeError, ValueError) as error:
            raise RequestRefusedError(
                f"register_repo_root: there is no folder {request.directory}"
            ) from error
        if not folder.is_dir():
            raise RequestRefusedError(f"register_repo_root: there is no folder {request.directory}")
        known = [_resolved(each) for each in access.directories(cwd)]
        if folder in known:
            raise RequestRefusedError(f"register_repo_root: {request.directory} is a working folder already")
        if not any(root == _resolved(path) and folder.is_relative_to(root) for path, root in self._roots):
            raise RequestRefusedError(
                f"register_repo_root: {request.directory} is not below the folders that the session was started in"
            )
        access.add_directory(named)
        return RepoRootReply(directory=str(named))


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path
