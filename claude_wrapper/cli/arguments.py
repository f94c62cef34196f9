"""The command line's words: which commands and options there are, and what values they take."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from claude_wrapper import __version__
from claude_wrapper.approval import PermissionMode

from .exits import table

__all__ = ["parse"]

PROGRAM = "claude-wrapper"

_RUN = """Runs an agent on a prompt until it is done.

On a terminal you see what it does while it does it. Elsewhere its final answer goes to stdout
and what it does on the way to stderr."""

_RUN_EXAMPLES = """examples:
  claude-wrapper run "Why does test_login fail?"
  claude-wrapper run "Fix it" --allow Edit --allow "Bash(npm test:*)" --max-turns 20
  git diff | claude-wrapper run "Review this change" --quiet
  claude-wrapper run "List the TODOs" --json | jq -r .result"""

_DEMO = """Shows an agent at work, without a key and without a network.

A small project with a bug is made in a temporary folder. A scripted model on 127.0.0.1 stands
in for the real one: its words are fixed beforehand. All else is real: the agent is a process of
its own, its tools run, the bug gets fixed, and the tests are run once more to make sure."""

_DOCTOR = """Looks at everything that a run needs, and says what is wrong.

Which agent would be started and why, and every place that was searched; versions; whether the agent
answers; whether there is a key (never shown) and the API's address can be reached; folders, terminal,
sandbox, shell and ripgrep. A FAULT keeps runs from working, and makes the exit code 1."""


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read a command line. Wrong ones end the program with exit code 2 and a sentence on stderr."""
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Runs a coding agent from the command line.",
        epilog=f"exit codes:\n{table()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = _command(commands, "run", "run an agent on a prompt", _RUN, _RUN_EXAMPLES)
    _add_prompt(run)
    _add_limits(run)
    _add_output(run)
    demo = _command(commands, "demo", "see an agent fix a bug; needs no key", _DEMO, "")
    demo.add_argument("--keep", action="store_true", help="keep the project's folder")
    demo.add_argument("--json", action="store_true", help="print one object instead of what happens")
    doctor = _command(commands, "doctor", "see which agent would run, and what it lacks", _DOCTOR, "")
    doctor.add_argument("--agent", metavar="EXE", type=_word, help="look at this agent executable")
    doctor.add_argument("--json", action="store_true", help="print one object")
    return parser.parse_args(argv)


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    summary: str,
    description: str,
    epilog: str,
) -> argparse.ArgumentParser:
    return commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog=f"{epilog}\n\nexit codes:\n{table()}".lstrip(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def _add_prompt(run: argparse.ArgumentParser) -> None:
    run.add_argument(
        "prompt", nargs="*", help="what to do; `-` stands for stdin. What is piped in is added in any case"
    )
    run.add_argument("--model", metavar="MODEL", type=_word, help="the model's name or alias")
    run.add_argument("--cwd", metavar="DIR", type=_folder, help="the folder to work in")
    run.add_argument(
        "--allow",
        metavar="RULE",
        type=_word,
        action="append",
        default=[],
        help="calls that run without asking, such as Edit or 'Bash(git log:*)'; may be repeated",
    )
    run.add_argument(
        "--deny",
        metavar="RULE",
        type=_word,
        action="append",
        default=[],
        help="calls that are refused; may be repeated",
    )
    run.add_argument(
        "--permission-mode",
        choices=get_args(PermissionMode),
        help="what happens to calls that no rule covers",
    )
    run.add_argument("--system-prompt", metavar="TEXT", help="used in place of the agent's own")
    run.add_argument("--resume", metavar="ID", type=_word, help="go on with the session of this id")
    run.add_argument(
        "--agent",
        metavar="EXE",
        type=_word,
        help="the agent executable, if not the one that belongs to this program",
    )


def _add_limits(run: argparse.ArgumentParser) -> None:
    limits = run.add_argument_group("limits")
    limits.add_argument("--max-turns", metavar="N", type=_count, help="stop after so many turns")
    limits.add_argument("--max-budget-usd", metavar="X", type=_amount, help="stop once this much is spent")
    limits.add_argument("--timeout", metavar="S", type=_amount, help="stop after so many seconds")


def _add_output(run: argparse.ArgumentParser) -> None:
    output = run.add_argument_group("output").add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print the one result object")
    output.add_argument("--stream-json", action="store_true", help="print each message as a line of JSON")
    output.add_argument("--quiet", action="store_true", help="print the final answer and nothing else")


def _word(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("the value is empty")
    return text


def _folder(text: str) -> Path:
    path = Path(text)
    if not path.is_dir():
        what = "is not a folder" if path.exists() else "does not exist"
        raise argparse.ArgumentTypeError(f"{text} {what}")
    return path


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def _amount(text: str) -> float:
    try:
        amount = float(text)
    except ValueError:
        amount = math.nan
    if not 0 < amount < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return amount
