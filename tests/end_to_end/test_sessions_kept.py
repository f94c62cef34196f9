"""What a session keeps from one run to the next."""

import uuid

import pytest

from claude_wrapper import (
    ClaudeSDKClient,
    ProcessError,
    SessionNotFoundError,
    SystemMessage,
    get_session_messages,
    list_sessions,
    query,
)
from claude_wrapper.testing import ScriptedModel, call, say

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("bounded")]


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def run(options, prompt="go"):
    return [m async for m in query(prompt=prompt, options=options)]


def texts_of(body):
    """What was said so far, in a request to the model."""
    texts = []
    for message in body["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        texts += [block["text"] for block in blocks if block["type"] == "text"]
    return texts


@pytest.mark.feature("SESS-04")
async def test_a_session_can_be_resumed_however_quickly_its_client_was_closed(own):
    session = None
    with ScriptedModel([say("answered")] * 4) as model:
        for number in range(4):
            async with ClaudeSDKClient(own(model, resume=session)) as client:
                await client.query(f"prompt {number}")
                async for message in client.receive_response():
                    session = message.session_id if hasattr(message, "session_id") else session

    said = texts_of(model.requests[-1].body)
    for number in range(3):
        assert f"prompt {number}" in said
    assert said.count("answered") == 3
    assert "prompt 3" in said


@pytest.mark.feature("SESS-04", "SESS-06")
async def test_a_resumed_session_keeps_its_id_and_only_a_fork_gets_another(own):
    chosen = str(uuid.uuid4())
    with ScriptedModel([say("one"), say("two"), say("three")]) as model:
        async with ClaudeSDKClient(own(model, session_id=chosen)) as client:
            known_at_once = client.session_id
            await client.query("go")
            first = [m async for m in client.receive_response()]
        second = await run(own(model, resume=chosen))
        third = await run(own(model, resume=chosen, fork_session=True))

    def ids(messages):
        init = next(m for m in messages if isinstance(m, SystemMessage) and m.subtype == "init")
        return {init.data["session_id"], messages[-1].session_id}

    assert known_at_once == chosen
    assert ids(first) == ids(second) == {chosen}
    assert chosen not in ids(third)
    assert len(ids(third)) == 1


@pytest.mark.feature("SESS-04", "RES-05")
async def test_that_a_session_is_not_there_is_an_error_of_its_own_with_the_reason(own):
    absent = str(uuid.uuid4())
    with ScriptedModel([say("never")]) as model, pytest.raises(SessionNotFoundError, match=absent):
        await run(own(model, resume=absent))


async def test_the_reason_of_a_refusal_on_stderr_is_in_the_error(agent, options):
    agent.stderr("No conversation found with session ID: abc\n").exit(1)

    with pytest.raises(ProcessError, match="No conversation found with session ID: abc") as caught:
        await run(options(resume="abc"))
    assert caught.value.exit_code == 1


@pytest.mark.feature("STREAM-04")
async def test_after_an_interrupted_call_every_call_in_the_history_has_its_result(own):
    with ScriptedModel([call("Bash", command="sleep 30"), say("later"), say("resumed")]) as model:
        async with ClaudeSDKClient(own(model, allowed_tools=["Bash"])) as client:
            await client.query("sleep")
            await model.request(1)
            async for message in client.receive_messages():
                if type(message).__name__ == "AssistantMessage":
                    break
            await client.interrupt()
            [m async for m in client.receive_response()]
            await client.query("and now?")
            messages = [m async for m in client.receive_response()]
            session = client.session_id
        await run(own(model, resume=session))

    assert messages[-1].result == "later"
    for request in model.requests[1:]:
        blocks = [b for m in request.body["messages"] if isinstance(m["content"], list) for b in m["content"]]
        used = [b["id"] for b in blocks if b["type"] == "tool_use"]
        answered = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
        assert used == answered != []


@pytest.mark.feature("SET-02")
async def test_without_setting_sources_nothing_is_taken_from_the_disk(own):
    secret = "mention the lighthouse"
    for folder in (own.home, own.project, own.project / ".claude"):
        folder.mkdir(exist_ok=True)
        (folder / "CLAUDE.md").write_text(f"Always {secret}.")
        (folder / "settings.json").write_text('{"model": "claude-lighthouse"}')
    skill = own.project / ".claude" / "skills" / "lighthouse"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(f"---\nname: lighthouse\ndescription: {secret}\n---\n{secret}\n")
    (own.project / ".mcp.json").write_text('{"mcpServers": {"lighthouse": {"command": "false"}}}')

    with ScriptedModel([say("ok")]) as model:
        messages = await run(own(model, setting_sources=[]))

    init = next(m for m in messages if isinstance(m, SystemMessage) and m.subtype == "init")
    assert "lighthouse" not in str(model.requests[0].body)
    assert init.data["mcp_servers"] == []
    assert "lighthouse" not in str(init.data["skills"])


@pytest.mark.feature("SESS-09", "SESS-10")
async def test_sessions_can_be_listed_and_read_though_lines_are_broken_or_unknown(own, monkeypatch):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(own.home))
    with ScriptedModel([say("one")]) as model:
        messages = await run(own(model), "a question")
    session = messages[-1].session_id
    (transcript,) = own.home.glob(f"projects/*/{session}.jsonl")
    with transcript.open("a") as file:
        file.write('{"type": "from-the-future", "uuid": "x"}\nnot json\n{"type": "assistant", "mess')

    (info,) = list_sessions(str(own.project))
    read = get_session_messages(session, str(own.project))

    assert info.session_id == session
    assert [message.type for message in read] == ["user", "assistant"]
