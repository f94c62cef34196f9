"""Putting the hooks of a session together: those of the host and those of its settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from claude_wrapper.agent.calls.call import reminder
from claude_wrapper.agent.calls.toolbox import Toolbox
from claude_wrapper.agent.config.access import Access
from claude_wrapper.agent.config.file import SettingsFile
from claude_wrapper.agent.hooking.events import HookEvents, HookFields
from claude_wrapper.agent.hooks.hook import Hook
from claude_wrapper.agent.hooks.late import LateAnswers
from claude_wrapper.agent.hooks.lifecycle import Lifecycle
from claude_wrapper.agent.hooks.plan import SettingsSource, plan_hooks
from claude_wrapper.agent.hooks.registry import HookRegistry
from claude_wrapper.agent.hooks.reply import HookReply, Occasion
from claude_wrapper.agent.hooks.run import HookRunner
from claude_wrapper.agent.host.link import HostLink
from claude_wrapper.agent.host.prompts import Prompt, PromptQueue
from claude_wrapper.agent.pipes.frames import Frames
from claude_wrapper.agent.sessions.session import Session
from claude_wrapper.agent.start.settings import Settings
from claude_wrapper.agent.tools.contract import ToolContext
from claude_wrapper.store.paths import project_dir, transcript_path

if TYPE_CHECKING:
    from claude_wrapper.agent.hooking.surroundings import HookSurroundings
    from claude_wrapper.agent.hooks.ask import SettingsHooks
    from claude_wrapper.agent.hooks.section import Problem
    from claude_wrapper.agent.model.brief import Brief
    from claude_wrapper.agent.model.side_question import SideQuestions
    from claude_wrapper.agent.subagents.ground import Ground

__all__ = ["HookWiring"]

_OF_A_TASK = {"kind": "task-notification", "producer": "session-task"}


class HookWiring:
    """Makes the hooks' parts; those that only settings need are made when one of their hooks is asked."""

    def __init__(
        self,
        settings: Settings,
        session: Session,
        frames: Frames,
        access: Access,
        registry: HookRegistry,
        toolbox: Toolbox,
        context: ToolContext,
    ) -> None:
        self._settings = settings
        self._session = session
        self._frames = frames
        self._access = access
        self._registry = registry
        self._toolbox = toolbox
        self._context = context
        self._late = LateAnswers()
        self._settings_hooks: SettingsHooks | None = None
        self._surroundings: HookSurroundings | None = None
        self.ground: Ground | None = None
        """What subagents share with the session, once there is one."""
        registry.condition = self._speaks_of
        self._environ = settings.environ
        problems = self._put_in_force(settings.files)
        self.problems = [problem.text for problem in problems]
        self._void = [problem.text for problem in problems if problem.voids]

    def events(
        self,
        link: HostLink,
        questions: SideQuestions,
        brief: Brief,
        start_task: Callable[..., object],
        queue: PromptQueue,
    ) -> HookEvents:
        """The hooks, ready to be told of events."""
        self._link = link
        self._questions = questions
        self._brief = brief
        self._start_task = start_task
        self._queue = queue
        fields = HookFields(self._common, lambda: brief.tuning.effort)
        runner = HookRunner(self._registry, link, self)
        told: tuple[str, ...] = ()
        doubts: tuple[str, ...] = ()
        if _is_sdk(self._settings):  # others read stderr
            told, doubts = (*self._settings.skipped, *self._void), self._settings.doubtful
        return HookEvents(runner, self._frames, fields, self._late, self._context.results_dir, told, doubts)

    def renew(self, files: Sequence[SettingsFile], environ: Mapping[str, str]) -> list[str]:
        """Put the hooks of settings in force that were read again; what is wrong with them."""
        self._environ = environ
        if self._surroundings is not None:
            self._surroundings.environ = environ
        return [problem.text for problem in self._put_in_force(files)]

    def _put_in_force(self, files: Sequence[SettingsFile]) -> list[Problem]:
        plan = plan_hooks(
            SettingsSource(file.source, file.values, str(file.path or "--settings"))
            for file in (() if self._settings.no_hooks else files)
        )
        self._registry.replace_settings_hooks(plan.hooks)
        self._registry.further = plan.further and not self._settings.no_hooks
        return plan.problems

    async def ask(self, hook: Hook, occasion: Occasion) -> HookReply:
        """Ask a hook of the settings."""
        if self._settings_hooks is None:
            self._settings_hooks = self._made()
        reply = await self._settings_hooks.ask(hook, occasion)
        if self._surroundings is not None:
            self._surroundings.take_variables()
        return reply

    def _made(self) -> SettingsHooks:
        # A session without such hooks does without all of this.
        from claude_wrapper.agent.hooking.surroundings import HookSurroundings  # noqa: PLC0415
        from claude_wrapper.agent.hooks.ask import SettingsHooks  # noqa: PLC0415

        from .hook_judge import HookChecker, HookJudge, HookTools  # noqa: PLC0415

        self._surroundings = HookSurroundings(self._settings, self._session, self._context)
        self._surroundings.environ = self._environ
        # A run that only sets up says nothing.
        emit = _nothing if self._settings.only_setup else self._frames.emit
        return SettingsHooks(
            Lifecycle(emit, lambda: self._frames.session_id, wanted=self._settings.hook_events),
            self._surroundings.of,
            HookJudge(self._questions, self._brief, self._session, self._settings),
            HookChecker(lambda: self.ground),
            HookTools(self._toolbox, self._context),
            self._late,
            None if self._settings.input_format == "text" else self._wake,
            self._start_task,
        )

    def _wake(self, text: str) -> None:
        """Have the model hear what a hook says, when it is at work and when it is not."""
        told = reminder(f"A hook that ran beside the work objects. {text}")
        self._queue.put(Prompt(told, as_written=True, is_synthetic=True, origin=_OF_A_TASK))

    def _common(self) -> dict[str, Any]:
        """What every hook is told. The transcript is named though none may be written."""
        session, settings = self._session, self._settings
        place = transcript_path(project_dir(settings.environ, str(settings.cwd)), session.id)
        return {
            "session_id": session.id,
            "transcript_path": session.transcript_path or str(place),
            "cwd": str(self._context.cwd),
            "prompt_id": session.prompt_id or UNSET,
            "permission_mode": self._access.mode,
        }

    def _speaks_of(self, rule: str, tool_name: str, tool_input: dict[str, Any]) -> bool:
        """Whether a hook's condition holds; one that is no rule holds of nothing."""
        from claude_wrapper.agent.permissions.applies import speaks_of  # noqa: PLC0415  # reads shell commands: see above
        from claude_wrapper.agent.permissions.call import Call  # noqa: PLC0415
        from claude_wrapper.agent.permissions.rules import Rule, parse_rule  # noqa: PLC0415

        if not isinstance(parse_rule(rule), Rule):
            return False
        cwd = self._context.cwd
        call = Call(
            tool_name=tool_name,
            tool_input=tool_input,
            cwd=cwd,
            working_dirs=tuple(self._access.directories(cwd)),
        )
        return speaks_of(rule, call, self._access.policy)


def _is_sdk(settings: Settings) -> bool:
    """Whether a library drives the agent, and not somebody at a command line."""
    return bool(settings.environ.get("CLAUDE_AGENT_SDK_VERSION")) and settings.entrypoint != "sdk-cli"


def _nothing(_frame: Any) -> None:
    """Send nothing."""
