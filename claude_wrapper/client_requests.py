"""Everything that a client can ask of its running agent."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, cast

from msgspec import UNSET

from claude_wrapper.errors import ControlError
from claude_wrapper.wire import requests_ask as ask
from claude_wrapper.wire import requests_steer as steer

if TYPE_CHECKING:
    from claude_wrapper import client_answers as answers
    from claude_wrapper.approval import PermissionMode
    from claude_wrapper.context_usage import ContextUsageResponse
    from claude_wrapper.conversation.live import Live
    from claude_wrapper.mcp_config import McpServerConfig
    from claude_wrapper.mcp_status import McpStatusResponse

__all__ = ["ClientRequests"]


class ClientRequests(ABC):
    """The methods that send a control request and wait for its answer.

    Each takes `timeout`, in seconds; without it the option `control_timeout` counts, and `math.inf`
    waits without bound. They raise ControlError when the agent refuses, with its reason and, where it
    names one, a `code`; ControlTimeoutError when it does not answer in time; AgentExitedError when it
    ends first. Not every agent serves every request: a refusal then has the code `unsupported_request`.
    """

    @abstractmethod
    def _connected(self) -> Live:
        """Return the running conversation, or raise CLIConnectionError."""

    async def request(
        self, subtype: str, fields: Mapping[str, Any] | None = None, *, timeout: float | None = None
    ) -> dict[str, Any]:
        """Send a control request that has no method here, by its names on the wire; return its answer."""
        return await self._connected().request({"subtype": subtype, **(fields or {})}, timeout)

    # -- the turn and the prompts

    async def interrupt(
        self, *, cancel_queued: bool = False, timeout: float | None = None
    ) -> answers.InterruptResult:
        """Stop the running turn; its result follows. Harmless when no turn runs.

        Prompts that wait run next, unless `cancel_queued` takes them back as well.
        """
        answer = await self._connected().steering.interrupt(cancel_queued=cancel_queued, timeout=timeout)
        return cast("answers.InterruptResult", answer)

    async def cancel_prompt(self, prompt_id: str, *, timeout: float | None = None) -> bool:
        """Take back a prompt that still waits, by the id that `query` returned; False when it has begun."""
        return await self._connected().steering.cancel_prompt(prompt_id, timeout)

    # -- how the agent works

    async def set_permission_mode(self, mode: PermissionMode, *, timeout: float | None = None) -> None:
        """Change how calls are decided that no rule covers."""
        await self._ask(steer.SetPermissionMode(mode=mode), timeout)

    async def set_model(self, model: str | None = None, *, timeout: float | None = None) -> None:
        """Use another model from the next request on; None: the agent's default."""
        await self._ask(steer.SetModel(model=model), timeout)

    async def set_max_thinking_tokens(
        self,
        max_thinking_tokens: int | None,
        *,
        display: Literal["summarized", "omitted", "highlights"] | None = None,
        timeout: float | None = None,
    ) -> None:
        """Change how much the model may think; None: as much as the agent lets it, 0: not at all."""
        body = steer.SetMaxThinkingTokens(
            max_thinking_tokens=max_thinking_tokens, thinking_display=UNSET if display is None else display
        )
        await self._ask(body, timeout)

    async def apply_flag_settings(self, settings: dict[str, Any], *, timeout: float | None = None) -> None:
        """Put settings in place of those that were given at the start; wrong ones change nothing and raise."""
        await self._ask(steer.ApplyFlagSettings(settings=settings), timeout)

    async def get_settings(self, *, timeout: float | None = None) -> answers.SettingsInForce:
        """Return the settings in force, and where they come from."""
        return cast("answers.SettingsInForce", await self._ask(ask.GetSettings(), timeout))

    async def reload_plugins(self, *, timeout: float | None = None) -> answers.ReloadPluginsResult:
        """Read the plugins again."""
        answer = await self._ask(steer.ReloadPlugins(), timeout)
        info = self._connected().server_info
        info.update({name: answer[name] for name in ("commands", "agents") if name in answer})
        return cast("answers.ReloadPluginsResult", answer)

    # -- files and session

    async def rewind_files(
        self, user_message_id: str, *, dry_run: bool = False, timeout: float | None = None
    ) -> answers.RewindFilesResult:
        """Put files back to how they were at a prompt; needs `enable_file_checkpointing`.

        A dry run only says what would be done, and whether it can be. Raises ControlError when nothing
        could be rewound, which the official SDK passes over.
        """
        body = steer.RewindFiles(user_message_id=user_message_id, dry_run=True if dry_run else UNSET)
        answer = cast("answers.RewindFilesResult", await self._ask(body, timeout))
        if not dry_run and answer.get("canRewind") is False:
            raise ControlError(answer.get("error") or "The files cannot be rewound", "rewind_files")
        return answer

    async def rename_session(self, title: str, *, timeout: float | None = None) -> None:
        """Give the session a title."""
        await self._ask(steer.RenameSession(title=title, source="host"), timeout)

    # -- tool servers

    async def get_mcp_status(self, *, timeout: float | None = None) -> McpStatusResponse:
        """Return the state of the tool servers."""
        return cast("McpStatusResponse", await self._ask(ask.McpStatus(), timeout))

    async def reconnect_mcp_server(self, server_name: str, *, timeout: float | None = None) -> None:
        """Connect a tool server again."""
        await self._ask(ask.McpReconnect(server_name=server_name), timeout)

    async def toggle_mcp_server(
        self, server_name: str, enabled: bool, *, timeout: float | None = None
    ) -> None:
        """Switch a tool server on or off."""
        await self._ask(ask.McpToggle(server_name=server_name, enabled=enabled), timeout)

    async def set_mcp_servers(
        self, servers: Mapping[str, McpServerConfig], *, timeout: float | None = None
    ) -> answers.McpSetServersResult:
        """Put these tool servers in place of those that were set in this way before.

        Servers in this program are taken too. Name those of the option `mcp_servers` again that shall
        stay: Claude Code drops the ones in this program that are missing.
        """
        answer = await self._connected().steering.set_servers(servers, timeout)
        return cast("answers.McpSetServersResult", answer)

    # -- tasks

    async def stop_task(self, task_id: str, *, timeout: float | None = None) -> None:
        """Stop a background task; its TaskNotificationMessage follows."""
        await self._ask(steer.StopTask(task_id=task_id), timeout)

    async def background_tasks(self, tool_use_id: str | None = None, *, timeout: float | None = None) -> bool:
        """Move what runs in the foreground to the background: one call, or all.

        False when the one that was named does not run, or cannot be moved.
        """
        body = steer.BackgroundTasks(tool_use_id=UNSET if tool_use_id is None else tool_use_id)
        return (await self._ask(body, timeout)).get("backgrounded") is not False

    async def get_task_output(self, task_id: str, *, timeout: float | None = None) -> answers.TaskOutput:
        """Return what a background shell has written so far."""
        return cast("answers.TaskOutput", await self._ask(ask.GetTaskOutput(task_id=task_id), timeout))

    # -- what there is

    async def get_server_info(self) -> dict[str, Any] | None:
        """Return the agent's answer to the handshake: commands, models, output styles and more."""
        return self._connected().server_info

    async def list_commands(self) -> list[answers.CommandInfo]:
        """Return the slash commands and skills, as of the handshake or of `reload_plugins`."""
        return list(self._connected().server_info.get("commands") or ())

    async def list_agents(self) -> list[answers.AgentInfo]:
        """Return the agents that the model may start, likewise."""
        return list(self._connected().server_info.get("agents") or ())

    async def account_info(self) -> answers.AccountInfo:
        """Return who pays, as of the handshake."""
        return cast("answers.AccountInfo", dict(self._connected().server_info.get("account") or {}))

    async def list_models(self, *, timeout: float | None = None) -> list[answers.ModelInfo]:
        """Return the models to choose from."""
        return list((await self._ask(ask.ListModels(), timeout)).get("models") or ())

    async def get_context_usage(
        self, *, detail: Literal["summary", "full"] | None = None, timeout: float | None = None
    ) -> ContextUsageResponse:
        """Return what fills the context window."""
        body = ask.GetContextUsage(detail=UNSET if detail is None else detail)
        return cast("ContextUsageResponse", await self._ask(body, timeout))

    async def get_usage(self, *, timeout: float | None = None) -> answers.UsageReport:
        """Return what the session has used and cost, and how much of a subscription is left."""
        return cast("answers.UsageReport", await self._ask(ask.GetUsage(skip_behaviors=True), timeout))

    async def get_session_cost(self, *, timeout: float | None = None) -> str:
        """Return the cost of the session in words, for people."""
        return str((await self._ask(ask.GetSessionCost(), timeout)).get("text", ""))

    async def _ask(self, body: Any, timeout: float | None) -> dict[str, Any]:
        return await self._connected().request(body, timeout)
