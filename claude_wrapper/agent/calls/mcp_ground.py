"""What MCP servers find around them in a session: folders, environment, limits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from claude_wrapper.agent.host.link import HostLink
from claude_wrapper.agent.start.mcp_servers import GivenServer
from claude_wrapper.agent.start.settings import Settings
from claude_wrapper.agent.tools.environment import child_environment
from claude_wrapper.agent.version import AGENT_VERSION

from .mcp_limits import limits_of

if TYPE_CHECKING:
    from claude_wrapper.agent.mcp.server import McpServer, Outlook

__all__ = ["McpGround"]

_CLIENT = {"name": "claude-wrapper", "title": "claude-wrapper agent", "version": AGENT_VERSION}

_SAFE = frozenset(
    {
        *("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LC_ALL", "TMPDIR"),
        *("APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PROCESSOR_ARCHITECTURE", "SYSTEMDRIVE"),
        *("SYSTEMROOT", "TEMP", "USERNAME", "USERPROFILE", "PROGRAMFILES"),
    }
)
"""Variables that every program may know, where others are not handed on."""


class McpGround:
    """Makes the servers of a session."""

    def __init__(
        self, settings: Settings, session_id: str, results_dir: Path, folders: Callable[[], list[Path]]
    ) -> None:
        self.settings = settings
        self.limits = limits_of(settings.environ)
        self.results_dir = results_dir
        self.folders = folders
        self._session_id = session_id

    def host_server(self, name: str, host: HostLink, call_seconds: float | None) -> McpServer:
        """One that runs in the host."""
        # Start-up: most sessions have none.
        from claude_wrapper.agent.mcp.host_channel import HostChannel  # noqa: PLC0415
        from claude_wrapper.agent.mcp.server import McpServer  # noqa: PLC0415

        channel = HostChannel(host)
        return McpServer(
            name,
            lambda _: channel,
            _CLIENT,
            shown={"type": "sdk", "name": name},
            call_seconds=self.limits.call if call_seconds is None else call_seconds,
        )

    def own_server(self, name: str, given: GivenServer, outlook: Outlook) -> McpServer:
        """One that the agent itself reaches; nothing is begun yet."""
        # Start-up: as above.
        from claude_wrapper.agent.mcp.dial import Dialling, dial, shown_config  # noqa: PLC0415
        from claude_wrapper.agent.mcp.server import McpServer  # noqa: PLC0415

        config = given.config
        kind = config.get("type", "stdio")
        in_project = given.scope in ("project", "local")
        around = Dialling(
            self.settings.cwd, self._environment(), helpers=self.settings.mcp.trusted or not in_project
        )
        timeout = config.get("timeout")
        return McpServer(
            name,
            lambda listener: dial(name, config, around, listener),
            _CLIENT,
            scope=given.scope,
            kind=kind,
            shown=shown_config(kind, config),
            call_seconds=timeout / 1000 if isinstance(timeout, int | float) else self.limits.own_call,
            outlook=outlook,
        )

    def _environment(self) -> dict[str, str]:
        settings = self.settings
        environment = child_environment(settings.environ, self._session_id)
        if settings.environ.get("CLAUDE_CODE_MCP_ALLOWLIST_ENV") in ("1", "true"):
            environment = {name: value for name, value in environment.items() if name.upper() in _SAFE}
        return {
            **environment,
            "CLAUDE_PROJECT_DIR": str(settings.cwd),
            "CLAUDE_CODE_SESSION_ID": self._session_id,
            "CLAUDECODE": "1",
        }
