"""Agents that are started ahead, and pools of them, without an event loop."""

import gc
import inspect
import threading

import pytest

import claude_wrapper
from claude_wrapper import (
    AssistantMessage,
    ClaudeAgentOptions,
    CLIConnectionError,
    ClientUseError,
    IncompleteTurnError,
    NoProgressError,
    OptionsError,
    PermissionResultAllow,
    ProcessError,
)
from claude_wrapper.sync import AgentPool, ClaudeSDKClient, WarmAgent, startup
from claude_wrapper.testing.agent_frames import tool_call, tool_result
from claude_wrapper.testing.polling import poll


def until(condition):
    poll(lambda: condition() or None, "the pool's state", 10)


def public(cls):
    return {name: member for name, member in inspect.getmembers(cls) if not name.startswith("_")}


@pytest.mark.parametrize(
    ("ours", "theirs", "more"),
    [
        (WarmAgent, claude_wrapper.WarmAgent, {"owns_loop"}),
        (AgentPool, claude_wrapper.AgentPool, set()),
    ],
)
def test_they_have_the_methods_of_the_async_ones_with_the_same_parameters(ours, theirs, more):
    ours, theirs = public(ours), public(theirs)

    assert set(ours) - more == set(theirs)
    for name, member in theirs.items():
        if inspect.isfunction(member):
            assert list(inspect.signature(ours[name]).parameters) == list(
                inspect.signature(member).parameters
            ), name
            assert not inspect.iscoroutinefunction(ours[name])
            assert ours[name].__doc__ == member.__doc__ or ours[name].__doc__, name


def test_starting_and_making_a_pool_take_the_same_parameters():
    for ours, theirs in ((startup, claude_wrapper.startup), (AgentPool, claude_wrapper.AgentPool)):
        assert [(p.name, p.kind, p.default) for p in inspect.signature(ours).parameters.values()] == [
            (p.name, p.kind, p.default) for p in inspect.signature(theirs).parameters.values()
        ]


@pytest.mark.parametrize("kind", ["warm agent", "client", "client of a warm agent"])
def test_what_was_forgotten_is_ended_and_complained_about(agent, options, kind):
    agent.wait("init").wait("eof")
    given = options()
    if kind == "client":
        held = ClaudeSDKClient(given)
        held.connect()
    else:
        held = startup(given)
        held = ClaudeSDKClient.from_warm(held) if kind == "client of a warm agent" else held
    with pytest.warns(ResourceWarning, match="was not closed") as complaints:  # noqa: PT031
        del held
        gc.collect()  # in a cycle it would wait for that
        agent.runs[0].wait_gone()
    assert len(complaints) == 1


def test_it_has_shaken_hands_before_there_is_a_prompt(agent, options):
    agent.answer("initialize", {"commands": []}).begin().say("hi").result("done")
    with startup(options()) as warm:
        assert (warm.alive, warm.pid, warm.server_info) == (True, agent.runs[0].pid, {"commands": []})
        assert agent.runs[0].frames_of("user") == []

        messages = list(warm.query("go"))

    assert [type(m) for m in messages][1] is AssistantMessage
    assert messages[-1].result == "done"
    assert len(agent.runs) == 1
    agent.runs[0].wait_gone()


def test_one_that_is_not_used_ends_with_its_block(agent, options):
    agent.begin()
    with startup(options()) as warm:
        assert warm.alive
    assert not warm.alive
    agent.runs[0].wait_gone()


def test_it_has_one_conversation(agent, options):
    agent.begin().result("done").wait("eof")
    with startup(options()) as warm:
        list(warm.query("go"))
        with pytest.raises(CLIConnectionError):
            list(warm.query("again"))


def test_a_client_can_have_it(agent, options):
    agent.begin().result("one").wait("user").result("two").wait("eof")
    warm = startup(options())
    with ClaudeSDKClient.from_warm(warm) as client:
        results = []
        for prompt in ("a", "b"):
            client.query(prompt)
            results.append(list(client.receive_response())[-1].result)
        with pytest.raises(ClientUseError):
            ClaudeSDKClient.from_warm(warm)

    assert results == ["one", "two"]
    assert len(agent.runs) == 1
    agent.runs[0].wait_gone()


def test_leaving_its_run_early_ends_it(agent, options):
    agent.begin().say("hi").wait("interrupt").result("", subtype="error_during_execution", is_error=True)
    with startup(options()) as warm:
        for message in warm.query("go"):
            if isinstance(message, AssistantMessage):
                break
    agent.runs[0].wait_gone()
    assert len(agent.runs[0].frames_of("interrupt")) == 1


def test_one_that_does_not_come_up_is_told_and_leaves_no_thread(options, agent):
    agent.stderr("no license\n").exit(3)
    with pytest.raises(CLIConnectionError, match="no license"):
        startup(options())


def test_it_can_be_killed_from_another_thread(agent, options, aside):
    agent.begin().say("hi").wait("eof")
    with startup(options()) as warm:
        messages = warm.query("go")
        next(messages)
        aside(warm.kill)
        with pytest.raises(ProcessError):
            list(messages)


def test_closing_it_elsewhere_is_no_success_for_who_reads(agent, options, aside):
    agent.begin().say("hi").wait("eof")
    with startup(options()) as warm:
        messages = warm.query("go")
        next(messages)
        aside(warm.close)
        with pytest.raises((IncompleteTurnError, CLIConnectionError)):
            list(messages)


def test_its_plain_callbacks_are_called(agent, options):
    asked = []

    def decide(tool, _input, _context):
        asked.append((tool, threading.current_thread()))
        return PermissionResultAllow()

    agent.begin().ask("q", "can_use_tool", tool_name="Bash", input={}).wait("control_response").result()
    with startup(options(can_use_tool=decide)) as warm:
        list(warm.query("go"))

    ((tool, thread),) = asked
    assert tool == "Bash"
    assert thread is not threading.current_thread()
    assert agent.runs[0].frames_of("control_response")[0]["response"]["response"]["behavior"] == "allow"


def test_options_that_only_we_have_count_too(agent, options):
    agent.begin()
    for number in range(2):
        name = f"toolu_{number}"
        agent.emit(
            tool_call("Bash", {}, tool_use_id=name), tool_result("no", tool_use_id=name, is_error=True)
        )
    agent.wait("interrupt").result(is_error=True).wait("eof")
    with startup(options(max_consecutive_tool_errors=2)) as warm, pytest.raises(NoProgressError):
        list(warm.query("go"))


def test_a_pool_has_agents_ready_and_makes_others_ready_again(agent, options):
    agent.begin().result("done")
    with AgentPool(options(), 2) as pool:
        until(lambda: pool.ready == 2)
        assert list(pool.query("go"))[-1].result == "done"
        until(lambda: pool.ready == 2)
        assert len(agent.runs) == 3

    assert (pool.ready, pool.in_use) == (0, 0)
    for run in agent.runs:
        run.wait_gone()


def test_a_pool_serves_many_threads_and_no_more_than_its_limit_at_once(agent, options, aside):
    agent.begin().stall("go").result("done")
    results = []
    with AgentPool(options(), limit=2) as pool:
        threads = [aside(lambda: results.append(list(pool.query("go"))[-1].result)) for _ in range(5)]
        until(lambda: pool.in_use == 2)
        assert pool.ready == 0
        agent.gate("go").release()
        for thread in threads:
            thread.join(40)

    assert results == ["done"] * 5


def test_a_pool_lends_clients(agent, options):
    agent.begin().result("one").wait("user").result("two").wait("eof")
    with AgentPool(options()) as pool:
        with pool.client() as client:
            for wanted in ("one", "two"):
                client.query("go")
                assert list(client.receive_response())[-1].result == wanted
            assert pool.in_use == 1
            client.close()
        until(lambda: pool.in_use == 0)
        with pool.client() as client:
            client.query("go")
            assert list(client.receive_response())[-1].result == "one"


def test_a_run_of_a_pool_that_is_left_early_gives_its_place_back(agent, options):
    agent.begin().say("hi").wait("interrupt").result("", subtype="error_during_execution", is_error=True)
    with AgentPool(options(), limit=1) as pool:
        for _ in range(2):
            for message in pool.query("go"):
                if isinstance(message, AssistantMessage):
                    break
        until(lambda: pool.in_use == 0)


def test_leaving_the_pool_ends_what_is_in_use_and_tells_who_reads(agent, options):
    agent.begin().say("hi").wait("eof")
    with AgentPool(options()) as pool:
        messages = pool.query("go")
        next(messages)
    with pytest.raises((IncompleteTurnError, CLIConnectionError)):
        list(messages)
    for run in agent.runs:
        run.wait_gone()


def test_a_pool_that_is_not_open_and_settings_that_make_none_are_refused(options):
    with pytest.raises(ClientUseError, match="use it in `with`"):
        list(AgentPool(options()).query("go"))
    with pytest.raises(OptionsError, match="size"):
        AgentPool(ClaudeAgentOptions(), 3, limit=2)
