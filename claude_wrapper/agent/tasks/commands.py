"""The shell commands of a session, or of one subagent, that outlast a moment: told of, moved, seen through, stopped."""

from __future__ import annotations

import asyncio
import logging
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import msgspec

from claude_wrapper.agent.host.prompts import PromptQueue, notice
from claude_wrapper.agent.pipes.frames import Frames
from claude_wrapper.agent.tools.contract import ToolContext

from .board import TaskBoard
from .facts import COMMAND, TaskFacts, command_id, new_run_id
from .notification import notification

if TYPE_CHECKING:
    from claude_wrapper.agent.tools.shell import Shell

    from .command import CommandTask

# Start-up: what only a command needs is imported by the first one.

__all__ = ["Commands", "CommandsGround"]

_log = logging.getLogger("claude_wrapper.agent")

_LONG = 2.0
"""Seconds after which the host is told of a command that a call waits for."""
_LONGEST = 1800.0
"""Seconds that one may go on which was not begun to run in the background."""
_MOST_SHOWN = 8192
_END_SECONDS = 3.0


class CommandsGround(msgspec.Struct):
    """What commands of the session and those of subagents share."""

    frames: Frames
    board: TaskBoard
    context: ToolContext
    cwd: Path
    start_task: Callable[..., object]
    call_id: Callable[[], str]
    """The id of the call that runs."""
    possible: bool
    outputs: dict[str, str] = msgspec.field(default_factory=dict)
    """Where the output is of commands that the host knows of; empty where it went with the result."""


class Commands:
    """Looks after them. Their ends are told to `queue`; `owner` is the subagent whose they are."""

    longest = _LONGEST

    def __init__(self, ground: CommandsGround, queue: PromptQueue, owner: str | None = None) -> None:
        self._ground = ground
        self._queue = queue
        self._owner = owner
        self._tasks: dict[str, CommandTask] = {}
        self._ending = False
        self.possible = ground.possible
        self.outlive = owner is None

    def of_subagent(self, agent_id: str, queue: PromptQueue) -> Commands:
        """Those of a subagent."""
        return Commands(self._ground, queue, agent_id)

    def watch(self, shell: Shell, command: str, description: str) -> CommandTask:
        """A command has begun, and a call waits for it."""
        task = self._made(shell, command, description)
        self._ground.board.add(task)
        asyncio.get_running_loop().call_later(_LONG, task.tell_if_long)
        return task

    def beside(self, shell: Shell, command: str, description: str) -> CommandTask:
        """A command has begun that nobody is to wait for; raises OSError."""
        task = self._made(shell, command, description)
        self.begin_beside(task, math.inf)
        return task

    def begin_beside(self, task: CommandTask, seconds: float) -> None:
        """Send one to the background, tell of that, and see it through; raises OSError."""
        ground = self._ground
        if not ground.possible:
            raise OSError("nothing may run in the background")
        task.news.output_file = str(task.shell.capture.move_to(self._path(task)))
        ground.outputs[task.id] = task.output_file
        task.background = True
        known = ground.board.find(task.id) is not None
        ground.board.moved(task) if known else ground.board.add(task)
        if task.told:
            task.news.moved()
        else:
            task.told = True
            task.news.started(background=True)
        ground.start_task(self._see_through, task, seconds)

    async def stop(self, task_id: str) -> dict[str, str] | None:
        """The model wants the end of a task; what it was, or None if there is no such task."""
        task = self._ground.board.find(task_id)
        if task is None:
            return None
        if task_id in self._tasks and task.background:
            await self._tasks[task_id].stop_for("model")
        else:
            await task.stop()
        told = {"kind": task.facts.kind, "description": task.facts.description}
        return told if task.command is None else {**told, "command": task.command}

    def knows(self, task_id: str) -> bool:
        """Whether such a task is at work."""
        return self._ground.board.find(task_id) is not None

    def output_of(self, task_id: str) -> tuple[str, int, bool] | None:
        """The end of a command's output, its length, and whether that is not all; None for what is no command."""
        task = self._tasks.get(task_id)
        if task is not None and not task.background:
            return task.shell.capture.so_far(_MOST_SHOWN) if task.told else None
        path = self._ground.outputs.get(task_id)
        return None if path is None else _end_of(path) if path else ("", 0, False)

    def tell_lost(self, task_id: str, call_id: str, description: str) -> None:
        """The session is resumed, and one that ran when it was left cannot run any more."""
        from .news import TaskNews  # noqa: PLC0415  # see above

        facts = TaskFacts(task_id, new_run_id(), COMMAND, description, call_id)
        what = f"“{description}” ended unseen: the agent that ran it is gone. What it did is not known."
        TaskNews(self._ground.frames, facts, "").notify("stopped", what)
        self._queue.remarks.append(_notification(facts, "", "killed", what))

    def begin_end(self) -> None:
        """Nobody is left to hear of those in the background: stop them."""
        self._ending = True
        for task in self._running():
            task.ended_by = task.ended_by or "end"
            task.shell.stop()

    def tell_end(self) -> None:
        """The process must end at once: what runs in the background is told to be over while there is time."""
        running = self._running()
        for task in running:
            task.news.notify("stopped", task.facts.description, with_file=False)
            task.news.over("killed")
            self._ground.board.take_off(task)
        if running:
            self._ground.board.tell()
        self.begin_end()

    async def end(self) -> None:
        """Stop all, and wait for that for a bounded time."""
        self.begin_end()
        with anyio.move_on_after(_END_SECONDS):
            for task in self._running():
                await task.over.wait()

    def forget(self, task: CommandTask) -> None:
        """One is over."""
        self._tasks.pop(task.id, None)
        self._ground.board.take_off(task)
        if task.told:
            self._ground.outputs.setdefault(task.id, "")

    def place(self, task: CommandTask) -> None:
        """Name the file that one would have in the background."""
        task.news.output_file = str(self._path(task))

    def remark_stopped(self, task: CommandTask) -> None:
        """Have the model know that the host has stopped a command."""
        what = (
            f"“{task.facts.description}” was stopped by the user, or by the program that drives this session."
        )
        self._queue.remarks.append(_notification(task.facts, task.output_file, "killed", what))

    def _running(self) -> list[CommandTask]:
        return [task for task in self._tasks.values() if task.background]

    def _made(self, shell: Shell, command: str, description: str) -> CommandTask:
        from .command import CommandTask  # noqa: PLC0415  # see above
        from .news import TaskNews  # noqa: PLC0415  # see above

        ground = self._ground
        facts = TaskFacts(
            command_id(), new_run_id(), COMMAND, description, ground.call_id(), parent_id=self._owner
        )
        news = TaskNews(ground.frames, facts, "")
        task = CommandTask(self, shell, facts, command, news)
        self._tasks[task.id] = task
        return task

    def _path(self, task: CommandTask) -> Path:
        from .output_file import output_path  # noqa: PLC0415  # see above

        context, folder = self._ground.context, self._ground.cwd
        path = output_path(context.environment, folder, context.session_id, task.id)
        if path is None:
            context.results_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = context.results_dir / f"{task.id}.output"
        return path

    async def _see_through(self, task: CommandTask, seconds: float) -> None:
        """Wait for the end of one that nobody waits for, and tell it."""
        shell = task.shell
        try:
            await shell.wait(seconds)
            if not shell.ended and not shell.flooded:
                task.ended_by = task.ended_by or "limit"
        except Exception:  # noqa: BLE001  # a fault of one must not end the session
            _log.exception("a command in the background failed")
        finally:
            with anyio.CancelScope(shield=True):
                await shell.close()
            shell.capture.end_file(
                f"\n[exited with code {shell.exit_code}]\n" if shell.ended else "\n[killed]\n"
            )
            told = self._ground.board.find(task.id) is not None
            self.forget(task)
            if told:
                self._tell_end(task)
            task.over.set()

    def _tell_end(self, task: CommandTask) -> None:
        from claude_wrapper.agent.tools.shell_words import exit_meaning  # noqa: PLC0415  # see above

        news, description, code = task.news, task.facts.description, task.shell.exit_code
        if task.ended_by is not None and not task.shell.ended:
            news.over("killed")
            news.notify("stopped", description)
            status, text = "killed", f"“{description}” was stopped: it had run for too long."
        else:
            meaning = exit_meaning(task.command or "", code)
            status = "failed" if code and meaning is None else "completed"
            how = f"failed with exit code {code}"
            if status == "completed":
                how = f"completed (exit code {code}{': ' + meaning if code and meaning else ''})"
            elif task.shell.flooded:
                how = "was ended: it printed more than 5 GB"
            text = f'Background command "{description}" {how}'
            news.over(status)
            news.notify(status, text)
        self._ground.board.tell()
        self._tell_model(task, status, text)

    def _tell_model(self, task: CommandTask, status: str, text: str) -> None:
        if task.ended_by == "host":
            self.remark_stopped(task)
        elif task.ended_by != "model" and not self._ending:
            self._queue.put(
                notice(_notification(task.facts, task.output_file, status, text), task.facts.run_id)
            )
        self._ground.board.rest()


def _end_of(path: str) -> tuple[str, int, bool]:
    try:
        with Path(path).open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _MOST_SHOWN))
            return file.read(_MOST_SHOWN).decode("utf-8", "replace"), size, size > _MOST_SHOWN
    except OSError:
        return "", 0, False


def _notification(facts: TaskFacts, output_file: str, status: str, text: str) -> str:
    """The message that the model gets."""
    place = [("output-file", output_file)] if output_file else []
    return notification(
        [("task-id", facts.id), ("tool-use-id", facts.call_id), *place, ("status", status), ("summary", text)]
    )
