"""Looks at what a run needs of the machine: folders, terminal, sandbox, shell and ripgrep."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import platformdirs

from claude_wrapper.spawn.locate import AgentProgram
from claude_wrapper.store.paths import config_dir

from .finding import Finding

__all__ = ["folders", "programs", "sandbox", "terminal"]


def folders() -> Iterator[Finding]:
    """Where the agent keeps its files, and whether it can."""
    yield _folder("config", config_dir(os.environ), "sessions are not saved and settings are not read")
    yield _folder("cache", Path(platformdirs.user_cache_dir("claude-wrapper")), "nothing is kept for later")
    yield _folder("temporary", Path(_temporary()), "large output of tools cannot be kept")


def _temporary() -> str:
    try:
        return tempfile.gettempdir()
    except OSError:  # none can be written
        return os.environ.get("TMPDIR", "/tmp")  # noqa: S108  # the name is told, nothing is written there


def _folder(name: str, path: Path, otherwise: str) -> Finding:
    details = {"path": str(path), "exists": path.is_dir(), "writable": _is_writable(path)}
    if not details["writable"]:
        return Finding(name, "warning", f"{path} cannot be written: {otherwise}", details)
    return Finding(name, "ok", f"{path}{'' if details['exists'] else ', not made yet'}", details)


def _is_writable(path: Path) -> bool:
    """Whether the folder can be written, or made."""
    try:
        nearest = next((each for each in (path, *path.parents) if each.exists()), None)
        return nearest is not None and nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)
    except OSError:
        return False


def terminal() -> Finding:
    """Whether runs are shown live."""
    size = shutil.get_terminal_size()
    details = {
        "stdout_is_terminal": sys.stdout.isatty(),
        "stderr_is_terminal": sys.stderr.isatty(),
        "TERM": os.environ.get("TERM"),
        "columns": size.columns,
        "encoding": sys.stdout.encoding,
        "rich": find_spec("rich") is not None,
    }
    if not details["rich"]:
        return Finding("terminal", "note", "rich is not installed, so runs are shown as plain lines", details)
    kind = f"{details['TERM'] or 'no TERM'}, {size.columns} columns, {sys.stdout.encoding}"
    return Finding("terminal", "ok", kind if details["stdout_is_terminal"] else f"none; {kind}", details)


def sandbox() -> Finding:
    """Whether shell commands can be confined."""
    needed = {"linux": ("bwrap", "socat"), "darwin": ("sandbox-exec",)}.get(sys.platform, ())
    found = {name: shutil.which(name) for name in needed}
    missing = [name for name, path in found.items() if path is None]
    details = {"programs": found, "root": _is_root()}
    if not needed:
        return Finding("sandbox", "note", "this system has no sandbox for shell commands", details)
    if missing:
        return Finding("sandbox", "note", f"not available without {', '.join(missing)}", details)
    return Finding("sandbox", "ok", ", ".join(str(path) for path in found.values()), details)


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def programs(agent: AgentProgram | None) -> Iterator[Finding]:
    """What the agent's tools start."""
    shell = shutil.which("bash") or shutil.which("sh")
    if shell is None:
        yield Finding(
            "shell", "warning", "neither bash nor sh is on PATH: Bash cannot run commands", {"path": None}
        )
    else:
        yield Finding("shell", "ok", shell, {"path": shell})
    ripgrep = _ripgrep(agent)
    if ripgrep is None:
        yield Finding("ripgrep", "warning", "there is no rg: Grep and Glob cannot search", {"path": None})
    else:
        yield Finding("ripgrep", "ok", ripgrep, {"path": ripgrep})


def _ripgrep(agent: AgentProgram | None) -> str | None:
    """The one that comes with the agent, else the user's."""
    name = "rg.exe" if os.name == "nt" else "rg"
    if agent is not None:
        own = Path(agent.argv[0]).parent
        for candidate in (own / name, own / "_internal" / name):
            if candidate.is_file() and os.access(candidate, os.X_OK):
                return str(candidate)
    return shutil.which("rg")
