"""The command `demo`: an agent fixes a bug, with a scripted model and real tools, and it is checked."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

import anyio

from claude_wrapper.options import ClaudeAgentOptions
from claude_wrapper.testing import ScriptedModel
from claude_wrapper.wire.codec import encode_line

from .complaints import complaint
from .demo_project import Verdict, check, make_project
from .demo_script import script
from .ending import Ending
from .exits import Exit
from .following import follow
from .frames_out import frame_of
from .stderr_text import error
from .view import View
from .view_choice import text_view
from .wording import cost_of, count

__all__ = ["demo"]

PROMPT = "Find and fix the bug causing test failures in the auth module"

_MODEL = "scripted-model"
"""Shown in the view; agents price a name that they do not know like their best model."""

_TIMEOUT = 120.0

_ABOUT = """This is a demo. The model's words are scripted: they were written beforehand and come from
a server on 127.0.0.1. All else is real: the agent is a process of its own, its tools run, files
change. It needs no key and no network, and it has a home folder of its own in a temporary folder,
so that nothing is left in yours."""

_NEEDED = (
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "CLAUDE_WRAPPER_AGENT",
    "LD_LIBRARY_PATH",
    "PYTHONPATH",
    "SYSTEMROOT",
    "COMSPEC",
    "PATHEXT",
    "WINDIR",
)
"""The variables that the agent gets of ours: what it takes to run, and nothing about the user."""


def demo(*, keep: bool, as_json: bool) -> int:
    """Run the demo and return the exit code: 0 only if the bug is really fixed."""
    base = Path(tempfile.mkdtemp(prefix="claude-wrapper-demo-")).resolve()
    try:
        return _Demo(base, keep=keep, as_json=as_json).run()
    finally:
        if not keep:
            shutil.rmtree(base, ignore_errors=True)


class _Demo:
    def __init__(self, base: Path, *, keep: bool, as_json: bool) -> None:
        self._project = base / "project"
        self._home = base / "home"
        self._temporary = base / "tmp"
        for folder in (self._project, self._home, self._temporary):
            folder.mkdir()
        make_project(self._project)
        self._keep = keep
        self._as_json = as_json

    def run(self) -> int:
        before = anyio.run(check, self._project)
        self._say(_opening(self._project, before))
        with ScriptedModel(script(self._project)) as model:
            options = self._options(model)
            ending = follow(
                PROMPT, options, View() if self._as_json else text_view(all_to_stdout=True), _TIMEOUT
            )
        if text := complaint(ending, resumable=False):
            error(text)
        if ending.is_cut_short or ending.output_error is not None:
            return ending.exit_code
        after = anyio.run(check, self._project)
        is_fixed = not before.is_good and after.is_good
        self._report(ending, before, after, is_fixed=is_fixed)
        return ending.exit_code or (Exit.SUCCESS if is_fixed else Exit.ERROR_RESULT)

    def _options(self, model: ScriptedModel) -> ClaudeAgentOptions:
        own = model.environment(
            HOME=str(self._home),
            USERPROFILE=str(self._home),
            CLAUDE_CONFIG_DIR=str(self._home / ".claude"),
            TMPDIR=str(self._temporary),
            TEMP=str(self._temporary),
            TMP=str(self._temporary),
            CLAUDE_CODE_TMPDIR=str(self._temporary),
        )
        return ClaudeAgentOptions(
            cwd=self._project,
            env=own,
            inherit_env=[name for name in _NEEDED if name in os.environ],
            model=_MODEL,
            setting_sources=[],
            system_prompt={"type": "preset", "preset": "claude_code"},
            allowed_tools=["Read", "Edit", "Bash"],
            max_turns=30,
            include_partial_messages=not self._as_json,
        )

    def _report(self, ending: Ending, before: Verdict, after: Verdict, *, is_fixed: bool) -> None:
        result = ending.result
        if self._as_json:
            summary: dict[str, Any] = {
                "fixed": is_fixed,
                "tests": after.tests,
                "failed_before": before.failed,
                "failed_after": after.failed,
                "project": str(self._project) if self._keep else None,
                "result": None if result is None else frame_of(result),
            }
            sys.stdout.buffer.write(encode_line(summary))
            return
        verdict = "the bug is fixed" if is_fixed else "the bug is NOT fixed"
        self._say(
            f"\nChecked by running the tests once more, without the agent: {after.tests - after.failed} of "
            f"{count(after.tests, 'test')} pass; {verdict}."
        )
        if result is not None and result.total_cost_usd:
            self._say(f"The {cost_of(result.total_cost_usd)} are for made-up token counts; nothing was paid.")
        if self._keep:
            self._say(f"The project is kept: {self._project}")

    def _say(self, text: str) -> None:
        if not self._as_json:
            print(text, flush=True)


def _opening(project: Path, before: Verdict) -> str:
    width = min(shutil.get_terminal_size((100, 24)).columns, 100)
    about = textwrap.fill(_ABOUT, width, break_long_words=False, break_on_hyphens=False)
    return f"""{about}

Project: {project}
         {before.failed} of {count(before.tests, "test")} fail
Prompt:  {PROMPT}
"""
