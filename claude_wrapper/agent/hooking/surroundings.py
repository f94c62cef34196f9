"""What hooks that are commands find around them, and the variables that they leave for later commands."""

from __future__ import annotations

import logging
import os
import shlex
from pathlib import Path

from claude_wrapper.agent.hooks.command import Surroundings
from claude_wrapper.agent.hooks.reply import Occasion
from claude_wrapper.agent.sessions.session import Session
from claude_wrapper.agent.start.settings import Settings
from claude_wrapper.agent.tools.contract import ToolContext
from claude_wrapper.agent.tools.environment import child_environment
from claude_wrapper.store.paths import config_dir

__all__ = ["HookSurroundings"]

logger = logging.getLogger(__name__)

_LEAVE_VARIABLES = frozenset({"SessionStart", "Setup", "CwdChanged", "FileChanged"})


class HookSurroundings:
    """Makes them. Keys of the model's API are not in the environment."""

    def __init__(self, settings: Settings, session: Session, context: ToolContext) -> None:
        self._settings = settings
        self.environ = settings.environ
        """The environment with the variables of the settings as they are now."""
        self._context = context
        self._session = session
        self._files: list[Path] = []

    def of(self, occasion: Occasion) -> Surroundings:
        """The surroundings of one hook."""
        environment = child_environment(self.environ, self._session.id)
        environment["CLAUDE_PROJECT_DIR"] = str(self._settings.cwd)
        environment["CLAUDE_PID"] = str(os.getpid())
        if occasion.event in _LEAVE_VARIABLES:
            try:
                environment["CLAUDE_ENV_FILE"] = self._next_file(occasion.event)
            except OSError as error:
                logger.warning("a hook can leave no variables: %s", error)
        return Surroundings(self._context.cwd, self._settings.cwd, environment)

    def take_variables(self) -> None:
        """Give what hooks have written down to commands from now on."""
        written = [path for path in self._files if path.is_file() and path.stat().st_size]
        if not written:
            return
        given = self._settings.environ.get("CLAUDE_ENV_FILE")
        lines = [f". {shlex.quote(str(path))}" for path in ([Path(given)] if given else []) + written]
        everything = self._folder / "all.sh"
        try:
            everything.write_text("\n".join(lines) + "\n", encoding="utf-8")
        except OSError as error:
            logger.warning("commands do without the variables that hooks have left: %s", error)
            return
        self._context.environment["CLAUDE_ENV_FILE"] = str(everything)

    @property
    def _folder(self) -> Path:
        return config_dir(self._settings.environ) / "session-env" / self._session.id

    def _next_file(self, event: str) -> str:
        count = sum(1 for path in self._files if path.name.startswith(event.lower()))
        path = self._folder / f"{event.lower()}-hook-{count}.sh"
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._files.append(path)
        return str(path)
