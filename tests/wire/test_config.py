"""Configurations of MCP servers are read as people write them."""

import json

import pytest

from claude_wrapper.errors import OptionsError
from claude_wrapper.wire.codec import encode
from claude_wrapper.wire.config import (
    McpHttpConfig,
    McpSdkConfig,
    McpSseConfig,
    McpStdioConfig,
    McpWsConfig,
    read_mcp_config,
)


@pytest.mark.parametrize(
    ("raw", "config"),
    [
        ({"command": "x"}, McpStdioConfig(command="x")),
        (
            {"type": "stdio", "command": "x", "args": ["a"], "env": {"A": "b"}},
            McpStdioConfig(command="x", args=["a"], env={"A": "b"}),
        ),
        ({"type": "http", "url": "u", "headers": {"h": "v"}}, McpHttpConfig(url="u", headers={"h": "v"})),
        (
            {"type": "streamable-http", "url": "u", "headersHelper": "cmd"},
            McpHttpConfig(url="u", headers_helper="cmd"),
        ),
        ({"type": "sse", "url": "u", "alwaysLoad": True}, McpSseConfig(url="u", always_load=True)),
        ({"type": "ws", "url": "u"}, McpWsConfig(url="u")),
        ({"type": "sdk", "name": "n"}, McpSdkConfig(name="n")),
    ],
)
def test_each_kind_of_server_is_read(raw, config):
    assert read_mcp_config(raw) == config


def test_a_configuration_is_written_with_its_type():
    assert json.loads(encode(read_mcp_config({"command": "x"}))) == {"type": "stdio", "command": "x"}


@pytest.mark.parametrize(
    "raw",
    [
        {"url": "u"},
        {"type": "http"},
        {"type": "tomorrow", "url": "u"},
        {"type": [], "url": "u"},
        {"type": "stdio"},
    ],
)
def test_what_is_no_configuration_is_refused(raw):
    with pytest.raises(OptionsError):
        read_mcp_config(raw)
