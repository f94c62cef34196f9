"""The scripted agent: an executable that plays the agent's side of stdin and stdout, well or badly.

    agent = ScriptedAgent(tmp_path).begin().say("hi").result("done")
    options = ClaudeAgentOptions(cli_path=agent.path)

Steps are played in order; the process ends with the last. While it waits for a frame it answers
control requests (with what `answer` set, else with success and nothing in it). The end of stdin
ends it with exit code 0, unless it waits for just that. A process that is left over ends by
itself after `life` seconds.
"""

from __future__ import annotations

import marshal
import os
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, final

from claude_wrapper.testing import agent_frames, agent_steps, player
from claude_wrapper.testing.agent_run import AgentGate, AgentRun
from claude_wrapper.testing.gates import DEFAULT_WAIT
from claude_wrapper.testing.polling import poll, poll_async

__all__ = ["ScriptedAgent"]

LONGEST_SHEBANG = 120
"""Older kernels cut the line after 127 bytes."""


@final
class ScriptedAgent:
    """Builds the executable in a folder of its own; every step method returns the agent itself.

    As a context manager it kills, on the way out, what is left of the processes.
    """

    def __init__(self, folder: Path | str, *, life: int = 60, gate_limit: float = 30.0) -> None:
        self._folder = Path(folder).absolute() / "scripted-agent"
        self._life = life
        self._gate_limit = gate_limit
        self._starts: list[list[agent_steps.Step]] = [[]]
        self._payloads = 0
        self._launcher: Path | None = None
        self._changed = False
        self._folder.parent.mkdir(parents=True, exist_ok=True)
        # What an agent is given and reads may be secret: nobody else gets into the folder.
        for name in ("", "runs", "gates"):
            (self._folder / name).mkdir(exist_ok=True, mode=0o700)

    def __enter__(self) -> ScriptedAgent:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for run in self.runs:
            run.kill()

    @property
    def path(self) -> Path:
        """The executable, with the steps as they are now."""
        if self._launcher is None or self._changed:
            script = marshal.dumps({"life": self._life, "starts": self._starts})
            (self._folder / "script").write_bytes(script)
            self._launcher = self._launcher or _write_launcher(self._folder)
            self._changed = False
        return self._launcher

    @property
    def runs(self) -> list[AgentRun]:
        """The starts so far, in order."""
        numbers = sorted(int(entry.name) for entry in (self._folder / "runs").iterdir())
        runs = [AgentRun(self._folder / "runs" / str(number)) for number in numbers]
        return [run for run in runs if run.started]

    def wait_run(self, number: int = 1, timeout: float = DEFAULT_WAIT) -> AgentRun:
        """Block until the agent was started so many times, and give that start."""
        return poll(lambda: self.runs[number - 1 :], f"start {number} of the agent", timeout)[0]

    async def run(self, number: int = 1, timeout: float = DEFAULT_WAIT) -> AgentRun:
        """Wait in an event loop until the agent was started so many times, and give that start."""
        return (await poll_async(lambda: self.runs[number - 1 :], f"start {number} of the agent", timeout))[0]

    def gate(self, name: str) -> AgentGate:
        """The gate of this name, as the step `stall(name)` uses it."""
        return AgentGate(self._folder / "gates" / name)

    # Steps that wait and answer.

    def wait(self, kind: str) -> ScriptedAgent:
        """Wait for a frame, answering control requests on the way.

        `kind` is its type (`user`, `control_response`, …) or, for a control request, its subtype
        (`init`, `interrupt`, …); `mute:interrupt` leaves the request open; `eof` is the end of stdin.
        """
        return self._add(("wait", kind))

    def begin(self, **fields: Any) -> ScriptedAgent:
        """Wait for the initialize request and the first prompt, and open the turn."""
        return self.wait("init").wait("user").init(**fields)

    def answer(
        self, subtype: str, body: Mapping[str, Any] | None = None, *, error: str | None = None
    ) -> ScriptedAgent:
        """From here on answer control requests of this subtype so."""
        return self._add(("answer", subtype, *agent_steps.response(body, error)))

    def mute(self, subtype: str) -> ScriptedAgent:
        """From here on leave control requests of this subtype open."""
        return self._add(("answer", subtype, "mute", b""))

    def reply(
        self, subtype: str, body: Mapping[str, Any] | None = None, *, error: str | None = None
    ) -> ScriptedAgent:
        """Answer the newest open request of this subtype now."""
        return self._add(("reply", subtype, *agent_steps.response(body, error)))

    def stall(self, gate: str) -> ScriptedAgent:
        """Stand still until `gate(name)` is released, without reading stdin."""
        return self._add(("stall", gate, self._gate_limit))

    # Steps that send frames.

    def emit(self, *frames: Mapping[str, Any], times: int = 1) -> ScriptedAgent:
        """Send frames, with a session id and uuids where they lack them.

        `$PROMPT_UUID` in a frame stands for the uuid of the newest prompt.
        """
        for _ in range(times):
            for frame in frames:
                self._add(agent_steps.sending(frame))
        return self

    def init(self, **fields: Any) -> ScriptedAgent:
        """Send the frame that opens a turn."""
        return self.emit(agent_frames.init(**fields))

    def say(self, content: str | Sequence[Mapping[str, Any]], **fields: Any) -> ScriptedAgent:
        """Send a message of the model: a text, or content blocks."""
        return self.emit(agent_frames.assistant(content, **fields))

    def result(self, text: str = "done", **fields: Any) -> ScriptedAgent:
        """Send the frame that ends a turn."""
        return self.emit(agent_frames.result(text, **fields))

    def ask(self, request_id: str, subtype: str, **fields: Any) -> ScriptedAgent:
        """Send a control request such as `can_use_tool`, `hook_callback` or `mcp_message`."""
        return self.emit(agent_frames.control_request(request_id, subtype, **fields))

    def flood(self, lines: Iterable[bytes], times: int = 1) -> ScriptedAgent:
        """Send lines that are encoded already, as fast as the pipe takes them (see `floods`)."""
        payload = self._folder / f"payload-{self._payloads}"
        self._payloads += 1
        with payload.open("wb", buffering=1 << 20) as file:
            file.writelines(lines)
        return self._add(("file", str(payload), times))

    # Steps that send what is no good frame.

    def raw(self, data: bytes | str, times: int = 1) -> ScriptedAgent:
        """Write bytes as they are; no end of line is added."""
        return self._add(*agent_steps.repeated(("write", _bytes(data)), times))

    def trickle(self, *frames: Mapping[str, Any], size: int = 7, pause: float = 0.0) -> ScriptedAgent:
        """Send frames in pieces of so many bytes."""
        lines = b"".join(agent_steps.line_of(frame) for frame in frames)
        return self._add(("trickle", lines, size, pause))

    def half_line(self, frame: Mapping[str, Any]) -> ScriptedAgent:
        """Send the first half of a frame, and nothing behind it."""
        line = agent_steps.line_of(frame)
        return self.raw(line[: len(line) // 2])

    def long_line(self, size: int, **fields: Any) -> ScriptedAgent:
        """Send a message whose text has so many bytes, without holding it in memory."""
        before, after = agent_steps.line_of(agent_frames.assistant("\0", **fields)).split(b"\\u0000")
        return self._add(("pad", before, b"x", size, after))

    def invalid_utf8(self, **fields: Any) -> ScriptedAgent:
        """Send a message whose text `a?b` has a byte in the middle that is no UTF-8."""
        line = agent_steps.line_of(agent_frames.assistant("a\0b", **fields))
        return self.raw(line.replace(b"\\u0000", b"\xff"))

    def stderr(self, text: bytes | str, times: int = 1) -> ScriptedAgent:
        """Write to stderr."""
        return self._add(*agent_steps.repeated(("err", _bytes(text)), times))

    # Steps of the process itself.

    def sleep(self, seconds: float) -> ScriptedAgent:
        """Do nothing for some seconds; where the test can say when to go on, `stall` is better."""
        return self._add(("sleep", seconds))

    def close(self, descriptor: int) -> ScriptedAgent:
        """Close stdin (0), stdout (1) or stderr (2)."""
        return self._add(("close", descriptor))

    def spawn(self, *argv: str) -> ScriptedAgent:
        """Start a process that inherits stdin, stdout and stderr."""
        return self._add(("spawn", list(argv)))

    def ignore_term(self) -> ScriptedAgent:
        """Do not end on SIGTERM."""
        return self._add(("ignore_term",))

    def kill(self, signal: int = 9) -> ScriptedAgent:
        """Send itself a signal."""
        return self._add(("kill", int(signal)))

    def exit(self, code: int = 0) -> ScriptedAgent:
        """End at once."""
        return self._add(("exit", code))

    def next_start(self) -> ScriptedAgent:
        """The steps that follow are for the next start of the executable; the last list is for all later ones."""
        self._starts.append([])
        return self._add()

    def steps(self, steps: Iterable[Mapping[str, Any]]) -> ScriptedAgent:
        """Add steps in their JSON form, such as `{"wait": "init"}` or `{"out": "A", "times": 3}`."""
        return self._add(*agent_steps.from_json(steps, self._gate_limit))

    def _add(self, *steps: agent_steps.Step) -> ScriptedAgent:
        self._starts[-1] += steps
        self._changed = True
        return self


def _bytes(data: bytes | str) -> bytes:
    return data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data


def _write_launcher(folder: Path) -> Path:
    """The smallest program that leads to the player; returns what to execute."""
    source = (
        f"import sys\nsys.path.append({str(Path(player.__file__).parent)!r})\n"
        f"from player import main\nmain({str(folder)!r})\n"
    )
    python = sys.executable
    shebang = f"#!{python} -IS\n"
    if os.name == "nt":
        (folder / "agent.py").write_text(source, encoding="utf-8")
        return _write_program(folder / "agent.cmd", f'@"{python}" -IS "{folder / "agent.py"}" %*\n')
    if len(shebang) <= LONGEST_SHEBANG and not any(letter.isspace() for letter in python):
        return _write_program(folder / "agent", shebang + source)
    (folder / "agent.py").write_text(source, encoding="utf-8")
    words = shlex.join([python, "-IS", str(folder / "agent.py")])
    return _write_program(folder / "agent", f'#!/bin/sh\nexec {words} "$@"\n')


def _write_program(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o700)
    return path
