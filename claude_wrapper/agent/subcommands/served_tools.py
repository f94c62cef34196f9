"""Tools as an MCP server shows and runs them: each call checked, held against the rules, and carried out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import anyio

from claude_wrapper.agent.permissions.call import Call, Decision
from claude_wrapper.agent.permissions.decide import decide, denied_path
from claude_wrapper.agent.permissions.matching import is_removed
from claude_wrapper.agent.permissions.policy import Policy
from claude_wrapper.agent.tools.contract import InputRejected, Tool, ToolContext, ToolFailure, ToolOutput
from claude_wrapper.agent.tools.registry import validate_input
from claude_wrapper.wire.codec import encode

__all__ = ["ServedTools", "UnknownToolError"]

_FOR_A_PERSON = frozenset({"rule", "safetyCheck"})
"""Reasons for a question that only somebody at hand could answer."""


class UnknownToolError(Exception):
    """There is no tool of this name."""


class ServedTools:
    """Runs calls: those that change nothing side by side, the others one after the other."""

    def __init__(self, tools: Iterable[Tool], context: ToolContext, policy: Policy) -> None:
        denying = policy.of("deny")
        self._tools = {each.name: each for each in tools if not is_removed(each.name, denying)}
        self._context = context
        self._policy = policy
        self._changing = anyio.Lock()

    def described(self) -> list[dict[str, Any]]:
        """The tools for `tools/list`."""
        return [
            {"name": each.name, "description": each.description, "inputSchema": each.input_schema}
            for each in self._tools.values()
        ]

    async def call(self, name: str, arguments: Any) -> dict[str, Any]:
        """The result for `tools/call`; raises UnknownToolError."""
        tool = self._tools.get(name)
        if tool is None:
            raise UnknownToolError(f"Tool {name} not found")
        try:
            valid = tool.prepare(validate_input(tool, {} if arguments is None else arguments), self._context)
            if tool.is_read_only(valid):
                output = await self._run(tool, valid)
            else:
                async with self._changing:
                    output = await self._run(tool, valid)
        except (InputRejected, ToolFailure) as failure:
            return _failed(failure.text)
        except Exception as error:  # noqa: BLE001  # a fault of a tool must not end the server
            return _failed(f"{type(error).__name__}: {error}")
        return {"content": _content(output), **({"isError": True} if output.is_error else {})}

    async def _run(self, tool: Tool, valid: dict[str, Any]) -> ToolOutput:
        call = Call(
            tool_name=tool.name,
            tool_input=tool.for_permission(valid, self._context),
            cwd=self._context.cwd,
            working_dirs=tuple(self._context.working_dirs()),
        )
        denied = denied_path(call, self._policy)
        if denied is not None:
            raise InputRejected(denied.message)
        await tool.check(valid, self._context)
        decision = decide(call, self._policy)
        if self._refuses(decision):
            raise InputRejected(decision.message or decision.reason or "A rule denies this call.")
        return await tool.run(valid, self._context)

    def _refuses(self, decision: Decision) -> bool:
        if decision.behavior == "ask":
            return self._policy.mode in {"plan", "dontAsk"} or decision.reason_type in _FOR_A_PERSON
        return decision.behavior == "deny"


def _content(output: ToolOutput) -> list[dict[str, Any]]:
    """What a client reads: texts and pictures as such, anything else as the JSON that hosts are told."""
    if isinstance(output.content, list):
        blocks = [_block(each) for each in output.content]
        if all(blocks):
            return [each for each in blocks if each is not None]
    return [{"type": "text", "text": encode(output.structured).decode()}]


def _block(block: dict[str, Any]) -> dict[str, Any] | None:
    source = block.get("source")
    if block.get("type") == "image" and isinstance(source, dict) and source.get("type") == "base64":
        return {"type": "image", "data": source.get("data"), "mimeType": source.get("media_type")}
    return {"type": "text", "text": block.get("text", "")} if block.get("type") == "text" else None


def _failed(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": True}
