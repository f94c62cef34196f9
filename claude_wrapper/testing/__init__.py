"""Test programs that use an agent, without a key and without a network.

`ScriptedModel` answers the Messages API from a script, so that any agent plays a known
conversation; `ScriptedAgent` is an executable that plays the agent's side of stdin and stdout,
well or badly. Both are real: sockets and processes, on 127.0.0.1 only. `RecordingTransport` writes a
run with any agent to a file, and `ReplayTransport` plays it back. Names load on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from claude_wrapper.testing.agent_run import AgentGate, AgentRun
    from claude_wrapper.testing.faults import (
        ReplayError,
        ScriptError,
        ScriptTimeoutError,
    )
    from claude_wrapper.testing.gates import Gate, Moment
    from claude_wrapper.testing.model_process import ModelProcess
    from claude_wrapper.testing.model_request import ModelRequest
    from claude_wrapper.testing.phrases import (
        block,
        call,
        cut,
        error_event,
        fail,
        hang_up,
        html,
        malformed,
        redacted,
        say,
        stall,
        think,
        turn,
    )
    from claude_wrapper.testing.recording import RecordingTransport
    from claude_wrapper.testing.refused import refused_url
    from claude_wrapper.testing.replay import ReplayTransport
    from claude_wrapper.testing.script import Script
    from claude_wrapper.testing.scripted_agent import ScriptedAgent
    from claude_wrapper.testing.scripted_model import ScriptedModel
    from claude_wrapper.testing.store_conformance import run_session_store_conformance
    from claude_wrapper.testing.turns import Turn

__all__ = [
    "AgentGate",
    "AgentRun",
    "Gate",
    "ModelProcess",
    "ModelRequest",
    "Moment",
    "RecordingTransport",
    "ReplayError",
    "ReplayTransport",
    "Script",
    "ScriptError",
    "ScriptTimeoutError",
    "ScriptedAgent",
    "ScriptedModel",
    "Turn",
    "block",
    "call",
    "cut",
    "error_event",
    "fail",
    "hang_up",
    "html",
    "malformed",
    "redacted",
    "refused_url",
    "run_session_store_conformance",
    "say",
    "stall",
    "think",
    "turn",
]

_MODULES = {
    "AgentGate": "agent_run",
    "AgentRun": "agent_run",
    "ReplayError": "faults",
    "ScriptError": "faults",
    "ScriptTimeoutError": "faults",
    "Gate": "gates",
    "Moment": "gates",
    "ModelProcess": "model_process",
    "ModelRequest": "model_request",
    "block": "phrases",
    "call": "phrases",
    "cut": "phrases",
    "error_event": "phrases",
    "fail": "phrases",
    "hang_up": "phrases",
    "html": "phrases",
    "malformed": "phrases",
    "redacted": "phrases",
    "say": "phrases",
    "stall": "phrases",
    "think": "phrases",
    "turn": "phrases",
    "RecordingTransport": "recording",
    "refused_url": "refused",
    "ReplayTransport": "replay",
    "Script": "script",
    "ScriptedAgent": "scripted_agent",
    "ScriptedModel": "scripted_model",
    "run_session_store_conformance": "store_conformance",
    "Turn": "turns",
}


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{module}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
