"""The reference is that of the sources as they are."""

import re
import subprocess
import sys

import claude_wrapper
from claude_wrapper import testing


def build(root, *arguments):
    script = root / "scripts" / "build_reference.py"
    return subprocess.run(
        [sys.executable, script, *arguments], capture_output=True, text=True, timeout=50, check=False
    )


def test_it_is_up_to_date(root):
    done = build(root, "--check")
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_holds_every_public_name(root):
    titles = set(
        re.findall(r"^### (\w+)$", (root / "docs/reference.md").read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert set(claude_wrapper.__all__) - {"__version__"} <= titles
    assert set(testing.__all__) <= titles


def test_a_class_is_told_with_what_it_inherits_and_forwards(root):
    text = (root / "docs/reference.md").read_text(encoding="utf-8")
    asynchronous, blocking = text.split("## claude_wrapper.sync")
    assert "- `async interrupt(*, cancel_queued: bool = False" in asynchronous
    assert "- `interrupt(*, cancel_queued: bool = False" in blocking


def test_an_unknown_argument_gets_the_usage(root):
    done = build(root, "--chek")
    assert (done.returncode, "usage:" in done.stdout) == (2, True)
