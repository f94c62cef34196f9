"""Asking hooks that settings put in force: commands, addresses, models and tools."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Protocol

import anyio
import msgspec

from claude_wrapper.wire.codec import encode
from claude_wrapper.wire.hook_outputs import HookOutput

from .command import CommandEnd, CommandRun, Surroundings
from .hook import AgentHook, CommandHook, Hook, HttpHook, PromptHook, ToolHook
from .http import post
from .late import LateAnswers
from .lifecycle import Lifecycle, Shown
from .output import UnusableAnswerError, read_answer, says_async
from .prompt import Checker, Judge, JudgeError, question, read_verdict
from .reply import HookReply, Occasion

__all__ = ["SettingsHooks", "ToolCaller"]

_BLOCKS = 2
_ANSWERED_LATER = frozenset({"Stop", "SubagentStop"})
"""Here a refusal means that the work goes on."""


class ToolCaller(Protocol):
    """Calls tools of MCP servers."""

    async def call_tool(self, server: str, tool: str, arguments: dict[str, Any]) -> str | None:
        """What the tool said; None if there is no such tool or it failed."""
        ...


class SettingsHooks:
    """Asks them. Their failures are replies; nothing but cancellation is raised."""

    def __init__(
        self,
        lifecycle: Lifecycle,
        surroundings: Callable[[Occasion], Surroundings],
        judge: Judge,
        checker: Checker,
        tools: ToolCaller,
        late: LateAnswers,
        wake: Callable[[str], None] | None,
        start_task: Callable[[Callable[[], Coroutine[Any, Any, None]]], object],
    ) -> None:
        self._lifecycle = lifecycle
        self._surroundings = surroundings
        self._judge = judge
        self._checker = checker
        self._tools = tools
        self._start_task = start_task
        self._late = late
        self._wake = wake

    async def ask(self, hook: Hook, occasion: Occasion) -> HookReply:
        """Ask one hook."""
        match hook:
            case CommandHook():
                return await self._command(hook, occasion)
            case HttpHook():
                return await self._http(hook, occasion)
            case PromptHook():
                return await self._prompt(hook, occasion)
            case AgentHook():
                return await self._agent(hook, occasion)
            case ToolHook():
                return await self._tool(hook, occasion)
            case _:
                return HookReply(hook, failure="unusable")

    async def _command(self, hook: CommandHook, occasion: Occasion) -> HookReply:
        shown = self._lifecycle.begin(occasion.event, occasion.label)
        event = encode(occasion.input) + b"\n"
        run = CommandRun(
            hook,
            event,
            self._surroundings(occasion),
            shown.progress,
            detached=hook.background or (hook.rewakes and self._wake is not None),
        )
        reply: HookReply | None = None

        async def see_through() -> None:
            nonlocal reply
            await run.run()
            reply = _told(hook, occasion, run, shown)
            if run.detached:
                self._late.came(run, reply)
                if hook.rewakes and reply.block is not None and self._wake is not None:
                    self._wake(f"{occasion.label}: {reply.block}")
            over.set()

        over = anyio.Event()
        self._start_task(see_through)
        try:
            await run.settled.wait()
            if not run.detached:
                await over.wait()
        finally:
            if run.detached:
                self._late.goes_on(run)
            elif not over.is_set():
                run.scope.cancel()
        if run.detached:
            return HookReply(hook)
        return reply or HookReply(hook, failure="unusable")

    async def _http(self, hook: HttpHook, occasion: Occasion) -> HookReply:
        shown = self._lifecycle.begin(occasion.event, occasion.label)
        surroundings = self._surroundings(occasion)
        end = await post(hook, encode(occasion.input), surroundings.environment)
        if end.how == "timeout":
            shown.over("cancelled", stdout="", stderr="", output="", code=None)
            return HookReply(hook, failure="timeout")
        if end.how == "failed":
            shown.over("error", stdout="", stderr=end.problem, output=end.problem, code=end.status)
            return HookReply(hook, failure="unusable")
        problem, reply = "", HookReply(hook)
        if end.text.strip():
            reply, problem = _answered(hook, occasion, end.text)
            if reply.text is not None:
                reply = HookReply(hook, failure="unusable")
                problem = f"The answer of {hook.url} is no JSON object: {end.text[:1000]}"
        outcome = "error" if problem else "success"
        shown.over(outcome, stdout=end.text, stderr=problem, output=end.text, code=end.status)
        return reply

    async def _prompt(self, hook: PromptHook, occasion: Occasion) -> HookReply:
        text = question(hook.prompt, encode(occasion.input).decode())
        ends = occasion.event in _ANSWERED_LATER
        try:
            with anyio.fail_after(hook.seconds):
                answer = await self._judge.judge(text, hook.model, with_conversation=ends)
        except TimeoutError:
            return HookReply(hook, failure="timeout")
        except JudgeError:
            return HookReply(hook, failure="unusable")
        verdict = read_verdict(answer)
        if verdict is None:
            return HookReply(hook, failure="unusable")
        if verdict.ok or (ends and verdict.impossible) or occasion.event == "PermissionRequest":
            return HookReply(hook)
        stops = not ends and not hook.goes_on
        output = HookOutput(continue_=False, stop_reason=verdict.reason) if stops else None
        if stops and occasion.event == "UserPromptSubmit":
            return HookReply(hook, output)
        return HookReply(hook, output, block=f"[{hook.label}]: {verdict.reason}", reason=verdict.reason)

    async def _agent(self, hook: AgentHook, occasion: Occasion) -> HookReply:
        text = question(hook.prompt, encode(occasion.input).decode())
        try:
            with anyio.fail_after(hook.seconds):
                verdict = await self._checker.check(text, hook.model)
        except TimeoutError:
            return HookReply(hook, failure="timeout")
        except JudgeError:
            return HookReply(hook, failure="unusable")
        if verdict is None:  # one that gave up in time is told like one that did not
            return HookReply(hook, failure="timeout")
        if verdict.ok or occasion.event == "PermissionRequest":
            return HookReply(hook)
        reason = verdict.reason or "no reason given"
        return HookReply(hook, block=f"The check of a hook failed: {reason}", reason=reason)

    async def _tool(self, hook: ToolHook, occasion: Occasion) -> HookReply:
        arguments = _filled(hook.arguments, msgspec.to_builtins(occasion.input))
        try:
            with anyio.fail_after(hook.seconds):
                text = await self._tools.call_tool(hook.server, hook.tool, arguments)
        except TimeoutError:
            return HookReply(hook, failure="timeout")
        if text is None:
            return HookReply(hook, failure="unusable")
        return _answered(hook, occasion, text)[0]


def _told(hook: CommandHook, occasion: Occasion, run: CommandRun, shown: Shown) -> HookReply:
    """What a command's end means; the host is told of it."""
    end = run.end
    if end is None or end.how == "timeout":
        end = end or run.so_far()
        shown.over("cancelled", stdout=end.stdout, stderr=end.stderr, output=end.output, code=1)
        return HookReply(hook, failure="timeout")
    stderr, output = end.stderr, end.output
    reply, problem = _meaning(hook, occasion, end, detached=run.detached)
    failed = end.code != 0
    if reply.failure == "misplaced":
        stderr = output = problem
        failed, reply = True, HookReply(hook, failure="unusable")
        end = CommandEnd("", problem, problem, 1)
    elif problem:
        stderr = problem
    shown.over(
        "error" if failed or problem else "success",
        stdout=end.stdout,
        stderr=stderr,
        output=output,
        code=end.code,
    )
    return reply


def _meaning(
    hook: CommandHook, occasion: Occasion, end: CommandEnd, *, detached: bool
) -> tuple[HookReply, str]:
    text = end.stdout
    if detached and says_async(text.partition("\n")[0].encode()):
        text = text.partition("\n")[2]  # the first line has asked not to wait
    reply, problem = _answered(hook, occasion, text)
    if end.code == _BLOCKS:
        return _blocked(hook, end, reply), problem
    if problem:
        return reply, problem
    if reply.output is not None or (end.code == 0 and end.how == "ended"):
        return reply, ""
    return HookReply(hook, failure="unusable" if end.how == "broken" else "nonzero"), ""


def _answered(hook: Hook, occasion: Occasion, text: str) -> tuple[HookReply, str]:
    """A hook's answer, and what is wrong with it."""
    try:
        answer = read_answer(text, occasion.event)
    except UnusableAnswerError as error:
        misplaced = type(error) is not UnusableAnswerError
        return HookReply(hook, failure="misplaced" if misplaced else "unusable"), str(error)
    if isinstance(answer, str):
        return HookReply(hook, text=answer), ""
    return HookReply(hook, answer), ""


def _blocked(hook: CommandHook, end: CommandEnd, reply: HookReply) -> HookReply:
    """It refuses, by its exit code; what its answer says can give the reason and take nothing back."""
    reason = None
    if reply.output is not None:
        specific = reply.output.hook_specific_output
        reason = getattr(specific, "permission_decision_reason", None) or reply.output.reason
    if isinstance(reason, str) and reason:
        return HookReply(hook, reply.output, block=reason, reason=reason)
    stderr = end.stderr or "No stderr output"
    return HookReply(hook, reply.output, block=f"[{hook.label}]: {stderr}", reason=stderr.strip())


def _filled(value: Any, event: dict[str, Any]) -> Any:
    """Arguments with `${name.of.a.field}` replaced by the event's field."""
    if isinstance(value, str):
        import re  # noqa: PLC0415  # hardly anybody has such a hook

        return re.sub(r"\$\{([\w.]+)\}", lambda found: _field(event, found[1]), value)
    if isinstance(value, dict):
        return {key: _filled(item, event) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, event) for item in value]
    return value


def _field(event: Any, path: str) -> str:
    for name in path.split("."):
        event = event.get(name) if isinstance(event, dict) else None
    if event is None:
        return ""
    return event if isinstance(event, str) else encode(event).decode()
