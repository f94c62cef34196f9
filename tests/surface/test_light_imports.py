"""What importing a part loads, seen in fresh interpreters: nothing of the other half, nothing heavy."""

import subprocess
import sys

import pytest

HEAVY = {"asyncio", "trio", "jsonschema", "mcp", "pydantic", "httpx2", "rich", "tree_sitter", "yaml"}


def loaded(statement):
    code = f"import sys; {statement}; print(*sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(printed.stdout.split())


@pytest.mark.parametrize(
    "statement",
    [
        "from claude_wrapper import query",
        "from claude_wrapper import ClaudeAgentOptions, AssistantMessage, ResultMessage, TextBlock",
        "from claude_wrapper import tool, create_sdk_mcp_server",
        "from claude_wrapper import HookMatcher, PermissionResultAllow",
        "import claude_wrapper.testing",
        "import claude_wrapper.cli",
    ],
)
def test_a_first_name_loads_nothing_heavy(statement):
    assert not loaded(statement) & HEAVY


@pytest.mark.parametrize(
    "statement", ["from claude_wrapper import ClaudeSDKClient", "import claude_wrapper.conversation.start"]
)
def test_the_facade_never_loads_the_agent_or_the_test_kit(statement):
    modules = loaded(statement)
    assert not [m for m in modules if m.startswith(("claude_wrapper.agent", "claude_wrapper.testing"))]
    assert not modules & (HEAVY - {"asyncio"})


def test_the_agent_never_loads_the_facade_and_nothing_heavy_before_it_is_needed():
    modules = loaded("import claude_wrapper.agent.__main__")
    facade = ("client", "oneshot", "conversation", "spawn", "options", "messages", "tools", "testing", "cli")
    assert not [m for m in modules if m.startswith(tuple(f"claude_wrapper.{part}" for part in facade))]
    assert not modules & (HEAVY - {"asyncio"})


def test_the_wire_loads_no_event_loop():
    assert not loaded("import claude_wrapper.wire.unions") & {"asyncio", "anyio", "socket", "subprocess"}
