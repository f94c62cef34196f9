"""The agent as a process, in a project and a home of its own, with somebody who talks to it."""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

WAIT = 20.0
STREAM = ("--output-format", "stream-json", "--verbose", "--input-format", "stream-json")
MODEL = ("--model", "claude-sonnet-4-5")


def fits(pattern, value):
    """Whether `value` has all that `pattern` names."""
    if isinstance(pattern, dict):
        return isinstance(value, dict) and all(k in value and fits(v, value[k]) for k, v in pattern.items())
    return pattern == value


class Talk:
    """One running agent: frames to it, frames from it."""

    def __init__(self, argv, cwd, env):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "claude_wrapper.agent", *argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=env,
        )
        self.frames = []
        self.errors = b""
        self._lines = queue.Queue()
        self._threads = [
            threading.Thread(target=self._read_frames, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def _read_frames(self):
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _read_errors(self):
        self.errors = self.process.stderr.read()

    def send(self, frame):
        self.line(json.dumps(frame))

    def line(self, text):
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def prompt(self, content="go", **fields):
        self.send({"type": "user", "message": {"role": "user", "content": content}, **fields})

    def control(self, request_id, subtype, **fields):
        self.send(
            {"type": "control_request", "request_id": request_id, "request": {"subtype": subtype, **fields}}
        )

    def answer(self, frame, response):
        self.send(
            {
                "type": "control_response",
                "response": {"subtype": "success", "request_id": frame["request_id"], "response": response},
            }
        )

    def fail(self, frame, error):
        self.send(
            {
                "type": "control_response",
                "response": {"subtype": "error", "request_id": frame["request_id"], "error": error},
            }
        )

    def initialize(self, **fields):
        self.control("init", "initialize", **fields)
        return self.wait(type="control_response", response={"request_id": "init"})["response"]["response"]

    def ask(self, subtype, **fields):
        """Send a control request and return its answer."""
        request_id = f"q{len(self.frames)}"
        self.control(request_id, subtype, **fields)
        return self.wait(type="control_response", response={"request_id": request_id})["response"]

    def wait(self, **pattern):
        """The next frame that fits; those before it are kept in `frames`."""
        end = time.monotonic() + WAIT
        while True:
            try:
                line = self._lines.get(timeout=max(end - time.monotonic(), 0.01))
            except queue.Empty:
                raise AssertionError(f"no frame like {pattern}; got {self.kinds()}") from None
            if line is None:
                raise AssertionError(f"the agent ended without {pattern}; got {self.kinds()}; {self.errors}")
            frame = json.loads(line)
            self.frames.append(frame)
            if fits(pattern, frame):
                return frame

    def result(self):
        return self.wait(type="result")

    def kinds(self):
        """What came, briefly."""
        return [
            f"{f['type']}/{f.get('subtype') or f.get('request', {}).get('subtype', '')}" for f in self.frames
        ]

    def of(self, kind, subtype=None):
        return [f for f in self.frames if f["type"] == kind and subtype in (None, f.get("subtype"))]

    def tool_results(self):
        return [
            block
            for frame in self.of("user")
            if isinstance(frame["message"]["content"], list)
            for block in frame["message"]["content"]
            if block["type"] == "tool_result"
        ]

    def close(self):
        """End stdin and return the exit code; what was still said is in `frames`."""
        self.process.stdin.close()
        return self.exit_code()

    def exit_code(self):
        code = self.process.wait(WAIT)
        for thread in self._threads:
            thread.join(WAIT)
        while (line := self._lines.get(timeout=WAIT)) is not None:
            self.frames.append(json.loads(line))
        return code

    def signal(self, number):
        self.process.send_signal(number)

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(WAIT)
        # What stdin still holds for a process that is gone cannot be written any more.
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        self.process.stdout.close()
        self.process.stderr.close()


class Workspace:
    """A project folder and a home, and agents that run there."""

    def __init__(self, root):
        self.project = root / "project"
        self.home = root / "home"
        self.project.mkdir()
        self.home.mkdir()
        self._talks = []

    def environment(self, model=None, **more):
        known = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "CLAUDE_CODE_MAX_RETRIES": "0",
        }
        if model is not None:
            known.update(model.environment())
        return {**known, **more}

    def talk(self, model, *argv, env=None, stream=True):
        """Start an agent that speaks frames."""
        words = [*(STREAM if stream else ()), *MODEL, *argv]
        talk = Talk(words, self.project, self.environment(model, **(env or {})))
        self._talks.append(talk)
        return talk

    def run(self, model, *argv, stdin=b"", env=None):
        """Run an agent to its end: exit code, stdout, stderr."""
        done = subprocess.run(
            [sys.executable, "-m", "claude_wrapper.agent", *argv],
            input=stdin,
            capture_output=True,
            cwd=self.project,
            env=self.environment(model, **(env or {})),
            timeout=WAIT,
            check=False,
        )
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def transcripts(self):
        return sorted((self.home / ".claude" / "projects").glob("*/*.jsonl"))

    def entries(self, path=None):
        """The lines of a transcript, the only one unless it is named."""
        path = path or self.transcripts()[0]
        return [json.loads(line) for line in Path(path).read_text().splitlines()]

    def end(self):
        for talk in self._talks:
            talk.end()


@pytest.fixture
def workspace(tmp_path):
    place = Workspace(tmp_path)
    yield place
    place.end()


@pytest.fixture
def alive():
    """Whether a process of this id lives."""

    def look(pid):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return False
        return state != "Z"

    return look


@pytest.fixture
def eventually():
    """Wait, within bounds, for what has no event to wait for."""

    def wait(condition, seconds=40.0):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "it did not happen"
            time.sleep(0.02)

    return wait


SMALL_SERVER = """
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = {"content": [{"type": "text", "text": os.environ.get("GREETING", "none")}]}
    if message["method"] == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "small", "version": "1"}}
    if message["method"] == "tools/list":
        result = {"tools": [{"name": "greet", "description": "greets", "inputSchema": {"type": "object"}}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


@pytest.fixture
def small_server(tmp_path):
    """The command of a server that works."""
    path = tmp_path / "server.py"
    path.write_text(SMALL_SERVER)
    return [sys.executable, str(path)]
