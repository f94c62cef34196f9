"""Control requests that change settings: for this session, or in a file for later ones."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec

from claude_wrapper.link.peer import RequestRefusedError
from claude_wrapper.wire.replies_steer import RepoRootReply
from claude_wrapper.wire.requests_steer import ApplyFlagSettings, RegisterRepoRoot, UpdateSettings

from .parts import Parts
from .permissions.rules import RuleBehavior
from .settings_files import SettingsFile, SettingsPlaces

__all__ = ["SettingsRequests"]

_BEHAVIORS: tuple[RuleBehavior, ...] = ("deny", "ask", "allow")
_KINDS: dict[str, type] = {"permissions": dict, "env": dict, "hooks": dict, "model": str, "effortLevel": str}


class SettingsRequests:
    """Serves them."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._places = SettingsPlaces(parts.settings.environ, parts.settings.cwd)

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
        rules = [(behavior, given.rules(behavior)) for behavior in _BEHAVIORS]
        self._parts.access.replace_rules("flagSettings", rules)
        if isinstance(request.settings.get("model"), str):
            self._parts.brief.use_model(request.settings["model"])
        if isinstance(request.settings.get("effortLevel"), str):
            self._parts.brief.use_effort(request.settings["effortLevel"])

    async def _update(self, request: UpdateSettings) -> dict[str, Any]:
        """Write settings to a file of the user's."""
        path = self._places.path(request.source) if request.source != "projectSettings" else None
        if path is None:
            raise RequestRefusedError(f"update_settings: there is no file for {request.source}")
        try:
            _merge_into_file(path, request.settings)
        except OSError as error:
            raise RequestRefusedError(
                f"update_settings: {path} cannot be written: {error.strerror}"
            ) from error
        return {}

    async def _register(self, request: RegisterRepoRoot) -> RepoRootReply:
        """Add a folder to work in."""
        folder = Path(request.directory)
        if not folder.is_absolute() or not os.path.isdir(folder):  # noqa: PTH112, ASYNC240  # a look at one folder
            raise RequestRefusedError(f"register_repo_root: there is no folder {request.directory}")
        self._parts.access.add_directory(folder)
        return RepoRootReply(directory=str(folder))


def _merge_into_file(path: Path, values: dict[str, Any]) -> None:
    """Set values in a settings file and leave the others; raises OSError.

    A file that is no JSON object is left alone: it is the user's, and holds what we cannot see.
    """
    try:
        known = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except FileNotFoundError:
        known = {}
    except msgspec.DecodeError as error:
        raise OSError(errno.EINVAL, "it is no settings file") from error
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    text = msgspec.json.format(msgspec.json.encode({**known, **values}), indent=2) + b"\n"
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
