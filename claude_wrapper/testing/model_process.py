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

from claude_wrapper.testing import lenient_json
from claude_wrapper.testing.faults import ScriptError
from claude_wrapper.testing.script_file import script_to_json
from claude_wrapper.testing.turns import Turn

__all__ = ["ModelProcess"]

START_LIMIT = 20.0
STOP_LIMIT = 10.0


@final
class ModelProcess:
    """Runs `python -m claude_wrapper.testing.model`; a context manager.

    `script` is a list of turns or the path of a script file. `logged()` gives what the model
    was asked, `release(gate)` opens a gate.
    """

    def __init__(
        self,
        script: Sequence[Turn] | Path | str,
        *,
        sub: Mapping[str, Sequence[Turn]] | None = None,
        toolless: bool = False,
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="scripted-model-", ignore_cleanup_errors=True)
        folder = Path(self._folder.name)
        self._log = folder / "log.jsonl"
        if isinstance(script, (str, Path)):
            self._script = Path(script)
        else:
            self._script = folder / "script.json"
            self._script.write_bytes(script_to_json(script, sub=sub, toolless=toolless))
        self._process: subprocess.Popen[bytes] | None = None
        self.url = ""
        """The base URL for a client, once it runs."""

    def __enter__(self) -> ModelProcess:
        program = [sys.executable, "-m", "claude_wrapper.testing.model", str(self._script)]
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
            self._end()
            raise ScriptError("the process of the scripted model did not start; its stderr says why")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._end()
        self._folder.cleanup()

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
            connection.request("POST", f"/gates/{gate}", body=b"{}")
            connection.getresponse().read()

    def logged(self) -> list[dict[str, Any]]:
        """The requests so far: `t`, `path`, `headers`, `body` of each."""
        if not self._log.exists():
            return []
        return [lenient_json.decode(line) for line in self._log.read_bytes().split(b"\n") if line]

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        try:
            with process:  # closes its pipes, which tells it to end, and waits
                assert process.stdin is not None
                process.stdin.close()
                process.wait(STOP_LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
