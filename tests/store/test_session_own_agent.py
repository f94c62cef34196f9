"""Sessions of our own agent: what it writes is read, what is changed is gone on with, also from a store."""

import os
import shutil
import sys
from pathlib import Path

import anyio
import pytest

from claude_wrapper import (
    ClaudeAgentOptions,
    InMemorySessionStore,
    MirrorErrorMessage,
    ResultMessage,
    fork_session,
    get_session_info,
    get_session_messages,
    get_session_messages_from_store,
    list_sessions,
    project_key_for_directory,
    query,
    rename_session,
)
from claude_wrapper.testing import ScriptedModel, call, say

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

AGENT = Path(__file__).parents[2] / "bin" / "claude-agent"
SCRIPT = [say("Look") + call("Bash", command="echo hi"), say("Done.")]


@pytest.fixture
def run(transcripts):
    """Runs our agent in the project, and gives its result."""

    async def run(model, prompt, **options):
        options = ClaudeAgentOptions(
            cli_path=AGENT,
            cwd=transcripts.project,
            env={
                **model.environment(),
                "CLAUDE_CONFIG_DIR": str(transcripts.config),
                "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            },
            allowed_tools=["Bash"],
            model="claude-sonnet-4-5",
            **options,
        )
        with anyio.fail_after(60):
            messages = [message async for message in query(prompt=prompt, options=options)]
        assert not [message for message in messages if isinstance(message, MirrorErrorMessage)]
        return next(message for message in messages if isinstance(message, ResultMessage))

    return run


def said(messages):
    """The texts and tools of messages, in order."""
    return [
        message.message["content"]
        if isinstance(message.message["content"], str)
        else "+".join(block.get("text", block["type"]) for block in message.message["content"])
        for message in messages
    ]


@pytest.mark.feature("SESS-12", "SESS-13")
async def test_a_session_of_our_agent_is_read_renamed_forked_and_gone_on_with(run, transcripts):
    directory = str(transcripts.project)
    with ScriptedModel([*SCRIPT, say("Again.")]) as model:
        result = await run(model, "One")
        rename_session(result.session_id, "Named", directory)
        fork = fork_session(result.session_id, directory)
        again = await run(model, "Two", resume=fork.session_id)
        asked = str(model.requests[-1].messages)

    assert said(get_session_messages(result.session_id)) == [
        "One",
        "Look",
        "tool_use",
        "tool_result",
        "Done.",
    ]
    told = get_session_info(result.session_id)
    assert (told.custom_title, told.first_prompt, told.cwd) == ("Named", "One", directory)
    assert again.session_id == fork.session_id
    assert [text for text in ("One", "echo hi", "Done.", "Two") if text not in asked] == []
    assert [info.custom_title for info in list_sessions(directory)] == ["Named (fork)", "Named"]
    assert said(get_session_messages(fork.session_id))[:6] == [
        *said(get_session_messages(result.session_id)),
        "Two",
    ]


@pytest.mark.feature("STORE-02", "STORE-04")
@pytest.mark.parametrize("flush", ["batched", "eager"])
async def test_our_agent_goes_on_from_a_store_where_its_files_are_gone(flush, run, transcripts):
    store = InMemorySessionStore()
    key = {"project_key": project_key_for_directory(transcripts.project), "session_id": transcripts.session}
    options = {"session_store": store, "session_store_flush": flush}
    with ScriptedModel([*SCRIPT, say("Again.")]) as model:
        await run(model, "One", session_id=transcripts.session, **options)
        assert await store.load(key) == transcripts.read()
        shutil.rmtree(transcripts.config)
        result = await run(model, "Two", continue_conversation=True, **options)
        asked = str(model.requests[-1].messages)

    assert result.session_id == transcripts.session
    assert [text for text in ("One", "echo hi", "Done.", "Two") if text not in asked] == []
    messages = await get_session_messages_from_store(store, transcripts.session, str(transcripts.project))
    assert said(messages)[:6] == ["One", "Look", "tool_use", "tool_result", "Done.", "Two"]
    assert list_sessions() == []
