"""Beginning the conversation anew in the same process: another id, an empty history, totals from zero."""

from __future__ import annotations

from claude_wrapper.agent.ids import new_uuid
from claude_wrapper.agent.model.meter import Meter
from claude_wrapper.agent.pipes.frames import Frames
from claude_wrapper.agent.sessions.session import Session
from claude_wrapper.agent.tools.contract import ToolContext
from claude_wrapper.agent.tools.ledger import ReadLedger
from claude_wrapper.agent.tools.task_book import TaskBook

__all__ = ["FreshStart"]


class FreshStart:
    """Changes all that belongs to one conversation."""

    def __init__(self, session: Session, frames: Frames, meter: Meter, context: ToolContext) -> None:
        self._session = session
        self._frames = frames
        self._meter = meter
        self._context = context

    def __call__(self) -> None:
        """Forget the conversation; its transcript stays."""
        session_id = new_uuid()
        self._session.restart(session_id)
        self._meter.restart()
        self._frames.session_id = session_id
        context = self._context
        context.session_id = session_id
        context.results_dir = context.results_dir.parent.with_name(session_id) / context.results_dir.name
        context.read_files = ReadLedger()
        context.tasks = TaskBook()
