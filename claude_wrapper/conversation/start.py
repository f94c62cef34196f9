"""Starts a conversation: the one place where the facade's parts are put together."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from claude_wrapper.option_conflicts import validate
from claude_wrapper.options import ClaudeAgentOptions
from claude_wrapper.spawn.command import build_command
from claude_wrapper.spawn.start import start_agent
from claude_wrapper.tool_server import tool_servers
from claude_wrapper.wire.framing import DEFAULT_LIMIT
from claude_wrapper.wire.requests_steer import Initialize

from .callbacks import Callbacks, HookRegistry
from .channels import AgentChannel, Transport, TransportChannel
from .live import Limits, Live

__all__ = ["start_conversation"]

_INITIALIZE_SECONDS = 60.0


async def start_conversation(options: ClaudeAgentOptions, transport: Transport | None = None) -> Live:
    """Start the agent, or connect the transport, and shake hands.

    Raises OptionsError, CLINotFoundError or CLIConnectionError, with nothing left running.
    """
    validate(options)
    # What can be wrong with callbacks and tools is found before there is anything to stop.
    hooks = HookRegistry(options.hooks)
    callbacks = Callbacks(options.can_use_tool, hooks, tool_servers(options.mcp_servers))
    channel, fields = await _channel(options, transport)
    live = Live(channel, callbacks, _limits(options))
    initialize = msgspec.convert({"subtype": "initialize", "hooks": hooks.wire, **fields}, Initialize)
    await live.open(initialize, must_block=hooks.must_block)
    return live


async def _channel(
    options: ClaudeAgentOptions, transport: Transport | None
) -> tuple[AgentChannel, dict[str, Any]]:
    if transport is None:
        return start_agent(options)
    fields = build_command(options).initialize
    await transport.connect()
    return TransportChannel(transport), fields


def _limits(options: ClaudeAgentOptions) -> Limits:
    close = options.close_timeout
    return Limits(
        initialize=options.initialize_timeout or max(_INITIALIZE_SECONDS, _stream_close_seconds()),
        control=options.control_timeout,
        exit=close[0] if isinstance(close, tuple) else close,
        max_frame_bytes=options.max_buffer_size or DEFAULT_LIMIT,
    )


def _stream_close_seconds() -> float:
    """Read the time limit that users of the official SDK set for slow starts, in milliseconds."""
    try:
        return float(os.environ.get("CLAUDE_CODE_STREAM_CLOSE_TIMEOUT", "")) / 1000
    except ValueError:
        return 0.0
