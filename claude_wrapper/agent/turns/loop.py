"""The turn: take prompts up, ask the model, run its tools, ask again; then say how it ended."""

from __future__ import annotations

from claude_wrapper.agent.api.api_error import ApiError, ReplyCutError
from claude_wrapper.agent.api.fold import Reply
from claude_wrapper.agent.host.prompts import Prompt
from claude_wrapper.agent.ids import new_uuid
from claude_wrapper.agent.tasks.facts import SUBAGENT
from claude_wrapper.agent.turns.parts import Parts

from . import interrupted
from .closing import Closing
from .compacting import Compacting
from .limits import Limits
from .opening import Opening
from .results import crashed
from .resumed import UNAVAILABLE, Resumed
from .setbacks import Setbacks
from .suggesting import Suggesting
from .turn import Ending, Turn

__all__ = ["Loop"]


class Loop:
    """Answers prompts one turn after another."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._opening = Opening(parts)
        self._closing = Closing(parts)
        self._setbacks = Setbacks(parts)
        self._limits = Limits(parts.settings, parts.meter)
        self._compacting = Compacting(parts, self._limits)
        self._resumed = Resumed(parts)
        self._suggesting = Suggesting(parts)
        self._begun = False
        self.turn: Turn | None = None
        parts.queue.on_urgent = self._cut_for_urgent

    @property
    def tools_running(self) -> bool:
        """Whether a turn waits for its tools."""
        return self.turn is not None and self.turn.stage == "tools"

    async def run(self) -> None:
        """Answer prompts until there will be no more."""
        queue = self._parts.queue
        if self._resumed.waiting is not None:
            await self._answer([self._resumed.prompt()])
        while (prompts := await queue.next_turn()) is not None:
            await self._answer(prompts)
            await self._suggesting.until_prompt()
        self._parts.results.flush()

    async def _answer(self, prompts: list[Prompt]) -> None:
        queue = self._parts.queue
        queue.busy = True
        try:
            await self.answer(prompts)
        except Exception as error:
            self._report_crash(error)
            raise
        finally:
            queue.busy = False
            self.turn = None
        parts = self._parts
        if not len(queue) and not parts.tasks.keep_running and not parts.interruption.last:
            self._parts.frames.session_state("idle")

    async def answer(self, prompts: list[Prompt]) -> None:
        """Run one turn to its result."""
        parts = self._parts
        turn = self.turn = Turn(prompts, new_uuid())
        parts.approval.denials = turn.denials
        parts.brief.begin_turn()
        parts.frames.session_state("running")
        self._announce(prompts)
        ending: Ending | None = None
        try:
            with parts.interruption.turn() as scope:
                ending = await self._converse(turn)
            if scope.cancelled_caught or ending is None:
                ending = interrupted.ending(parts, turn)
        finally:
            parts.session.save(
                parts.meter.total_cost_usd, parts.meter.api_ms, parts.meter.wall_ms, parts.meter.model_usage()
            )
        self._finish(turn, ending)

    async def _converse(self, turn: Turn) -> Ending:
        """From the prompts to the end of the turn; what can end it stands here, in order."""
        parts = self._parts
        await parts.refresh()
        return await self._open(turn) or await self.work(turn)

    async def work(self, turn: Turn) -> Ending:
        """Ask the model and run its tools until something ends the turn; its prompts are in the conversation."""
        parts = self._parts
        ending: Ending | None = None
        while ending is None:
            turn.reached_model = True
            await parts.interruption.hold()
            ending = self._limits.before_request(turn)
            if ending is None:
                ending = await self._compacting.before_request(turn) or await self._round_trip(turn)
            elif turn.requests == 0:
                parts.asker.announce(turn)
        return ending

    async def _open(self, turn: Turn) -> Ending | None:
        """Take prompts up, or the call that a hook had put off when the session was left."""
        waiting, first = self._resumed.waiting, not self._begun
        self._begun = True
        if waiting is not None and first:
            self._opening.takes(turn)
            return await self._resumed.open(turn, waiting)
        return self._resumed.refuses() or await self._opening.open(turn)

    async def _round_trip(self, turn: Turn) -> Ending | None:
        """Ask the model once and run the tools it calls; what in it ends the turn."""
        parts = self._parts
        parts.toolbox.restrict(parts.access.policy)
        request = parts.brief.request(parts.session.history, parts.toolbox.definitions(), parts.session.id)
        failure: ApiError | None = None
        stopped_before = turn.stop_reason
        async with parts.round.open(turn):
            try:
                reply = await parts.asker.ask(turn, request, parts.brief.stand_in)
                turn.cuts = turn.empty_cuts = 0
                turn.found_too_long = False
            except ApiError as error:
                # Raised in here, it would come out of the round as a group of errors.
                failure = error
            cut = failure if isinstance(failure, ReplyCutError) else None
            if cut is not None:
                self._setbacks.count(turn, cut)
            ending = self._limits.over_budget()
            if (
                ending is not None
                and failure is None
                and _ends_with_call(reply)
                and parts.round.ends_early(turn)
            ):
                turn.stop_reason = stopped_before
            if turn.calls and ending is None and (failure is None or cut is not None):
                if cut is not None:
                    self._setbacks.report(cut, "tool_use")
                return await self._run_tools(turn)
        if failure is not None and cut is None:
            if await self._compacting.after_too_long(turn, failure):
                return self._limits.over_budget()
            return await self._setbacks.end(failure)
        if ending is not None:
            turn.usage = turn.usage_before_last
            return ending
        if cut is not None:
            return await self._setbacks.after_cut(turn, cut)
        return await self._closing.after_text(turn, reply)

    async def _run_tools(self, turn: Turn) -> Ending | None:
        """Run a round of tools; what in it ends the turn."""
        parts = self._parts
        outcome = await parts.round.finish(turn)
        results = list(turn.results.values())
        deferred = [call for call in turn.calls if turn.results[call.id].deferred]
        if deferred:
            return parts.round.deferred(turn, deferred[-1])
        ending = await self._closing.answer_handed_in(turn, parts.asker.reply)
        if ending is not None:
            return ending
        if outcome.stop or outcome.block is not None or any(result.hook_stopped for result in results):
            return Ending(terminal_reason="hook_stopped")
        if parts.queue.urgent:
            return Ending(terminal_reason="aborted_tools")
        reply = parts.asker.reply
        if reply is not None and reply.stop_reason == "refusal":
            ending = self._closing.after_refusal(turn, reply)
            if ending is not None:
                return ending
        if self._limits.turns_left(turn):
            await parts.interruption.hold()
            await self._opening.join(turn, parts.queue.joining())
        return None

    def _announce(self, prompts: list[Prompt]) -> None:
        parts = self._parts
        if not self._resumed.is_own(prompts):
            parts.queue.announce(prompts)
        if parts.settings.replay_prompts:
            # Prompts that share a turn enter the conversation as one; those that can be told apart are echoed.
            for prompt in prompts[:-1]:
                if prompt.uuid is not None:
                    parts.frames.user(
                        prompt.uuid, prompt.content, timed=False, is_replay=True, origin=prompt.told_origin
                    )
        for prompt in prompts:
            parts.frames.lifecycle(prompt.uuid, "started")
        parts.queue.announce_all()

    def _finish(self, turn: Turn, ending: Ending) -> None:
        """Send the result; prompts that joined later are over before it, the first ones after it."""
        parts = self._parts
        parts.asker.forget_waiting()
        first, joined = self._opening.split(turn)
        for prompt in joined:
            parts.frames.lifecycle(prompt.uuid, "completed")
        state = "completed"
        cut = ending.terminal_reason in {"aborted_tools", "aborted_streaming"}
        if cut and (not ending.is_error or parts.queue.urgent):
            state = "cancelled"
        if ending.terminal_reason == UNAVAILABLE or parts.interruption.last:
            state = "cancelled"
        if ending.subtype == "error_max_budget_usd":
            parts.tasks.give_up(SUBAGENT)
        parts.results.send(turn, ending)
        if parts.subagents is not None and not parts.queue.closed:
            # Of those that the budget ended, a host that waits for every task is told last.
            parts.subagents.tell_cut_off()
        for prompt in first:
            parts.frames.lifecycle(prompt.uuid, state)

    def _report_crash(self, error: Exception) -> None:
        """Something that should not happen did: the host gets a result all the same."""
        if self.turn is not None:
            text = f"The agent failed: {type(error).__name__}: {error}"
            self._parts.results.send(self.turn, crashed(text))

    def stop_for_budget(self) -> None:
        """A subagent has used the budget up: the turn that waits for it ends."""
        if self.turn is not None and self._limits.over_budget() is not None:
            self.turn.when_interrupted = self._over_budget
            self._parts.interruption.stop()

    def _over_budget(self) -> Ending:
        return self._limits.over_budget() or Ending()

    def _cut_for_urgent(self) -> None:
        """A prompt came that cannot wait."""
        if self.turn is not None and self.turn.stage == "streaming":
            self._parts.interruption.stop()
        elif self.turn is not None and self.turn.stage == "tools":
            self._parts.interruption.hurry()


def _ends_with_call(reply: Reply) -> bool:
    return bool(reply.blocks) and reply.blocks[-1].type == "tool_use"
