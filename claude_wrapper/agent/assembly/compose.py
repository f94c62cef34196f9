"""Putting the parts of a session together."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from claude_wrapper.agent.api.client import ModelClient
from claude_wrapper.agent.calls.approval import Approval, PermissionHost
from claude_wrapper.agent.calls.call import current_call
from claude_wrapper.agent.calls.dispatch import Dispatcher
from claude_wrapper.agent.calls.mcp_ground import McpGround
from claude_wrapper.agent.calls.mcp_servers import McpServers
from claude_wrapper.agent.calls.planning import Planning, plan_file
from claude_wrapper.agent.calls.prompt_tool import PromptTool
from claude_wrapper.agent.calls.safety_check import SafetyCheck
from claude_wrapper.agent.calls.toolbox import TOOL_ALIASES, Toolbox
from claude_wrapper.agent.compaction.compactor import Compactor
from claude_wrapper.agent.compaction.writer import SummaryWriter
from claude_wrapper.agent.config.access import Access
from claude_wrapper.agent.config.places import SettingsPlaces
from claude_wrapper.agent.hooking.notices import task_objection
from claude_wrapper.agent.hooks.registry import HookRegistry
from claude_wrapper.agent.host.interrupts import Interruption
from claude_wrapper.agent.host.link import HostLink
from claude_wrapper.agent.host.prompts import PromptQueue
from claude_wrapper.agent.model.brief import Brief
from claude_wrapper.agent.model.meter import Meter
from claude_wrapper.agent.model.side_question import SideQuestions
from claude_wrapper.agent.pipes.frames import Frames
from claude_wrapper.agent.pipes.output import LineWriter
from claude_wrapper.agent.sessions.checkpointing import checkpoints_of, told_by_threads
from claude_wrapper.agent.sessions.deferred import deferred_in
from claude_wrapper.agent.sessions.lost import lost_in
from claude_wrapper.agent.sessions.recent import recent_of
from claude_wrapper.agent.sessions.session import Session
from claude_wrapper.agent.sessions.start import SessionStart
from claude_wrapper.agent.start.settings import Settings
from claude_wrapper.agent.start.todo_choice import without_lists
from claude_wrapper.agent.subagents.ground import Ground
from claude_wrapper.agent.subagents.limits import limits_of
from claude_wrapper.agent.subagents.roster import Roster
from claude_wrapper.agent.subagents.squad import squad_of
from claude_wrapper.agent.tasks.board import TaskBoard
from claude_wrapper.agent.tasks.commands import Commands, CommandsGround
from claude_wrapper.agent.tasks.output_file import tasks_folder
from claude_wrapper.agent.tools.bash import Bash
from claude_wrapper.agent.tools.contract import Tool, ToolContext
from claude_wrapper.agent.tools.environment import without_secrets
from claude_wrapper.agent.tools.registry import BUILTIN_NAMES, builtin_tools
from claude_wrapper.agent.turns.asking import Asker
from claude_wrapper.agent.turns.custom_commands import CustomCommands, listed_commands
from claude_wrapper.agent.turns.fresh_start import FreshStart
from claude_wrapper.agent.turns.parts import Parts
from claude_wrapper.agent.turns.results import Results
from claude_wrapper.agent.turns.toolround import ToolRound
from claude_wrapper.agent.version import AGENT_VERSION
from claude_wrapper.link.peer import ControlPeer

from .file_looks import FileLooks
from .hook_wiring import HookWiring
from .init_frame import InitSender
from .memory_wiring import read_again, wire_memory
from .settings_reload import SettingsReload

__all__ = ["compose"]

_MOST_AT_ONCE = 10
_ANSWERED = frozenset({"AskUserQuestion", "EnterPlanMode", "ExitPlanMode"})
"""Tools that are of no use where nobody answers."""
_RUNS_CODE = frozenset({"Bash", "Monitor", "WebFetch", "Workflow", "CronCreate"})
"""Tools that a restricted session has only when they are named."""


def compose(
    settings: Settings,
    start: SessionStart,
    writer: LineWriter,
    frames: Frames,
    peer: ControlPeer,
    registry: HookRegistry,
    queue: PromptQueue,
    interruption: Interruption,
    start_task: Callable[..., object],
) -> tuple[Parts, ModelClient]:
    """Make the session's parts; the client is the caller's to close."""
    session = _session_of(settings, start)
    meter = Meter()
    meter.go_on(start.conversation)
    places = SettingsPlaces(settings.environ, settings.cwd)
    plan = plan_file(settings)
    policy = settings.policy.changed(plan_file=str(plan), own_folders=_own_folders(settings, start))
    access = Access(policy, places, lambda mode: frames.status(None, mode))
    link = HostLink(peer, interruption)
    roster = Roster(settings)
    toolbox = Toolbox(_tools(settings))
    servers = McpServers(
        toolbox,
        link,
        start_task,
        McpGround(settings, start.session_id, _results_dir(start), lambda: access.directories(settings.cwd)),
    )
    servers.add_given(settings.mcp.servers)
    brief = Brief(settings)
    context = _context_of(settings, start, access, plan)
    session.folder = lambda: context.cwd
    checkpoints = checkpoints_of(settings, start, session)
    if checkpoints is not None:
        context.before_change = told_by_threads(checkpoints)
    client = _client_of(settings)
    questions = SideQuestions(client, session, meter)
    wiring = HookWiring(settings, session, frames, access, registry, toolbox, context)
    for problem in wiring.problems:
        sys.stderr.write(f"Warning: {problem}\n")
    hooks = wiring.events(link, questions, brief, start_task, queue)
    context.objection = partial(task_objection, hooks)
    servers.hooks = hooks
    servers.on_elicited = frames.elicitation_complete
    servers.on_prompts = lambda: frames.commands_changed(listed_commands(settings, servers))
    host_of = partial(_permission_host, settings.permission_prompt_tool)
    tasks = TaskBoard(frames, queue)
    hooks.tasks = tasks.told_to_hooks
    commands = _commands(frames, tasks, context, settings, start_task, queue)
    for lost in lost_in(start.conversation.entries):
        commands.tell_lost(lost.id, lost.call_id, lost.description)
    approval = Approval(
        access,
        frames,
        hooks,
        interruption,
        host_of(link, toolbox, context),
        no_prompts=settings.no_prompts,
        check=SafetyCheck(questions, brief, session),
    )
    reload = SettingsReload(settings, context, wiring)
    dispatcher = Dispatcher(toolbox, context, access, hooks, approval, reload.refresh)
    tool_round = ToolRound(
        dispatcher,
        session,
        frames,
        hooks,
        interruption,
        mode=lambda: access.mode,
        most_at_once=_most_at_once(settings),
        # What a reply costs is known at its end, and a reply over the budget runs nothing.
        wait_for_reply=settings.max_budget_usd is not None,
    )
    asker = Asker(
        client,
        frames,
        session,
        meter,
        hooks,
        writer,
        partial=settings.partial_messages,
        shown_input=dispatcher.shown_input,
        tool_meta=toolbox.use_meta,
        on_call=tool_round.add,
        on_event=tool_round.event,
        on_switch=brief.stay_with,
    )
    parts = Parts(
        settings=settings,
        frames=frames,
        session=session,
        queue=queue,
        access=access,
        brief=brief,
        compactor=Compactor(
            settings, session, frames, hooks, brief, toolbox, SummaryWriter(client, meter, brief.stand_in)
        ),
        toolbox=toolbox,
        servers=servers,
        hooks=hooks,
        meter=meter,
        asker=asker,
        round=tool_round,
        results=Results(frames, meter, partial=settings.partial_messages),
        interruption=interruption,
        tasks=tasks,
        commands=commands,
        approval=approval,
        send_init=InitSender(
            settings, frames, access, brief, toolbox, servers, lambda: roster.names, lambda: context.cwd
        ).send,
        checkpoints=checkpoints,
        begin_anew=FreshStart(session, frames, meter, context),
        custom=CustomCommands(settings, access, hooks, session, context, servers),
        memory=wire_memory(settings, access, brief, hooks, tool_round),
        deferred=deferred_in(start.conversation.entries),
        refresh=reload.refresh,
        look=FileLooks(hooks, reload.refresh, lambda: context.cwd, lambda: queue.busy).look,
    )
    parts.compactor.begin_anew = partial(read_again, parts.memory, hooks)
    wiring.ground = Ground(
        parts, client, context, writer, peer, questions, _most_at_once(settings), host_of, start_task
    )
    parts.subagents = squad_of(wiring.ground, roster)
    reload.serve(parts, client)
    return parts, client


def _commands(
    frames: Frames,
    tasks: TaskBoard,
    context: ToolContext,
    settings: Settings,
    start_task: Callable[..., object],
    queue: PromptQueue,
) -> Commands:
    """Those that may run in the background, if any may."""
    possible = limits_of(settings.environ).background
    ground = CommandsGround(frames, tasks, context, settings.cwd, start_task, current_call.get, possible)
    context.jobs = commands = Commands(ground, queue)
    return commands


def _own_folders(settings: Settings, start: SessionStart) -> tuple[str, ...]:
    """Where the session puts down what the model is to read."""
    tasks = tasks_folder(settings.environ, settings.cwd, start.session_id)
    return os.path.realpath(tasks), str(tasks), os.path.realpath(start.folder / start.session_id)


def _session_of(settings: Settings, start: SessionStart) -> Session:
    return Session(
        start.session_id,
        settings.cwd,
        settings.entrypoint,
        start.transcript,
        start.history,
        start.conversation.leaf,
        start.copied,
        recent_of(start.conversation.entries),
    )


def _context_of(settings: Settings, start: SessionStart, access: Access, plan: Path) -> ToolContext:
    """What tools find around them."""
    return ToolContext(
        cwd=settings.cwd,
        original_cwd=settings.cwd,
        working_dirs=lambda: access.directories(settings.cwd),
        session_id=start.session_id,
        environment=without_secrets(settings.environ),
        results_dir=_results_dir(start),
        planning=Planning(access, plan),
    )


def _results_dir(start: SessionStart) -> Path:
    return start.folder / start.session_id / "tool-results"


def _client_of(settings: Settings) -> ModelClient:
    return ModelClient.from_environment(
        settings.environ,
        user_agent=f"claude-wrapper/{AGENT_VERSION}",
        key_helper=settings.api_key_helper,
    )


def _permission_host(
    name: str | None, link: HostLink, toolbox: Toolbox, context: ToolContext
) -> PermissionHost | None:
    """Who is asked for permission: the host, a tool, or nobody."""
    if name is None:
        return None
    return link if name == "stdio" else PromptTool(name, toolbox, context)


def _tools(settings: Settings) -> list[Tool]:
    tools = builtin_tools(_wanted_tools(settings))
    if not limits_of(settings.environ).background:
        for tool in tools:
            if isinstance(tool, Bash):
                tool.stay_in_foreground()
    return tools


def _wanted_tools(settings: Settings) -> list[str]:
    """The built-in tools to offer: those that are asked for, or the usual ones."""
    names = [name for name in BUILTIN_NAMES if name not in _ANSWERED or settings.permission_prompt_tool]
    if settings.tools is not None:
        wanted = {TOOL_ALIASES.get(name, name) for name in settings.tools}
        return [name for name in names if name in wanted]
    usual = [name for name in names if not (settings.policy.restricted and name in _RUNS_CODE)]
    left_out = without_lists(settings)
    return [name for name in usual if name not in left_out]


def _most_at_once(settings: Settings) -> int:
    text = settings.environ.get("CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY", "")
    return int(text) if text.isdecimal() and int(text) > 0 else _MOST_AT_ONCE
