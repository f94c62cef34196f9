"""Starts a conversation: the one place where the facade's parts are put together."""

from __future__ import annotations

import logging
import os
from typing import Any

import msgspec

from claude_wrapper.option_conflicts import validate
from claude_wrapper.options import ClaudeAgentOptions
from claude_wrapper.spawn.command import build_command
from claude_wrapper.spawn.environment import build_environment
from claude_wrapper.spawn.start import private_folder, start_agent
from claude_wrapper.store.paths import projects_dir
from claude_wrapper.tool_server import tool_servers
from claude_wrapper.wire.framing import DEFAULT_LIMIT
from claude_wrapper.wire.requests_steer import Initialize

from .agent_version import mismatch
from .callbacks import Callbacks
from .channels import AgentChannel, Transport, TransportChannel
from .hook_registry import HookRegistry
from .limits import Limits
from .live import Live
from .mirror import MirrorTarget
from .strict_inbox import Strictness
from .trace import traced
from .watchdog import Patience

__all__ = ["start_conversation"]

logger = logging.getLogger("claude_wrapper")

_INITIALIZE_SECONDS = 60.0


async def start_conversation(options: ClaudeAgentOptions, transport: Transport | None = None) -> Live:
    """Start the agent, or connect the transport, and shake hands.

    Raises OptionsError, CLINotFoundError, CLIConnectionError or SessionStoreError, with nothing left running.
    """
    validate(options)
    # What can be wrong with callbacks and tools is found before there is anything to stop.
    hooks = HookRegistry(options.hooks)
    callbacks = Callbacks(options.can_use_tool, hooks, tool_servers(options.mcp_servers))
    channel, fields, target = await _channel(options, transport)
    channel = traced(channel, (os.environ, options.env))
    live = Live(channel, callbacks, _limits(options), target, verbatim=options.verbatim_prompts)
    initialize = msgspec.convert({"subtype": "initialize", "hooks": hooks.wire, **fields}, Initialize)

    def check(info: dict[str, Any]) -> None:
        hooks.check_agent(info)
        if text := mismatch(info):
            logger.warning(text)

    await live.open(initialize, check)
    return live


async def _channel(
    options: ClaudeAgentOptions, transport: Transport | None
) -> tuple[AgentChannel, dict[str, Any], MirrorTarget | None]:
    if transport is not None:
        fields = build_command(options).initialize
        await transport.connect()
        return TransportChannel(transport), fields, _mirror_target(options)
    if options.session_store is None:
        return *start_agent(options), None
    # Start-up: most programs have no session store.
    from .stored_session import restore  # noqa: PLC0415

    folder = private_folder(options)
    try:
        options = await restore(options, folder)
        return *start_agent(options, folder), _mirror_target(options)
    except BaseException:
        folder.remove()
        raise


def _mirror_target(options: ClaudeAgentOptions) -> MirrorTarget | None:
    if options.session_store is None:
        return None
    projects = projects_dir(build_environment(options, os.environ))
    return MirrorTarget(options.session_store, projects, options.session_store_flush == "eager")


def _limits(options: ClaudeAgentOptions) -> Limits:
    close = options.close_timeout
    return Limits(
        initialize=options.initialize_timeout or max(_INITIALIZE_SECONDS, _stream_close_seconds()),
        control=options.control_timeout,
        exit=close[0] if isinstance(close, tuple) else close,
        max_frame_bytes=options.max_buffer_size or DEFAULT_LIMIT,
        patience=Patience(options.timeout, options.idle_timeout),
        strictness=Strictness(options.raise_on_api_error, options.max_consecutive_tool_errors),
    )


def _stream_close_seconds() -> float:
    """Read the time limit that users of the official SDK set for slow starts, in milliseconds."""
    try:
        return float(os.environ.get("CLAUDE_CODE_STREAM_CLOSE_TIMEOUT", "")) / 1000
    except ValueError:
        return 0.0
