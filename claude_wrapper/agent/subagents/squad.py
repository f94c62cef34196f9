"""The subagents of a session: started within limits, awaited or left to work beside, and stopped."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
from msgspec import UNSET, UnsetType

from claude_wrapper.agent.calls.call import current_call
from claude_wrapper.agent.host.prompts import notice
from claude_wrapper.agent.ids import new_uuid
from claude_wrapper.agent.tasks.facts import SUBAGENT
from claude_wrapper.agent.tools.contract import ToolFailure, ToolOutput
from claude_wrapper.wire.config import AgentDefinitionBody

from .agent_tool import AgentTool
from .caller import Caller
from .choice import chosen
from .ground import Ground
from .limits import limits_of
from .roster import Roster
from .running import Running
from .stats import Stats
from .toolset import NoToolsError, spawnable, toolbox_for

if TYPE_CHECKING:
    from claude_wrapper.agent.tasks.news import TaskNews

    from .child_frames import ChildFrames
    from .errand import Errand

# Start-up: what only a subagent at work needs is imported by the first one.

__all__ = ["Squad", "squad_of"]

_log = logging.getLogger("claude_wrapper.agent")

_STOP_SECONDS = 5.0
_REQUESTED: dict[Any, str] = {True: "background", False: "foreground"}
_STOPPED = "The subagent was stopped."


class Squad:
    """Starts subagents for the model, and knows which are at work."""

    def __init__(self, ground: Ground, roster: Roster) -> None:
        self._ground = ground
        self._parts = ground.parts
        self._board = ground.parts.tasks
        self._limits = limits_of(ground.parts.settings.environ)
        self._forward_text = ground.parts.settings.forward_subagent_text
        self._at_work: set[Running] = set()
        self._cut_off: list[Running] = []
        self._silent = False
        self.on_budget: Callable[[], None] = lambda: None
        """Told when a subagent that a turn waits for has spent the last of the budget."""
        self.roster = roster
        self.stats = Stats()

    def serve(self, tools: tuple[str, ...] | None) -> None:
        """Offer the tool to the main conversation; `tools` are those it was asked to have."""
        parts = self._parts
        parts.results.hold = lambda: parts.queue.closed and self._board.subagent_in_background
        parts.results.stats = self._told_stats
        if tools is None or any(each.partition("(")[0] in {"Agent", "Task"} for each in tools):
            caller = Caller(parts, types=spawnable(tools))
            parts.toolbox.add([self._tool(caller)], None)

    def bring(self, agents: Mapping[str, AgentDefinitionBody], *, forward_text: bool) -> None:
        """Take in what the host defines, and whether it wants to see what subagents say."""
        self.roster.bring(agents)
        self._forward_text = self._forward_text or forward_text
        self._parts.toolbox.describe_anew()

    def tell_cut_off(self) -> None:
        """Tell of those that were stopped with the turn that waited for them."""
        cut_off, self._cut_off = self._cut_off, []
        for each in cut_off:
            each.by_host = True
            self._killed(each)

    def end(self) -> None:
        """The session ends: stop all, and tell nobody."""
        self._silent = True
        for each in self._at_work:
            each.scope.cancel()

    def _told_stats(self) -> dict[str, Any] | UnsetType:
        return self.stats.told() if self.stats.spawned else UNSET

    def _tool(self, caller: Caller) -> AgentTool:
        return AgentTool(partial(self._start, caller), lambda: self.roster.described(caller.types))

    async def _start(self, caller: Caller, tool_input: dict[str, Any]) -> ToolOutput:
        """Start one for a call; the result of the call. Raises ToolFailure."""
        from .errand import Errand  # noqa: PLC0415  # see above

        definition = chosen(self.roster, caller.types, tool_input.get("subagent_type"))
        self._check_limits(caller)
        wish = tool_input.get("run_in_background") if self._limits.background else None
        errand = Errand(
            definition,
            tool_input["description"],
            tool_input["prompt"],
            current_call.get(),
            caller.depth + 1,
            caller.agent_id,
            # A subagent waits for its own: what they find belongs to what it reports.
            background=self._limits.background
            and not caller.depth
            and (wish is not False or definition.background),
            model=tool_input.get("model"),
        )
        self.stats.begin(errand, _REQUESTED.get(wish, "unset"))
        running = self._begin(caller, errand)
        self._at_work.add(running)
        self._ground.start_task(self._see_through, running)
        return self._launched(running) if errand.background else await self._wait_for(caller, running)

    def _check_limits(self, caller: Caller) -> None:
        budget, spent = self._parts.settings.max_budget_usd, self._parts.meter.spent_here_usd
        refused = self.stats.refused
        if budget is not None and spent >= budget:
            refused["budget"] += 1
            raise ToolFailure("Budget limit reached")
        if caller.depth >= self._limits.depth:
            refused["depth_limit"] += 1
            raise ToolFailure(f"Subagent depth limit reached ({self._limits.depth})")
        if self._board.number(SUBAGENT) >= self._limits.at_once:
            refused["concurrency_limit"] += 1
            raise ToolFailure(f"Concurrent subagent limit reached ({self._limits.at_once})")

    def _begin(self, caller: Caller, errand: Errand) -> Running:
        """Set one up and tell of it; raises ToolFailure."""
        from claude_wrapper.agent.tasks.news import TaskNews  # noqa: PLC0415  # see above
        from claude_wrapper.agent.tasks.output_file import link_output  # noqa: PLC0415  # see above

        from .child_frames import ChildFrames  # noqa: PLC0415  # see above
        from .work import Work  # noqa: PLC0415  # see above

        parts, ground = self._parts, self._ground
        frames = ChildFrames(parts.frames, errand, text=self._forward_text)
        transcript = ground.transcript(errand)
        settings = parts.settings
        path = None if transcript is None else transcript.path
        output = link_output(settings.environ, settings.cwd, parts.session.id, errand.id, path)
        told = TaskNews(parts.frames, errand.facts, output)
        try:
            deeper = errand.depth < self._limits.depth
            toolbox = toolbox_for(errand.definition, caller.parts.toolbox, deeper=deeper)
        except NoToolsError as error:
            self._tell_empty(errand, told, frames, str(error))
            raise ToolFailure(str(error)) from error
        work = Work(ground, caller.parts, errand, toolbox, frames, told, transcript)
        if toolbox.find("Agent") is not None:
            types = spawnable(errand.definition.tools)
            own = Caller(work.parts, errand.depth, errand.id, work.deeds, types)
            toolbox.add([self._tool(own)], None)
        running = Running(errand, work, told, frames, self._board)
        self._board.add(running)
        told.started(background=errand.background)
        return running

    def _tell_empty(self, errand: Errand, told: TaskNews, frames: ChildFrames, error: str) -> None:
        told.started(background=errand.background)
        told.over("failed", error)
        told.notify("failed", error)
        frames.prompt(new_uuid(), errand.prompt)
        self.stats.failed += 1

    async def _see_through(self, running: Running) -> None:
        """Have one do its work, and tell how it ended: whoever waits for it, or else the main conversation."""
        from .work import BudgetSpentError, FailedError  # noqa: PLC0415  # see above

        with running.scope:
            try:
                running.report = await running.work.run()
            except FailedError as failure:
                running.error = str(failure)
            except BudgetSpentError:
                running.budget_spent = True
            except Exception as fault:  # noqa: BLE001  # a fault of one must not end the session
                _log.exception("a subagent failed")
                running.error = f"{type(fault).__name__}: {fault}"
        self._at_work.discard(running)
        if running.background:
            self._board.take_off(running)
            if running.budget_spent:
                self._board.give_up(SUBAGENT)
            if not self._silent:
                self._tell_end(running)
            self._leave(running)
        running.news.set()

    async def _wait_for(self, caller: Caller, running: Running) -> ToolOutput:
        from .results import completed  # noqa: PLC0415  # see above

        errand, work, told = running.errand, running.work, running.told
        try:
            await self._until_news(running)
            if running.moved:
                return self._launched(running)
            if running.budget_spent:
                self._cut_off.append(running)
                self.on_budget()
                await anyio.sleep_forever()
            if running.error is not None:
                self._failed(running, running.error)
                raise ToolFailure(running.error)
            if running.report is None:
                work.cut_off(shown=False)
                self._killed(running)
                raise ToolFailure(_STOPPED)
        finally:
            if not running.moved:
                self._leave(running)
        self.stats.completed += 1
        told.over("completed")
        if caller.deeds is not None:
            caller.deeds.used += work.deeds.used
        told.notify("completed", running.report.whole or errand.description, work.deeds.counted)
        return completed(errand, work, running.report, told.milliseconds)

    async def _until_news(self, running: Running) -> None:
        """Wait for one; it is stopped with the turn that waits."""
        try:
            await running.news.wait()
        except anyio.get_cancelled_exc_class():
            if not running.moved:
                running.scope.cancel()
                with anyio.CancelScope(shield=True), anyio.move_on_after(_STOP_SECONDS):
                    await running.news.wait()
                running.work.cut_off(shown=False)
                self._cut_off.append(running)
            raise

    def _launched(self, running: Running) -> ToolOutput:
        from .results import launched  # noqa: PLC0415  # see above

        return launched(running.errand, running.work.model, running.told.output_file)

    def _tell_end(self, running: Running) -> None:
        from .report import NOTHING  # noqa: PLC0415  # see above
        from .results import end_told  # noqa: PLC0415  # see above

        errand, work, told, report = running.errand, running.work, running.told, running.report
        if report is not None:
            self.stats.completed += 1
            told.over("completed")
            said = report.whole
            told.notify("completed", said or errand.description, work.deeds.counted, report=bool(said))
            status, text = "completed", said or NOTHING
        elif running.error is not None:
            self._failed(running, running.error)
            status, text = "failed", running.error
        else:
            self._killed(running)
            status, text = "killed", _STOPPED
        self._board.tell()
        if status == "killed":
            work.cut_off(shown=True)
        if running.by_host or status != "killed":
            self._parts.queue.put(notice(end_told(errand, status, text), errand.run_id))
        self._board.rest()

    def _failed(self, running: Running, error: str) -> None:
        self.stats.failed += 1
        running.told.over("failed", error)
        running.told.notify("failed", error)

    def _killed(self, running: Running) -> None:
        if self._silent:
            return
        self.stats.killed["user" if running.by_host else "system"] += 1
        running.told.over("killed")
        running.told.notify("stopped", running.errand.description)

    def _leave(self, running: Running) -> None:
        self._board.take_off(running)
        running.work.close()
        running.over.set()


def squad_of(ground: Ground, roster: Roster) -> Squad:
    """The subagents of a session, which its model may start from now on."""
    squad = Squad(ground, roster)
    squad.serve(ground.parts.settings.tools)
    return squad
