"""Plays one run without an SDK: writes frames to an agent's stdin and notes every line of its stdout."""

import base64
import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

PATIENCE = 30.0
BEHIND = 5.0
NEWS = ("⚠", "[claude-code:", "Warning: ")
"""Beginnings of lines that tell news of models and of what was left out; a run goes on behind them."""
STREAMS = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"]


def matches(pattern: Any, value: Any) -> bool:
    """Whether everything that `pattern` says is true of `value`."""
    if isinstance(pattern, dict):
        return isinstance(value, dict) and all(
            key in value and matches(part, value[key]) for key, part in pattern.items()
        )
    return bool(pattern == value)


class RawRun:
    """One agent, its pipes, and the steps that are played on it."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self._spec = spec
        self._events = Path(spec["events"]).open("a", encoding="utf-8")  # noqa: SIM115  # lives as long as the program
        self._frames: queue.Queue[Any] = queue.Queue()
        self._answers = list(spec.get("answers", []))
        self._asked = 0
        self._task = ""
        arguments = spec.get("arguments", [])
        self._agent = subprocess.Popen(
            [spec["agent"], *([] if spec.get("bare") else STREAMS), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._readers = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=self._read_complaint, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def play(self) -> None:
        for step in self._spec["steps"]:
            self._step(step)
        self._close()
        try:
            self._agent.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._put("waited", {"for": "exit"})
        for reader in self._readers:
            reader.join(PATIENCE)

    def _put(self, kind: str, row: Any) -> None:
        self._events.write(json.dumps({"kind": kind, kind: row}) + "\n")
        self._events.flush()

    def _read(self) -> None:
        assert self._agent.stdout is not None
        time.sleep(self._spec.get("reads_after", 0))
        for raw in self._agent.stdout:
            line = raw.decode("utf-8", "replace").rstrip("\n")
            try:
                frame = json.loads(line)
            except ValueError:
                frame = {"line": line}
            for each in frame if isinstance(frame, list) else [frame]:
                self._put("message", each if isinstance(each, dict) else {"line": line})
            frame = frame if isinstance(frame, dict) else {"line": line}
            if frame.get("subtype") == "task_started":
                self._task = frame["task_id"]
            self._frames.put(frame)
            if frame.get("type") == "control_request":
                self._answer(frame)
        self._frames.put(None)

    def _read_complaint(self) -> None:
        """Note the first line of stderr; what is written there behind it is for people."""
        assert self._agent.stderr is not None
        lines = [raw.decode("utf-8", "replace").rstrip("\n") for raw in self._agent.stderr]
        told = [line for line in lines if line.strip() and not line.startswith(NEWS)]
        if told:
            self._put("complaint", {"line": told[0]})

    def _answer(self, frame: dict[str, Any]) -> None:
        """Send the first answer whose pattern fits; none fits: stay silent."""
        row = next((row for row in self._answers if matches(row["match"], frame["request"])), None)
        if row is None:
            return
        response: dict[str, Any] = {"request_id": frame["request_id"]}
        if "error" in row:
            response |= {"subtype": "error", "error": row["error"]}
        else:
            body = json.loads(json.dumps(row["response"]))
            if "mcp_response" in body and "id" in frame["request"]["message"]:
                body["mcp_response"]["id"] = frame["request"]["message"]["id"]
            response |= {"subtype": "success", "response": body}
        self._send({"type": "control_response", "response": response})

    def _send(self, frame: Any) -> None:
        line = frame if isinstance(frame, str) else json.dumps(frame)
        self._write(line.encode() + b"\n")

    def _write(self, data: bytes, *, may_break: bool = False) -> None:
        assert self._agent.stdin is not None
        try:
            self._agent.stdin.write(data)
            self._agent.stdin.flush()
        except (BrokenPipeError, ValueError):
            if not may_break:
                self._put("waited", {"for": "an open stdin"})

    def _close(self) -> None:
        assert self._agent.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._agent.stdin.close()

    def _step(self, step: dict[str, Any]) -> None:
        match step:
            case {"hello": fields}:
                self._ask_control({"subtype": "initialize", **fields})
            case {"control": request}:
                self._ask_control(
                    {key: self._task if value == "@task_id" else value for key, value in request.items()}
                )
            case {"ask": content}:
                message = {"role": "user", "content": content}
                extra = step.get("with", {})
                self._send(
                    {
                        "type": "user",
                        "message": message,
                        "parent_tool_use_id": None,
                        "session_id": "",
                        **extra,
                    }
                )
            case {"send": frame}:
                self._send(frame)
            case {"write": text}:
                self._write(text.encode() * step.get("times", 1), may_break=step.get("may_break", False))
            case {"write_b64": text}:
                self._write(base64.b64decode(text))
            case {"wait": pattern}:
                self._wait(pattern, step.get("timeout", PATIENCE))
            case {"close": _}:
                self._close()
            case _:
                self._step_outside(step)

    def _step_outside(self, step: dict[str, Any]) -> None:
        """Steps that have to do with files, the model and the process, not with the pipes."""
        match step:
            case {"until_file": name}:
                self._wait_file(Path(self._spec["project"], name))
            case {"until_gate": name}:
                self._wait_file(Path(self._spec["gates"], name))
            case {"release": name}:
                urllib.request.urlopen(
                    f"{self._spec['url']}/gates/{name}", data=b"{}", timeout=PATIENCE
                ).close()
            case {"pause": seconds}:  # for what shows no sign when it is done
                time.sleep(seconds)
            case {"name_task": word}:
                script = Path(self._spec["gates"]).with_suffix(".json")
                script.write_text(script.read_text().replace(word, self._task))
            case {"make": name}:
                Path(self._spec["project"], name).touch()
            case {"signal": name}:
                os.kill(self._agent_pid(), signal.Signals[name])
            case _:
                raise SystemExit(f"no such step: {step}")

    def _ask_control(self, request: dict[str, Any]) -> None:
        self._asked += 1
        request_id = f"host-{self._asked}"
        self._send({"type": "control_request", "request_id": request_id, "request": request})
        self._wait({"type": "control_response", "response": {"request_id": request_id}}, PATIENCE)

    def _wait(self, pattern: Any, timeout: float) -> None:
        end = time.monotonic() + timeout
        while True:
            try:
                frame = self._frames.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                return self._put("waited", {"for": pattern})
            if frame is None:
                self._frames.put(None)
                return None
            if matches(pattern, frame):
                return None

    def _wait_file(self, path: Path) -> None:
        end = time.monotonic() + PATIENCE
        while not path.exists():
            if self._agent.poll() is not None:  # only what it has left behind can still make the file
                end = min(end, time.monotonic() + BEHIND)
            if time.monotonic() > end:
                return self._put("waited", {"for": path.name})
            time.sleep(0.02)
        return None

    def _agent_pid(self) -> int:
        path = Path(self._spec["processes"])
        self._wait_file(path)
        return int(json.loads(path.read_text().splitlines()[-1])["pid"])


RawRun(json.loads(Path(sys.argv[1]).read_text())).play()
