"""The subagents of a session: started within limits, awaited or left to work beside, and stopped."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import msgspec
from msgspec import UNSET, UnsetType, field

from claude_wrapper.agent.calls.call import current_call
from claude_wrapper.agent.host.prompts import Prompt
from claude_wrapper.agent.ids import new_uuid
from claude_wrapper.agent.tools.contract import ToolFailure, ToolOutput
from claude_wrapper.wire.config import AgentDefinitionBody
from claude_wrapper.wire.system_tasks import BackgroundTask

from .agent_tool import AgentTool
from .caller import Caller
from .choice import chosen
from .ground import Ground
from .limits import limits_of
from .roster import Roster
from .stats import Stats
from .toolset import NoToolsError, spawnable, toolbox_for

if TYPE_CHECKING:
    from .child_frames import ChildFrames
    from .errand import Errand
    from .report import Report
    from .task_frames import TaskFrames
    from .work import Work

# Start-up: what only a subagent at work needs is imported by the first one.

__all__ = ["Squad", "squad_of"]

_log = logging.getLogger("claude_wrapper.agent")

_STOP_SECONDS = 5.0
_TASK_TYPE = "local_agent"
_REQUESTED: dict[Any, str] = {True: "background", False: "foreground"}
_STOPPED = "The subagent was stopped."


class _Running(msgspec.Struct):
    """A subagent that is at work."""

    errand: Errand
    work: Work
    told: TaskFrames
    output_file: str
    by_host: bool = False
    """The host, or its user, stopped it."""
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    over: anyio.Event = field(default_factory=anyio.Event)


class Squad:
    """Starts subagents for the model, and knows which are at work."""

    def __init__(self, ground: Ground, roster: Roster) -> None:
        self._ground = ground
        self._parts = ground.parts
        self._limits = limits_of(ground.parts.settings.environ)
        self._forward_text = ground.parts.settings.forward_subagent_text
        self._running: dict[str, _Running] = {}
        self._cut_off: list[_Running] = []
        self._silent = False
        self._waits = False
        self.on_budget: Callable[[], None] = lambda: None
        """Told when a subagent that a turn waits for has spent the last of the budget."""
        self.roster = roster
        self.stats = Stats()

    def serve(self, tools: tuple[str, ...] | None) -> None:
        """Offer the tool to the main conversation; `tools` are those it was asked to have."""
        parts = self._parts
        parts.queue.expected = lambda: self.in_background
        parts.results.hold = lambda: parts.queue.closed and self.in_background
        parts.results.stats = self._told_stats
        if tools is None or any(each.partition("(")[0] in {"Agent", "Task"} for each in tools):
            caller = Caller(parts, types=spawnable(tools))
            parts.toolbox.add([self._tool(caller)], None)

    def bring(self, agents: Mapping[str, AgentDefinitionBody], *, forward_text: bool) -> None:
        """Take in what the host defines, and whether it wants to see what subagents say."""
        self.roster.bring(agents)
        self._forward_text = self._forward_text or forward_text
        self._parts.toolbox.describe_anew()

    @property
    def in_background(self) -> bool:
        """Whether any works that no turn waits for."""
        return any(each.errand.background for each in self._running.values())

    @property
    def tasks(self) -> list[BackgroundTask]:
        """Those in the background, as hosts are told of them."""
        return [
            BackgroundTask(
                task_id=each.errand.id,
                run_id=each.errand.run_id,
                task_type=_TASK_TYPE,
                subagent_type=each.errand.definition.name,
                description=each.errand.description,
            )
            for each in self._running.values()
            if each.errand.background
        ]

    async def stop(self, task_id: str) -> None:
        """Stop one, and wait until that is told; what is not at work stays as it is."""
        running = self._running.get(task_id)
        if running is not None:
            running.by_host = True
            running.scope.cancel()
            with anyio.move_on_after(_STOP_SECONDS):
                await running.over.wait()

    def tell_cut_off(self) -> None:
        """Tell of those that were stopped with the turn that waited for them."""
        cut_off, self._cut_off = self._cut_off, []
        for each in cut_off:
            each.by_host = True
            self._killed(each)

    def stop_background(self) -> None:
        """Stop all in the background: the money is spent, or nobody waits any longer."""
        for each in self._running.values():
            if each.errand.background:
                each.scope.cancel()

    def end(self) -> None:
        """The session ends: stop all, and tell nobody."""
        self._silent = True
        for each in self._running.values():
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
        return self._launch(caller, errand) if errand.background else await self._wait_for(caller, errand)

    def _check_limits(self, caller: Caller) -> None:
        budget, spent = self._parts.settings.max_budget_usd, self._parts.meter.spent_here_usd
        refused = self.stats.refused
        if budget is not None and spent >= budget:
            refused["budget"] += 1
            raise ToolFailure("Budget limit reached")
        if caller.depth >= self._limits.depth:
            refused["depth_limit"] += 1
            raise ToolFailure(f"Subagent depth limit reached ({self._limits.depth})")
        if len(self._running) >= self._limits.at_once:
            refused["concurrency_limit"] += 1
            raise ToolFailure(f"Concurrent subagent limit reached ({self._limits.at_once})")

    def _begin(self, caller: Caller, errand: Errand) -> _Running:
        """Set one up and tell of it; raises ToolFailure."""
        from .child_frames import ChildFrames  # noqa: PLC0415  # see above
        from .output_file import link_output  # noqa: PLC0415  # see above
        from .task_frames import TaskFrames  # noqa: PLC0415  # see above
        from .work import Work  # noqa: PLC0415  # see above

        parts, ground = self._parts, self._ground
        frames = ChildFrames(parts.frames, errand, text=self._forward_text)
        transcript = ground.transcript(errand)
        settings = parts.settings
        path = None if transcript is None else transcript.path
        output = link_output(settings.environ, settings.cwd, parts.session.id, errand.id, path)
        told = TaskFrames(parts.frames, errand, output)
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
        running = self._running[errand.id] = _Running(errand, work, told, output)
        if errand.background:
            self._tell_background()
        told.started()
        return running

    def _tell_empty(self, errand: Errand, told: TaskFrames, frames: ChildFrames, error: str) -> None:
        told.started()
        told.over("failed", error)
        told.notify("failed", error, None, report=False)
        frames.prompt(new_uuid(), errand.prompt)
        self.stats.failed += 1

    async def _wait_for(self, caller: Caller, errand: Errand) -> ToolOutput:
        from .results import completed  # noqa: PLC0415  # see above
        from .work import BudgetSpentError, FailedError  # noqa: PLC0415  # see above

        running = self._begin(caller, errand)
        work, told = running.work, running.told
        try:
            with running.scope:
                report = await work.run()
            if running.scope.cancelled_caught:
                work.cut_off(shown=False)
                self._killed(running)
                raise ToolFailure(_STOPPED)
        except FailedError as error:
            self._failed(running, str(error))
            raise ToolFailure(str(error)) from error
        except BudgetSpentError:
            self._cut_off.append(running)
            self.on_budget()
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            work.cut_off(shown=False)
            self._cut_off.append(running)
            raise
        finally:
            self._leave(running)
        self.stats.completed += 1
        told.over("completed")
        if caller.deeds is not None:
            caller.deeds.used += work.deeds.used
        told.notify("completed", report.whole or errand.description, work.deeds.counted, report=False)
        return completed(errand, work, report, told.milliseconds)

    def _launch(self, caller: Caller, errand: Errand) -> ToolOutput:
        from .results import launched  # noqa: PLC0415  # see above

        running = self._begin(caller, errand)
        self._ground.start_task(self._beside, running)
        if not self._waits:
            self._waits = True
            self._ground.start_task(self._give_up_in_time)
        return launched(errand, running.work.model, running.output_file)

    async def _beside(self, running: _Running) -> None:
        """See one through that nobody waits for, and let the main conversation know how it ended."""
        from .work import BudgetSpentError, FailedError  # noqa: PLC0415  # see above

        error: str | None = None
        report: Report | None = None
        with running.scope:
            try:
                report = await running.work.run()
            except FailedError as failure:
                error = str(failure)
            except BudgetSpentError:
                self.stop_background()
            except Exception as fault:  # noqa: BLE001  # a fault of one must not end the session
                _log.exception("a subagent failed")
                error = f"{type(fault).__name__}: {fault}"
        self._running.pop(running.errand.id, None)
        if not self._silent:
            self._tell_end(running, report, error)
        running.work.close()
        running.over.set()

    def _tell_end(self, running: _Running, report: Report | None, error: str | None) -> None:
        from .report import NOTHING  # noqa: PLC0415  # see above
        from .results import notification  # noqa: PLC0415  # see above

        errand, work, told = running.errand, running.work, running.told
        if report is not None:
            self.stats.completed += 1
            told.over("completed")
            said = report.whole
            told.notify("completed", said or errand.description, work.deeds.counted, report=bool(said))
            status, text = "completed", said or NOTHING
        elif error is not None:
            self._failed(running, error)
            status, text = "failed", error
        else:
            self._killed(running)
            status, text = "killed", _STOPPED
        self._tell_background()
        if status == "killed":
            work.cut_off(shown=True)
        if running.by_host or status != "killed":
            origin = {"kind": "task-notification", "producer": "session-task", "runId": errand.run_id}
            prompt = notification(errand, status, text)
            self._parts.queue.put(Prompt(prompt, as_written=True, is_synthetic=True, origin=origin))
        self._rest()

    def _rest(self) -> None:
        """Nothing more may be expected of this."""
        queue = self._parts.queue
        queue.look_again()
        if not queue.busy and not len(queue) and not self.in_background:
            self._parts.frames.session_state("idle")

    def _failed(self, running: _Running, error: str) -> None:
        self.stats.failed += 1
        running.told.over("failed", error)
        running.told.notify("failed", error, None, report=False)

    def _killed(self, running: _Running) -> None:
        if self._silent:
            return
        self.stats.killed["user" if running.by_host else "system"] += 1
        running.told.over("killed")
        running.told.notify("stopped", running.errand.description, None, report=False)

    def _leave(self, running: _Running) -> None:
        self._running.pop(running.errand.id, None)
        running.work.close()
        running.over.set()

    def _tell_background(self) -> None:
        self._parts.frames.background_tasks(self.tasks)

    async def _give_up_in_time(self) -> None:
        """Once the host sends no more, those in the background have so much time."""
        await self._parts.queue.until_closed()
        await anyio.sleep(self._limits.wait_seconds)
        self.stop_background()


def squad_of(ground: Ground, roster: Roster) -> Squad:
    """The subagents of a session, which its model may start from now on."""
    squad = Squad(ground, roster)
    squad.serve(ground.parts.settings.tools)
    return squad
