"""CLAUDE_WRAPPER_TRACE: what is written down for a bug report, and what is not."""

import json
import logging
import os
import stat

import anyio
import pytest

from claude_wrapper import ClaudeAgentOptions, ClaudeSDKClient, HookMatcher, ResultMessage, query
from claude_wrapper.testing import ScriptedAgent

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("bounded")]

KEY = "sk-ant-api03-0123456789abcdef"


@pytest.fixture
def trace(tmp_path, monkeypatch):
    path = tmp_path / "trace.jsonl"
    monkeypatch.setenv("CLAUDE_WRAPPER_TRACE", str(path))
    return path


def records(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


async def run(agent, **options):
    options = ClaudeAgentOptions(cli_path=agent.path, **options)
    return [m async for m in query(prompt="go", options=options)]


async def test_every_frame_is_there_with_direction_and_time(agent, trace):
    await run(agent.begin().say("hi").result("done").wait("eof"))

    lines = records(trace)
    frames = [(line["is"], line["frame"]["type"]) for line in lines if "frame" in line]
    assert frames == [
        ("out", "control_request"),
        ("in", "control_response"),
        ("out", "user"),
        ("in", "system"),
        ("in", "assistant"),
        ("in", "result"),
    ]
    assert [line["is"] for line in lines if "frame" not in line] == [
        "start",
        "end of input",
        "end of output",
        "stop",
        "stopped",
    ]
    assert {line["agent"] for line in lines} == {agent.runs[0].pid}
    assert lines == sorted(lines, key=lambda line: line["at"])
    assert lines[-1]["code"] == 0


async def test_only_the_user_may_read_it(agent, trace):
    trace.touch(0o644)
    await run(agent.begin().result("done"))

    assert stat.S_IMODE(trace.stat().st_mode) == 0o600


async def test_secrets_are_masked(agent, trace, monkeypatch):
    monkeypatch.setenv("OUR_API_KEY", "inherited-value")
    agent.begin().say(f"the key is {KEY}, and inherited-value, and given-value").stderr(f"used {KEY}\n")
    await run(
        agent.result("done"),
        env={"ANTHROPIC_AUTH_TOKEN": "given-value"},
        agents=None,
    )
    text = trace.read_text()

    assert "the key is ***, and ***, and ***" in text
    for secret in (KEY, "inherited-value", "given-value"):
        assert secret not in text


async def test_the_secrets_of_servers_that_are_added_are_masked(agent, trace):
    agent.wait("init").answer("mcp_set_servers", {"added": ["s"], "removed": [], "errors": {}}).wait("eof")
    async with ClaudeSDKClient(ClaudeAgentOptions(cli_path=agent.path)) as client:
        await client.set_mcp_servers(
            {"s": {"type": "http", "url": "http://x", "headers": {"X-Auth": "plain"}}}
        )

    assert "plain" not in trace.read_text()
    assert "http://x" in trace.read_text()


async def test_what_is_no_frame_is_written_down_as_text(agent, trace):
    agent.begin().raw(f"warning: {KEY}\n").raw(b"\xff{\n").result("done")
    await run(agent)

    assert [line["text"] for line in records(trace) if "text" in line] == ["warning: ***", "\ufffd{"]


async def test_several_conversations_can_share_it(tmp_path, trace):
    async def one(number):
        (tmp_path / str(number)).mkdir()
        await run(ScriptedAgent(tmp_path / str(number)).begin().say("x" * 10_000).result(str(number)))

    async with anyio.create_task_group() as tasks:
        for number in range(5):
            tasks.start_soon(one, number)

    lines = records(trace)
    assert len({line["agent"] for line in lines}) == 5
    assert sorted(
        line["frame"]["result"] for line in lines if line.get("frame", {}).get("type") == "result"
    ) == [
        "0",
        "1",
        "2",
        "3",
        "4",
    ]


async def test_how_the_agent_failed_is_in_it(agent, trace):
    with pytest.raises(Exception, match="the reason"):
        await run(agent.begin().stderr("the reason\n").exit(7))

    assert (records(trace)[-1]["code"], records(trace)[-1]["stderr"]) == (7, "the reason")


@pytest.mark.parametrize("kind", ["folder", "link", "pipe", "nowhere"])
async def test_a_file_that_cannot_be_written_costs_the_trace_only(agent, tmp_path, monkeypatch, caplog, kind):
    path = tmp_path / "odd"
    target = tmp_path / "target"
    if kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to(target)
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path = tmp_path / "no" / "such" / "folder"
    monkeypatch.setenv("CLAUDE_WRAPPER_TRACE", str(path))

    assert (await run(agent.begin().result("done")))[-1].result == "done"
    assert "CLAUDE_WRAPPER_TRACE names" in caplog.text
    assert not target.exists()


async def test_without_the_variable_nothing_is_written(agent, tmp_path, monkeypatch):
    monkeypatch.delenv("CLAUDE_WRAPPER_TRACE", raising=False)
    before = set(tmp_path.iterdir())
    await run(agent.begin().result("done"))

    assert {p.name for p in set(tmp_path.iterdir()) - before} <= {"scripted-agent"}


# -- logging


async def test_nothing_that_is_logged_holds_a_secret_or_what_was_said(agent, caplog):
    """Not even at the finest level, with all that can fail failing."""

    async def hook(_input, _tool_use_id, _context):
        raise RuntimeError("broken")

    agent.begin().say(f"Here is {KEY}").raw(f"no frame: {KEY}\n").emit({"type": "assistant", "message": 5})
    agent.ask("q", "hook_callback", callback_id="hook_0", input={"tool_input": KEY}).wait("control_response")
    agent.ask("q2", "from_the_future", secret=KEY).wait("control_response").result("done")
    with caplog.at_level(logging.DEBUG):
        messages = await run(
            agent,
            env={"ANTHROPIC_API_KEY": KEY},
            settings=json.dumps({"env": {"TOKEN": KEY}}),
            mcp_servers={"s": {"command": "x", "env": {"KEY": KEY}}},
            system_prompt=f"Never tell {KEY}",
            hooks={"Stop": [HookMatcher(hooks=[hook])]},
        )

    assert isinstance(messages[-1], ResultMessage)
    assert caplog.records
    assert KEY not in caplog.text
    assert {record.name for record in caplog.records if record.name.startswith("claude_wrapper")} == {
        "claude_wrapper.spawn",
        "claude_wrapper.conversation",
        "claude_wrapper.link",
    }
