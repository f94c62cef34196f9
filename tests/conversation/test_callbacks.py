"""Callbacks that fail in every way: the agent is told, the user sees why, and the session goes on."""

import asyncio
import contextvars
import threading

import anyio
import pytest

from claude_wrapper import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    CLIConnectionError,
    ClientUseError,
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
    PermissionUpdate,
    ResultMessage,
    create_sdk_mcp_server,
    query,
    tool,
)

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("bounded")]

INPUT = {"command": "ls"}


def asking(agent, subtype="can_use_tool", **fields):
    """An agent that asks once and then ends its turn."""
    if subtype == "can_use_tool":
        fields = {"tool_name": "Bash", "input": INPUT, "tool_use_id": "t1", **fields}
    return agent.begin().ask("q1", subtype, **fields).wait("control_response").result("done")


async def answer_of(agent, **options):
    """What the agent was answered; the run has to end well."""
    options = ClaudeAgentOptions(cli_path=agent.path, **options)
    messages = [m async for m in query(prompt="go", options=options)]
    assert messages[-1].result == "done"
    (frame,) = agent.runs[0].frames_of("control_response")
    return frame["response"]


async def denied(agent, callback):
    """The error that the agent was answered: a permission callback that fails allows nothing."""
    answer = await answer_of(asking(agent), can_use_tool=callback)
    assert answer["subtype"] == "error"
    return answer["error"]


# -- the permission callback


async def test_a_callback_that_raises_denies_and_is_logged_with_its_traceback(agent, caplog):
    async def can_use_tool(_name, _input, _context):
        raise RuntimeError("cannot decide")

    assert await denied(agent, can_use_tool) == "cannot decide"
    assert "can_use_tool failed" in caplog.text
    assert "Traceback" in caplog.text


async def test_an_error_without_words_is_told_by_its_name(agent):
    async def can_use_tool(_name, _input, _context):
        raise ConnectionResetError

    assert await denied(agent, can_use_tool) == "ConnectionResetError"


RUBBISH = {
    "nothing": (None, "must return PermissionResultAllow or PermissionResultDeny, it returned NoneType"),
    "a flag": (True, "it returned bool"),
    "a dict": ({"behavior": "allow"}, "it returned dict"),
    "an input that is none": (PermissionResultAllow(updated_input="ls"), "updated_input must be a dict"),
    "an input that is no JSON": (
        PermissionResultAllow(updated_input={"a": object()}),
        "Encoding objects of type object is unsupported",
    ),
    "updates as dicts": (
        PermissionResultAllow(updated_permissions=[{"type": "setMode"}]),
        "updated_permissions must be a list of PermissionUpdate",
    ),
}


@pytest.mark.feature("PERM-24")
async def test_an_update_that_lacks_something_costs_the_updates_and_not_the_call(agent, caplog):
    async def can_use_tool(_name, _input, _context):
        whole = PermissionUpdate("addDirectories", directories=["/x"])
        return PermissionResultAllow(updated_permissions=[whole, PermissionUpdate("setMode")])

    agent.begin().ask("q", "can_use_tool", tool_name="Bash", input=INPUT).wait("control_response").result()
    options = ClaudeAgentOptions(cli_path=agent.path, can_use_tool=can_use_tool)

    [m async for m in query(prompt="go", options=options)]

    (answer,) = agent.runs[0].frames_of("control_response")
    assert answer["response"]["response"] == {"behavior": "allow", "updatedInput": INPUT}
    assert "none of its permission updates is in effect: " in caplog.text
    assert "has no mode" in caplog.text


@pytest.mark.parametrize("name", RUBBISH)
async def test_what_is_no_decision_denies(agent, name, caplog):
    decision, reason = RUBBISH[name]

    async def can_use_tool(_name, _input, _context):
        return decision

    assert reason in await denied(agent, can_use_tool)
    assert "can_use_tool failed" in caplog.text


async def test_a_plain_function_is_taken_for_a_callback_too(agent):
    answer = await answer_of(asking(agent), can_use_tool=lambda *_: PermissionResultDeny(message="no"))

    assert answer["response"] == {"behavior": "deny", "message": "no"}


async def test_a_callback_of_the_wrong_signature_denies(agent):
    async def can_use_tool(_name):
        return PermissionResultAllow()

    assert "positional argument" in await denied(agent, can_use_tool)


async def test_an_error_group_denies(agent):
    async def fail():
        raise LookupError("inside")

    async def can_use_tool(_name, _input, _context):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(fail)

    assert "1 sub-exception" in await denied(agent, can_use_tool)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_callback_that_waits_for_a_cancelled_task_denies_and_keeps_nobody_waiting(agent, caplog):
    """The official client never answers then, and the agent waits for ever."""

    async def can_use_tool(_name, _input, _context):
        task = asyncio.ensure_future(asyncio.sleep(60))
        task.cancel()
        await task

    assert await denied(agent, can_use_tool) == "can_use_tool was cancelled"
    assert "was cancelled by something else than the conversation" in caplog.text


async def test_a_scope_that_the_callback_cancels_itself_is_its_own_business(agent):
    async def can_use_tool(_name, _input, _context):
        with anyio.move_on_after(0):
            await anyio.sleep_forever()
        return PermissionResultAllow()

    answer = await answer_of(asking(agent), can_use_tool=can_use_tool)
    assert answer["response"] == {"behavior": "allow", "updatedInput": INPUT}


async def test_a_callback_that_never_returns_ends_with_its_run(agent):
    ended = []

    async def can_use_tool(_name, _input, _context):
        time_limit.deadline = anyio.current_time() + 0.05
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(True)

    agent.begin().ask("q1", "can_use_tool", tool_name="Bash", input={}).wait("interrupt")
    agent.result("", subtype="error_during_execution", is_error=True).wait("eof")
    options = ClaudeAgentOptions(cli_path=agent.path, can_use_tool=can_use_tool)
    with anyio.CancelScope() as time_limit:
        async for _ in query(prompt="go", options=options):
            pass

    assert ended == [True]
    agent.runs[0].wait_gone()


async def test_a_callback_that_blocks_its_thread_holds_up_nothing_for_good(agent):
    async def can_use_tool(_name, _input, _context):
        threading.Event().wait(0.3)
        return PermissionResultAllow()

    assert (await answer_of(asking(agent), can_use_tool=can_use_tool))["subtype"] == "success"


# -- what a callback may do with its client


async def test_a_callback_may_use_its_client(agent):
    done = []

    async def can_use_tool(_name, _input, _context):
        await client.set_permission_mode("plan")
        await client.query("one more")
        with pytest.raises(ClientUseError):
            await anext(client.receive_messages())
        done.append(True)
        return PermissionResultAllow()

    options = ClaudeAgentOptions(cli_path=asking(agent).wait("eof").path, can_use_tool=can_use_tool)
    async with ClaudeSDKClient(options) as client:
        await client.query("go")
        messages = [m async for m in client.receive_response()]

    assert isinstance(messages[-1], ResultMessage)
    assert done == [True]
    assert len(agent.runs[0].frames_of("user")) == 2


async def test_a_callback_may_close_its_client(agent):
    closed = anyio.Event()

    async def can_use_tool(_name, _input, _context):
        await client.disconnect()
        closed.set()
        return PermissionResultAllow()

    agent.begin().ask("q1", "can_use_tool", tool_name="Bash", input={}).wait("eof")
    client = ClaudeSDKClient(ClaudeAgentOptions(cli_path=agent.path, can_use_tool=can_use_tool))
    await client.connect("go")
    with anyio.fail_after(40):
        assert [m async for m in client.receive_messages()]
        await closed.wait()

    assert not client.alive
    agent.runs[0].wait_gone()


# -- hooks


def hooked(agent, callback, event="PreToolUse", **settings):
    fields = {"callback_id": "hook_0", "input": {"hook_event_name": event}}
    hooks = {event: [HookMatcher(hooks=[callback], **settings)]}
    return asking(agent, "hook_callback", **fields), hooks


async def hook_answer(agent, callback, event="PreToolUse", **settings):
    scripted, hooks = hooked(agent, callback, event, **settings)
    return await answer_of(scripted, hooks=hooks)


async def never(_input, _tool_use_id, _context):
    await anyio.sleep_forever()


async def test_a_hook_that_takes_too_long_is_cancelled_and_refuses_the_call(agent, caplog):
    """Nobody has looked at the call, so it does not run, as when the agent itself watches over the time."""
    answer = await hook_answer(agent, never, timeout=0.1)

    decision = answer["response"]["hookSpecificOutput"]
    assert (decision["hookEventName"], decision["permissionDecision"]) == ("PreToolUse", "deny")
    assert decision["permissionDecisionReason"] == (
        "The PreToolUse hook never did not return within 0.1 seconds"
    )
    assert "did not return within 0.1 seconds" in caplog.text


@pytest.mark.parametrize("event", ["PostToolUse", "Stop", "UserPromptSubmit"])
async def test_elsewhere_a_hook_that_takes_too_long_has_failed(agent, event):
    answer = await hook_answer(agent, never, event, timeout=0.1)

    assert answer["subtype"] == "error"
    assert answer["error"] == f"The {event} hook never did not return within 0.1 seconds"


async def test_a_hook_without_a_time_limit_may_take_its_time(agent):
    async def slow(_input, _tool_use_id, _context):
        await anyio.sleep(0.3)
        return {"continue_": True}

    assert (await hook_answer(agent, slow))["response"] == {"continue": True}


async def test_a_timeout_of_the_hooks_own_is_a_failure_of_it_and_no_refusal(agent):
    async def impatient(_input, _tool_use_id, _context):
        with anyio.fail_after(0):
            await anyio.sleep_forever()

    answer = await hook_answer(agent, impatient, timeout=20)
    assert (answer["subtype"], answer["error"]) == ("error", "TimeoutError")


HOOK_RUBBISH = {
    "text": ("stop", "a hook callback must return a dict, it returned str"),
    "a list": ([], "a hook callback must return a dict, it returned list"),
    "no JSON": ({"reason": object()}, "Encoding objects of type object is unsupported"),
}


@pytest.mark.parametrize("name", HOOK_RUBBISH)
async def test_what_is_no_hook_output_is_an_error(agent, name, caplog):
    output, reason = HOOK_RUBBISH[name]

    async def hook(_input, _tool_use_id, _context):
        return output

    answer = await hook_answer(agent, hook)
    assert (answer["subtype"], answer["error"]) == ("error", reason)
    assert "The PreToolUse hook" in caplog.text


async def test_a_hook_that_says_nothing_has_no_opinion(agent):
    async def hook(_input, _tool_use_id, _context):
        return None

    assert (await hook_answer(agent, hook))["response"] == {}


@pytest.mark.feature("HOOK-15")
async def test_a_hook_whose_failure_shall_block_must_say_something(agent):
    async def hook(_input, _tool_use_id, _context):
        return None

    agent.answer("initialize", {"hook_on_failure_supported": True, "hooks_applied": True})
    agent.begin().ask("q", "hook_callback", callback_id="hook_0", input={}).wait("control_response").result()
    hooks = {"PreToolUse": [HookMatcher(hooks=[hook], on_failure="block")]}
    options = ClaudeAgentOptions(cli_path=agent.path, hooks=hooks)

    [m async for m in query(prompt="go", options=options)]

    (answer,) = agent.runs[0].frames_of("control_response")
    assert answer["response"]["subtype"] == "error"
    assert answer["response"]["error"] == "a hook callback must return a dict, it returned NoneType"


async def test_a_hook_that_raises_is_an_error_and_the_next_one_is_served(agent):
    calls = []

    async def hook(_input, _tool_use_id, _context):
        calls.append(True)
        if len(calls) == 1:
            raise RuntimeError("broken")
        return {}

    fields = {"callback_id": "hook_0", "input": {}}
    agent.begin().ask("q1", "hook_callback", **fields).wait("control_response")
    agent.ask("q2", "hook_callback", **fields).wait("control_response").result("done")
    options = ClaudeAgentOptions(cli_path=agent.path, hooks={"Stop": [HookMatcher(hooks=[hook])]})
    assert [m async for m in query(prompt="go", options=options)][-1].result == "done"

    answers = [frame["response"]["subtype"] for frame in agent.runs[0].frames_of("control_response")]
    assert answers == ["error", "success"]


# -- the context they run in


async def test_hooks_and_tools_run_in_the_context_of_the_latest_query(agent):
    speaker = contextvars.ContextVar("speaker")
    seen = []

    async def hook(_input, _tool_use_id, _context):
        seen.append(("hook", speaker.get()))
        return {}

    @tool("who", "who speaks", {})
    async def who(_arguments):
        seen.append(("tool", speaker.get()))
        return {"content": [{"type": "text", "text": speaker.get()}]}

    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "who", "arguments": {}}}
    agent.wait("init")
    for _ in range(2):
        agent.wait("user").ask("h", "hook_callback", callback_id="hook_0", input={}).wait("control_response")
        agent.ask("m", "mcp_message", server_name="s", message=call).wait("control_response").result("done")

    speaker.set("at connect")
    options = ClaudeAgentOptions(
        cli_path=agent.wait("eof").path,
        hooks={"Stop": [HookMatcher(hooks=[hook])]},
        mcp_servers={"s": create_sdk_mcp_server("s", tools=[who])},
    )
    async with ClaudeSDKClient(options) as client:
        for name in ("first", "second"):
            speaker.set(name)
            await client.query("go")
            assert [m async for m in client.receive_response()]

    assert seen == [("hook", "first"), ("tool", "first"), ("hook", "second"), ("tool", "second")]


# -- prompts


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_prompts_that_wait_for_a_cancelled_task_end_the_run(agent):
    async def prompts():
        yield {"type": "user", "message": {"role": "user", "content": "one"}}
        task = asyncio.ensure_future(asyncio.sleep(60))
        task.cancel()
        await task

    options = ClaudeAgentOptions(cli_path=agent.begin().wait("eof").path)
    with pytest.raises(CLIConnectionError, match="iterable of prompts was cancelled"):
        assert [m async for m in query(prompt=prompts(), options=options)]
