"""A scripted model in a process of its own, so that it takes no time from the program under test."""

from __future__ import annotations

import contextlib
import http.client
import subprocess  # noqa: TID251  # a server beside the test, not an agent
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, final
from urllib.parse import quote

from claude_wrapper.testing import lenient_json
from claude_wrapper.testing.faults import ScriptError
from claude_wrapper.testing.script import Order
from claude_wrapper.testing.script_file import script_to_json
from claude_wrapper.testing.turns import Turn

__all__ = ["ModelProcess"]

START_LIMIT = 20.0
STOP_LIMIT = 10.0


@final
class ModelProcess:
    """Runs `python -m claude_wrapper.testing.model`; a context manager.

    `script` is a list of turns or the path of a script file; the other arguments are those of
    `Script` and go with a list. `logged()` gives what the model
    was asked, `release(gate)` opens a gate.
    """

    def __init__(
        self,
        script: Sequence[Turn] | Path | str,
        *,
        sub: Mapping[str, Sequence[Turn]] | None = None,
        side: Mapping[str, Sequence[Turn]] | None = None,
        order: Order = "history",
        count_all: bool = False,
        toolless: bool = False,
    ) -> None:
        self._script: Path | bytes
        if isinstance(script, (str, Path)):
            self._script = Path(script)
        else:
            self._script = script_to_json(
                script, sub=sub, side=side, order=order, count_all=count_all, toolless=toolless
            )
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._log = Path()
        self._process: subprocess.Popen[bytes] | None = None
        self.url = ""
        """The base URL for a client, once it runs."""

    def __enter__(self) -> ModelProcess:
        self._folder = tempfile.TemporaryDirectory(prefix="scripted-model-", ignore_cleanup_errors=True)
        try:
            self._start(Path(self._folder.name))
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._end()

    @property
    def pid(self) -> int:
        """The process."""
        assert self._process is not None
        return self._process.pid

    def environment(self, **more: str) -> dict[str, str]:
        """Variables that lead an agent here, with a made-up key."""
        return {
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": "sk-test",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            **more,
        }

    def release(self, gate: str) -> None:
        """Open the gate of this name."""
        host = self.url.removeprefix("http://")
        with contextlib.closing(http.client.HTTPConnection(host, timeout=STOP_LIMIT)) as connection:
            connection.request("POST", f"/gates/{quote(gate)}", body=b"{}")
            connection.getresponse().read()

    def logged(self) -> list[dict[str, Any]]:
        """The requests so far: `t`, `path`, `headers`, `body` of each."""
        if not self._log.exists():
            return []
        return [lenient_json.decode(line) for line in self._log.read_bytes().split(b"\n") if line]

    def _start(self, folder: Path) -> None:
        self._log = folder / "log.jsonl"
        script = self._script
        if isinstance(script, bytes):
            text, script = script, folder / "script.json"
            script.write_bytes(text)
        program = [sys.executable, "-m", "claude_wrapper.testing.model", str(script)]
        process = subprocess.Popen(
            [*program, "--until-eof", "--log", str(self._log)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._process = process
        assert process.stdout is not None
        too_late = threading.Timer(START_LIMIT, process.kill)
        too_late.start()
        try:
            self.url = process.stdout.readline().decode().strip()
        finally:
            too_late.cancel()
        if not self.url:
            raise ScriptError("the process of the scripted model did not start; its stderr says why")

    def _end(self) -> None:
        folder, self._folder = self._folder, None
        process, self._process = self._process, None
        if process is not None:
            _end_process(process)
        if folder is not None:
            folder.cleanup()


def _end_process(process: subprocess.Popen[bytes]) -> None:
    """Close its stdin, which tells it to end; kill it when it does not."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    try:
        process.wait(STOP_LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(STOP_LIMIT)
    process.stdout.close()
