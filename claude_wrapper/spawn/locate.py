"""Where the agent executable is.

The first of these counts: the `cli_path` option, the environment variable CLAUDE_WRAPPER_AGENT, the
executable bundled with this package, and the agent's Python code when its dependencies are
installed (the `agent` extra).
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

from claude_wrapper.errors import AgentStartError, CLINotFoundError

__all__ = ["AGENT_VARIABLE", "AgentProgram", "bundled_path", "locate_agent"]

AGENT_VARIABLE = "CLAUDE_WRAPPER_AGENT"

_NEEDED_BY_AGENT = "httpx2"
"""A dependency of the agent that the library itself does not have."""

_RUN_MODULE = (
    ("-P", "-m", "claude_wrapper.agent")
    if sys.version_info >= (3, 11)
    else (
        "-c",
        "import sys; del sys.path[0]; import runpy; runpy.run_module('claude_wrapper.agent', None, '__main__')",
    )
)
"""Runs the agent's module without looking for modules in the folder that it is to work in."""

_INSTALL = (
    "Install a wheel of claude-wrapper for this platform, which brings the executable, or "
    "claude-wrapper[agent], or name an executable with the option cli_path"
)


class AgentProgram:
    """An agent that can be started: the beginning of its command line, and why it was chosen."""

    __slots__ = ("argv", "source")

    def __init__(self, argv: list[str], source: str) -> None:
        self.argv = argv
        self.source = source

    def __repr__(self) -> str:
        return f"AgentProgram({self.argv!r}, {self.source!r})"


def locate_agent(
    cli_path: str | os.PathLike[str] | None = None, environ: Mapping[str, str] | None = None
) -> AgentProgram:
    """Return the agent to start.

    Raises CLINotFoundError, which lists every place searched, or AgentStartError when what was named
    is there but cannot be an agent.
    """
    environ = os.environ if environ is None else environ
    if cli_path:
        return AgentProgram([_named(os.fspath(cli_path), "the option cli_path", environ)], "cli_path")
    variable = environ.get(AGENT_VARIABLE)
    if variable:
        return AgentProgram([_named(variable, f"the variable {AGENT_VARIABLE}", environ)], AGENT_VARIABLE)
    bundled = bundled_path()
    if bundled.is_file():
        return AgentProgram([_usable(bundled, "the bundled agent")], "bundled")
    if find_spec(_NEEDED_BY_AGENT) is not None and sys.executable and not getattr(sys, "frozen", False):
        return AgentProgram([sys.executable, *_RUN_MODULE], "python")
    raise CLINotFoundError(
        "No agent executable was found. Searched: the option cli_path (not given); "
        f"the variable {AGENT_VARIABLE} (not set); {bundled} (not there); "
        f"the agent's Python code (its dependency {_NEEDED_BY_AGENT} is not installed). {_INSTALL}"
    )


def bundled_path() -> Path:
    """Return where a platform wheel keeps its executable."""
    name = "claude-agent.exe" if os.name == "nt" else "claude-agent"
    return Path(__file__).parent.parent / "_bundled" / name


def _named(value: str, by: str, environ: Mapping[str, str]) -> str:
    """Return the executable that somebody named, by its path or by its name."""
    path = Path(value)
    if path.exists():
        return _usable(path, by)
    where = "no such file"
    if value == path.name:
        found = next(_on_path(value, environ), None)
        if found is not None:
            return _usable(found, f"{by}, found on PATH")
        where = f"neither a file here nor a program on PATH ({environ.get('PATH') or 'which is empty'})"
    raise CLINotFoundError(f"There is no agent executable as named by {by}: {where}", value)


def _on_path(name: str, environ: Mapping[str, str]) -> Iterator[Path]:
    endings = environ.get("PATHEXT", ".EXE").split(os.pathsep) if os.name == "nt" else []
    for folder in environ.get("PATH", "").split(os.pathsep):
        for ending in ("", *endings):
            candidate = Path(folder or ".", name + ending)
            if candidate.is_file() and os.access(candidate, os.X_OK):
                yield candidate


def _usable(path: Path, by: str) -> str:
    """Return the path as it is started, or raise what is wrong with it."""
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise AgentStartError(f"{path} ({by}) is a folder; give the executable in it")
    if path.suffix.lower() in {".bat", ".cmd"}:
        raise AgentStartError(
            f"{path} ({by}) is a batch file. Arguments cannot be passed to those safely; give the program "
            "that it starts"
        )
    if not os.access(path, os.X_OK):
        raise AgentStartError(f"{path} ({by}) is not executable; allow it with: chmod +x {path}")
    # Relative to this program, not to the folder that the agent will work in.
    return str(path.absolute())
