"""Lists of allowed and denied MCP servers."""

import pytest

from claude_wrapper.agent.config.file import SettingsFile
from claude_wrapper.agent.config.server_policy import server_policy

PROGRAM = {"command": "npx", "args": ["-y", "pkg"]}
FAR = {"type": "http", "url": "https://mcp.example.com/v1"}


def policy(tmp_path, *values):
    return server_policy([SettingsFile(source, each, tmp_path) for source, each in values])


@pytest.mark.feature("MCP-12")
@pytest.mark.parametrize(
    ("settings", "name", "config", "lets"),
    [
        ({}, "a", PROGRAM, True),
        ({"allowedMcpServers": []}, "a", PROGRAM, False),
        ({"allowedMcpServers": []}, "a", {"type": "sdk", "name": "a"}, True),
        ({"allowedMcpServers": [{"serverName": "a"}]}, "a", PROGRAM, True),
        ({"allowedMcpServers": [{"serverName": "a"}]}, "b", PROGRAM, False),
        ({"allowedMcpServers": [{"serverCommand": ["npx", "-y", "pkg"]}]}, "b", PROGRAM, True),
        ({"allowedMcpServers": [{"serverCommand": ["npx", "-y"]}, {"serverName": "a"}]}, "a", PROGRAM, False),
        ({"allowedMcpServers": [{"serverCommand": ["x"]}, {"serverName": "a"}]}, "a", FAR, True),
        ({"allowedMcpServers": [{"serverUrl": "https://*.example.com/*"}]}, "a", FAR, True),
        ({"allowedMcpServers": [{"serverUrl": "https://mcp.example.com"}]}, "a", FAR, False),
        (
            {"deniedMcpServers": [{"serverName": "a"}], "allowedMcpServers": [{"serverName": "a"}]},
            "a",
            FAR,
            False,
        ),
        ({"deniedMcpServers": [{"serverUrl": "*example*"}]}, "a", FAR, False),
        ({"deniedMcpServers": [{"serverCommand": ["npx", "-y", "pkg"]}]}, "a", PROGRAM, False),
        ({"deniedMcpServers": ["a", 5], "allowedMcpServers": "a"}, "a", PROGRAM, True),
    ],
)
def test_a_server_is_let_in_by_name_command_or_address(tmp_path, settings, name, config, lets):
    assert policy(tmp_path, ("flagSettings", settings)).lets(name, config) is lets


@pytest.mark.feature("MCP-12")
def test_the_administrator_may_let_nobody_else_allow_servers(tmp_path):
    managed = {"allowManagedMcpServersOnly": True, "allowedMcpServers": [{"serverName": "a"}]}
    user = {"allowedMcpServers": [{"serverName": "b"}], "deniedMcpServers": [{"serverName": "c"}]}

    both = policy(tmp_path, ("userSettings", user), ("policySettings", managed))

    assert [both.lets(name, PROGRAM) for name in "abc"] == [True, False, False]
