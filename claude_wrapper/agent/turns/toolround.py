"""One round of tool calls: which run side by side, and their results on their way to host and model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskGroup

from claude_wrapper.agent.calls.call import HANDED_IN, NEVER_TRIED, UNFIT, CallResult, ToolCall, reminder
from claude_wrapper.agent.calls.dispatch import Dispatcher
from claude_wrapper.agent.hooking.events import HookEvents
from claude_wrapper.agent.hooks.outcome import Outcome
from claude_wrapper.agent.host.interrupts import Interruption
from claude_wrapper.agent.ids import new_uuid
from claude_wrapper.agent.pipes.frames import Frames
from claude_wrapper.agent.sessions.session import Session
from claude_wrapper.agent.turns.turn import Ending, Turn
from claude_wrapper.wire.hook_call_inputs import ToolCallBody

__all__ = ["ToolRound"]

_GRACE_SECONDS = 0.3


class _Slot:
    """A call of the round and when it is over."""

    __slots__ = ("call", "done", "read_only", "unknown")

    def __init__(self, call: ToolCall, *, read_only: bool, unknown: bool) -> None:
        self.call = call
        self.read_only = read_only
        self.unknown = unknown
        self.done = anyio.Event()


class _Held:
    """A result that the host does not know yet, and after which events of the reply it may."""

    __slots__ = ("ahead", "call", "due", "result")

    def __init__(self, call: ToolCall, result: CallResult, events: int) -> None:
        self.call = call
        self.result = result
        self.due: int | None = None if result.after_events is None else events + result.after_events
        self.ahead = result.ahead

    def tell_ahead(self) -> None:
        """Tell what comes before the result, once."""
        ahead, self.ahead = self.ahead, None
        if ahead is not None:
            ahead()


class ToolRound:
    """Runs the calls of a reply, from the moment each of them is complete.

    Calls that change nothing and stand together run at the same time; one that changes something
    waits for those before it and holds those behind it. Results are shown as they come; the model
    gets them in the order of its calls. With `wait_for_reply` hooks and checks begin at once, but
    nothing runs before `reply_is_complete` allows it.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        session: Session,
        frames: Frames,
        hooks: HookEvents,
        interruption: Interruption,
        *,
        mode: Callable[[], str],
        most_at_once: int,
        wait_for_reply: bool,
    ) -> None:
        self.after_reads: Callable[[Turn], Awaitable[list[str]]] = _nothing
        """What the model is to know beside the results, told by the files that the calls read."""
        self._mode = mode
        self._dispatcher = dispatcher
        self._session = session
        self._frames = frames
        self._hooks = hooks
        self._interruption = interruption
        self._places = anyio.Semaphore(most_at_once, fast_acquire=True)
        self._wait_for_reply = wait_for_reply
        self._complete = anyio.Event()
        self._slots: list[_Slot] = []
        self._held: list[_Held] = []
        self._events = 0
        self._costs_known = False
        self._tasks: TaskGroup | None = None
        self._turn: Turn | None = None

    @asynccontextmanager
    async def open(self, turn: Turn) -> AsyncIterator[None]:
        """A round, within which calls may be added; whatever still runs at its end is stopped."""
        turn.calls, turn.results = [], {}
        self._turn, self._slots, self._held, self._complete = turn, [], [], anyio.Event()
        self._events, self._costs_known = 0, False
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                yield
            finally:
                self._tasks = None
                for held in self._held:
                    held.tell_ahead()
                tasks.cancel_scope.cancel()

    def add(self, call: ToolCall) -> None:
        """Take a call in, and start it as soon as its place in the order allows."""
        assert self._tasks is not None
        assert self._turn is not None
        slot = _Slot(
            call,
            read_only=self._dispatcher.is_read_only(call),
            unknown=self._dispatcher.is_unknown(call),
        )
        before = list(_before(slot, self._slots))
        self._slots.append(slot)
        self._tasks.start_soon(self._run, self._turn, slot, before)

    def event(self, kind: str) -> None:
        """An event of the reply was passed on: show what was to come behind it."""
        self._events += 1
        if not self._held:
            return
        assert self._turn is not None
        self._costs_known = self._costs_known or (kind == "message_delta" and self._wait_for_reply)
        for held in list(self._held):
            if held.due is None or self._events < held.due - 1:
                continue
            held.tell_ahead()
            if self._events >= held.due and not self._costs_known:
                self._held.remove(held)
                self._show(self._turn, held.call, held.result)

    def ends_early(self, turn: Turn) -> bool:
        """Whether the last call was over before the reply was, so that a budget ends the turn without its end."""
        last = turn.calls[-1].id if turn.calls else None
        known = [held.result for held in self._held if held.call.id == last]
        result = known[0] if known else turn.results.get(last or "")
        return result is not None and result.after_events in {UNFIT, HANDED_IN}

    async def finish(self, turn: Turn) -> Outcome:
        """The reply is complete, and its calls may run: see them through. Returns what hooks say to the round."""
        turn.stage = "tools"
        self._complete.set()
        for slot in self._slots:
            await slot.done.wait()
        self._show_held(turn)
        if any(result.deferred for result in turn.results.values()):
            self.hand_over(turn, [])
            return Outcome()
        noted = await self.after_reads(turn)
        outcome = await self._hooks.after_batch([_told(turn, call) for call in turn.calls])
        self.hand_over(turn, [*noted, *outcome.contexts, *self._hooks.take_late()])
        turn.stop_blocks = 0
        turn.stage = "between"
        return outcome

    def close_open(self, turn: Turn, ending: CallResult) -> None:
        """Give the calls that have no result this one, and put all results into the conversation."""
        self._show_held(turn)
        for call in turn.calls:
            if call.id not in turn.results:
                self._show(turn, call, ending)
        self.hand_over(turn, [])

    def hand_over(self, turn: Turn, contexts: Sequence[str]) -> None:
        """Put the results into the conversation, in the order of the calls."""
        calls = {call.id: call for call in turn.calls}.values()
        results = [(call, turn.results[call.id]) for call in calls if self._is_known(turn, call)]
        blocks = [result.block(call.id) for call, result in results]
        notes = [note for _, result in results for note in result.contexts]
        notes.extend(contexts)
        blocks += [{"type": "text", "text": reminder(note)} for note in notes]
        self._session.add_results(blocks)

    def deferred(self, turn: Turn, call: ToolCall) -> Ending:
        """A hook put a call off: it is written down, and the turn is over."""
        self._session.note_deferred(call.id, call.name, call.input, self._mode())
        return Ending(
            terminal_reason="tool_deferred",
            stop_reason="tool_deferred",
            fields={"deferred_tool_use": {"id": call.id, "name": call.name, "input": call.input}},
            timed=False,
        )

    @staticmethod
    def _is_known(turn: Turn, call: ToolCall) -> bool:
        result = turn.results.get(call.id)
        return result is not None and not result.deferred

    async def _run(self, turn: Turn, slot: _Slot, before: Sequence[_Slot]) -> None:
        for other in before:
            await other.done.wait()
        async with self._places:
            await self._interruption.hold()
            result = await self._dispatcher.dispatch(slot.call, self._may_run)
            if result.interrupts:
                self._interruption.stop()
                await anyio.sleep_forever()
        if result.deferred:
            turn.results[slot.call.id] = result
            slot.done.set()
            return
        held = _Held(slot.call, result, self._events)
        self._held.append(held)
        if held.due is not None:
            # Its place among the events of the reply is settled: nothing has to wait for it.
            slot.done.set()
        else:
            held.tell_ahead()
        if result.after_events == NEVER_TRIED:
            self._held.remove(held)
            self._show(turn, slot.call, result)
            return
        await self._grace()
        self._show_held(turn)
        slot.done.set()

    async def _grace(self) -> None:
        """Let a reply that is nearly complete be shown as a whole; nothing waits for the result yet."""
        if not self._complete.is_set():
            with anyio.move_on_after(_GRACE_SECONDS):
                await self._complete.wait()

    def _show_held(self, turn: Turn) -> None:
        held, self._held = self._held, []
        for each in held:
            each.tell_ahead()
            self._show(turn, each.call, each.result)

    async def _may_run(self) -> None:
        """Wait until nothing speaks against running a call."""
        if self._wait_for_reply:
            await self._complete.wait()

    def _show(self, turn: Turn, call: ToolCall, result: CallResult) -> None:
        # Of calls that share an id the model is told the first result.
        turn.results.setdefault(call.id, result)
        turn.user_messages += 1
        block = result.block(call.id)
        uuid = self._session.add_tool_result(block, result.structured, result.decision)
        self._frames.user(
            uuid, [block], tool_use_result=result.structured, tool_result_meta=result.meta(call.id)
        )
        if result.remark is not None:
            turn.user_messages += 1
            text = [{"type": "text", "text": result.remark}]
            self._frames.user(new_uuid(), text, is_synthetic=True)
        if result.afterwards is not None:
            result.afterwards()


def _before(slot: _Slot, slots: Sequence[_Slot]) -> Iterator[_Slot]:
    """The calls that have to be over before this one; a call of no tool waits for nothing that could run beside it."""
    for other in slots:
        if slot.unknown and other.read_only:
            return
        if not other.unknown and not (slot.read_only and other.read_only):
            yield other


async def _nothing(_: Turn) -> list[str]:
    return []


def _told(turn: Turn, call: ToolCall) -> ToolCallBody:
    return ToolCallBody(
        tool_name=call.name,
        tool_input=call.input,
        tool_use_id=call.id,
        tool_response=turn.results[call.id].content,
    )
