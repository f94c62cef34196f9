"""One run of the agent: its parts set to work, fed with prompts, and ended in order."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread

from claude_wrapper.link.peer import ControlPeer
from claude_wrapper.wire.codec import encode_line

from .api.client import ModelClient
from .assembly.compose import compose
from .children import kill_children
from .control.initialize import offer_structured_output
from .control.requests import Requests
from .hooks.registry import HookRegistry
from .host.intake import HostInput
from .host.interrupts import Interruption
from .host.prompts import Prompt, PromptQueue
from .ids import new_uuid
from .lifetime import Lifetime
from .pipes.frames import Frames
from .pipes.output import LineWriter, open_unshared
from .pipes.sinks import sink_for
from .pipes.stdin import ByteReader
from .processes.secrecy import hide_environment
from .sessions.start import ResumeError, SessionStart, begin_session
from .start.piped import read_prompt
from .start.settings import Settings
from .subagents.limits import limits_of
from .tools.environment import without_secrets
from .tools.registry import background_processes_ended, end_background_processes
from .turns.local_commands import local_command
from .turns.loop import Loop
from .turns.results import startup_failure
from .turns.session_opening import SessionOpening, source_of

__all__ = ["run"]

_log = logging.getLogger(__name__)

_ROUNDS_OF_A_SIGNAL = 3
"""Of the event loop, until a signal is heard that came before the end of the input: its news takes the longer way."""
_DRAIN_SECONDS = 30.0
_CLOSE_SECONDS = 2.0
_UNSEEN_SECONDS = 0.2
_LOOK_SECONDS = 3.0
_SWEEP_SECONDS = 1.0


def run(settings: Settings) -> int:
    """Answer the prompts of a run; returns the exit code. Raises UsageError before anything is begun."""
    hide_environment(settings.environ.keys() - without_secrets(settings.environ).keys())
    return anyio.run(_Run(settings).go, backend="asyncio")


class _Run:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._mirror: Callable[[Path, list[bytes]], None] | None = None

    async def go(self) -> int:
        settings = self._settings
        try:
            start = begin_session(settings, self._mirrored if settings.session_mirror else None)
        except ResumeError as error:
            return self._not_resumed(str(error))
        prompt = await self._prompt()
        try:
            async with anyio.create_task_group() as tasks:
                code = await _Work(settings, start, tasks, self).until_end(prompt)
                tasks.cancel_scope.cancel()
        except Exception:  # noqa: BLE001  # whatever it was, nothing may be left running
            _log.exception("The agent failed.")
            kill_children()
            end_background_processes()
            return 1
        return code

    async def _prompt(self) -> str | None:
        if self._settings.input_format != "text":
            return None
        return "" if self._settings.only_setup else await read_prompt(self._settings)

    def mirror_to(self, mirror: Callable[[Path, list[bytes]], None]) -> None:
        self._mirror = mirror

    def _mirrored(self, path: Path, lines: list[bytes]) -> None:
        if self._mirror is not None:
            self._mirror(path, lines)

    def _not_resumed(self, text: str) -> int:
        sys.stderr.write(text + "\n")
        if self._settings.output_format != "text":
            os.write(1, encode_line(startup_failure(text, self._settings.session.resume or new_uuid())))
        return 1


class _Work:
    """The parts at work. Everything that has to be ended is here."""

    def __init__(self, settings: Settings, start: SessionStart, tasks: Any, owner: _Run) -> None:
        self._settings = settings
        self._tasks = tasks
        self._source = source_of(settings, start)
        self._queue = PromptQueue(
            lambda prompt: self._frames.lifecycle(prompt.uuid, "queued"),
            self._echo_repeated,
            lambda prompt: local_command(prompt) is not None,
        )
        self._queue.know(start.prompt_uuids)
        self._interruption = Interruption()
        self._lifetime = Lifetime(self._queue, self._interruption)
        self._writer = LineWriter(open_unshared(1), self._lifetime.output_closed)
        sink = sink_for(settings.output_format, settings.verbose, self._writer)
        if _log.isEnabledFor(logging.DEBUG):
            from .start.debug_log import LoggedSink  # noqa: PLC0415  # for those who look for a fault

            sink = LoggedSink(sink)
            _log.debug("session %s in %s, model %s", start.session_id, settings.cwd, settings.model.name)
        self._frames = Frames(sink, start.session_id, settings.state_events)
        self._registry = HookRegistry()
        self._peer = ControlPeer(self._writer.send, self._serve, tasks.start_soon, new_uuid)
        self._parts, self._client = compose(
            settings,
            start,
            self._writer,
            self._frames,
            self._peer,
            self._registry,
            self._queue,
            self._interruption,
            tasks.start_soon,
        )
        owner.mirror_to(lambda path, lines: self._frames.mirror(str(path), lines))
        self._lifetime.on_end = self._parts.commands.tell_end
        self._requests = Requests(self._parts, self._registry, self._end_session)
        self._loop = Loop(self._parts)
        if self._parts.subagents is not None:
            self._parts.subagents.on_budget = self._loop.stop_for_budget
        self._answering = anyio.CancelScope()
        self._seen = anyio.Event()
        """The host has been answered once: now there is time for what is not urgent."""
        if settings.json_schema is not None:
            offer_structured_output(self._parts, settings.json_schema)

    async def until_end(self, prompt: str | None) -> int:
        """Answer one prompt, or those that the host sends; returns the exit code."""
        self._lifetime.listen()
        if prompt is None:
            self._read_frames()
        else:
            if not self._settings.only_setup:
                self._queue.put(Prompt(prompt))
            self._queue.close()
        self._tasks.start_soon(self._warm)
        self._tasks.start_soon(self._look_at_files)
        self._tasks.start_soon(self._sweep)
        self._tasks.start_soon(self._give_up_in_time)
        done = anyio.Event()
        self._tasks.start_soon(self._answer, done)
        self._tasks.start_soon(self._stop, done)
        await done.wait()
        if self._lifetime.abrupt:
            self._peer.leave()
        self._answering.cancel()
        return await self._end()

    def _end_session(self) -> None:
        """The host wants the end of everything."""
        self._parts.commands.begin_end()
        self._parts.tasks.give_up()
        self._lifetime.end_session()

    async def _give_up_in_time(self) -> None:
        """Once the host sends no more, what runs in the background has so much time."""
        await self._queue.until_closed()
        seconds = limits_of(self._settings.environ).wait_seconds
        while True:
            await self._parts.tasks.any_in_background()
            await anyio.sleep(seconds)
            self._parts.tasks.give_up()

    def _read_frames(self) -> None:
        host = HostInput(
            self._queue,
            self._peer,
            self._lifetime.fault,
            initialize_first=self._settings.await_initialize,
            # Hosts that want what they say repeated are repeated their answers, too.
            on_response=self._frames.emit if self._settings.replay_prompts else None,
        )
        ByteReader(0, host.feed, host.end).start()
        self._tasks.start_soon(self._lifetime.watch_parent, os.getppid())

    async def _warm(self) -> None:
        """Get ready for the first request while the host is still setting up."""
        with anyio.move_on_after(_UNSEEN_SECONDS):
            await self._seen.wait()
        with contextlib.suppress(Exception):  # the request itself will say what is wrong
            await self._client.warm()

    async def _sweep(self) -> None:
        """Remove old sessions, once there is time for that; nobody waits for it."""
        await anyio.sleep(_SWEEP_SECONDS)
        from .sessions.sweep import days_to_keep, sweep  # noqa: PLC0415  # most runs are over before

        try:
            days = days_to_keep(self._settings)
            if days is not None:
                own = self._parts.session.id
                await anyio.to_thread.run_sync(sweep, self._settings, days, own, abandon_on_cancel=True)
        except Exception:  # noqa: BLE001  # nothing depends on it
            _log.exception("Old sessions could not be removed.")

    async def _look_at_files(self) -> None:
        """Notice what changes while nothing else would."""
        while True:
            pause = _LOOK_SECONDS
            try:
                pause = await self._parts.look()
            except Exception:  # noqa: BLE001  # a fault here must not end the session
                _log.exception("Looking for changed files failed.")
            await anyio.sleep(pause)

    async def _answer(self, done: anyio.Event) -> None:
        try:
            with self._answering:
                await self._begin_session()
                await self._loop.run()
        except Exception:  # noqa: BLE001  # the loop has told the host
            _log.exception("The turn failed.")
            self._lifetime.terminate_now(1)
        finally:
            done.set()

    async def _begin_session(self) -> None:
        """Tell hooks that the session begins, once the host has introduced itself or has asked something."""
        hooks = self._parts.hooks
        concerned = any(hooks.has(event, of_host=False) for event in ("SessionStart", "Setup"))
        if not concerned and self._parts.deferred is None:
            return
        if self._settings.input_format != "text":
            async with anyio.create_task_group() as tasks:
                for sign in (self._seen.wait, self._queue.arrival):
                    tasks.start_soon(_await_and_cancel, sign, tasks.cancel_scope)
        await SessionOpening(self._parts, self._source).run(
            first_prompt=self._settings.input_format == "text"
        )

    async def _stop(self, done: anyio.Event) -> None:
        await self._lifetime.stopped(lambda: self._loop.tools_running)
        done.set()

    def _echo_repeated(self, prompt: Prompt) -> None:
        """A prompt came twice: it is echoed, as every prompt, and not answered again."""
        if self._settings.replay_prompts:
            self._frames.user(prompt.uuid or new_uuid(), prompt.content, is_replay=True)

    async def _serve(self, request_id: str, raw: Any) -> Any:
        try:
            return await self._requests.serve(request_id, raw)
        finally:
            self._seen.set()

    async def _end(self) -> int:
        """Leave nothing behind: no process, no unsaved line, no unsent frame."""
        if self._parts.subagents is not None:
            self._parts.subagents.end()
        await self._parts.commands.end()
        await self._end_hooks()
        await _close(self._client)
        end_background_processes()
        with anyio.move_on_after(_DRAIN_SECONDS):
            await self._writer.room()
        await background_processes_ended()
        for _ in range(_ROUNDS_OF_A_SIGNAL):
            await anyio.lowlevel.checkpoint()
        code = self._lifetime.code
        return int(self._parts.results.last_was_error) if code is None else code

    async def _end_hooks(self) -> None:
        """Tell hooks of the end, those of the host as long as it can still be reached."""
        hooks = self._parts.hooks
        with anyio.move_on_after(hooks.end_seconds(self._settings.environ)):
            await hooks.session_end("other", of_host=not self._queue.closed)
        await hooks.late.end()


async def _await_and_cancel(sign: Callable[[], Awaitable[None]], scope: anyio.CancelScope) -> None:
    await sign()
    scope.cancel()


async def _close(client: ModelClient) -> None:
    with anyio.move_on_after(_CLOSE_SECONDS), contextlib.suppress(Exception):
        await client.aclose()
