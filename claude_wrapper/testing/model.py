"""The scripted model as a process of its own.

`python -m claude_wrapper.testing.model SCRIPT.json [--port N] [--log FILE]` prints its base URL
once it listens, and serves until it is told to end. A gate of the script is opened by
`POST /gates/NAME`. The script may be changed while it runs.
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from claude_wrapper.testing.faults import ScriptError
from claude_wrapper.testing.scripted_model import ScriptedModel

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve a script file until SIGTERM, SIGINT or, with `--until-eof`, the end of standard input."""
    parser = argparse.ArgumentParser(prog="python -m claude_wrapper.testing.model")
    parser.add_argument("script", type=Path, help="the script, a JSON file")
    parser.add_argument("--port", type=int, default=0, help="port of 127.0.0.1 (default: a free one)")
    parser.add_argument("--log", type=Path, help="file that gets a JSON line for each request")
    parser.add_argument("--until-eof", action="store_true", help="end when standard input ends")
    options = parser.parse_args(arguments)
    end = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: end.set())
    try:
        model = ScriptedModel(options.script, port=options.port, log=options.log).start()
    except ScriptError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if options.until_eof:
        threading.Thread(target=_await_eof, args=(end,), daemon=True).start()
    sys.stdout.write(f"{model.url}\n")
    sys.stdout.flush()
    end.wait()
    model.close()
    for problem in model.problems:
        sys.stderr.write(f"{problem}\n")
    return 0


def _await_eof(end: threading.Event) -> None:
    while sys.stdin.buffer.read(4096):
        pass
    end.set()


if __name__ == "__main__":
    sys.exit(main())
