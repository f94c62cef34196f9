"""The turn in which a call is run that a hook had put off when the session was left."""

from __future__ import annotations

from claude_wrapper.agent.api.switches import is_on
from claude_wrapper.agent.calls.call import ToolCall
from claude_wrapper.agent.host.prompts import Prompt
from claude_wrapper.agent.ids import new_uuid
from claude_wrapper.agent.sessions.deferred import DeferredCall
from claude_wrapper.agent.turns.parts import Parts

from .turn import Ending, Turn

__all__ = ["UNAVAILABLE", "Resumed"]

UNAVAILABLE = "tool_deferred_unavailable"
"""How turns end as long as the call cannot be run."""

_GO_ON = "Go on from here: the call that was put off has its result now."
_DROP = "CLAUDE_CODE_DROP_UNAVAILABLE_DEFERRED_TOOL"


class Resumed:
    """Begins turns of a session that was left with a call to be run."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.waiting: DeferredCall | None = parts.deferred
        self._own: Prompt | None = None

    def prompt(self) -> Prompt:
        """What stands in for the prompt of the turn that runs the call."""
        self._own = Prompt(_GO_ON, new_uuid(), as_written=True, is_synthetic=True)
        return self._own

    def is_own(self, prompts: list[Prompt]) -> bool:
        """Whether these are no prompts that somebody sent."""
        return prompts == [self._own]

    async def open(self, turn: Turn, waiting: DeferredCall) -> Ending | None:
        """Run the call; an ending if nothing is to be asked of the model."""
        parts = self._parts
        call = ToolCall(waiting.id, waiting.name, waiting.input)
        if not self._is_there(waiting):
            return self._unavailable(waiting)
        self.waiting = None
        parts.session.take_up_call(call.id, waiting.source)
        async with parts.round.open(turn):
            turn.calls = [call]
            parts.round.add(call)
            await parts.round.finish(turn)
        if turn.results[call.id].deferred:
            ending = parts.round.deferred(turn, call)
            ending.terminal_reason = None
            return ending
        parts.session.add_note(_GO_ON, hidden=True)
        turn.user_messages -= 1  # the result stands where the prompt does elsewhere
        parts.send_init(turn.prompt_uuids)
        turn.stage = "between"
        return None

    def refuses(self) -> Ending | None:
        """What becomes of prompts while the call cannot be run, unless it is to be given up."""
        if self.waiting is None:
            return None
        if is_on(self._parts.settings.environ, _DROP) or self._is_there(self.waiting):
            self.waiting = None
            return None
        return self._unavailable(self.waiting)

    def _is_there(self, waiting: DeferredCall) -> bool:
        toolbox = self._parts.toolbox
        toolbox.restrict(self._parts.access.policy)
        tool = toolbox.find(waiting.name)
        return tool is not None and not toolbox.is_off(tool.name)

    def _unavailable(self, waiting: DeferredCall) -> Ending:
        text = (
            f"{waiting.name} is not there, so the call of it that was put off could not be run. Resume with the tool, "
            f"or set {_DROP}=1 to go on without the call."
        )
        return Ending(
            terminal_reason=UNAVAILABLE,
            stop_reason=UNAVAILABLE,
            is_error=True,
            text=text,
            fields={"deferred_tool_use": {"id": waiting.id, "name": waiting.name, "input": waiting.input}},
            timed=False,
        )
