"""The frame that begins a turn and says with what the agent works."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import UNSET

from claude_wrapper.agent.api.providers import key_source
from claude_wrapper.agent.calls.mcp_servers import McpServers
from claude_wrapper.agent.calls.toolbox import Toolbox
from claude_wrapper.agent.config.access import Access
from claude_wrapper.agent.control.initialize import CAPABILITIES
from claude_wrapper.agent.ids import new_uuid
from claude_wrapper.agent.model.brief import Brief
from claude_wrapper.agent.pipes.frames import Frames
from claude_wrapper.agent.start.settings import Settings
from claude_wrapper.agent.turns.custom_commands import commands_of
from claude_wrapper.agent.version import COMPATIBLE_VERSION
from claude_wrapper.store.paths import config_dir, project_key
from claude_wrapper.wire.system_session import InitFrame, InitMcpServerError

__all__ = ["InitSender"]


class InitSender:
    """Sends it."""

    def __init__(
        self,
        settings: Settings,
        frames: Frames,
        access: Access,
        brief: Brief,
        toolbox: Toolbox,
        servers: McpServers,
        agents: Callable[[], list[str]],
        current: Callable[[], Path],
    ) -> None:
        self._current = current
        self._agents = agents
        self._settings = settings
        self._frames = frames
        self._access = access
        self._brief = brief
        self._toolbox = toolbox
        self._servers = servers
        cwd = str(settings.cwd)
        environ = settings.environ
        self._fixed: dict[str, Any] = {
            "original_cwd": cwd,
            "api_key_source": key_source(environ, settings.api_key_helper),
            "claude_code_version": COMPATIBLE_VERSION,
            "output_style": "default",
            "plugins": [],
            "capabilities": CAPABILITIES,
            "betas": list(settings.model.betas) or UNSET,
            "memory_paths": {"auto": f"{config_dir(environ) / 'projects' / project_key(cwd) / 'memory'}/"},
            "fast_mode_state": "off",
            "sandbox_enabled": False,
            "analytics_disabled": True,
        }

    def send(self, prompt_uuids: list[str]) -> None:
        """Say what the turn works with."""
        self._toolbox.restrict(self._access.policy)
        commands = [file for file in commands_of(self._settings).values() if file.for_users]
        servers: list[Any] = self._servers.in_init()
        self._frames.emit(
            InitFrame(
                cwd=str(self._current()),
                tools=self._toolbox.names(),
                slash_commands=[file.name for file in commands] + list(self._servers.prompts()),
                skills=[file.name for file in commands if file.folder is not None],
                agents=self._agents(),
                mcp_servers=servers,
                mcp_server_errors=[InitMcpServerError(**each) for each in self._servers.errors] or UNSET,
                model=self._brief.model.name,
                permission_mode=self._access.mode,
                additional_directories=[
                    each.path for each in self._access.policy.directories if each.source != "projectSettings"
                ],
                user_message_uuids=prompt_uuids or UNSET,
                uuid=new_uuid(),
                session_id=self._frames.session_id,
                **self._fixed,
            )
        )
