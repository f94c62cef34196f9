"""A program as users write it, every call with types: a type checker must have nothing to say about it."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from typing import Any

from claude_wrapper import (
    AgentDefinition,
    AssistantMessage,
    CanUseToolShadowedWarning,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ClaudeSDKError,
    CLINotFoundError,
    HookContext,
    HookInput,
    HookJSONOutput,
    HookMatcher,
    PermissionResult,
    PermissionResultAllow,
    PermissionResultDeny,
    PermissionUpdate,
    ProcessError,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ToolPermissionContext,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
    create_sdk_mcp_server,
    query,
    tool,
)
from claude_wrapper.types import McpServerConfig, Message, PermissionRuleValue


@tool("add", "Adds two numbers", {"a": float, "b": float})
async def add(args: dict[str, Any]) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": str(args["a"] + args["b"])}]}


async def decide(name: str, given: dict[str, Any], context: ToolPermissionContext) -> PermissionResult:
    if name == "Bash" and context.blocked_path is None:
        rule = PermissionRuleValue("Bash", "ls:*")
        update = PermissionUpdate(type="addRules", rules=[rule], behavior="allow", destination="session")
        return PermissionResultAllow(updated_input={**given}, updated_permissions=[update])
    return PermissionResultDeny(message="no", interrupt=False)


async def look(given: HookInput, tool_use_id: str | None, context: HookContext) -> HookJSONOutput:
    if given["hook_event_name"] == "PreToolUse" and given["tool_name"] == "Bash":
        return {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": f"{tool_use_id} {context['signal']}",
            }
        }
    return {"continue_": True}


servers: dict[str, McpServerConfig] = {
    "calc": create_sdk_mcp_server("calc", "1.0.0", tools=[add]),
    "files": {"type": "stdio", "command": "server", "args": ["-x"], "env": {"A": "b"}},
    "web": {"type": "http", "url": "http://127.0.0.1/mcp", "headers": {"A": "b"}},
}
options = ClaudeAgentOptions(
    system_prompt={"type": "preset", "preset": "claude_code", "append": "Be brief."},
    allowed_tools=["Read", "mcp__calc__add"],
    permission_mode="acceptEdits",
    mcp_servers=servers,
    can_use_tool=decide,
    hooks={"PreToolUse": [HookMatcher(matcher="Bash", hooks=[look], timeout=5)]},
    agents={"helper": AgentDefinition(description="helps", prompt="Help.", tools=["Read"], model="haiku")},
    setting_sources=["project"],
    thinking={"type": "enabled", "budget_tokens": 2000},
    effort="high",
    max_turns=3,
    env={"A": "b"},
)


def told(message: Message) -> str:
    match message:
        case AssistantMessage(content=[TextBlock(text=text), *_]):
            return text
        case AssistantMessage(content=blocks, model=model):
            return model + "".join(kind(block) for block in blocks)
        case UserMessage(content=str() as text):
            return text
        case ResultMessage(total_cost_usd=float() as cost, is_error=False):
            return f"{cost:.4f}"
        case SystemMessage(subtype="init", data=data):
            return str(data["session_id"])
        case StreamEvent(event=event):
            return str(event.get("type"))
        case _:
            return ""


def kind(block: object) -> str:
    if isinstance(block, ToolUseBlock):
        return block.name + str(block.input.get("command", ""))
    if isinstance(block, ToolResultBlock):
        return "error" if block.is_error else str(block.content)
    return block.thinking if isinstance(block, ThinkingBlock) else ""


async def prompts() -> AsyncIterator[dict[str, Any]]:
    yield {"type": "user", "message": {"role": "user", "content": "Hello"}}


async def main() -> None:
    async for message in query(prompt=prompts(), options=dataclasses.replace(options, model="opus")):
        print(told(message))  # noqa: T201  # as users do
    try:
        async with ClaudeSDKClient(options=options) as client:
            await client.query("Hello", session_id="one")
            async for message in client.receive_response():
                print(told(message))  # noqa: T201  # likewise
            await client.set_permission_mode("plan")
            await client.set_model(None)
            await client.interrupt()
            status = await client.get_mcp_status()
            print([server["status"] for server in status["mcpServers"]])  # noqa: T201  # likewise
            info = await client.get_server_info()
            print(None if info is None else info["commands"])  # noqa: T201  # likewise
    except CLINotFoundError as error:
        print(error)  # noqa: T201  # likewise
    except ProcessError as error:
        print(error.exit_code, error.stderr)  # noqa: T201  # likewise
    except ClaudeSDKError as error:
        print(error, CanUseToolShadowedWarning)  # noqa: T201  # likewise


if __name__ == "__main__":
    asyncio.run(main())
