"""What a turn works with, gathered once by the composition root."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import msgspec

from claude_wrapper.agent.calls.approval import Approval
from claude_wrapper.agent.calls.mcp_servers import McpServers
from claude_wrapper.agent.calls.toolbox import Toolbox
from claude_wrapper.agent.compaction.compactor import Compactor
from claude_wrapper.agent.config.access import Access
from claude_wrapper.agent.context.memory import Memory
from claude_wrapper.agent.hooking.events import HookEvents
from claude_wrapper.agent.host.interrupts import Interruption
from claude_wrapper.agent.host.prompts import PromptQueue
from claude_wrapper.agent.model.brief import Brief
from claude_wrapper.agent.model.meter import Meter
from claude_wrapper.agent.pipes.frames import Frames
from claude_wrapper.agent.sessions.deferred import DeferredCall
from claude_wrapper.agent.sessions.session import Session
from claude_wrapper.agent.start.settings import Settings
from claude_wrapper.agent.tasks.board import TaskBoard
from claude_wrapper.agent.tasks.commands import Commands

from .asking import Asker
from .custom_commands import CustomCommands
from .results import Results
from .toolround import ToolRound

if TYPE_CHECKING:
    from claude_wrapper.agent.checkpoints.ledger import Checkpoints
    from claude_wrapper.agent.subagents.squad import Squad

__all__ = ["Parts"]


class Parts(msgspec.Struct):
    """The collaborators of the loop and of the control requests."""

    settings: Settings
    frames: Frames
    session: Session
    queue: PromptQueue
    access: Access
    approval: Approval
    brief: Brief
    compactor: Compactor
    toolbox: Toolbox
    servers: McpServers
    hooks: HookEvents
    meter: Meter
    asker: Asker
    round: ToolRound
    results: Results
    interruption: Interruption
    tasks: TaskBoard
    """Subagents and commands at work."""
    commands: Commands
    """The commands of the session, or of the subagent."""
    send_init: Callable[[list[str]], None]
    """Sends the frame that begins a turn; given the ids of its prompts."""
    checkpoints: Checkpoints | None
    """The states of files to go back to; None where nobody wants them."""
    begin_anew: Callable[[], None]
    """Forgets the conversation: what follows belongs to a new session."""
    refresh: Callable[[], Awaitable[None]]
    """Reads settings again that have changed."""
    deferred: DeferredCall | None
    """The call that a hook had put off when the session was left."""
    look: Callable[[], Awaitable[float]]
    """Looks whether files have changed that somebody wants to hear about; gives the seconds to the next look."""
    custom: CustomCommands | None = None
    """The commands that users keep in files."""
    memory: Memory = msgspec.field(default_factory=Memory)
    """The instructions that files hold for the model."""
    suggest: bool = False
    """The host wants to be told what the user might want to say next."""
    subagents: Squad | None = None
    """The subagents of the session."""
    structured: bool = False
    """The run's answer has to be handed in through a tool."""
