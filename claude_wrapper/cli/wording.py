"""What the views say about tool calls, their outcomes and the end of a run. No output here."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Sequence
from typing import Any

from claude_wrapper.messages import ResultMessage, SystemMessage
from claude_wrapper.wire.codec import encode

__all__ = ["argument_of", "cost_of", "count", "notice_of", "outcome_lines", "result_line", "stop_reason"]

_TELLING = (
    "command",
    "file_path",
    "notebook_path",
    "path",
    "pattern",
    "url",
    "query",
    "description",
    "prompt",
)
"""Names of tool inputs in the order in which they tell most about a call."""

_SHOWN_LINES = 4
_DIFF_LINES = 6

_MARK = re.compile("</?tool_use_error>")
"""What agents put around errors, for the model."""

_STOPS = {
    "error_max_turns": "the limit of turns is reached",
    "error_max_budget_usd": "the budget is spent",
    "error_during_execution": "the run was broken off",
    "error_max_structured_output_retries": "no answer of the wanted form came about",
}


def argument_of(tool_input: dict[str, Any], cwd: str) -> str:
    """Return in one line what a call is about."""
    for name in _TELLING:
        value = tool_input.get(name)
        if isinstance(value, str) and value.strip():
            return _shortened_path(value, cwd) if name.endswith("path") else " ".join(value.split())
    return encode(tool_input).decode() if tool_input else ""


def outcome_lines(name: str, tool_input: dict[str, Any], content: Any, *, failed: bool) -> list[str]:
    """Return a few lines that say what came of a call."""
    lines = [line.rstrip() for line in _text_of(content).splitlines() if any(map(str.isalnum, line))]
    if failed:
        return _ends([_MARK.sub("", line) for line in lines])
    match name:
        case "Edit":
            return _diff(tool_input)
        case "Write":
            return [count(len(str(tool_input.get("content", "")).splitlines()), "line") + " written"]
        case "Read":
            return [count(len(lines), "line")]
        case "Bash":
            return _ends(lines)
        case _:
            return lines if len(lines) <= 1 else [count(len(lines), "line")]


def result_line(result: ResultMessage) -> str:
    """Return what a run took."""
    parts = [count(result.num_turns, "turn"), f"{result.duration_ms / 1000:.1f} s"]
    if result.total_cost_usd is not None:
        parts.append(cost_of(result.total_cost_usd))
    return ", ".join(parts)


def stop_reason(result: ResultMessage) -> str:
    """Return why a run ended in an error result."""
    details = "; ".join(result.errors or ()) or result.result or ""
    reason = _STOPS.get(result.subtype, "")
    if reason and result.subtype != "error_during_execution":
        return reason
    return f"{reason}: {details}" if reason and details else reason or details or result.subtype


def notice_of(message: SystemMessage) -> str | None:
    """Return what is worth saying about an event of the session, if anything."""
    get = message.data.get
    match message.subtype:
        case "api_retry":
            seconds = (get("retry_delay_ms") or 0) / 1000
            status = get("error_status")
            failure = f"The API failed ({status})" if status else "The API could not be reached, or broke off"
            return f"{failure}; try {get('attempt')} of {get('max_retries')} in {seconds:.1f} s"
        case "compact_boundary":
            return "The conversation was summarized to make room"
        case "task_started":
            return f"Started in the background: {get('description') or get('task_id')}"
        case "task_notification":
            return f"In the background {get('status')}: {get('summary') or get('task_id')}"
        case _:
            return None


def count(number: int, what: str) -> str:
    """Return a number and its noun."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def cost_of(dollars: float) -> str:
    """Return an amount with as many digits as it needs."""
    return f"${dollars:.2f}" if dollars >= 1 else f"${dollars:.4f}"


def _shortened_path(path: str, cwd: str) -> str:
    inside = cwd.rstrip("/\\") + os.sep
    return path[len(inside) :] if cwd and path.startswith(inside) else path


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    blocks: Sequence[Any] = content if isinstance(content, list) else ()
    return "\n".join(
        str(block["text"]) if block.get("type") == "text" else f"[{block.get('type')}]"
        for block in blocks
        if isinstance(block, dict)
    )


def _ends(lines: list[str]) -> list[str]:
    """Return the first line and the last ones, where outputs say most."""
    if len(lines) <= _SHOWN_LINES:
        return lines
    tail = lines[-(_SHOWN_LINES - 2) :]
    return [lines[0], f"({count(len(lines) - 1 - len(tail), 'more line')})", *tail]


def _diff(tool_input: dict[str, Any]) -> list[str]:
    """Return the lines that an edit takes out and puts in, without those that both sides share."""
    old, new = (str(tool_input.get(name, "")).splitlines() for name in ("old_string", "new_string"))
    while old and new and old[0] == new[0]:
        old, new = old[1:], new[1:]
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    if len(old) + len(new) > _DIFF_LINES:
        return [f"{count(len(old), 'line')} out, {count(len(new), 'line')} in"]
    shared = textwrap.dedent("\n".join([*old, *new])).split("\n")
    signs = ["-"] * len(old) + ["+"] * len(new)
    return [f"{sign} {line}".rstrip() for sign, line in zip(signs, shared, strict=True)]
