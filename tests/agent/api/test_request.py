import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_wrapper.agent.api.catalog import find_model
from claude_wrapper.agent.api.request import ModelRequest, cache_ttl, encode_body, request_headers
from claude_wrapper.agent.api.tuning import Wishes, tune

MARK = {"type": "ephemeral"}
TOOLS = [{"name": "A", "input_schema": {}}, {"name": "B", "input_schema": {}}]


def request(messages=None, model="claude-sonnet-4-5", **fields):
    found = find_model(model)
    messages = messages if messages is not None else [{"role": "user", "content": "Go"}]
    return ModelRequest(**{"model": found, "tuning": tune(found), "messages": messages, **fields})


def body(*args, stream=True, **fields):
    return json.loads(encode_body(request(*args, **fields), stream=stream))


def user(*texts):
    return {"role": "user", "content": [{"type": "text", "text": text} for text in texts]}


def assistant(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def marks(messages):
    return [
        (m, b)
        for m, message in enumerate(messages)
        for b, block in enumerate(message["content"])
        if "cache_control" in block
    ]


def test_the_fields_of_the_request_are_sent():
    sent = body(
        model="opus",
        tuning=tune(find_model("opus"), Wishes(effort="low", display="omitted")),
        system=("Be brief.",),
        tools=TOOLS,
        tool_choice={"type": "auto"},
        user_id="u",
        extra={"service_tier": "auto"},
        cache=None,
    )
    assert sent == {
        "model": "claude-opus-5-5",
        "max_tokens": 128000,
        "stream": True,
        "metadata": {"user_id": "u"},
        "thinking": {"type": "adaptive", "display": "omitted"},
        "output_config": {"effort": "low"},
        "tool_choice": {"type": "auto"},
        "service_tier": "auto",
        "system": [{"type": "text", "text": "Be brief."}],
        "tools": TOOLS,
        "messages": [user("Go")],
    }


def test_what_is_not_set_is_not_sent():
    sent = body(model="claude-3-5-haiku", cache=None)
    assert sent.keys() == {"model", "max_tokens", "stream", "messages"}
    assert body(model="claude-3-5-haiku", stream=False)["stream"] is False


@pytest.mark.feature("COST-07")
def test_the_cache_is_marked_at_system_tools_and_both_ends_of_the_history():
    sent = body(
        [user("one"), assistant({"type": "text", "text": "x"}), user("two", "three")],
        system=("a", "b"),
        tools=TOOLS,
    )
    assert [block.get("cache_control") for block in sent["system"]] == [None, MARK]
    assert [tool.get("cache_control") for tool in sent["tools"]] == [None, MARK]
    assert marks(sent["messages"]) == [(0, 0), (2, 1)]


@given(st.lists(st.sampled_from(["user", "assistant"]), max_size=30), st.booleans(), st.booleans())
def test_there_are_never_more_than_four_marks(roles, with_system, with_tools):
    raw = encode_body(
        request(
            [{"role": role, "content": [{"type": "text", "text": "x"}]} for role in roles],
            system=("a", "b") if with_system else (),
            tools=TOOLS if with_tools else (),
        )
    )
    assert raw.count(b"cache_control") <= 4


@pytest.mark.feature("COST-07")
def test_the_cache_can_be_kept_longer_or_not_be_used():
    sent = encode_body(request(system=("a",), cache="1h"))
    assert sent.count(b'"cache_control":{"type":"ephemeral","ttl":"1h"}') == 2
    assert dict(request_headers(request(cache="1h")))["anthropic-beta"].endswith(
        "extended-cache-ttl-2025-04-11"
    )
    assert b"cache_control" not in encode_body(request(system=("a",), tools=TOOLS, cache=None))


@pytest.mark.feature("COST-07")
@pytest.mark.parametrize(
    ("environment", "ttl"),
    [
        ({}, "5m"),
        ({"ENABLE_PROMPT_CACHING_1H": "1"}, "1h"),
        ({"ENABLE_PROMPT_CACHING_1H": "1", "FORCE_PROMPT_CACHING_5M": "1"}, "5m"),
        ({"DISABLE_PROMPT_CACHING": "1"}, None),
        ({"DISABLE_PROMPT_CACHING_SONNET": "1"}, None),
        ({"DISABLE_PROMPT_CACHING_OPUS": "1"}, "5m"),
    ],
)
def test_the_environment_says_how_long_prompts_are_cached(environment, ttl):
    assert cache_ttl(find_model("sonnet"), environment) == ttl


def test_blocks_that_cannot_carry_a_mark_get_none():
    thinking = {"type": "thinking", "thinking": "x", "signature": "s"}
    sent = body(
        [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": ""}, thinking]}]
    )
    assert marks(sent["messages"]) == [(0, 0)]


def test_deferred_tools_are_no_part_of_the_marked_prefix():
    deferred = {"name": "C", "input_schema": {}, "defer_loading": True}
    sent = body(tools=[*TOOLS, deferred])
    assert [tool.get("cache_control") for tool in sent["tools"]] == [None, MARK, None]
    assert (
        "advanced-tool-use-2025-11-20" in dict(request_headers(request(tools=[deferred])))["anthropic-beta"]
    )


def test_the_next_turn_begins_with_the_bytes_of_this_one():
    history = [{"role": "user", "content": "Go"}]
    fields = {"system": ("a", "b"), "tools": TOOLS, "user_id": "u"}
    before = encode_body(request(history, **fields))
    history += [assistant({"type": "tool_use", "id": "t", "name": "A", "input": {"b": 1, "a": 2}})]
    history += [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]}]
    after = encode_body(request(history, **fields))
    assert before.endswith(b"]}")
    assert after.startswith(before[:-2])


def test_what_the_caller_passed_is_not_changed():
    messages, tools = [{"role": "user", "content": "Go"}, user("x")], copy.deepcopy(TOOLS)
    passed = copy.deepcopy((messages, tools))
    encode_body(request(messages, tools=tools, system=("a",)))
    assert (messages, tools) == passed


def test_half_a_surrogate_pair_in_the_history_is_replaced():
    sent = body([user("a\ud83db")], cache=None)
    assert sent["messages"] == [user("a\ufffdb")]


@pytest.mark.feature("ENV-02")
def test_headers_name_the_session_the_agents_and_each_beta_once():
    headers = dict(
        request_headers(
            request(session_id="s", agent_id="a", parent_agent_id="p", betas=("x", "y")), betas=("y", "z")
        )
    )
    assert headers == {
        "anthropic-beta": "interleaved-thinking-2025-05-14,thinking-display-updates-2026-08-18,x,y,z",
        "x-claude-code-session-id": "s",
        "x-claude-code-agent-id": "a",
        "x-claude-code-parent-agent-id": "p",
    }
    assert request_headers(request(model="claude-3-5-haiku")) == []
