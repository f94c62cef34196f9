import subprocess
import sys

import pytest

from claude_wrapper.agent.tools.registry import BUILTIN_NAMES, builtin_tools

TOOLS = builtin_tools()


def in_a_fresh_interpreter(program):
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=50, check=True
    )
    return result.stdout.split()


def test_all_tools_are_made_in_the_order_of_their_names():
    assert tuple(tool.name for tool in TOOLS) == BUILTIN_NAMES == tuple(sorted(BUILTIN_NAMES))


def test_wanted_tools_are_made_in_the_wanted_order_and_unknown_names_left_out():
    assert [tool.name for tool in builtin_tools(["Write", "Nope", "Read"])] == ["Write", "Read"]


def test_every_session_has_tools_of_its_own():
    assert builtin_tools(["TodoWrite"])[0] is not builtin_tools(["TodoWrite"])[0]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_schemas_name_what_they_take_and_take_nothing_else(tool):
    schema = tool.input_schema
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert set(schema["required"]) <= set(schema["properties"])
    assert all("type" in each for each in schema["properties"].values())
    assert 100 < len(tool.description) < 1200


def test_a_tool_is_imported_when_it_is_made():
    loaded = in_a_fresh_interpreter(
        "import sys\n"
        "from claude_wrapper.agent.tools.registry import builtin_tools\n"
        "builtin_tools(['Read'])\n"
        "print(*(name for name in sys.modules if name.startswith('claude_wrapper.agent.tools.')))"
    )
    assert "claude_wrapper.agent.tools.read" in loaded
    assert not {"claude_wrapper.agent.tools.bash", "claude_wrapper.agent.tools.edit"} & set(loaded)


def test_making_all_tools_loads_nothing_heavy():
    loaded = set(
        in_a_fresh_interpreter(
            "import sys, asyncio, pathlib, anyio.to_thread, msgspec\n"
            "before = set(sys.modules)\n"
            "from claude_wrapper.agent.tools.registry import builtin_tools\n"
            "builtin_tools()\n"
            "print(*(name for name in set(sys.modules) - before if not name.startswith('claude_wrapper')))"
        )
    )
    heavy = {
        "hashlib",
        "shlex",
        "tempfile",
        "secrets",
        "jsonschema",
        "pypdf",
        "PIL",
        "tree_sitter",
        "yaml",
        "httpx2",
    }
    assert not loaded & heavy
    own_rooms = {"process", "shell", "ripgrep", "capture", "shell_words", "notebook", "pdf", "validation"}
    assert not {name.rpartition(".")[2] for name in loaded} & own_rooms


def test_making_all_tools_takes_a_few_milliseconds(tmp_path):
    program = (
        "import sys\n"
        "sys.dont_write_bytecode = False\n"
        f"sys.pycache_prefix = {str(tmp_path)!r}\n"
        "import asyncio, pathlib, anyio.to_thread, msgspec, dataclasses, time\n"
        "began = time.process_time()\n"
        "from claude_wrapper.agent.tools.registry import builtin_tools\n"
        "builtin_tools()\n"
        "print(time.process_time() - began)\n"
    )
    # Others use the machine too: one good time out of ten shows what it takes.
    assert any(float(in_a_fresh_interpreter(program)[0]) < 0.015 for _ in range(10))
