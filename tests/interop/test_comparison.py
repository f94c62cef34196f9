"""The comparison itself: what it must not see, and that it sees everything else."""

import copy
import uuid
from dataclasses import replace
from pathlib import Path

import pytest
from interop_kit import scenario
from interop_kit.cells import Cell
from interop_kit.checked import ScenarioError, check
from interop_kit.compare import differences
from interop_kit.crowd import CORES, Room
from interop_kit.kept import Kept
from interop_kit.matrix import Outcome, judge, table, undeclared
from interop_kit.normalise import normalised
from interop_kit.observation import Observation, RunSeen
from interop_kit.scenario import Scenario, placed
from interop_kit.settle import verdict_of

SCENARIO = Scenario(
    name="made_up",
    model=[{"content": [{"type": "tool_use", "name": "Write", "input": {"file_path": "/project/a.txt"}}]}],
    runs=[{"via": "query", "prompt": "Go", "can_use_tool": [{"deny": "Not in this house."}]}],
)
HEADERS = {"x-api-key": "sk-test", "user-agent": "one/1.2.3", "anthropic-beta": "effort-1,claude-code-2"}


def play(folder="/tmp/one", *, refusal="Sorry, no.", fault=("ResultError", "ProcessError", "ClaudeSDKError")):
    """A play as one vendor might show it: its own folder, ids, clocks and words."""
    project, call, session = f"{folder}/project", f"toolu_{uuid.uuid4().hex}", str(uuid.uuid4())
    use = {"class": "ToolUseBlock", "id": call, "name": "Write", "input": {"file_path": f"{project}/a.txt"}}
    result = {"class": "ToolResultBlock", "tool_use_id": call, "content": refusal, "is_error": True}
    done = {"class": "ResultMessage", "subtype": "success", "duration_ms": len(folder), "total_cost_usd": 0.5}
    rows = [
        {"class": "AssistantMessage", "content": [use], "session_id": session},
        {"class": "UserMessage", "content": [result], "session_id": session},
        {**done, "num_turns": 2, "is_error": False, "session_id": session},
    ]
    events = [{"kind": "message", "message": row} for row in rows]
    events.append({"kind": "permission", "permission": {"tool": "Write", "input": dict(use["input"])}})
    events.append({"kind": "raise", "raise": {"where": "query", "mro": list(fault), "text": "It broke."}})
    answer = {"type": "tool_result", "tool_use_id": call, "content": refusal, "is_error": True}
    asked = [{"role": "user", "content": "Go"}, {"role": "user", "content": [answer]}]
    processes = [{"pid": 7}, {"pid": 7, "code": 1}]
    return Observation(
        project=Path(project),
        home=Path(folder) / "home",
        runs=[RunSeen(events, processes, 0, "")],
        requests=[
            {"path": "/v1/messages", "headers": dict(HEADERS), "body": {"model": "m", "messages": asked}}
        ],
        files={"b.txt": "b"},
        transcripts={f"{project.replace('/', '-')}/{session}.jsonl": transcript(call)},
    )


def transcript(call):
    """A prompt, a note that only the agent needs, a call, its result, an answer; linked one to the other."""
    contents = ["Go", "aside", [{"type": "tool_use"}], [{"type": "tool_result"}], [{"type": "text"}]]
    ids = [str(uuid.uuid4()) for _ in contents]
    rows = [
        {
            "type": kind,
            "uuid": ids[at],
            "parentUuid": ids[at - 1] if at else None,
            "message": {"content": contents[at]},
        }
        for at, kind in enumerate(["user", "attachment", "assistant", "user", "assistant"])
    ]
    return [{"type": "queue-operation", "sessionId": call}, *rows]


def found(one, other):
    return differences(normalised(one, SCENARIO), normalised(other, SCENARIO))


def test_folders_ids_clocks_and_a_vendors_words_make_no_difference():
    assert found(play(), play("/tmp/another/place", refusal="You may not do that here.")) == []


def tampered(change):
    other = play()
    change(other)
    return found(play(), other)


def message(seen, index):
    return seen.runs[0].events[index]["message"]


CHANGES = {
    "a message is missing": lambda seen: seen.runs[0].events.pop(1),
    "messages are in another order": lambda seen: seen.runs[0].events.insert(0, seen.runs[0].events.pop(1)),
    "a message is told twice": lambda seen: seen.runs[0].events.append(copy.deepcopy(seen.runs[0].events[0])),
    "a tool input differs": lambda seen: message(seen, 0)["content"][0]["input"].update(file_path="/other"),
    "an error is no error": lambda seen: message(seen, 1)["content"][0].update(is_error=False),
    "a flag is a number": lambda seen: message(seen, 2).update(is_error=0),
    "a cost differs": lambda seen: message(seen, 2).update(total_cost_usd=0.51),
    "a count differs": lambda seen: message(seen, 2).update(num_turns=3),
    "a member is missing": lambda seen: message(seen, 2).pop("num_turns"),
    "a member is new": lambda seen: message(seen, 2).update(surprise=None),
    "a result belongs to another call": lambda seen: message(seen, 1)["content"][0].update(
        tool_use_id="toolu_9"
    ),
    "a session changes its id": lambda seen: message(seen, 2).update(session_id=str(uuid.uuid4())),
    "a callback got another input": lambda seen: seen.runs[0].events[3]["permission"]["input"].clear(),
    "another exception": lambda seen: seen.runs[0].events[4]["raise"].update(mro=["ValueError", "Exception"]),
    "another exit code": lambda seen: seen.runs[0].processes[1].update(code=0),
    "an agent that goes on": lambda seen: seen.runs[0].processes.pop(),
    "a driver that fails": lambda seen: setattr(seen.runs[0], "driver_code", 1),
    "a file is changed": lambda seen: seen.files.update({"b.txt": "c"}),
    "a file is new": lambda seen: seen.files.update({"c.txt": ""}),
    "the model was told something else": lambda seen: seen.requests[0]["body"]["messages"][0].update(
        content="Gone"
    ),
    "another key": lambda seen: seen.requests[0]["headers"].update({"x-api-key": "sk-other"}),
    "a header is new": lambda seen: seen.requests[0]["headers"].update({"x-mine": "1"}),
    "a beta is missing": lambda seen: seen.requests[0]["headers"].pop("anthropic-beta"),
    "another field": lambda seen: seen.requests[0]["body"].update(max_tokens=5),
    "another address": lambda seen: seen.requests[0].update(path="/v1/messages?beta=true"),
    "the model was not told": lambda seen: seen.requests[0]["body"]["messages"].pop(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_difference_is_found_when(change):
    assert tampered(change)


def test_who_sends_a_request_and_its_own_betas_make_no_difference():
    def rename(seen):
        seen.requests[0]["headers"].update(
            {"user-agent": "other/2.0.0 (external)", "anthropic-beta": "effort-1"}
        )
        seen.requests[0]["headers"]["x-stainless-lang"] = "js"

    assert tampered(rename) == []


def test_a_finer_exception_of_ours_is_caught_by_the_same_clause():
    finer = ("IncompleteTurnError", "ResultError", "ProcessError", "ClaudeSDKError")
    assert found(play(), play(fault=finer)) == []


def test_the_callers_own_sentence_has_to_be_passed_on_whatever_stands_around_it():
    official = play(refusal="The host said: Not in this house.")
    assert found(official, play(refusal="Denied. (Not in this house.)")) == []
    assert found(official, play(refusal="Denied.")) != []


def test_a_text_that_a_model_depends_on_is_compared_and_what_follows_it_is_not():
    official = play(refusal="Exit code 3\nwhy")
    assert found(official, play(refusal="Exit code 4\nwhy")) != []
    written = "File created successfully at: /tmp/one/project/a.txt"
    assert found(play(refusal=f"{written} (a note)"), play(refusal=f"{written} (another note)")) == []


@pytest.mark.parametrize(("method", "is_free"), [("interrupt", True), ("get_session_info", False)])
def test_only_a_method_that_is_declared_to_return_nothing_may_return_more(method, is_free):
    official, ours = play(), play()
    for seen, result in ((official, None), (ours, {"still_queued": []})):
        seen.runs[0].events.append({"kind": "call", "call": {"method": method, "result": result}})
    assert (found(official, ours) == []) is is_free


def test_the_first_difference_is_named_by_its_place():
    lines = tampered(CHANGES["a tool input differs"])
    assert lines[0] == (
        "run 0 messages[0] message AssistantMessage [ToolUseBlock].content[0].input.file_path:"
        ' "/other", should be "/project/a.txt"'
    )


def test_stand_in_folders_are_not_found_inside_other_words():
    value = {"text": "/project/a /projects /project-b x/project"}
    assert placed(value, Path("/p"), Path("/h")) == {"text": "/p/a /projects /project-b x/p"}


def test_a_table_counts_what_it_shows():
    text = table({"one": {"a": "equal", "b": "failed"}, "two": {"a": "equal"}})
    assert text.splitlines()[-2:] == [
        "equal 2, declared 0, open 0, different 0, failed 1",
        "2 scenarios: 1 equal in all cells, 0 declared differences, 0 open, 0 different, 1 failed",
    ]


def test_a_difference_on_purpose_is_told_apart_and_a_declaration_that_explains_nothing_is_found():
    declared = replace(SCENARIO, differs={"wrapper+agent: *cost: 1*": "dearer", "*: files*": "other files"})
    outcome = Outcome(Cell("python", our_sdk=True, our_agent=True), {}, 0)
    judge(outcome, ["run 0 cost: 1, should be 2", "run 0 turns: 1, should be 2"], declared)
    assert (outcome.declared, outcome.differences) == (
        ["run 0 cost: 1, should be 2"],
        ["run 0 turns: 1, should be 2"],
    )
    assert outcome.word == "different"
    assert undeclared(declared, [outcome]) == ["*: files*"]


def test_what_a_missing_feature_explains_is_open_and_not_wrong():
    outcome = Outcome(Cell("python", our_sdk=True, our_agent=True), {}, 0)
    judge(outcome, ["run 0 turns: 1, should be 2"], replace(SCENARIO, open="subagents"))
    assert outcome.word == "open"
    judge(equal := replace(outcome, differences=[]), [], replace(SCENARIO, open="subagents"))
    assert equal.word == "equal"


def the_transcript(seen):
    return next(iter(seen.transcripts.values()))


def test_an_entry_of_a_conversation_that_is_not_written_shows():
    assert tampered(lambda seen: the_transcript(seen).pop()) == [
        "transcripts[0]: missing after user [tool_result]: assistant [text]"
    ]


def test_an_entry_that_hangs_elsewhere_shows():
    def unlink(seen):
        rows = the_transcript(seen)
        rows[-1]["parentUuid"] = rows[1]["uuid"]

    assert tampered(unlink) == ["transcripts[0][3] assistant [text].after: 0, should be 2"]


def test_what_an_agent_notes_for_itself_in_a_transcript_does_not_show():
    def rename_note(seen):
        the_transcript(seen)[2]["type"] = "progress"

    assert tampered(rename_note) == []


def test_effort_and_marks_for_the_cache_show():
    def tune(seen):
        seen.requests[0]["body"]["output_config"] = {"effort": "high"}
        seen.requests[0]["body"]["messages"][-1]["content"][0]["cache_control"] = {"type": "ephemeral"}

    assert tampered(tune) == [
        'requests[0] request of 2 messages.output: {"effort": "high"}, should be null',
        'requests[0] request of 2 messages.cached.end: [{"type": "ephemeral"}], should be []',
    ]


def test_a_play_is_kept_only_where_it_is_asked_for_and_found_again_only_for_the_same_suite(tmp_path):
    name = scenario.names()[0]
    nowhere, here = Kept(None), Kept(tmp_path)
    nowhere.write(name, "sdk-py+claude", {"a": 1})
    here.write(name, "sdk-py+claude", {"a": 1})
    assert (nowhere.read(name, "sdk-py+claude"), Kept(tmp_path).read(name, "sdk-py+claude")) == (
        None,
        {"a": 1},
    )
    here._suite = "changed"  # as if a file of the suite had changed
    assert here.read(name, "sdk-py+claude") is None


def test_a_difference_that_may_appear_need_not():
    declared = replace(SCENARIO, may_differ={"wrapper+agent: *cost: 1*": "dearer; the order of two threads"})
    outcome = Outcome(Cell("python", our_sdk=True, our_agent=True), {}, 0)
    judge(outcome, ["run 0 cost: 1, should be 2"], declared)
    assert outcome.word == "declared"
    assert undeclared(declared, []) == []


def test_a_cell_is_right_when_it_equals_any_play_of_its_reference_and_is_told_to_be_unsteady():
    cell = Cell("python", our_sdk=True, our_agent=True)

    def shown(which, text):
        return Outcome(which, {"files": {"a": text}}, 0)

    plays = [[shown(cell.reference, "1"), shown(cell, "2")], [shown(cell.reference, "2"), shown(cell, "3")]]
    verdict = verdict_of(SCENARIO, plays)
    assert (verdict.wrong, len(verdict.unsteady)) == ([], 1)
    assert verdict_of(SCENARIO, plays[:1]).wrong == ['wrapper+agent: files.a: "2", should be "1"']


def test_the_model_of_a_scenario_and_its_driver_are_read_before_anything_plays():
    for name in scenario.names():
        assert scenario.load(name).runs


SENTENCES = {
    "a member that nobody reads": (
        {"runs": [{"via": "query", "prompt": "Go", "option": {}}]},
        "odd.driver.json: runs[0].option: nobody reads this; options is meant?",
    ),
    "a step that nobody plays": (
        {"drivers": ["raw"], "runs": [{"via": "raw", "steps": [{"until": "ResultMessage"}]}]},
        "odd.driver.json: runs[0].steps[0]: should have one of ",
    ),
    "a driver for another kind of run": (
        {"drivers": ["raw"], "runs": [{"via": "query", "prompt": "Go"}]},
        "odd.driver.json: runs[0].via: query cannot be played by raw",
    ),
    "a wrong type": (
        {"shows": "LOOP-01", "runs": [{"via": "query", "prompt": "Go"}]},
        'odd.driver.json: shows: should be list, is "LOOP-01"',
    ),
    "nothing to play": ({"runs": []}, "odd.driver.json: runs: missing or empty"),
}


@pytest.mark.parametrize(("driver", "sentence"), SENTENCES.values(), ids=SENTENCES.keys())
def test_a_scenario_that_nobody_would_play_is_refused_by_file_and_place(driver, sentence):
    with pytest.raises(ScenarioError) as refused:
        check("odd", driver, [])
    assert str(refused.value).startswith(sentence)


def test_a_model_that_nobody_would_read_is_refused_by_file_and_place():
    with pytest.raises(ScenarioError, match=r"odd\.json: .*`contents`"):
        check("odd", {"runs": [{"via": "query", "prompt": "Go"}]}, [{"contents": []}])


def test_a_name_that_no_scenario_has_is_answered_with_those_that_are_like_it():
    with pytest.raises(ScenarioError, match="oneshot_text"):
        scenario.load("oneshot_txt")


def test_as_many_plays_go_on_as_leave_little_of_the_processors_idle():
    looks = iter([(0, 0), (9, 10), (18, 20), (18, 30), (18, 40), (18, 50), (18, 60), (18, 70), (18, 80)])
    room = Room(None, lambda: next(looks))
    start = room.limit()
    for _ in range(start):
        room.enter()
    room.look()
    assert room.limit() == start + 1
    room.look()
    assert room.limit() == start + 1, "what is allowed already is not used up"
    for _ in range(5):
        room.look()
    assert room.limit() == CORES
