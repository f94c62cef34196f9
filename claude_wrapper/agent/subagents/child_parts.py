"""The parts that a subagent works with: some are the session's, some its own."""

from __future__ import annotations

from dataclasses import replace

from claude_wrapper.agent.calls.approval import Approval, PermissionHost
from claude_wrapper.agent.calls.dispatch import Dispatcher
from claude_wrapper.agent.calls.safety_check import SafetyCheck
from claude_wrapper.agent.calls.toolbox import Toolbox
from claude_wrapper.agent.compaction.compactor import Compactor
from claude_wrapper.agent.compaction.writer import SummaryWriter
from claude_wrapper.agent.host.interrupts import Interruption
from claude_wrapper.agent.host.link import HostLink
from claude_wrapper.agent.host.prompts import PromptQueue
from claude_wrapper.agent.sessions.session import Session
from claude_wrapper.agent.tools.ledger import ReadLedger
from claude_wrapper.agent.turns.asking import Asker
from claude_wrapper.agent.turns.parts import Parts
from claude_wrapper.agent.turns.results import Results
from claude_wrapper.agent.turns.toolround import ToolRound
from claude_wrapper.store.append import TranscriptWriter
from claude_wrapper.wire.permissions import CanUseTool, PermissionReply

from .child_access import ChildAccess
from .child_brief import ChildBrief, settings_for
from .child_frames import ChildFrames
from .child_hooks import ChildHooks
from .errand import Errand
from .ground import Ground

__all__ = ["child_parts"]


class _Apart(Interruption):
    """The way to stop a subagent that no turn waits for; it begins nothing more when the process ends."""

    def __init__(self, session: Interruption) -> None:
        super().__init__()
        self._session = session

    async def hold(self) -> None:
        """Go no further once the process ends."""
        await self._session.hold()


class _Named:
    """Asks on behalf of a subagent, and says so."""

    def __init__(self, host: PermissionHost, agent_id: str) -> None:
        self._host = host
        self._agent_id = agent_id

    async def can_use_tool(self, question: CanUseTool) -> PermissionReply:
        """Raises HostRefusedError."""
        question.agent_id = self._agent_id
        return await self._host.can_use_tool(question)


def child_parts(
    ground: Ground,
    caller: Parts,
    errand: Errand,
    toolbox: Toolbox,
    frames: ChildFrames,
    transcript: TranscriptWriter | None,
) -> tuple[Parts, ChildHooks]:
    """The parts that a subagent works with."""
    main = ground.parts
    settings = settings_for(errand, main.settings, caller.brief, shown=frames.shows_text)
    access = ChildAccess(main.access, errand.definition.permission_mode, asks_nobody=errand.checks)
    brief = ChildBrief(settings, errand)
    if not errand.checks and not errand.definition.omits_memory:
        brief.foreword = main.brief.foreword
    session = Session(main.session.id, settings.cwd, settings.entrypoint, transcript, agent_id=errand.id)
    session.prompt_id = main.session.prompt_id
    queue = PromptQueue(_nothing, _nothing)
    commands = main.commands.of_subagent(errand.id, queue)
    context = replace(
        ground.context, read_files=ReadLedger(), planning=None, before_change=_nothing, jobs=commands
    )
    session.folder = lambda: context.cwd
    hooks = ChildHooks(
        main.hooks, frames, errand, access, brief, context, None if transcript is None else transcript.path
    )
    interruption = _Apart(main.interruption) if errand.background else caller.interruption
    host = ground.host(HostLink(ground.peer, interruption), toolbox, context)
    approval = Approval(
        access,
        frames,
        hooks,
        interruption,
        None if host is None else _Named(host, errand.id),
        no_prompts=settings.no_prompts,
        check=SafetyCheck(ground.questions, brief, session),
    )
    if not errand.background:
        approval.denials = caller.approval.denials
    dispatcher = Dispatcher(toolbox, context, access, hooks, approval, main.refresh)
    tool_round = ToolRound(
        dispatcher,
        session,
        frames,
        hooks,
        interruption,
        mode=lambda: access.mode,
        most_at_once=ground.most_at_once,
        wait_for_reply=settings.max_budget_usd is not None,
    )
    asker = Asker(
        ground.client,
        frames,
        session,
        main.meter,
        hooks,
        ground.writer,
        partial=False,
        shown_input=dispatcher.shown_input,
        tool_meta=toolbox.use_meta,
        on_call=tool_round.add,
        on_event=tool_round.event,
        on_switch=brief.stay_with,
    )
    summaries = SummaryWriter(ground.client, main.meter, brief.stand_in)
    parts = Parts(
        settings=settings,
        frames=frames,
        session=session,
        queue=queue,
        access=access,
        approval=approval,
        brief=brief,
        compactor=Compactor(settings, session, frames, hooks, brief, toolbox, summaries),
        toolbox=toolbox,
        servers=main.servers,
        hooks=hooks,
        meter=main.meter,
        asker=asker,
        round=tool_round,
        results=Results(frames, main.meter, partial=False),
        interruption=interruption,
        tasks=main.tasks,
        commands=commands,
        send_init=_nothing,
        checkpoints=None,
        begin_anew=_nothing,
        deferred=None,
        refresh=main.refresh,
        look=main.look,
        subagents=main.subagents,
    )
    return parts, hooks


def _nothing(*_: object) -> None:
    """Do nothing."""
