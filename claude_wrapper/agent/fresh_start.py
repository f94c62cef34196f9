"""Beginning the conversation anew in the same process: another id, an empty history, totals from zero."""

from __future__ import annotations

from .frames import Frames
from .ids import new_uuid
from .meter import Meter
from .session import Session
from .tools.contract import ToolContext
from .tools.ledger import ReadLedger
from .tools.task_book import TaskBook

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
