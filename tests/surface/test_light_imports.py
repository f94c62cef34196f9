"""What importing a part loads, seen in fresh interpreters: nothing of the other half, nothing heavy."""

import subprocess
import sys
from pathlib import Path

import pytest
import tomlkit

ROOT = Path(__file__).parent.parent.parent
SHARED = {"errors", "wire", "link", "store", "watchman"}
"""What both programs use."""

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


def contract(name):
    tables = tomlkit.parse((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return next(table for table in tables if table["name"] == name)


def test_every_module_belongs_to_one_column():
    package = ROOT / "claude_wrapper"
    rooms = {
        p.stem
        for p in package.iterdir()
        if p.suffix == ".py" or (p.is_dir() and (p / "__init__.py").exists())
    }
    facade = {
        f"claude_wrapper.{room}" for room in rooms - SHARED - {"agent", "testing", "__init__", "__main__"}
    }

    assert set(contract("The agent never imports the facade")["forbidden_modules"]) == facade | {
        "claude_wrapper.testing"
    }
    assert facade <= set(contract("The facade never imports the agent")["source_modules"])
