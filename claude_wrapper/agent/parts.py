"""What a turn works with, gathered once by the composition root."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from .access import Access
from .approval import Approval
from .asking import Asker
from .brief import Brief
from .frames import Frames
from .hook_events import HookEvents
from .interrupts import Interruption
from .mcp_tools import McpServers
from .meter import Meter
from .prompts import PromptQueue
from .results import Results
from .session import Session
from .settings import Settings
from .toolbox import Toolbox
from .toolround import ToolRound

if TYPE_CHECKING:
    from .checkpoints.ledger import Checkpoints

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
    toolbox: Toolbox
    servers: McpServers
    hooks: HookEvents
    meter: Meter
    asker: Asker
    round: ToolRound
    results: Results
    interruption: Interruption
    send_init: Callable[[list[str]], None]
    """Sends the frame that begins a turn; given the ids of its prompts."""
    checkpoints: Checkpoints | None
    """The states of files to go back to; None where nobody wants them."""
    begin_anew: Callable[[], None]
    """Forgets the conversation: what follows belongs to a new session."""
    structured: bool = False
    """The run's answer has to be handed in through a tool."""
