"""What each frame of an agent is to the user, by itself and beside the official library."""

import importlib.util
import json
import os
import subprocess
from pathlib import Path

import pytest

import claude_wrapper
from claude_wrapper import (
    AssistantMessage,
    ConversationResetMessage,
    DeferredToolUse,
    HookEventMessage,
    RateLimitEvent,
    RateLimitInfo,
    ResultMessage,
    ServerToolResultBlock,
    ServerToolUseBlock,
    StreamEvent,
    SystemMessage,
    TaskNotificationMessage,
    TaskProgressMessage,
    TaskStartedMessage,
    TaskUpdatedMessage,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UnknownBlock,
    UnknownMessage,
    UserMessage,
    query,
)

HERE = Path(__file__).parent
PROGRAM = HERE / "transport_program.py"
_spec = importlib.util.spec_from_file_location("transport_program", PROGRAM)
program = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(program)

IDS = {"uuid": "u", "session_id": "s"}


def assistant(*content, **fields):
    return {
        "type": "assistant",
        "message": {"id": "m1", "role": "assistant", "model": "m", "content": list(content), **fields},
        "parent_tool_use_id": None,
        **IDS,
    }


def user(content, **fields):
    return {"type": "user", "message": {"role": "user", "content": content}, **IDS, **fields}


def system(subtype, **fields):
    return {"type": "system", "subtype": subtype, **fields, **IDS}


RATE = {
    "status": "allowed_warning",
    "resetsAt": 5,
    "rateLimitType": "five_hour",
    "utilization": 0.9,
    "new": 1,
}
USAGE = {"total_tokens": 1, "tool_uses": 2, "duration_ms": 3}

FRAMES = {
    "text": (
        assistant({"type": "text", "text": "hi"}, usage={"input_tokens": 1}, stop_reason="end_turn"),
        AssistantMessage(
            [TextBlock("hi")],
            "m",
            usage={"input_tokens": 1},
            message_id="m1",
            stop_reason="end_turn",
            session_id="s",
            uuid="u",
        ),
    ),
    "thinking": (
        assistant({"type": "thinking", "thinking": "hm", "signature": "x"}),
        AssistantMessage([ThinkingBlock("hm", "x")], "m", message_id="m1", session_id="s", uuid="u"),
    ),
    "a tool call of a subagent": (
        {
            **assistant({"type": "tool_use", "id": "t", "name": "Bash", "input": {"a": 1}}),
            "parent_tool_use_id": "p",
        },
        AssistantMessage(
            [ToolUseBlock("t", "Bash", {"a": 1})],
            "m",
            parent_tool_use_id="p",
            message_id="m1",
            session_id="s",
            uuid="u",
        ),
    ),
    "a tool of the server": (
        assistant(
            {"type": "server_tool_use", "id": "t", "name": "advisor", "input": {}},
            {"type": "advisor_tool_result", "tool_use_id": "t", "content": {"a": 1}},
        ),
        AssistantMessage(
            [ServerToolUseBlock("t", "advisor", {}), ServerToolResultBlock("t", {"a": 1})],
            "m",
            message_id="m1",
            session_id="s",
            uuid="u",
        ),
    ),
    "an error of the API": (
        {**assistant({"type": "text", "text": "API Error"}), "error": "rate_limit"},
        AssistantMessage(
            [TextBlock("API Error")], "m", error="rate_limit", message_id="m1", session_id="s", uuid="u"
        ),
    ),
    "a tool's result": (
        user(
            [{"type": "tool_result", "tool_use_id": "t", "content": "out", "is_error": True}],
            tool_use_result={"stdout": "out"},
            parent_tool_use_id="p",
        ),
        UserMessage(
            [ToolResultBlock("t", "out", True)],
            uuid="u",
            parent_tool_use_id="p",
            tool_use_result={"stdout": "out"},
        ),
    ),
    "an echoed prompt": (user("go", isReplay=True), UserMessage("go", uuid="u")),
    "a prompt of a task": (
        user("done", origin={"kind": "task-notification"}),
        UserMessage("done", uuid="u", origin={"kind": "task-notification"}),
    ),
    "a result with everything": (
        {
            **program.RESULT,
            "uuid": "u",
            "stop_reason": "end_turn",
            "total_cost_usd": 0.5,
            "usage": {"input_tokens": 1},
            "modelUsage": {"m": {"costUSD": 0.5}},
            "permission_denials": [{"tool_name": "Bash"}],
            "structured_output": {"a": 1},
            "deferred_tool_use": {"id": "t", "name": "Bash", "input": {}},
            "api_error_status": 529,
            "terminal_reason": "completed",
            "origin": {"kind": "task-notification"},
        },
        ResultMessage(
            subtype="success",
            duration_ms=1,
            duration_api_ms=1,
            is_error=False,
            num_turns=1,
            session_id="s",
            stop_reason="end_turn",
            total_cost_usd=0.5,
            usage={"input_tokens": 1},
            result="the end",
            structured_output={"a": 1},
            model_usage={"m": {"costUSD": 0.5}},
            permission_denials=[{"tool_name": "Bash"}],
            deferred_tool_use=DeferredToolUse("t", "Bash", {}),
            api_error_status=529,
            uuid="u",
            terminal_reason="completed",
            origin={"kind": "task-notification"},
        ),
    ),
    "a result without costs": (
        program.RESULT,
        ResultMessage("success", 1, 1, False, 1, "s", result="the end"),
    ),
    "a piece of a reply": (
        {"type": "stream_event", "event": {"type": "message_stop"}, "parent_tool_use_id": None, **IDS},
        StreamEvent("u", "s", {"type": "message_stop"}),
    ),
    "a rate limit": (
        {"type": "rate_limit_event", "rate_limit_info": RATE, **IDS},
        RateLimitEvent(
            RateLimitInfo("allowed_warning", 5, "five_hour", 0.9, raw=RATE), uuid="u", session_id="s"
        ),
    ),
    "a new conversation": (
        {"type": "conversation_reset", "new_conversation_id": "n", **IDS},
        ConversationResetMessage("n", "u", "s"),
    ),
    "a task begins": (
        system("task_started", task_id="t", description="d", tool_use_id="c", task_type="local_bash"),
        TaskStartedMessage("task_started", {}, "t", "d", "u", "s", "c", "local_bash"),
    ),
    "a task goes on": (
        system("task_progress", task_id="t", description="d", usage=USAGE, last_tool_name="Bash"),
        TaskProgressMessage("task_progress", {}, "t", "d", USAGE, "u", "s", None, "Bash"),
    ),
    "a task changes": (
        system("task_updated", task_id="t", patch={"status": "killed"}),
        TaskUpdatedMessage("task_updated", {}, "t", {"status": "killed"}, "killed", "s", "u"),
    ),
    "a task ends": (
        system("task_notification", task_id="t", status="completed", output_file="f", summary="s"),
        TaskNotificationMessage("task_notification", {}, "t", "completed", "f", "s", "u", "s"),
    ),
    "a hook begins": (
        system("hook_started", hook_id="h", hook_name="Stop", hook_event="Stop"),
        HookEventMessage("hook_started", {}, "Stop", "s", "u"),
    ),
    "a hook ends": (
        system("hook_response", hook_id="h", hook_name="Stop", hook_event="Stop", outcome="success"),
        HookEventMessage("hook_response", {}, "Stop", "s", "u"),
    ),
}


def expected(name):
    frame, message = FRAMES[name]
    if isinstance(message, SystemMessage):
        message.data = frame
    return message


async def messages_of(*frames):
    transport = program.transport_of(claude_wrapper, [*frames, program.RESULT])
    return [message async for message in query(prompt="go", transport=transport)][:-1]


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("name", FRAMES)
@pytest.mark.feature("WRAP-12", "LOOP-17", "RES-03", "RES-04", "SUB-18")
async def test_a_frame_becomes_the_message_that_it_is(name):
    (message,) = await messages_of(FRAMES[name][0])

    assert message == expected(name)
    assert type(message) is type(expected(name))


EVENTS = [
    *("status", "api_retry", "compact_boundary", "informational", "notification", "permission_denied"),
    *("background_tasks_changed", "thinking_tokens", "session_title_changed", "commands_changed"),
    *("local_command_output", "files_persisted", "worker_shutting_down", "plugin_install", "hook_progress"),
    *("memory_recall", "elicitation_complete", "session_writes_lost", "one_from_the_future"),
]


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("subtype", EVENTS)
@pytest.mark.feature("STREAM-08", "LOOP-14", "WRAP-12")
async def test_every_event_of_the_session_is_passed_on_whole(subtype):
    frame = system(subtype, content="c", level="info")

    assert await messages_of(frame) == [SystemMessage(subtype, frame)]


NOT_FOR_USERS = [
    *("prompt_suggestion", "tool_progress", "tool_use_summary", "auth_status", "command_lifecycle"),
    *("active_goal", "autocompact_state", "keep_alive", "transcript_mirror"),
]


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("kind", NOT_FOR_USERS)
@pytest.mark.feature("STREAM-08", "WRAP-12")
async def test_what_the_official_library_keeps_to_itself_is_kept_here_too(kind):
    assert await messages_of({"type": kind, "filePath": "/x", "entries": [], **IDS}) == []


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.feature("WRAP-11", "WRAP-12")
async def test_the_state_of_the_session_is_shown_only_where_the_user_has_asked_for_it():
    ours, users = (
        system("session_state_changed", state="idle", **fields) for fields in ({"sdk_host_only": True}, {})
    )

    assert await messages_of(ours, users) == [SystemMessage("session_state_changed", users)]


ODD = {
    "an unknown frame": ({"type": "new", "a": 1}, UnknownMessage("new", {"type": "new", "a": 1})),
    "an unknown block": (
        assistant({"type": "hologram", "depth": 3}),
        AssistantMessage(
            [UnknownBlock({"type": "hologram", "depth": 3})], "m", message_id="m1", session_id="s", uuid="u"
        ),
    ),
    "a result of a server's tool that has no class": (
        assistant({"type": "web_search_tool_result", "tool_use_id": "t", "content": []}),
        AssistantMessage(
            [UnknownBlock({"type": "web_search_tool_result", "tool_use_id": "t", "content": []})],
            "m",
            message_id="m1",
            session_id="s",
            uuid="u",
        ),
    ),
    "a block without its fields": (
        assistant({"type": "tool_use", "id": "t"}),
        AssistantMessage(
            [UnknownBlock({"type": "tool_use", "id": "t"})], "m", message_id="m1", session_id="s", uuid="u"
        ),
    ),
    "no model": (
        {"type": "assistant", "message": {"content": [{"type": "text", "text": "hi"}]}},
        AssistantMessage([TextBlock("hi")], ""),
    ),
    "text for content": (
        {"type": "assistant", "message": {"model": "m", "content": "hi"}},
        AssistantMessage([TextBlock("hi")], "m"),
    ),
    "no message": ({"type": "assistant"}, AssistantMessage([], "")),
    "a result with nothing": (
        {"type": "result"},
        ResultMessage("", 0, 0, True, 0, ""),
    ),
    "a task without its id": (
        {"type": "system", "subtype": "task_started"},
        TaskStartedMessage("task_started", {"type": "system", "subtype": "task_started"}, "", "", "", ""),
    ),
    "an event without a kind": (
        {"type": "stream_event", "event": 5},
        UnknownMessage("stream_event", {"type": "stream_event", "event": 5}),
    ),
}


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("name", ODD)
@pytest.mark.feature("WRAP-12", "LOOP-17")
async def test_what_is_missing_or_new_does_not_end_the_stream(name):
    """The official library drops what it does not know and raises MessageParseError for what it misses."""
    frame, message = ODD[name]

    assert await messages_of(frame) == [message]


PEERS = os.environ.get("CLAUDE_WRAPPER_PEERS")


@pytest.mark.peers
@pytest.mark.skipif(not PEERS, reason="CLAUDE_WRAPPER_PEERS does not name the folder of the peers")
@pytest.mark.feature("WRAP-12")
def test_all_recorded_frames_are_the_same_messages_in_both_libraries(tmp_path):
    recorded = [
        json.loads(line) for line in (HERE.parent / "frames" / "agent.jsonl").read_text().splitlines()
    ]
    frames = [frame for frame in recorded if not frame["type"].startswith("control_")]
    frames += [frame for frame, _ in FRAMES.values()]
    frames += [system(subtype, content="c") for subtype in EVENTS]
    lines = "".join(json.dumps(frame) + "\n" for frame in frames)
    ours, theirs = (
        json.loads(printed_by(python, module, lines, tmp_path))
        for python, module in (
            (os.sys.executable, "claude_wrapper"),
            (f"{PEERS}/pyenv/bin/python", "claude_agent_sdk"),
        )
    )

    different = [
        (frame, mine, official)
        for frame, mine, official in zip(frames, ours, theirs, strict=True)
        if mine != official and not holds_what_the_official_one_drops(frame)
    ]
    assert different == []


def holds_what_the_official_one_drops(frame):
    """Blocks that have no class there; ours gives them as UnknownBlock."""
    content = frame.get("message", {}).get("content", [])
    return any(isinstance(block, dict) and block["type"] == "image" for block in content)


def printed_by(python, module, lines, home):
    done = subprocess.run(
        [python, str(PROGRAM), module],
        input=lines,
        capture_output=True,
        text=True,
        timeout=50,
        check=True,
        env={"PATH": os.environ["PATH"], "HOME": str(home)},
    )
    return done.stdout
