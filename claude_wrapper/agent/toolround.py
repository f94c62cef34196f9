"""One round of tool calls: which run side by side, and their results on their way to host and model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import anyio

from claude_wrapper.wire.hook_call_inputs import ToolCallBody

from .calls import CallResult, ToolCall, rejected_by_user, reminder
from .dispatch import Dispatcher
from .frames import Frames
from .hook_events import HookEvents
from .hooks.outcome import Outcome
from .interrupts import Interruption
from .session import Session
from .turn import Turn

__all__ = ["ToolRound"]


class ToolRound:
    """Runs the calls of a reply.

    Calls that change nothing and stand together run at the same time; one that changes something
    waits for those before it and holds those behind it. Results are shown as they come; the model
    gets them in the order of its calls.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        session: Session,
        frames: Frames,
        hooks: HookEvents,
        interruption: Interruption,
        most_at_once: int,
    ) -> None:
        self._dispatcher = dispatcher
        self._session = session
        self._frames = frames
        self._hooks = hooks
        self._interruption = interruption
        self._most_at_once = most_at_once

    async def run(self, turn: Turn) -> Outcome:
        """Run all calls; afterwards `turn.results` has a result for each. Returns what hooks say to the round."""
        turn.stage = "tools"
        turn.results = {}
        for group in self._groups(turn.calls):
            await self._interruption.hold()
            if len(group) == 1:
                await self._one(turn, group[0])
            else:
                await self._together(turn, group)
            if any(result.deferred or result.interrupts for result in turn.results.values()):
                return Outcome()
        outcome = await self._hooks.after_batch([_told(turn, call) for call in turn.calls])
        self.hand_over(turn, outcome.contexts)
        turn.stage = "between"
        return outcome

    def reject_open(self, turn: Turn) -> int:
        """Give the calls that have no result one that says that the turn was interrupted; returns how many."""
        open_calls = [call for call in turn.calls if call.id not in turn.results or _unshown(turn, call)]
        for call in open_calls:
            self._show(turn, call, rejected_by_user())
        self.hand_over(turn, [])
        return len(open_calls)

    def hand_over(self, turn: Turn, contexts: Sequence[str]) -> None:
        """Put the results into the conversation, in the order of the calls."""
        results = [(call, turn.results[call.id]) for call in turn.calls if call.id in turn.results]
        blocks = [result.block(call.id) for call, result in results]
        notes = [note for _, result in results for note in result.contexts]
        notes.extend(contexts)
        blocks += [{"type": "text", "text": reminder(note)} for note in notes]
        self._session.add_results(blocks)

    def _groups(self, calls: Sequence[ToolCall]) -> Iterator[list[ToolCall]]:
        group: list[ToolCall] = []
        for call in calls:
            if self._dispatcher.is_read_only(call):
                group.append(call)
                continue
            if group:
                yield group
            group = []
            yield [call]
        if group:
            yield group

    async def _together(self, turn: Turn, group: Sequence[ToolCall]) -> None:
        slots = anyio.Semaphore(self._most_at_once)

        async def one(call: ToolCall) -> None:
            async with slots:
                await self._one(turn, call)

        async with anyio.create_task_group() as tasks:
            for call in group:
                tasks.start_soon(one, call)

    async def _one(self, turn: Turn, call: ToolCall) -> None:
        result = await self._dispatcher.dispatch(call)
        if result.deferred and len(turn.calls) > 1:
            result = CallResult(
                "A hook wanted to put this call off, which it can only do with a call that stands alone; it was not run.",
                structured="Error: the call could not be put off",
                is_error=True,
                not_run="permission-rule",
            )
        if result.deferred or result.interrupts:
            turn.results[call.id] = result
        else:
            self._show(turn, call, result)

    def _show(self, turn: Turn, call: ToolCall, result: CallResult) -> None:
        turn.results[call.id] = result
        turn.user_messages += 1
        block = result.block(call.id)
        uuid = self._session.add_tool_result(block, result.structured, result.decision)
        self._frames.user(
            uuid, [block], tool_use_result=result.structured, tool_result_meta=result.meta(call.id)
        )


def _unshown(turn: Turn, call: ToolCall) -> bool:
    result = turn.results[call.id]
    return result.deferred or result.interrupts


def _told(turn: Turn, call: ToolCall) -> ToolCallBody:
    return ToolCallBody(
        tool_name=call.name,
        tool_input=call.input,
        tool_use_id=call.id,
        tool_response=turn.results[call.id].content,
    )
