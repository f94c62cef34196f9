"""The words of the demo's model, fixed beforehand; they only say what the tools have shown."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from claude_wrapper.testing import ModelRequest, Turn, call, say, turn
from claude_wrapper.testing.script import TurnSource

from .demo_project import FIXED, MODULE, TESTS, WRONG, test_command

__all__ = ["script"]


def script(folder: Path) -> list[TurnSource]:
    """Return the model's replies: run the tests, read both files, edit, run the tests again, report."""
    run_tests = call("Bash", command=test_command(), description="Run the tests")
    module, tests = str(folder / MODULE), str(folder / TESTS)
    return [
        _costing(say("I'll run the tests first, to see what fails.") + run_tests, 5200, 90),
        lambda request: _costing(
            say(f"{_count_of_failures(request)} fail. I'll read the module and its tests.")
            + call("Read", file_path=module)
            + call("Read", file_path=tests),
            5600,
            140,
        ),
        _costing(
            say(
                "`user_of` turns away sessions that are younger than SESSION_SECONDS and lets older ones "
                "pass: the comparison is the wrong way round."
            )
            + call("Edit", file_path=module, old_string=WRONG, new_string=FIXED),
            7300,
            210,
        ),
        _costing(say("Now the tests again.") + run_tests, 7700, 80),
        lambda request: _costing(say(_report(request)), 7900, 110),
    ]


def _costing(reply: Turn, tokens_in: int, tokens_out: int) -> Turn:
    """Give a reply the token counts that a real one of this kind might have."""
    return turn(
        reply, usage={"input_tokens": tokens_in, "output_tokens": tokens_out}, chunk=8, chunk_delay=0.01
    )


def _count_of_failures(request: ModelRequest) -> str:
    found = re.search(r"failures=(\d+)", _last_output(request))
    return f"{found[1]} tests" if found else "The tests"


def _report(request: ModelRequest) -> str:
    output = _last_output(request)
    ran = re.search(r"Ran (\d+) tests", output)
    if ran is None or not re.search(r"^OK\b", output, re.MULTILINE):
        return "The tests still fail after my edit, so the bug is not fixed."
    return (
        "Fixed: `user_of` in auth.py compared a session's age with SESSION_SECONDS the wrong way round, so "
        f"that good sessions were refused and old ones accepted. All {ran[1]} tests pass now."
    )


def _last_output(request: ModelRequest) -> str:
    results = request.tool_results
    content: Any = results[-1].get("content") if results else ""
    if isinstance(content, str):
        return content
    return "\n".join(str(block.get("text", "")) for block in content or () if isinstance(block, dict))
