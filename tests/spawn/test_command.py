"""Options to a command line and fields of the initialize request."""

import json
from pathlib import Path

import msgspec
import pytest

from claude_wrapper.errors import CLIConnectionError, OptionsError
from claude_wrapper.option_values import AgentDefinition
from claude_wrapper.options import ClaudeAgentOptions
from claude_wrapper.spawn.command import build_command
from claude_wrapper.spawn.private_files import PrivateFile
from claude_wrapper.spawn.settings import resolve_settings
from claude_wrapper.tools import create_sdk_mcp_server

OFFICIAL = json.loads((Path(__file__).parent / "data/official_arguments.json").read_text())
"""What the official SDK (0.2.189) starts its executable with, recorded with a stub in the executable's place."""


async def allow(*_):
    raise NotImplementedError


class Store:
    async def append(self, key, entries): ...

    async def load(self, key): ...


def command(**options):
    given = ClaudeAgentOptions(**options)
    return build_command(given, resolve_settings(given), {})


def files(built):
    return [argument for argument in built.arguments if isinstance(argument, PrivateFile)]


@pytest.mark.feature("WRAP-03", "WRAP-04", "WRAP-13")
@pytest.mark.parametrize("case", OFFICIAL, ids=lambda case: case["name"])
def test_the_command_line_is_that_of_the_official_sdk(case):
    options = dict(case["options"])
    if options.get("can_use_tool"):
        options["can_use_tool"] = allow
    if options.get("session_store"):
        options["session_store"] = Store()
    if options.get("agents"):
        options["agents"] = {name: AgentDefinition(**agent) for name, agent in options["agents"].items()}
    built = command(**options)
    expected = [_compact(argument) for argument in case["arguments"]]
    assert [_compact(argument) for argument in built.arguments] == expected
    assert built.initialize == case["initialize"]


def _compact(argument):
    """JSON without regard to its spaces."""
    try:
        return json.dumps(json.loads(argument)) if argument.startswith("{") else argument
    except ValueError:
        return argument


def test_a_value_that_looks_like_a_flag_is_joined_to_its_own():
    built = command(model="-m", system_prompt="--help", add_dirs=["-d"], fallback_model="--x")
    assert "--model=-m" in built.arguments
    assert "--system-prompt=--help" in built.arguments
    assert "--add-dir=-d" in built.arguments
    assert "--fallback-model=--x" in built.arguments


LARGE = "s" * 200_000


@pytest.mark.parametrize(
    ("options", "field", "value"),
    [
        ({"system_prompt": LARGE}, "systemPrompt", [LARGE]),
        ({"system_prompt": {"type": "custom", "prompt": LARGE}}, "systemPrompt", [LARGE]),
        (
            {"system_prompt": {"type": "preset", "preset": "claude_code", "append": LARGE}},
            "appendSystemPrompt",
            LARGE,
        ),
        (
            {"output_format": {"type": "json_schema", "schema": {"description": LARGE}}},
            "jsonSchema",
            {"description": LARGE},
        ),
    ],
)
def test_what_is_large_travels_by_the_initialize_request(options, field, value):
    built = command(**options)
    assert built.initialize[field] == value
    assert built.size < 1000


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"settings": json.dumps({"note": LARGE})}, "settings.json"),
        ({"mcp_servers": {"s": {"command": "x", "args": [LARGE]}}}, "mcp.json"),
        ({"mcp_servers": json.dumps({"mcpServers": {"s": {"command": LARGE}}})}, "mcp.json"),
    ],
)
def test_what_is_large_and_has_no_field_travels_by_a_file(options, name):
    built = command(**options)
    assert [file.name for file in files(built)] == [name]
    assert LARGE.encode() in files(built)[0].content
    assert built.size < 1000


def test_values_that_are_large_together_leave_the_command_line():
    built = command(
        system_prompt="a" * 8000,
        output_format={"type": "json_schema", "schema": {"description": "b" * 8000}},
        settings=json.dumps({"note": "c" * 8000}),
        mcp_servers={"s": {"command": "d" * 8000}},
    )
    assert built.size < 1000
    assert set(built.initialize) == {"systemPrompt", "jsonSchema"}
    assert len(files(built)) == 2


@pytest.mark.parametrize(
    "options",
    [
        {"mcp_servers": {"s": {"command": "x", "env": {"TOKEN": "s3cret"}}}},
        {"mcp_servers": {"s": {"type": "http", "url": "http://x", "headers": {"Authorization": "s3cret"}}}},
        {"mcp_servers": {"s": {"type": "http", "url": "http://me:s3cret@x"}}},
        {"mcp_servers": {"s": {"type": "sse", "url": "http://x?key=s3cret"}}},
        {"mcp_servers": json.dumps({"mcpServers": {"s": {"command": "x", "env": {"TOKEN": "s3cret"}}}})},
        {"settings": json.dumps({"env": {"TOKEN": "s3cret"}})},
        {"settings": json.dumps({"env": {"TOKEN": "s3cret"}}), "sandbox": {"enabled": True}},
        {"settings": '{"env": {"TOKEN": "s3cret", broken}'},
    ],
)
def test_secrets_of_servers_and_settings_are_in_no_argument(options):
    built = command(**options)
    assert not [
        argument for argument in built.arguments if isinstance(argument, str) and "s3cret" in argument
    ]
    assert b"s3cret" in files(built)[0].content
    assert "s3cret" not in repr(files(built)[0])


def test_an_in_process_server_is_named_without_its_instance():
    built = command(mcp_servers={"calc": create_sdk_mcp_server("tools")})
    value = built.arguments[built.arguments.index("--mcp-config") + 1]
    assert json.loads(value) == {"mcpServers": {"calc": {"type": "sdk", "name": "tools"}}}


def test_lone_surrogates_become_replacement_characters():
    assert "--system-prompt=" not in command(system_prompt="a\ud83db").arguments
    assert "a\ufffdb" in command(system_prompt="a\ud83db").arguments
    assert command(system_prompt="\ud83d" + LARGE).initialize["systemPrompt"] == ["\ufffd" + LARGE]


def test_paths_may_be_path_objects_and_servers_a_file():
    built = command(add_dirs=[Path("/a")], mcp_servers=Path("/m.json"), settings=Path("/s.json"))
    assert built.arguments[5:-2] == ["--settings", "/s.json", "--add-dir", "/a", "--mcp-config", "/m.json"]


def test_what_json_cannot_hold_is_told_with_the_options_name():
    with pytest.raises(OptionsError, match="mcp_servers holds what JSON cannot"):
        command(mcp_servers={"s": {"command": "x", "args": [object()]}})
    with pytest.raises(OptionsError, match="output_format"):
        command(output_format={"type": "json_schema", "schema": {"a": object()}})
    with pytest.raises(OptionsError, match="sandbox"):
        command(sandbox={"enabled": object()})


@pytest.mark.feature("WRAP-14")
def test_a_sandbox_is_merged_into_a_settings_file_found_from_the_working_directory(tmp_path):
    (tmp_path / "settings.json").write_text('{"permissions": {"allow": ["Read"]}, "sandbox": {"z": 1}}')
    expected = {"permissions": {"allow": ["Read"]}, "sandbox": {"enabled": True}}
    relative = ClaudeAgentOptions(settings="settings.json", sandbox={"enabled": True}, cwd=tmp_path)
    absolute = ClaudeAgentOptions(settings=str(tmp_path / "settings.json"), sandbox={"enabled": True})
    for options in (relative, absolute):
        assert msgspec.json.decode(resolve_settings(options)) == expected


@pytest.mark.feature("WRAP-14")
@pytest.mark.parametrize("settings", ["/nowhere/settings.json", "{broken}", "{broken"])
def test_settings_that_cannot_be_read_for_the_sandbox_are_an_error(settings):
    with pytest.raises(CLIConnectionError, match="Failed to load settings"):
        resolve_settings(ClaudeAgentOptions(settings=settings, sandbox={"enabled": True}))
