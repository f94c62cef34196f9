"""Finds and runs the ripgrep executable, bounded in time and in output."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import anyio

from claude_wrapper.agent.processes.child import Child, Pump, start

from .contract import ToolContext, ToolFailure

__all__ = ["RgOutput", "find_ripgrep", "ripgrep_for_shell", "run_ripgrep"]

_SECONDS = 60
_MOST_BYTES = 32 * 1024 * 1024
_MOST_COMPLAINTS = 64 * 1024


@dataclass(frozen=True, slots=True)
class RgOutput:
    """What a search printed."""

    text: str
    complete: bool
    """False: there was more than we took."""


def find_ripgrep(environment: Mapping[str, str]) -> str | None:
    """The executable that was installed or frozen with us, else the user's."""
    own = Path(sys.executable).parent
    bundled = Path(getattr(sys, "_MEIPASS", own))
    folders = [own, bundled, own / "_internal", Path(sys.prefix, "Scripts" if os.name == "nt" else "bin")]
    return _in_folders(folders) or _on_path(environment)


def ripgrep_for_shell(environment: Mapping[str, str]) -> str:
    """Shell text that makes `rg` a command where the user has none; models count on it."""
    if _on_path(environment) is not None:
        return ""
    executable = find_ripgrep(environment)
    return "" if executable is None else f"rg() {{ '{executable}' \"$@\"; }}; "


def _on_path(environment: Mapping[str, str]) -> str | None:
    return _in_folders([Path(each) for each in environment.get("PATH", "").split(os.pathsep) if each])


def _in_folders(folders: list[Path]) -> str | None:
    name = "rg.exe" if os.name == "nt" else "rg"
    for folder in folders:
        candidate = folder / name
        if os.access(candidate, os.X_OK) and candidate.is_file():
            return str(candidate)
    return None


async def run_ripgrep(arguments: list[str], cwd: Path, context: ToolContext) -> RgOutput:
    """Search; no match is an empty text. What ripgrep refuses (a bad pattern, say) is a ToolFailure."""
    executable = find_ripgrep(context.environment)
    if executable is None:
        raise ToolFailure(
            "Searching needs the ripgrep program (rg), and it is neither installed with this agent nor on the PATH. "
            "Search with grep or find through Bash."
        )
    keep: dict[str, str] = {}
    for name in ("PATH", "HOME", "LANG"):
        if name in context.environment:
            keep[name] = context.environment[name]
    try:
        argv = [executable, "--no-config", "--no-messages", *arguments]
        child = start(argv, cwd=cwd, environment=keep, separate_stderr=True)
    except OSError as error:
        raise ToolFailure(f"The search could not be started: {error}") from error
    found, complaints = _Taken(_MOST_BYTES), _Taken(_MOST_COMPLAINTS)
    code = await _await(child, found, complaints)
    if code is None and not found.overflowed:
        raise ToolFailure(
            f"The search took more than {_SECONDS} s and was ended. Narrow it by path, glob or type."
        )
    if code == 2 and complaints.data and not found.data:
        raise ToolFailure(f"The search was refused:\n{complaints.text().strip()}")
    return RgOutput(found.text(), complete=not found.overflowed)


class _Taken:
    """Output up to a size; more of it ends the search."""

    def __init__(self, most: int) -> None:
        self.data = bytearray()
        self.overflowed = False
        self.most = most
        self.enough = anyio.CancelScope()

    def take(self, data: bytes) -> None:
        if self.overflowed:
            return
        self.data += data
        if len(self.data) > self.most:
            self.overflowed = True
            self.enough.cancel()

    def text(self) -> str:
        if self.overflowed:  # the last line or name is cut
            del self.data[max(self.data.rfind(end, 0, self.most) for end in (b"\n", b"\0")) + 1 :]
        return self.data.decode("utf-8", "replace")


async def _await(child: Child, found: _Taken, complaints: _Taken) -> int | None:
    """The exit code; None if the search was ended because of time or size."""
    assert child.stderr is not None
    code: int | None = None
    pumps = [Pump(child.stdout, found.take), Pump(child.stderr, complaints.take)]
    try:
        with anyio.move_on_after(_SECONDS), found.enough:
            for pump in pumps:
                await pump.ended.wait()
            code = await child.wait()
    finally:
        if code is None:
            await child.stop()
        for pump in pumps:
            pump.detach()
        child.close_pipes()
    return code
