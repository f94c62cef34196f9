"""query() of the blocking door: a plain iterator over one run."""

import collections
import contextvars
import gc
import threading

import pytest

from claude_wrapper import (
    AssistantMessage,
    ClaudeAgentOptions,
    CLINotFoundError,
    HookMatcher,
    OptionsError,
    PermissionResultAllow,
    PermissionResultDeny,
    ProcessError,
    ResultError,
    ResultMessage,
    SystemMessage,
    create_sdk_mcp_server,
    tool,
)
from claude_wrapper.sync import query
from claude_wrapper.testing import RecordingTransport, ReplayTransport


def test_a_run_gives_its_messages_and_ends_with_the_agent(agent, options):
    agent.begin().say("hi").result("done")

    messages = list(query(prompt="go", options=options()))

    assert [type(m) for m in messages] == [SystemMessage, AssistantMessage, ResultMessage]
    assert agent.runs[0].frames_of("user")[0]["message"]["content"] == "go"
    agent.runs[0].wait_gone()


def test_nothing_is_started_before_the_first_message_is_asked_for(agent, options):
    agent.begin().result()
    before = threading.active_count()

    messages = query(prompt="go", options=options())

    assert (agent.runs, threading.active_count()) == ([], before)
    messages.close()
    assert agent.runs == []


def test_leaving_the_loop_early_ends_the_agent(agent, options):
    agent.begin().say("hi").stall("never")

    for message in query(prompt="go", options=options()):
        if isinstance(message, AssistantMessage):
            break

    agent.runs[0].wait_gone()


def test_an_error_of_the_loop_body_ends_the_agent_and_goes_on_unchanged(agent, options):
    agent.begin().say("hi").wait("eof")

    def body():
        for _ in query(prompt="go", options=options()):
            raise LookupError("of mine")

    with pytest.raises(LookupError, match="of mine"):
        body()

    agent.runs[0].wait_gone()


def test_an_agent_that_fails_is_told_as_by_the_async_one(agent, options):
    agent.begin().stderr("the real reason\n").exit(7)

    with pytest.raises(ProcessError, match="the real reason") as caught:
        list(query(prompt="go", options=options()))

    assert caught.value.exit_code == 7


def test_an_error_result_is_given_and_then_raised(agent, options):
    agent.begin().result("", subtype="error_max_turns", is_error=True, errors=["too many"]).exit(1)
    seen = []

    messages = query(prompt="go", options=options())
    with pytest.raises(ResultError, match="too many"):
        collections.deque(map(seen.append, messages))

    assert seen[-1].subtype == "error_max_turns"


def test_what_cannot_start_leaves_no_thread():
    for options, error in [
        (ClaudeAgentOptions(cli_path="/no/such/agent"), CLINotFoundError),
        (ClaudeAgentOptions(hooks={"PreToolUse": [len]}), OptionsError),
        (ClaudeAgentOptions(can_use_tool="nothing to call"), OptionsError),
        (ClaudeAgentOptions(mcp_servers={"a": 1}), OptionsError),
    ]:
        with pytest.raises(error):
            list(query(prompt="go", options=options))


def prompt(text):
    return {"type": "user", "message": {"role": "user", "content": text}}


@pytest.mark.parametrize("kind", ["list", "generator", "async generator"])
def test_prompts_may_come_from_any_iterable(agent, options, kind):
    def generated():
        yield prompt("one")
        yield prompt("two")

    async def later():
        yield prompt("one")
        yield prompt("two")

    agent.wait("init").wait("user").init().result("first").wait("user").init().result("second")
    prompts = {"list": [prompt("one"), prompt("two")], "generator": generated(), "async generator": later()}

    messages = list(query(prompt=prompts[kind], options=options()))

    assert [m.result for m in messages if isinstance(m, ResultMessage)] == ["first", "second"]


def test_a_generator_of_prompts_may_wait_for_the_messages_it_leads_to(agent, options):
    answered = threading.Event()

    def prompts():
        yield prompt("one")
        assert answered.wait(40)
        yield prompt("two")

    agent.wait("init").wait("user").init().result("first").wait("user").init().result("second")
    results = []
    for message in query(prompt=prompts(), options=options()):
        if isinstance(message, ResultMessage):
            results.append(message.result)
            answered.set()

    assert results == ["first", "second"]


def test_a_failure_of_the_prompts_is_raised_to_who_iterates(agent, options):
    def prompts():
        yield prompt("one")
        raise LookupError("no more prompts")

    agent.begin().wait("eof")
    with pytest.raises(LookupError, match="no more prompts"):
        list(query(prompt=prompts(), options=options()))


# -- callbacks


def ask_permission(agent):
    return agent.begin().ask("r1", "can_use_tool", tool_name="Bash", input={"command": "ls"})


def answer_of(agent, kind="control_response"):
    return agent.runs[0].frames_of(kind)[0]["response"]["response"]


@pytest.mark.parametrize("plain", [True, False])
def test_a_permission_callback_may_be_plain_or_async(agent, options, plain):
    def decide(name, *_):
        return PermissionResultDeny(message=f"no {name} here")

    async def decide_later(*args):
        return decide(*args)

    ask_permission(agent).wait("control_response").result()
    list(query(prompt="go", options=options(can_use_tool=decide if plain else decide_later)))

    assert answer_of(agent) == {"behavior": "deny", "message": "no Bash here"}


def test_a_plain_callback_may_wait_while_messages_go_on(agent, options):
    seen_behind = threading.Event()

    def decide(*_):
        assert seen_behind.wait(40)
        return PermissionResultAllow()

    ask_permission(agent).say("meanwhile").wait("control_response").result()
    for message in query(prompt="go", options=options(can_use_tool=decide)):
        if isinstance(message, AssistantMessage):
            seen_behind.set()

    assert answer_of(agent)["behavior"] == "allow"


def test_a_plain_function_that_returns_something_to_await_is_awaited(agent, options):
    async def decide(answer):
        return answer

    def plain(*_):
        return decide(PermissionResultAllow())

    ask_permission(agent).wait("control_response").result()
    list(query(prompt="go", options=options(can_use_tool=plain)))

    assert answer_of(agent)["behavior"] == "allow"


def test_what_a_plain_callback_raises_is_answered_as_an_error(agent, options):
    def decide(*_):
        raise LookupError("cannot decide")

    ask_permission(agent).wait("control_response").result()
    list(query(prompt="go", options=options(can_use_tool=decide)))

    assert agent.runs[0].frames_of("control_response")[0]["response"]["error"] == "cannot decide"


@pytest.mark.parametrize("plain", [True, False])
def test_hooks_and_tools_may_be_plain_or_async(agent, options, plain):
    def hook(*_):
        return {"continue_": False}

    def add(args):
        return {"content": [{"type": "text", "text": str(args["a"] + threading.active_count() * 0)}]}

    async def hook_later(*args):
        return hook(*args)

    async def add_later(args):
        return add(args)

    server = create_sdk_mcp_server("s", tools=[tool("add", "adds", {"a": int})(add if plain else add_later)])
    hooks = {"PreToolUse": [HookMatcher(hooks=[hook if plain else hook_later])]}
    agent.begin().ask("r1", "hook_callback", callback_id="hook_0", input={}).wait("control_response")
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "add", "arguments": {"a": 2}},
    }
    agent.ask("r2", "mcp_message", server_name="s", message=message).wait("control_response").result()

    list(query(prompt="go", options=options(hooks=hooks, mcp_servers={"s": server})))

    hook_answer, tool_answer = (
        f["response"]["response"] for f in agent.runs[0].frames_of("control_response")
    )
    assert hook_answer == {"continue": False}
    assert tool_answer["mcp_response"]["result"]["content"][0]["text"] == "2"


def test_plain_callbacks_run_elsewhere_but_in_the_context_of_the_call(agent, options):
    who = contextvars.ContextVar("who", default="nobody")
    seen = []

    def decide(*_):
        seen.append((who.get(), threading.current_thread() is threading.main_thread()))
        return PermissionResultAllow()

    who.set("the caller")
    ask_permission(agent).wait("control_response").result()
    list(query(prompt="go", options=options(can_use_tool=decide)))

    assert seen == [("the caller", False)]


def test_a_plain_callback_that_exits_ends_the_program(agent, options):
    def decide(*_):
        raise SystemExit(3)

    ask_permission(agent).wait("control_response").stall("never")
    with pytest.raises(SystemExit) as caught:
        list(query(prompt="go", options=options(can_use_tool=decide)))

    assert caught.value.code == 3
    agent.runs[0].wait_gone()


def test_a_generator_of_prompts_that_exits_ends_the_program(agent, options):
    def prompts():
        yield prompt("one")
        raise SystemExit(3)

    agent.begin().stall("never")
    with pytest.raises(SystemExit) as caught:
        list(query(prompt=prompts(), options=options()))

    assert caught.value.code == 3
    agent.runs[0].wait_gone()


def test_an_async_callback_that_exits_ends_the_program(agent, options):
    async def decide(*_):
        raise SystemExit(3)

    ask_permission(agent).stall("never")
    with pytest.raises(SystemExit) as caught:
        list(query(prompt="go", options=options(can_use_tool=decide)))

    assert caught.value.code == 3
    agent.runs[0].wait_gone()


# -- ends that nobody planned


def test_ctrl_c_while_waiting_ends_the_agent(agent, options, ctrl_c):
    agent.begin().wait("eof").stall("never")

    ctrl_c(lambda: agent.wait_run().wait_frame("user"))
    with pytest.raises(KeyboardInterrupt):
        list(query(prompt="go", options=options()))

    agent.runs[0].wait_gone()


def test_an_iteration_that_the_loop_thread_itself_drops_is_ended_without_waiting_for_itself(agent, options):
    agent.begin().stall("dropped").ask("r1", "can_use_tool", tool_name="Bash", input={}).stall("never")
    holder = {}

    async def decide(*_):
        holder.clear()
        gc.collect()
        return PermissionResultAllow()

    cycle = {"run": query(prompt="go", options=options(can_use_tool=decide))}
    cycle["self"] = cycle
    holder["cycle"] = cycle
    next(cycle["run"])
    del cycle
    agent.gate("dropped").release()

    agent.runs[0].wait_gone()


def test_a_run_can_be_recorded_and_played_back(agent, tmp_path):
    agent.begin().say("hi").result("done")
    path = tmp_path / "run.jsonl"
    recording = RecordingTransport(path, ClaudeAgentOptions(cli_path=agent.path))

    before = [type(m) for m in query(prompt="go", transport=recording)]
    with ReplayTransport(path) as transport:
        after = [type(m) for m in query(prompt="go", transport=transport)]

    assert after == before
