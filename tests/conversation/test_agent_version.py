"""An agent that was not made for this library is detected at the handshake, and said clearly."""

import logging

import pytest

from claude_wrapper import ClaudeAgentOptions, ClaudeSDKClient, __version__
from claude_wrapper.conversation.agent_version import agent_version, mismatch
from claude_wrapper.testing import ScriptedAgent


def own(version):
    return {
        "capabilities": ["msg_lifecycle_v1", f"agent:claude-wrapper/{version}"],
        "claude_code_version": "2.1.332",
    }


@pytest.mark.parametrize(
    ("info", "says"),
    [
        (own("0.0.9"), "claude-wrapper 0.0.9, older than this library, which is 0.1.0"),
        (own("0.1"), "older than this library"),
        (own("0.1.0+embedded"), "another build than this library"),
        (own("0.10.0"), "newer than this library"),
        ({"claude_code_version": "2.0.77"}, "its version is 2.0.77, older than 2.1"),
        ({"claude_code_version": "3.0.0"}, "its version is 3.0.0, newer than 2.1"),
        ({"claude_code_version": "9" * 5000}, "newer than 2.1"),
    ],
)
def test_an_agent_of_another_version_is_told(info, says):
    assert says in mismatch(info, "0.1.0")


@pytest.mark.parametrize(
    "info",
    [
        own("0.1.0"),
        {"claude_code_version": "2.1.9"},
        {},
        {"claude_code_version": "dev"},
        {"capabilities": [1, None]},
        {"capabilities": 7},
    ],
)
def test_an_agent_that_fits_or_tells_nothing_is_taken_as_it_is(info):
    assert mismatch(info, "0.1.0") is None


def test_the_agent_of_somebody_else_has_no_version_of_ours():
    assert agent_version({"capabilities": ["interrupt_receipt_v1"]}) is None
    assert agent_version(own("7.0")) == "7.0"


@pytest.mark.anyio
async def test_the_warning_comes_with_the_handshake(tmp_path, caplog):
    agent = ScriptedAgent(tmp_path).answer("initialize", own("0.0.1")).wait("eof")
    with caplog.at_level(logging.WARNING, logger="claude_wrapper"):
        async with ClaudeSDKClient(ClaudeAgentOptions(cli_path=agent.path)):
            pass
    (text,) = [record.getMessage() for record in caplog.records]
    assert text.startswith(
        f"The agent is claude-wrapper 0.0.1, older than this library, which is {__version__}."
    )
    assert "cli_path or CLAUDE_WRAPPER_AGENT" in text
