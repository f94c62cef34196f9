"""Which prompts are open, which result answers which, and when no more input is needed. No I/O."""

from __future__ import annotations

from collections import deque
from enum import Enum, auto
from typing import Any

__all__ = ["ResultKind", "TurnTracker"]

_TASK_TYPES = frozenset({"local_agent", "local_workflow"})
"""Tasks whose end starts a further turn, so that a run is not over before it."""


class ResultKind(Enum):
    """What a result is to somebody who waits for the answer to a prompt."""

    ANSWER = auto()
    ABANDONED = auto()
    """It ends a turn that was interrupted."""
    BACKGROUND = auto()
    """It ends a turn that nobody asked for."""


class _Prompt:
    __slots__ = ("abandoned", "uuid")

    def __init__(self, uuid: str | None) -> None:
        self.uuid = uuid
        self.abandoned = False


class TurnTracker:
    """Follows prompts, results, state frames and tasks of one conversation.

    Prompts are answered in order unless a result names the prompts it answers. A prompt whose turn
    was interrupted is abandoned: its result is not what somebody waits for who asked again since.
    """

    def __init__(self) -> None:
        self._open: list[_Prompt] = []
        self._unread: deque[ResultKind] = deque()
        self._tasks: set[str] = set()
        self._state: str | None = None
        self._results_since_prompt = 0
        self.round = 0
        """Grows with each prompt that finds no other one open."""
        self.changes = 0
        """Grows with everything that may change the answers given here."""

    @property
    def turn_is_open(self) -> bool:
        """Whether a prompt still waits for its result."""
        return bool(self._open)

    @property
    def has_result(self) -> bool:
        """Whether a result has come since the latest prompt."""
        return self._results_since_prompt > 0

    @property
    def run_is_over(self) -> bool:
        """Whether a result has come and nothing is known that would start another turn."""
        if not self._results_since_prompt or self._tasks:
            return False
        return self._state is None or self._state == "idle"

    @property
    def is_working(self) -> bool:
        """Whether the agent has something to do: a prompt to answer, or what goes on after its result."""
        return self.turn_is_open or (self.has_result and not self.run_is_over)

    @property
    def skip_next(self) -> bool:
        """Whether the next unread message belongs to an interrupted turn, and a wanted one is behind it."""
        if self._unread:
            abandoned = self._unread[0] is ResultKind.ABANDONED
        else:
            abandoned = bool(self._open) and self._open[0].abandoned
        return abandoned and (
            ResultKind.ANSWER in self._unread or any(not prompt.abandoned for prompt in self._open)
        )

    def prompt_sent(self, uuid: str | None) -> None:
        """A prompt is written to the agent."""
        self.changes += 1
        self._results_since_prompt = 0
        self.round += not self._open
        self._open.append(_Prompt(uuid))

    def interrupted(self) -> None:
        """The agent is asked to interrupt: what was asked before is not waited for any more."""
        for prompt in self._open:
            prompt.abandoned = True

    def still_queued(self, uuids: list[str]) -> None:
        """The agent told which prompts have not begun: their turns are not those that it interrupts."""
        for prompt in self._open:
            if prompt.uuid is not None and prompt.uuid in uuids:
                prompt.abandoned = False

    def prompts_cancelled(self, uuids: list[str]) -> None:
        """The agent took prompts back that had not begun: no result will come for them."""
        self.changes += 1
        self._open = [prompt for prompt in self._open if prompt.uuid is None or prompt.uuid not in uuids]

    def state_changed(self, state: str) -> None:
        """The agent said that it is running, waits for the host, or is idle."""
        self.changes += 1
        self._state = state
        if state == "idle" and self._results_since_prompt:
            # Prompts that were folded into one turn share its result.
            self._open.clear()

    def task_event(self, subtype: str, frame: dict[str, Any]) -> None:
        """A task started, changed or ended."""
        self.changes += 1
        task_id = frame.get("task_id")
        if not isinstance(task_id, str):
            return
        patch = frame.get("patch")
        status = patch.get("status") if isinstance(patch, dict) else None
        if subtype == "task_started" and str(frame.get("task_type")) in _TASK_TYPES:
            self._tasks.add(task_id)
        elif subtype == "task_notification" or str(status) in {"completed", "failed", "killed"}:
            self._tasks.discard(task_id)

    def result_came(self, uuids: list[str], *, background: bool) -> None:
        """Settle the prompts that a result answers.

        A result that names no prompt answers the oldest one, unless a background task started its
        turn. A result that comes with no prompt open is an answer: somebody else asked.
        """
        self.changes += 1
        self._results_since_prompt += 1
        settled = [prompt for prompt in self._open if prompt.uuid is not None and prompt.uuid in uuids]
        if background and not settled:
            self._unread.append(ResultKind.BACKGROUND)
            return
        settled = settled or self._open[:1]
        self._open = [prompt for prompt in self._open if prompt not in settled]
        abandoned = bool(settled) and all(prompt.abandoned for prompt in settled)
        self._unread.append(ResultKind.ABANDONED if abandoned else ResultKind.ANSWER)

    def result_taken(self) -> ResultKind:
        """The user takes the oldest unread result."""
        return self._unread.popleft() if self._unread else ResultKind.ANSWER
