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

from claude_wrapper.errors import AgentStartError, CLIConnectionError, CLINotFoundError

from .executables import why_forbidden

__all__ = ["AGENT_VARIABLE", "AgentProgram", "Place", "bundled_path", "locate_agent", "search"]

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


class Place:
    """A place where an agent can be: the one that is there, or why none is, or what is wrong with it."""

    __slots__ = ("error", "finding", "name", "program")

    def __init__(
        self,
        name: str,
        finding: str,
        program: AgentProgram | None = None,
        error: CLIConnectionError | None = None,
    ) -> None:
        self.name = name
        self.finding = finding
        self.program = program
        self.error = error


def locate_agent(
    cli_path: str | os.PathLike[str] | None = None, environ: Mapping[str, str] | None = None
) -> AgentProgram:
    """Return the agent to start.

    Raises CLINotFoundError, which lists every place searched, or AgentStartError when what was named
    is there but cannot be an agent.
    """
    searched = []
    for place in search(cli_path, environ):
        if place.error is not None:
            raise place.error
        if place.program is not None:
            return place.program
        searched.append(f"{place.name} ({place.finding})")
    raise CLINotFoundError(f"No agent executable was found. Searched: {'; '.join(searched)}. {_INSTALL}")


def search(
    cli_path: str | os.PathLike[str] | None = None, environ: Mapping[str, str] | None = None
) -> Iterator[Place]:
    """Look into every place, in the order in which they count."""
    environ = os.environ if environ is None else environ
    option = os.fspath(cli_path) if cli_path else ""
    yield _named_place("the option cli_path", "not given", option, "cli_path", environ)
    variable = environ.get(AGENT_VARIABLE, "")
    yield _named_place(f"the variable {AGENT_VARIABLE}", "not set", variable, AGENT_VARIABLE, environ)
    yield _bundled_place()
    yield _python_place()


def _named_place(name: str, absent: str, value: str, source: str, environ: Mapping[str, str]) -> Place:
    if not value:
        return Place(name, absent)
    try:
        path = _named(value, name, environ)
    except CLIConnectionError as error:
        return Place(name, str(error), error=error)
    return Place(name, path, AgentProgram([path], source))


def _bundled_place() -> Place:
    path = bundled_path()
    if not path.is_file():
        if not Path(__file__).exists():
            return Place(str(path), "in an archive, from which no program can be run; unpack it")
        return Place(str(path), "not there")
    try:
        program = AgentProgram([_usable(path, "the bundled agent")], "bundled")
    except AgentStartError as error:
        return Place(str(path), str(error), error=error)
    return Place(str(path), "there", program)


def _python_place() -> Place:
    name = "the agent's Python code"
    if find_spec(_NEEDED_BY_AGENT) is None:
        return Place(name, f"its dependency {_NEEDED_BY_AGENT} is not installed")
    if not sys.executable or getattr(sys, "frozen", False):
        return Place(name, "this program has no Python to run it with")
    return Place(name, f"run by {sys.executable}", AgentProgram([sys.executable, *_RUN_MODULE], "python"))


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
        raise AgentStartError(f"{path} ({by}) {why_forbidden(path)}")
    # Relative to this program, not to the folder that the agent will work in.
    return str(path.absolute())
