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
from .jobs import Job, Jobs
from .ledger import digest_of
from .own_changes import OwnChanges
from .paths import absolute, kind_of, size_text
from .ripgrep import ripgrep_for_shell
from .shell import Shell, ShellEnd, start_shell
from .shell_words import changes_folder, exit_meaning, expects_no_output, only_waits, viewed_file
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
    changes = OwnChanges(command, context.read_files)
    shell, description = _started(command, cwd, context), tool_input.get("description") or command
    if tool_input.get("run_in_background") and context.jobs is not None:
        return _begun(command, await _begin(shell, command, description, context.jobs), context)
    job = None if context.jobs is None else context.jobs.watch(shell, command, description)
    try:
        await shell.wait(timeout_ms / 1000)
        if job is not None and _goes_on(shell, job, command):
            return _moved(shell, job, timeout_ms)
        end = await shell.end()
    except BaseException:
        shell.capture.discard()  # nobody will be told of it
        await shell.close()
        if job is not None:
            job.cut_off()
        raise
    meaning = None if end.code is None else exit_meaning(command, end.code)
    if job is not None:
        job.done(failed=end.code != 0 and meaning is None)
    await anyio.to_thread.run_sync(changes.accept)
    _raise_failure(shell, end, meaning, timeout_ms)
    if end.code == 0 and end.output.saved is None and (viewed := viewed_file(command)):
        await anyio.to_thread.run_sync(_note_view, *viewed, cwd, context)
    return _success(command, end.output, _move(end.cwd, context), meaning)


def _started(command: str, cwd: Path, context: ToolContext) -> Shell:
    capture = Capture(context.results_dir, _most_inline(context.environment), _MOST_BYTES)
    environment = child_environment(context.environment, context.session_id)
    try:
        return start_shell(command, cwd, environment, capture, ripgrep_for_shell(environment))
    except OSError as error:
        raise ToolFailure(f"The command could not be started: {error}") from error


async def _begin(shell: Shell, command: str, description: str, jobs: Jobs) -> Job:
    try:
        return jobs.beside(shell, command, description)
    except OSError as error:
        await shell.close()
        raise ToolFailure(f"There is no place for the command's output: {error}") from error


def _goes_on(shell: Shell, job: Job, command: str) -> bool:
    """Whether the command runs on in the background: the host wants that, or it has taken too long."""
    if job.moved or shell.ended or shell.stopped or shell.flooded:
        return job.moved
    # Nothing is gained by a command that only waits.
    return not only_waits(command) and job.move()


def _begun(command: str, job: Job, context: ToolContext) -> ToolOutput:
    """A command that nobody waits for."""
    jobs = context.jobs
    end = (
        "Its end will be told in a later message."
        if jobs is not None and jobs.outlive
        else "Its end will be told if it comes before your last reply; with that reply it is stopped."
    )
    hint = None
    if changes_folder(command):
        hint = f"The session stays in {context.cwd}: where a command in the background goes, later commands do not."
    text = (
        f"Command running in background with ID: {job.id}. Output is being written to: {job.output_file}. {end} "
        "Until then Read shows what there is of the output."
    )
    more = {} if hint is None else {"backgroundCwdHint": hint}
    return ToolOutput(text if hint is None else f"{text}\n{hint}", _of_job("", job, **more), is_error=False)


def _moved(shell: Shell, job: Job, timeout_ms: float) -> ToolOutput:
    """A command that nobody waits for any longer."""
    where = f"Output is being written to: {job.output_file}."
    limit = "It is stopped if it still runs after 30 minutes in the background."
    if job.moved:
        text = f"Command was manually backgrounded by user with ID: {job.id}. {where} {limit}"
        return ToolOutput(text, _of_job("", job, backgroundedByUser=True), is_error=False)
    so_far = shell.capture.text_so_far()
    took = int(timeout_ms / 1000 + 0.5)
    lines = [
        so_far,
        f"Command did not complete within its {took}s timeout and was moved to the background (ID: {job.id}). "
        f"{where} Its end will be told in a later message. {limit} It runs: do not start it again, and stop it with "
        "TaskStop if it is of no more use." + ("" if so_far else " It had printed nothing yet."),
    ]
    told = _of_job(so_far, job, timedOutAfterMs=int(timeout_ms))
    return ToolOutput("\n".join(line for line in lines if line), told, is_error=False)


def _of_job(stdout: str, job: Job, **more: Any) -> dict[str, Any]:
    return {
        "stdout": stdout,
        "stderr": "",
        "interrupted": False,
        "isImage": False,
        "noOutputExpected": False,
        "backgroundTaskId": job.id,
        **more,
    }


def _raise_failure(shell: Shell, end: ShellEnd, meaning: str | None, timeout_ms: float) -> None:
    if end.code is None:
        if shell.stopped:
            raise ToolFailure(_failure_text(shell.exit_code, "", end.output))
        what = (
            "was ended: it printed more than 5 GB"
            if end.flooded
            else f"timed out after {int(timeout_ms / 1000) or timeout_ms / 1000:g}s"
        )
        raise ToolFailure(_failure_text(143, f"Command {what}", end.output))
    if end.code != 0 and meaning is None:
        raise ToolFailure(_failure_text(end.code, "", end.output))


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
