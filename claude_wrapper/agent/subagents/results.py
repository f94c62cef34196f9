"""The results of calls of the Agent tool, and the message that tells of one that worked in the background."""

from __future__ import annotations

from typing import Any

from claude_wrapper.agent.tasks.notification import notification
from claude_wrapper.agent.tools.contract import ToolOutput

from .errand import Errand
from .report import Report, handed_back
from .work import Work

__all__ = ["completed", "end_told", "launched"]


def completed(errand: Errand, work: Work, report: Report, milliseconds: int) -> ToolOutput:
    """A call that waited."""
    deeds = work.deeds
    structured: dict[str, Any] = {
        "status": "completed",
        "prompt": errand.prompt,
        "agentId": errand.id,
        "agentType": errand.definition.name,
        **({"toolsUsed": deeds.names()} if deeds.used else {}),
        "content": report.blocks,
        "resolvedModel": work.model,
        "totalDurationMs": milliseconds,
        "totalTokens": deeds.tokens,
        "totalToolUseCount": len(deeds.calls),
        "usage": deeds.usage.to_result(),
    }
    stats = deeds.stats()
    if stats is not None:
        structured["toolStats"] = stats
    return ToolOutput(handed_back(errand.id, report, deeds, milliseconds), structured)


def launched(errand: Errand, model: str, output_file: str) -> ToolOutput:
    """A call that did not wait."""
    text = (
        f"The subagent works in the background (agentId: {errand.id}). Its result comes by itself in a later "
        "message; until then nothing is known of it, so do not guess. Leave the work that it was given to it."
    )
    structured = {
        "isAsync": True,
        "status": "async_launched",
        "agentId": errand.id,
        "description": errand.description,
        "resolvedModel": model,
        "prompt": errand.prompt,
        "outputFile": output_file,
        "canReadOutputFile": bool(output_file),
    }
    return ToolOutput([{"type": "text", "text": text}], structured)


def end_told(errand: Errand, status: str, text: str) -> str:
    """The message that the model gets at the end of one in the background."""
    summary = f"The subagent for “{errand.description}” is done ({status})."
    return notification([("task-id", errand.id), ("status", status), ("summary", summary), ("result", text)])
