"""Which subcommands there are, and the way from a command line to one of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from claude_wrapper.agent.config.change import SettingsNotWrittenError

from .words import Option, Shape, Words, WordsError, nearest, read_words

__all__ = ["GROUPS", "run_subcommand"]

_Run = Callable[[Words, Mapping[str, str], Path], int]


class Subcommand(NamedTuple):
    """One of them."""

    shape: Shape
    run: _Run


def _refused(text: str) -> Subcommand:
    def refuse(_words: Words, _environ: Mapping[str, str], _cwd: Path) -> int:
        raise WordsError(text)

    return Subcommand(Shape(text, rest="arguments"), refuse)


def _mcp() -> dict[str, Subcommand]:
    from .serve import SERVE, serve  # noqa: PLC0415  # start-up: each subcommand brings its own parts
    from .servers import SERVER_COMMANDS, ServerCommands  # noqa: PLC0415  # as above

    def kept(name: str) -> _Run:
        return lambda words, environ, cwd: ServerCommands(environ, cwd).run(name, words)

    found = {name: Subcommand(shape, kept(name)) for name, shape in SERVER_COMMANDS.items()}
    found["serve"] = Subcommand(SERVE, serve)
    found["add-from-claude-desktop"] = _refused("Servers of desktop applications are not read by this agent.")
    for name in ("login", "logout"):
        found[name] = _refused(
            f"mcp {name} needs a browser and somebody to use it, which this agent does not have."
        )
    return found


def _auth() -> dict[str, Subcommand]:
    from .answers import auth_status  # noqa: PLC0415  # as above

    status = Shape(
        "Tell by what requests are signed.",
        (
            Option("--json", "json", "switch", "as JSON, which is usual"),
            Option("--text", "text", "switch", "as text"),
        ),
    )
    no_login = "This agent signs requests with ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN or an apiKeyHelper"
    return {
        "status": Subcommand(status, auth_status),
        "login": _refused(f"{no_login}; it opens no browser to log in with."),
        "logout": _refused(f"{no_login}; it keeps no login that could be ended."),
    }


def _plugin() -> dict[str, Subcommand]:
    text = "Plugins are not installed by this agent: --plugin-dir names the folder of one."
    names = ("install", "uninstall", "enable", "disable", "update", "validate", "marketplace", "list")
    return {name: _refused(text) for name in names}


def _alone(name: str) -> Subcommand:
    from .answers import doctor, running_agents  # noqa: PLC0415  # as above
    from .purge import PURGE, purge  # noqa: PLC0415  # as above

    if name == "agents":
        shape = Shape("List agents that run on their own.", (Option("--json", "json", "switch", "as JSON"),))
        return Subcommand(shape, _listed(running_agents))
    if name == "doctor":
        return Subcommand(Shape("Tell what the agent is and finds.", rest="arguments"), doctor)
    if name == "purge":
        return Subcommand(PURGE, purge)
    refusals = {
        "setup-token": "This agent gets no tokens: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN.",
        "update": "This agent comes with its Python package and is updated with it: pip install -U claude-wrapper",
        "install": "This agent comes with its Python package: pip install claude-wrapper",
    }
    return _refused(refusals["update" if name == "upgrade" else name])


def _listed(run: _Run) -> _Run:
    def list_them(words: Words, environ: Mapping[str, str], cwd: Path) -> int:
        if "json" not in words.switches:
            raise WordsError("agents shows its list on a screen; agents --json prints it.")
        return run(words, environ, cwd)

    return list_them


GROUPS: dict[str, Callable[[], dict[str, Subcommand]] | None] = {
    "agents": None,
    "auth": _auth,
    "doctor": None,
    "install": None,
    "mcp": _mcp,
    "plugin": _plugin,
    "plugins": _plugin,
    "purge": None,
    "setup-token": None,
    "update": None,
    "upgrade": None,
}
"""The subcommands; those that have further ones below them, and those that stand alone."""


def run_subcommand(name: str, words: Sequence[str], environ: Mapping[str, str], cwd: Path) -> int:
    """Carry out a subcommand; returns the exit code."""
    try:
        group = GROUPS[name]
        if group is None:
            return _carry_out(name, _alone(name), words, environ, cwd)
        below = group()
        if not words or words[0].startswith("-"):
            return _explain(name, below, asked=bool(words) and words[0] in {"-h", "--help"})
        if words[0] not in below:
            meant = nearest(words[0], list(below))
            hint = f"\n(Did you mean {meant}?)" if meant else ""
            raise WordsError(f"error: unknown command '{words[0]}'{hint}")
        return _carry_out(f"{name} {words[0]}", below[words[0]], words[1:], environ, cwd)
    except (WordsError, SettingsNotWrittenError) as error:
        sys.stderr.write(f"{error}\n")
        return 1


def _carry_out(
    name: str, command: Subcommand, words: Sequence[str], environ: Mapping[str, str], cwd: Path
) -> int:
    found = read_words(words, command.shape)
    if found.help:
        sys.stdout.write(command.shape.usage(name))
        return 0
    return command.run(found, environ, cwd)


def _explain(name: str, below: Mapping[str, Subcommand], *, asked: bool) -> int:
    """Say what there is below a subcommand: to stdout for those who asked, else as a complaint."""
    lines = [f"Usage: claude-agent {name} [options] [command]", "", "Commands:"]
    lines += [f"  {each:<24} {command.shape.help}" for each, command in below.items()]
    (sys.stdout if asked else sys.stderr).write("\n".join(lines) + "\n")
    return 0 if asked else 1
