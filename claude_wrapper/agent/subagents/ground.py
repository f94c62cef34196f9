"""What a session's subagents share with it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from claude_wrapper.agent.api.client import ModelClient
from claude_wrapper.agent.calls.approval import PermissionHost
from claude_wrapper.agent.calls.toolbox import Toolbox
from claude_wrapper.agent.host.link import HostLink
from claude_wrapper.agent.model.side_question import SideQuestions
from claude_wrapper.agent.pipes.output import LineWriter
from claude_wrapper.agent.tools.contract import ToolContext
from claude_wrapper.agent.turns.parts import Parts
from claude_wrapper.link.peer import ControlPeer
from claude_wrapper.store.append import TranscriptWriter

from .errand import Errand

__all__ = ["Ground"]


class Ground(msgspec.Struct):
    """What the session lends to its subagents."""

    parts: Parts
    """Those of the main conversation."""
    client: ModelClient
    context: ToolContext
    writer: LineWriter
    peer: ControlPeer
    questions: SideQuestions
    most_at_once: int
    host: Callable[[HostLink, Toolbox, ToolContext], PermissionHost | None]
    """Who is asked for permission."""
    start_task: Callable[..., object]

    def transcript(self, errand: Errand) -> TranscriptWriter | None:
        """Where a subagent's conversation is written down; None where the session's is not."""
        own = self.parts.session.transcript
        if own is None:
            return None
        return own.another(own.path.with_suffix("") / "subagents" / f"agent-{errand.id}.jsonl")
