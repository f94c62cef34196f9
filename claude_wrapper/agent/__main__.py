"""The agent executable: from a command line to an exit code."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

from .config.sources import SettingsError
from .start.cli import Arguments, UsageError, help_text, parse_arguments
from .start.load_settings import load_settings
from .start.settings import Settings
from .start.subcommand_names import subcommand_at
from .version import version_line

__all__ = ["main", "run_and_exit"]

_INTERRUPTED = 128 + signal.SIGINT


def main(argv: list[str] | None = None) -> int:
    """Run the agent; returns its exit code."""
    try:
        argv = sys.argv[1:] if argv is None else argv
        at = subcommand_at(argv)
        if at is not None:
            # Few start-ups need it: `--version`, refusals and prompts stay quick.
            from .subcommands.command import run_subcommand  # noqa: PLC0415

            return run_subcommand(argv[at], argv[at + 1 :], os.environ, Path.cwd())
        arguments = parse_arguments(argv)
        if arguments.has("version"):
            return _say(version_line() + "\n")
        if arguments.has("help"):
            return _say(help_text())
        return _run(arguments)
    except UsageError as error:
        return _refuse(error.line)
    except SettingsError as error:
        return _refuse(f"Error: {error}")


def _run(arguments: Arguments) -> int:
    settings = load_settings(arguments, os.environ, Path.cwd())
    for line in (*settings.notes, *(f"Warning: {warning}" for warning in settings.warnings)):
        sys.stderr.write(f"{line}\n")
    if settings.json_schema is not None:
        _check_schema(settings)
    if arguments.has("debug") or arguments.has("debug_file"):
        from .start.debug_log import start_debug_log  # noqa: PLC0415  # as above

        start_debug_log(arguments, settings.environ, settings.cwd)
    # Everything that only a run needs is imported from here on: `--version` and refusals stay quick.
    from .run import run  # noqa: PLC0415

    return run(settings)


def _check_schema(settings: Settings) -> None:
    from .calls.structured import SchemaError, check_schema  # noqa: PLC0415  # as above

    try:
        check_schema(settings.json_schema or {})
    except SchemaError as error:
        raise UsageError(f"--json-schema is not a valid JSON Schema: {error}") from error


def _say(text: str) -> int:
    sys.stdout.write(text)
    return 0


def _refuse(text: str) -> int:
    sys.stderr.write(text + "\n")
    return 1


def run_and_exit() -> NoReturn:
    """Run the agent as a process."""
    # The HTTP library would load trio where that is installed: a fifth of the start, for an event loop that has no use here.
    sys.modules.setdefault("trio", None)  # type: ignore[arg-type]  # None means: there is none
    try:
        code = main()
    except KeyboardInterrupt:
        code = _INTERRUPTED
    sys.stdout.flush()
    sys.stderr.flush()
    # What is left of the interpreter's end would cost time and could wait for threads for ever.
    os._exit(code)


if __name__ == "__main__":
    run_and_exit()
