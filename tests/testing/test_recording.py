"""Recording: what is written down of a run with a real agent, and what the program sees meanwhile."""

import json
import os
import stat

import pytest

from claude_wrapper import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    CLIConnectionError,
    OptionsError,
    PermissionResultAllow,
    ProcessError,
    ResultError,
    Transport,
    query,
)
from claude_wrapper.testing import (
    RecordingTransport,
    ReplayTransport,
    ScriptError,
)

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("bounded")]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.jsonl"


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def seen(messages):
    """What a program saw, without what differs from run to run."""
    return [
        (
            type(m).__name__,
            getattr(m, "content", None) or getattr(m, "result", None) or getattr(m, "subtype", None),
        )
        for m in messages
    ]


async def run(transport, prompt="go", **options):
    return [m async for m in query(prompt=prompt, options=ClaudeAgentOptions(**options), transport=transport)]


async def record(agent, path, prompt="go", **options):
    transport = RecordingTransport(path, ClaudeAgentOptions(cli_path=agent.path, **options))
    return await run(transport, prompt, **options)


async def test_a_recording_holds_the_frames_of_both_sides_with_their_times_and_the_end(agent, path):
    messages = await record(agent.begin().say("hi").result("done").wait("eof").exit(0), path)

    head, *entries = lines_of(path)
    assert head["recording"] == 1
    kinds = [(entry["is"], entry.get("frame", {}).get("type")) for entry in entries]
    assert [kind for kind in kinds if kind[0] == "received"] == [
        ("received", name) for name in ("control_response", "system", "assistant", "result")
    ]
    assert [kind[0] for kind in kinds if kind[0] != "received"] == ["sent", "sent", "input_end", "end"]
    assert kinds[0] == ("sent", "control_request")
    times = [entry["at"] for entry in entries]
    assert times == sorted(times)
    assert entries[-1]["exit_code"] == 0
    assert [type(m).__name__ for m in messages] == ["SystemMessage", "AssistantMessage", "ResultMessage"]
    agent.runs[0].wait_gone()


@pytest.mark.skipif(os.name == "nt", reason="modes of files are POSIX")
async def test_only_its_owner_may_read_a_recording_even_where_a_file_was_before(agent, path):
    path.write_text("something else\n" * 1000)
    path.chmod(0o644)
    await record(agent.begin().result(), path)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "something else" not in path.read_text()


@pytest.mark.skipif(os.name == "nt", reason="links are POSIX")
async def test_a_recording_is_not_written_through_a_link(agent, path, tmp_path):
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ScriptError, match="cannot be written"):
        await record(agent.begin().result(), path)
    assert not (tmp_path / "elsewhere").exists()
    assert agent.runs == []


async def test_secrets_are_masked_wherever_they_turn_up(agent, path, monkeypatch):
    monkeypatch.setenv("MY_SERVICE_TOKEN", "inherited-value")
    secrets = {"sk-ant-abcdefgh12345678", "inherited-value", "given-value", "field-value"}
    text = "use sk-ant-abcdefgh12345678, inherited-value and given-value"
    agent.begin().say(text).ask("r1", "can_use_tool", tool_name="T", input={"password": "field-value"})
    agent.stderr("given-value\n").wait("control_response").result(text).exit(1)

    async def decide(_name, tool_input, _context):
        assert tool_input["password"] == "field-value"
        return PermissionResultAllow()

    with pytest.raises(ProcessError):
        await record(agent, path, text, env={"OTHER_SECRET": "given-value"}, can_use_tool=decide)

    written = path.read_text()
    assert not [secret for secret in secrets if secret in written]
    assert written.count("***") >= 7


async def test_an_agent_that_cannot_be_started_is_told_and_leaves_an_empty_recording(path):
    with pytest.raises(CLIConnectionError):
        await run(RecordingTransport(path, ClaudeAgentOptions(cli_path="/no/such/agent")))
    assert len(lines_of(path)) == 1


async def test_a_bad_end_is_told_as_without_a_recording(agent, path):
    with pytest.raises(ProcessError, match="the real reason") as caught:
        await record(agent.begin().stderr("the real reason\n").exit(7), path)
    assert caught.value.exit_code == 7

    with pytest.raises(ProcessError, match="the real reason") as caught:
        await run(ReplayTransport(path))
    assert caught.value.exit_code == 7


async def test_an_error_result_is_told_as_without_a_recording(agent, path):
    agent.begin().result("", subtype="error_max_turns", is_error=True, errors=["too many"]).exit(1)
    with pytest.raises(ResultError, match="too many"):
        await record(agent, path)
    with pytest.raises(ResultError, match="too many"):
        await run(ReplayTransport(path))


async def test_a_process_can_be_seen_and_killed_while_it_is_recorded(agent, path):
    agent.begin().stall("never")
    transport = RecordingTransport(path, ClaudeAgentOptions(cli_path=agent.path))
    async with ClaudeSDKClient(transport=transport) as client:
        assert client.pid == agent.runs[0].pid
        await client.query("go")
        messages = client.receive_messages()
        await anext(messages)
        client.kill()
        with pytest.raises(ProcessError):
            await anext(messages)

    assert lines_of(path)[-1]["exit_code"] == -9


async def test_lines_that_are_no_frames_are_passed_over(agent, path):
    messages = await record(agent.begin().raw("no frame\n\n").say("hi").result(), path)
    assert "AssistantMessage" in [type(m).__name__ for m in messages]


async def test_a_session_of_a_store_cannot_be_recorded(path):
    class Store:
        async def append(self, *_): ...
        async def load(self, *_): ...

    options = ClaudeAgentOptions(resume="6e3b2a4c-0000-4000-8000-000000000001", session_store=Store())
    with pytest.raises(OptionsError, match="session store"):
        await run(RecordingTransport(path, options))


async def test_a_transport_can_be_recorded_as_well(agent, path, tmp_path):
    await record(agent.begin().say("hi").result("done"), path)
    again = tmp_path / "again.jsonl"

    first = await run(RecordingTransport(again, ReplayTransport(path)))
    second = await run(ReplayTransport(again))

    assert seen(first) == seen(second)
    frames = [[e["frame"]["type"] for e in lines_of(p) if e.get("is") == "received"] for p in (path, again)]
    assert frames[0] == frames[1]


class Broken(Transport):
    """A transport whose connection is dead from the beginning."""

    async def connect(self): ...

    async def write(self, data): ...

    def read_messages(self):
        return self

    def __aiter__(self):
        return self

    async def __anext__(self):
        raise ConnectionResetError("the line is dead")

    async def close(self): ...

    def is_ready(self):
        return True

    async def end_input(self): ...


async def test_a_connection_that_broke_breaks_again(path):
    with pytest.raises(CLIConnectionError):
        await run(RecordingTransport(path, Broken()))
    assert lines_of(path)[-1]["error"] == "the line is dead"
    with pytest.raises(CLIConnectionError):
        await run(ReplayTransport(path))


async def test_what_an_agent_does_once_its_client_leaves_is_not_its_own_doing(agent, path):
    agent.wait("init").wait("eof").say("bye").exit(0)
    transport = RecordingTransport(path, ClaudeAgentOptions(cli_path=agent.path))
    async with ClaudeSDKClient(transport=transport):
        pass

    assert [entry["is"] for entry in lines_of(path)[1:]] == ["sent", "received", "closed"]
