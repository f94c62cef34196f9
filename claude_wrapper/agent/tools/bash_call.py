"""Carries out a call of the Bash tool: limits, the current folder, and the wording of the result."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio.to_thread

from .capture import Capture, Captured
from .contract import ToolContext, ToolFailure, ToolOutput
from .environment import child_environment
from .ledger import digest_of
from .own_changes import OwnChanges
from .paths import absolute, kind_of, size_text
from .ripgrep import ripgrep_for_shell
from .shell import run_in_shell
from .shell_words import exit_meaning, expects_no_output, viewed_file
from .textfile import clean, read_bytes

__all__ = ["run_bash"]

_DEFAULT_TIMEOUT_MS = 120_000
_MAX_TIMEOUT_MS = 600_000
_MOST_INLINE = 30_000
_MOST_ON_FAILURE = 10_000
_PREVIEW = 2_000
_MOST_BYTES = 5 * 1024**3
_LARGEST_VIEW = 1 << 20
_IMAGE = re.compile(r"data:(image/(?:png|jpeg|gif|webp));base64,([A-Za-z0-9+/=\s]+)")


async def run_bash(tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
    """Run the command; raises ToolFailure."""
    command, cwd = clean(tool_input["command"]), _existing_cwd(context)
    timeout_ms = _timeout_ms(tool_input.get("timeout", 0), context.environment)
    capture = Capture(context.results_dir, _most_inline(context.environment), _MOST_BYTES)
    environment = child_environment(context.environment, context.session_id)
    setup = ripgrep_for_shell(environment)
    changes = OwnChanges(command, context.read_files)
    try:
        end = await run_in_shell(command, cwd, environment, capture, timeout_ms / 1000, setup)
    except OSError as error:
        raise ToolFailure(f"The command could not be started: {error}") from error
    await anyio.to_thread.run_sync(changes.accept)
    if end.code is None:
        what = (
            "was ended: it printed more than 5 GB"
            if end.flooded
            else f"timed out after {timeout_ms / 1000:g}s"
        )
        raise ToolFailure(_failure_text(143, f"Command {what}", end.output))
    meaning = exit_meaning(command, end.code)
    if end.code != 0 and meaning is None:
        raise ToolFailure(_failure_text(end.code, "", end.output))
    if end.code == 0 and end.output.saved is None and (viewed := viewed_file(command)):
        await anyio.to_thread.run_sync(_note_view, *viewed, cwd, context)
    return _success(command, end.output, _move(end.cwd, context), meaning)


def _existing_cwd(context: ToolContext) -> Path:
    """The current folder; if a command has removed it, the one where the session began."""
    if kind_of(context.cwd) != "folder":
        context.cwd = context.original_cwd
    return context.cwd


def _timeout_ms(wanted: float, environment: Mapping[str, str]) -> float:
    most = max(_number(environment.get("BASH_MAX_TIMEOUT_MS")) or _MAX_TIMEOUT_MS, 1)
    usual = _number(environment.get("BASH_DEFAULT_TIMEOUT_MS")) or _DEFAULT_TIMEOUT_MS
    return min(wanted if wanted > 0 else usual, max(most, usual))


def _most_inline(environment: Mapping[str, str]) -> int:
    return min(_number(environment.get("BASH_MAX_OUTPUT_LENGTH")) or _MOST_INLINE, 5 * _MOST_INLINE)


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() else 0


def _failure_text(code: int, reason: str, output: Captured) -> str:
    """What the model reads of a failed command: of long output the beginning and, mostly, the end."""
    end = output.tail or output.text
    length = len(output.text) if output.saved is None else output.size
    text = "\n".join(part for part in (f"Exit code {code}", reason, output.text) if part)
    left_out = length - _MOST_ON_FAILURE
    if left_out <= 0:
        return text
    half = _MOST_ON_FAILURE // 2
    where = f"; all of it is in {output.saved}" if output.saved is not None else ""
    return f"{text[:half]}\n\n... [{left_out} characters truncated{where}] ...\n\n{end[-half:]}"


def _move(new_cwd: str, context: ToolContext) -> str:
    """Follow the command's `cd` within the working folders; else the note that it was undone."""
    if not new_cwd or new_cwd == os.path.realpath(context.cwd):
        return ""
    if context.environment.get("CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR") in ("1", "true"):
        return ""
    reached = Path(new_cwd)
    if any(reached.is_relative_to(os.path.realpath(folder)) for folder in context.working_dirs()):
        context.cwd = reached
        return ""
    context.cwd = context.original_cwd
    return f"\nShell cwd was reset to {context.original_cwd}"


def _note_view(name: str, complete: bool, cwd: Path, context: ToolContext) -> None:
    """A file that a plain `cat` or the like has shown counts as read."""
    path = absolute(str(cwd / name), context)
    try:
        data, state = read_bytes(path, _LARGEST_VIEW)
    except OSError:
        return
    if state.st_size <= _LARGEST_VIEW:
        context.read_files.note(path, digest_of(data), state, complete=complete)


def _beginning(text: str) -> str:
    """What is shown of a long output: whole lines, unless the first one is too long for that."""
    shown = text[:_PREVIEW]
    end = shown.rfind("\n")
    return shown[:end] if end > _PREVIEW // 2 else shown


def _success(command: str, output: Captured, note: str, meaning: str | None) -> ToolOutput:
    image = _IMAGE.fullmatch(output.text) if output.saved is None else None
    structured: dict[str, Any] = {
        "stdout": output.text,
        "stderr": note,
        "interrupted": False,
        "isImage": image is not None,
        "noOutputExpected": expects_no_output(command),
    }
    if meaning is not None:
        structured["returnCodeInterpretation"] = meaning
    if image is not None:
        source = {"type": "base64", "media_type": image[1], "data": "".join(image[2].split())}
        return ToolOutput([{"type": "image", "source": source}], structured)
    text = output.text
    if output.saved is not None:
        structured |= {"persistedOutputPath": str(output.saved), "persistedOutputSize": output.size}
        text = (
            f"<persisted-output>\nOutput too large ({size_text(output.size)}). Full output saved to: {output.saved}\n\n"
            f"Preview (first 2KB):\n{_beginning(text)}\n...\n</persisted-output>"
        )
    text = "\n".join(part for part in (text, note.strip()) if part)
    return ToolOutput(text or "(Bash completed with no output)", structured, is_error=False)
