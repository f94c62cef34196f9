"""`mcp serve`: the agent's own tools for other programs, as an MCP server on stdin and stdout."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import anyio

from claude_wrapper.agent.config.access import Access
from claude_wrapper.agent.config.places import SettingsPlaces
from claude_wrapper.agent.config.sources import SettingsError
from claude_wrapper.agent.ids import new_uuid
from claude_wrapper.agent.permissions.policy import Policy
from claude_wrapper.agent.processes.secrecy import hide_environment
from claude_wrapper.agent.start.cli import Arguments, UsageError
from claude_wrapper.agent.start.load_files import load_files, with_variables
from claude_wrapper.agent.start.load_policy import load_policy
from claude_wrapper.agent.tools.contract import ToolContext
from claude_wrapper.agent.tools.environment import without_secrets
from claude_wrapper.agent.tools.registry import (
    BUILTIN_NAMES,
    background_processes_ended,
    builtin_tools,
    end_background_processes,
)
from claude_wrapper.store.paths import project_dir

from .rpc_server import RpcServer
from .served_tools import ServedTools
from .words import Option, Shape, Words

__all__ = ["SERVE", "serve"]

SERVE = Shape(
    "Serve the agent's own tools to an MCP client on stdin and stdout. Nobody is asked for permission: "
    "that is the client's business. What rules deny, or want a person to be asked about, does not run.",
    (
        Option("-d --debug", "debug", "switch", "accepted; nothing is logged"),
        Option("--verbose", "verbose", "switch", "accepted; nothing more is told"),
    ),
)
_OFFERED = frozenset({"Bash", "Edit", "Glob", "Grep", "NotebookEdit", "Read", "Write"})
"""Tools that mean something outside a conversation."""


def serve(_words: Words, environ: Mapping[str, str], cwd: Path) -> int:
    """Serve until stdin ends."""
    arguments = Arguments()
    try:
        files, warnings, _ = load_files(arguments, environ, cwd)
        environment = with_variables(environ, files)
        policy, problems = load_policy(arguments, files, environment, cwd)
    except (SettingsError, UsageError) as error:
        sys.stderr.write(f"Error: {error}\n")
        return 1
    for warning in (*warnings, *problems.rules):
        sys.stderr.write(f"Warning: {warning}\n")
    hide_environment(environment.keys() - without_secrets(environment).keys())
    anyio.run(_serve, policy, environment, cwd, backend="asyncio")
    return 0


async def _serve(policy: Policy, environ: dict[str, str], cwd: Path) -> None:
    session_id = new_uuid()
    access = Access(policy, SettingsPlaces(environ, cwd), lambda _: None)
    context = ToolContext(
        cwd=cwd,
        original_cwd=cwd,
        working_dirs=lambda: access.directories(context.cwd),
        session_id=session_id,
        environment=without_secrets(environ),
        results_dir=project_dir(environ, str(cwd)) / session_id / "tool-results",
    )
    tools = builtin_tools(name for name in BUILTIN_NAMES if name in _OFFERED)
    try:
        await RpcServer(ServedTools(tools, context, policy)).run()
    finally:
        end_background_processes()
        await background_processes_ended()
