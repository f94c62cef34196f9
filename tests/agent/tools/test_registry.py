import subprocess
import sys

import pytest

from claude_wrapper.agent.tools.contract import InputRejected
from claude_wrapper.agent.tools.registry import BUILTIN_NAMES, answered_input, builtin_tools

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
    # What a host adds to a plan or a question that it shows is its own business.
    assert schema["additionalProperties"] is False or tool.name in {"AskUserQuestion", "ExitPlanMode"}
    assert set(schema.get("required", ())) <= set(schema["properties"])
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


@pytest.fixture
def answer(session, context):
    def run(name, tool_input, **changes):
        tool = session.tools[name]
        prepared = tool.prepare(tool_input, context)
        asked = tool.for_permission(prepared, context)
        return answered_input(tool, prepared, asked, {**asked, **changes})

    return run


@pytest.mark.parametrize(
    ("name", "tool_input"),
    [
        ("Write", {"file_path": "a.txt", "content": "x"}),
        ("Edit", {"file_path": "~/a.txt", "old_string": "x", "new_string": "y"}),
        ("Glob", {"pattern": "/etc/*.conf"}),
        ("Grep", {"pattern": "x"}),
        ("Bash", {"command": "ls"}),
    ],
)
def test_an_input_that_a_host_sends_back_unchanged_keeps_its_spelling(
    answer, session, context, name, tool_input
):
    prepared = session.tools[name].prepare(tool_input, context)
    assert answer(name, tool_input) == (prepared, False)
    assert answer(name, tool_input, extra=1) == (prepared, False)


def test_what_a_host_changes_is_taken_and_other_text_known_for_it(answer):
    written = {"file_path": "a.txt", "content": "x"}
    edited = {"file_path": "a.txt", "old_string": "x", "new_string": "y"}
    assert answer("Write", written, content="y") == ({"file_path": "a.txt", "content": "y"}, True)
    assert answer("Edit", edited, new_string="z") == (
        {"replace_all": False, **edited, "new_string": "z"},
        True,
    )
    assert answer("Write", written, file_path="/b.txt") == ({"file_path": "/b.txt", "content": "x"}, False)
    assert answer("Edit", edited, replace_all=True) == ({**edited, "replace_all": True}, False)
    assert answer("Grep", {"pattern": "x"}, path="/etc") == ({"pattern": "x", "path": "/etc"}, False)


def test_what_a_host_takes_away_is_gone(session):
    tool = session.tools["Bash"]
    prepared = {"command": "ls", "timeout": 5}
    assert answered_input(tool, prepared, prepared, {"command": "ls"}) == ({"command": "ls"}, False)


def test_a_host_cannot_send_back_nonsense(answer):
    with pytest.raises(InputRejected):
        answer("Write", {"file_path": "a.txt", "content": "x"}, content=5)
