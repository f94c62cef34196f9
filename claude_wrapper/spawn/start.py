"""From options to a running agent."""

from __future__ import annotations

import logging
from typing import Any

from claude_wrapper.errors import AgentStartError
from claude_wrapper.option_conflicts import validate, warn_if_shadowed
from claude_wrapper.options import ClaudeAgentOptions

from .command import Command, build_command
from .custody import Custody
from .launch import launch, resolve_account
from .locate import AgentProgram, locate_agent
from .private_files import PrivateFolder
from .process import AgentProcess, Grace
from .settings import resolve_settings
from .stderr import StderrSink, line_callback
from .system_pipes import open_pipes

__all__ = ["prepare", "private_folder", "start", "start_agent"]

logger = logging.getLogger("claude_wrapper.spawn")


def start_agent(
    options: ClaudeAgentOptions, folder: PrivateFolder | None = None
) -> tuple[AgentProcess, dict[str, Any]]:
    """Start the agent that the options name; return it and its fields of the initialize request.

    `folder` may hold files for the agent; it is removed when the agent has ended. Needs a running event
    loop and does not wait. Raises OptionsError, CLINotFoundError, AgentStartError or CLIConnectionError,
    with nothing left running.
    """
    program, command = prepare(options)
    return start(program, command, options, folder), command.initialize


def private_folder(options: ClaudeAgentOptions) -> PrivateFolder:
    """Return a folder for files that only the agent of these options may read."""
    account = resolve_account(options.user)
    return PrivateFolder(None if account is None else (account.uid, account.gid))


def prepare(options: ClaudeAgentOptions) -> tuple[AgentProgram, Command]:
    """Check the options and find out what would be started for them."""
    validate(options)
    warn_if_shadowed(options)
    program = locate_agent(options.cli_path)
    return program, build_command(options, resolve_settings(options))


def start(
    program: AgentProgram, command: Command, options: ClaudeAgentOptions, folder: PrivateFolder | None = None
) -> AgentProcess:
    """Start a program with a command line that was built for these options."""
    account = resolve_account(options.user)
    folder = private_folder(options) if folder is None else folder
    process = None
    try:
        process = launch([*program.argv, *_written(command, folder)], command.env, options.cwd, account)
        logger.debug("started %s as %s, found by %s", program.argv, process.pid, program.source)
        pipes, stdin = open_pipes(process)
        custody = Custody(process, pipes, folder)
    except BaseException as error:
        folder.remove()
        if process is not None:
            process.kill()
            process.__exit__(None, None, None)
        if isinstance(error, OSError):
            raise AgentStartError(f"Failed to start the agent {program.argv[0]}: {error}") from error
        raise
    stderr = StderrSink(options.stderr_tail, line_callback(options))
    return AgentProcess(custody, pipes, stdin, stderr, _grace(options.close_timeout))


def _written(command: Command, folder: PrivateFolder) -> list[str]:
    """Return the arguments, with the files among them written."""
    return [
        argument if isinstance(argument, str) else str(folder.write(argument))
        for argument in command.arguments
    ]


def _grace(seconds: float | tuple[float, float]) -> Grace:
    return Grace(*seconds) if isinstance(seconds, tuple) else Grace(seconds, seconds)
