"""Compaction, seen from outside the agent's process."""

import json

import pytest

from claude_wrapper.testing import ScriptedModel, call, fail, say, stall, turn

NOTES = say("<analysis>hm</analysis><summary>the notes</summary>")
SMALL_WINDOW = ("--autocompact", "100000")
TOO_LONG = "prompt is too long: 210000 tokens > 200000 maximum"


def full(*parts):
    return turn(*parts, usage={"input_tokens": 150_000, "output_tokens": 10})


def ask(talk, text, **fields):
    talk.prompt(text, **fields)
    return talk.result()


def texts(request):
    return [block["text"] for message in request.messages for block in message["content"] if "text" in block]


def conversation(workspace):
    return [entry for entry in workspace.entries() if "uuid" in entry]


@pytest.mark.feature("CTX-05", "LOOP-14", "COST-03")
def test_a_command_puts_a_summary_in_the_place_of_what_came_before(workspace):
    with ScriptedModel([say("one"), say("two"), NOTES, say("three")], order="queue") as model:
        talk = workspace.talk(model)
        ask(talk, "first")
        ask(talk, "second")
        done = ask(talk, "/compact keep names")
        after = ask(talk, "third")
        talk.close()

    asked, last = texts(model.requests[2]), texts(model.requests[3])
    border = talk.of("system", "compact_boundary")[0]
    assert "keep names" in asked[-1]
    assert asked[:4] == ["first", "one", "second", "two"]
    assert "the notes" in last[0]
    assert "hm" not in last[0].split()
    assert last[1] == "two"
    assert "first" not in last
    assert (done["num_turns"], done["result"], done["local_command"]) == (0, "", "compact")
    assert done["total_cost_usd"] == pytest.approx(0.0018)
    assert after["total_cost_usd"] == pytest.approx(0.0024)
    assert border["compact_metadata"]["trigger"] == "manual"
    assert border["compact_metadata"]["pre_tokens"] == 120


@pytest.mark.feature("CTX-05")
def test_the_request_for_a_summary_begins_like_the_last_one_and_leaves_its_own_end_out_of_the_cache(
    workspace,
):
    with ScriptedModel([say("one"), say("two"), NOTES, say("three")], order="queue") as model:
        talk = workspace.talk(model)
        for prompt in ("first", "second", "/compact"):
            ask(talk, prompt)
        talk.close()

    before, summing = model.requests[1].body, model.requests[2].body
    same = ("model", "system", "tools", "thinking", "max_tokens")
    assert [before.get(key) for key in same] == [summing.get(key) for key in same]
    assert [any("cache_control" in block for block in m["content"]) for m in summing["messages"]] == [
        True, False, True, False, False,
    ]  # fmt: skip


@pytest.mark.feature("CTX-05")
def test_the_transcript_has_a_border_a_summary_and_what_was_kept(workspace):
    with ScriptedModel([say("one"), say("two"), NOTES], order="queue") as model:
        talk = workspace.talk(model)
        for prompt in ("first", "second", "/compact"):
            ask(talk, prompt)
        talk.close()

    entries = conversation(workspace)
    border = next(entry for entry in entries if entry.get("subtype") == "compact_boundary")
    summary = entries[entries.index(border) + 1]
    reply = next(e for e in entries if e["type"] == "assistant" and "two" in str(e["message"]))
    frame = talk.of("system", "compact_boundary")[0]
    shown = next(f for f in talk.of("user") if f.get("isSynthetic"))
    assert (border["parentUuid"], border["logicalParentUuid"]) == (None, reply["uuid"])
    assert frame["logical_parent_uuid"] == reply["uuid"]
    assert summary["parentUuid"] == border["uuid"]
    assert (summary["isCompactSummary"], summary["uuid"]) == (True, shown["uuid"])
    assert border["compactMetadata"]["preservedMessages"] == {
        "anchorUuid": summary["uuid"],
        "uuids": [reply["uuid"]],
        "allUuids": [reply["uuid"]],
    }
    assert frame["compact_metadata"]["preserved_segment"] == {
        "head_uuid": reply["uuid"],
        "anchor_uuid": summary["uuid"],
        "tail_uuid": reply["uuid"],
    }


@pytest.mark.feature("CTX-04")
def test_a_session_that_was_compacted_within_a_turn_is_resumed_as_it_was(workspace):
    calls = call("Bash", command="echo a") + call("Bash", command="echo b")
    script = [say("one"), full(calls), NOTES, say("two"), say("three"), say("four")]
    with ScriptedModel(script, order="queue") as model:
        first = workspace.talk(model, *SMALL_WINDOW, "--allowedTools", "Bash")
        ask(first, "first")
        session = ask(first, "second")["session_id"]
        ask(first, "third")
        first.close()
        second = workspace.talk(model, "--resume", session)
        ask(second, "fourth")
        second.close()

    before, resumed = model.requests[4].messages, model.requests[5].messages
    plain = [
        json.loads(json.dumps(m).replace(', "cache_control": {"type": "ephemeral"}', "")) for m in before
    ]
    again = [
        json.loads(json.dumps(m).replace(', "cache_control": {"type": "ephemeral"}', "")) for m in resumed
    ]
    assert again[: len(plain)] == plain
    assert [block["type"] for block in plain[1]["content"]] == ["tool_use", "tool_use"]
    assert not second.of("system", "compact_boundary")


@pytest.mark.feature("CTX-04")
def test_a_resumed_session_knows_how_full_its_window_is(workspace):
    with ScriptedModel([say("one"), full(say("two")), NOTES, say("three")], order="queue") as model:
        first = workspace.talk(model)
        ask(first, "first")
        session = ask(first, "second")["session_id"]
        first.close()
        second = workspace.talk(model, *SMALL_WINDOW, "--resume", session)
        ask(second, "third")
        second.close()

    assert second.of("system", "compact_boundary")[0]["compact_metadata"]["pre_tokens"] > 150_000


@pytest.mark.feature("CTX-04")
def test_where_no_summary_can_be_had_it_is_given_up_after_three_times(workspace):
    script = [say("one"), *(part for _ in range(4) for part in (full(say("more")), say(""), say("")))]
    with ScriptedModel([*script[:-2], full(say("end"))], order="queue") as model:
        talk = workspace.talk(model, *SMALL_WINDOW)
        for prompt in ("1", "2", "3", "4", "5", "6"):
            last = ask(talk, prompt)
        talk.close()

    assert last["result"] == "end"
    assert [f.get("compact_result") for f in talk.of("system", "status") if f["status"] is None] == [
        "failed"
    ] * 3


@pytest.mark.feature("CTX-11")
def test_the_oldest_messages_are_left_out_where_the_summary_itself_is_too_long(workspace):
    too_long = fail(400, times=2, error="invalid_request_error", message=TOO_LONG)
    script = [say("one"), say("two"), say("three"), too_long + NOTES, say("four")]
    with ScriptedModel(script, order="queue") as model:
        talk = workspace.talk(model)
        for prompt in ("first", "second", "third"):
            ask(talk, prompt)
        last = ask(talk, "fourth")
        talk.close()

    assert last["result"] == "four"
    assert talk.of("system", "compact_boundary")
    assert texts(model.requests[-2])[:3] == ["second", "two", "third"]
    assert texts(model.requests[-1])[-2:] == ["three", "fourth"]


def test_another_model_writes_the_summary_where_the_first_fails(workspace):
    with ScriptedModel([say("one"), fail(500) + NOTES], order="queue") as model:
        talk = workspace.talk(model, "--fallback-model", "claude-haiku-4-5")
        ask(talk, "first")
        done = ask(talk, "/compact")
        talk.close()

    assert talk.of("system", "compact_boundary")
    assert set(done["modelUsage"]) == {"claude-sonnet-4-5", "claude-haiku-4-5"}


@pytest.mark.feature("CTX-08")
def test_a_hook_that_blocks_says_why(workspace):
    settings = {
        "hooks": {"PreCompact": [{"hooks": [{"type": "command", "command": "echo not now >&2; exit 2"}]}]}
    }
    with ScriptedModel([say("one"), say("two")], order="queue") as model:
        talk = workspace.talk(model, "--settings", json.dumps(settings))
        ask(talk, "first")
        done = ask(talk, "/compact")
        ask(talk, "second")
        talk.close()

    assert "not now" in done["result"]
    assert not talk.of("system", "compact_boundary")
    assert texts(model.requests[1])[:2] == ["first", "one"]


@pytest.mark.feature("CTX-05")
def test_an_interrupt_leaves_the_conversation_whole(workspace):
    with ScriptedModel([say("one"), stall("summary") + NOTES, say("two")], order="queue") as model:
        talk = workspace.talk(model)
        ask(talk, "first")
        talk.prompt("/compact")
        model.gate("summary").wait(40)
        talk.control("stop", "interrupt")
        done = talk.result()
        ask(talk, "second")
        talk.close()

    assert (done["subtype"], done["result"], done["is_error"]) == ("success", "", False)
    assert not talk.of("system", "compact_boundary")
    assert texts(model.requests[-1])[:2] == ["first", "one"]


def test_a_command_is_echoed_by_its_id(workspace):
    uuid = "11111111-2222-4333-8444-555555555555"
    with ScriptedModel([say("one"), NOTES], order="queue") as model:
        talk = workspace.talk(model, "--replay-user-messages")
        ask(talk, "first")
        ask(talk, "/compact keep names", uuid=uuid)
        talk.close()

    echo = talk.of("user")[-1]
    assert (echo["uuid"], echo["isReplay"]) == (uuid, True)
    assert "<command-args>keep names</command-args>" in echo["message"]["content"]


@pytest.mark.feature("CTX-10")
def test_the_command_can_be_switched_off(workspace):
    with ScriptedModel([say("one")]) as model:
        talk = workspace.talk(model, env={"DISABLE_COMPACT": "1"})
        ask(talk, "first")
        done = ask(talk, "/compact")
        talk.close()

    assert done["result"] == "/compact isn't available in this environment."


@pytest.mark.feature("SKILL-18")
@pytest.mark.parametrize("before", [[], ["/cost"]])
def test_too_little_is_said_to_be_too_little(workspace, before):
    talk = workspace.talk(None)
    for command in before:
        ask(talk, command)
    done = ask(talk, "/compact")
    talk.close()

    assert (done["is_error"], done["result"]) == (False, "Not enough messages to compact.")
    assert not talk.of("system", "compact_boundary")


@pytest.mark.feature("CTX-06", "CTX-07")
def test_instructions_steer_the_summary_and_are_read_again_behind_it(workspace):
    path = workspace.project / "CLAUDE.md"
    path.write_text("Old rule")
    with ScriptedModel([say("one"), say("two"), NOTES, say("three"), NOTES], order="queue") as model:
        talk = workspace.talk(model)
        ask(talk, "first")
        session = ask(talk, "second")["session_id"]
        path.write_text("New rule")
        ask(talk, "/compact")
        ask(talk, "third")
        talk.close()
        resumed = workspace.talk(model, "--resume", session)
        ask(resumed, "/compact")
        resumed.close()

    summing, after, again = (str(request.messages) for request in model.requests[2:])
    assert ("Old rule" in summing, "New rule" in summing) == (True, False)
    assert ("Old rule" in after, "New rule" in after) == (False, True)
    assert "New rule" in again


@pytest.mark.feature("CTX-09", "HEVT-19")
def test_hooks_hear_of_instructions_that_are_read_again(workspace):
    (workspace.project / "CLAUDE.md").write_text("A rule")
    log = workspace.project / "log.txt"
    hook = {"hooks": [{"type": "command", "command": f"cat >> {log}; echo >> {log}"}]}
    settings = {"hooks": {"InstructionsLoaded": [hook], "PostCompact": [hook]}}
    with ScriptedModel([say("one"), NOTES], order="queue") as model:
        talk = workspace.talk(model, "--settings", json.dumps(settings))
        ask(talk, "first")
        ask(talk, "/compact")
        talk.close()

    told = [json.loads(line) for line in log.read_text().splitlines() if line]
    assert [each.get("load_reason") for each in told] == ["session_start", None, "compact"]
    assert "the notes" in told[1]["compact_summary"]


@pytest.mark.feature("CTX-10")
def test_settings_that_change_move_it_at_once(workspace, eventually):
    def window():
        return talk.ask("get_context_usage")["response"]["maxTokens"]

    path = workspace.home / ".claude" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text("{}")
    with ScriptedModel([say("one"), say("two")]) as model:
        talk = workspace.talk(model)
        ask(talk, "first")
        before = window()
        path.write_text('{"autoCompactWindow": 100000}')
        ask(talk, "second")
        eventually(lambda: window() == 100_000)
        talk.close()

    assert before == 200_000


@pytest.mark.feature("CTX-10")
def test_the_use_of_the_window_tells_when_it_counts_as_full(workspace):
    talk = workspace.talk(None, *SMALL_WINDOW)
    usage = talk.ask("get_context_usage")["response"]
    talk.close()

    assert (usage["maxTokens"], usage["autoCompactThreshold"]) == (100_000, 67_000)
    assert (usage["isAutoCompactEnabled"], usage["autocompactSource"]) == (True, "settings")
    assert sum(each["tokens"] for each in usage["categories"]) == 100_000


def test_printing_compacts_a_resumed_session(workspace):
    with ScriptedModel([say("one"), NOTES], order="queue") as model:
        workspace.run(model, "-p", "first", "--model", "claude-sonnet-4-5")
        code, out, _ = workspace.run(model, "-p", "/compact", "--continue", "--model", "claude-sonnet-4-5")

    assert (code, out.strip()) == (0, "")
    assert any(entry.get("subtype") == "compact_boundary" for entry in conversation(workspace))
