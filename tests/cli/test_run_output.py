"""What `run` prints, and where."""

import json
import re

import pytest

from claude_wrapper.testing import ScriptedAgent, ScriptedModel, call, fail, say

SESSION = re.compile(r"session [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", re.MULTILINE)


def test_the_answer_goes_to_stdout_and_the_way_to_it_to_stderr(cli):
    turns = [say("I will look.") + call("Bash", command="echo seen; exit 3"), say("It is **blue**.\n- ä ☃")]
    with ScriptedModel(turns) as model:
        done = cli("run", "What color?", "--allow", "Bash", env=model.environment())
    assert done.returncode == 0
    assert done.stdout == "It is **blue**.\n- ä ☃\n"
    said = done.stderr.splitlines()
    assert said[:4] == ["I will look.", "> Bash: echo seen; exit 3", "< Bash: failed", "    Exit code 3"]
    assert said[4] == "    seen"
    assert re.match(r"Done: 2 turns, \d+\.\d s, \$0\.\d{4}, session ", said[-1])
    assert SESSION.search(said[-1])


def test_quiet_prints_the_answer_and_nothing_else(cli):
    with ScriptedModel([say("Before.") + call("Bash", command="true"), say("After.")]) as model:
        done = cli("run", "Go", "--quiet", "--allow", "Bash", env=model.environment())
    assert (done.returncode, done.stdout, done.stderr) == (0, "After.\n", "")


def test_json_prints_the_result_object_of_the_field(cli):
    with ScriptedModel([say("Four.")]) as model:
        done = cli("run", "2+2?", "--json", env=model.environment())
    result = json.loads(done.stdout)
    assert done.stdout.count("\n") == 1
    assert (result["type"], result["subtype"], result["is_error"]) == ("result", "success", False)
    assert (result["result"], result["num_turns"]) == ("Four.", 1)
    assert result["total_cost_usd"] > 0
    assert {"session_id", "usage", "modelUsage", "duration_ms", "permission_denials"} <= result.keys()
    assert done.stderr == ""


def test_an_error_result_is_printed_as_json_too(cli):
    with ScriptedModel([call("Bash", command="true")]) as model:
        done = cli("run", "Go", "--json", "--max-turns", "1", "--allow", "Bash", env=model.environment())
    assert done.returncode == 1
    assert json.loads(done.stdout)["subtype"] == "error_max_turns"
    assert "the limit of turns is reached" in done.stderr


def test_stream_json_prints_each_message_as_a_line(cli):
    with ScriptedModel([say("Hm.") + call("Bash", command="echo hi"), say("ok")]) as model:
        done = cli("run", "Go", "--stream-json", "--allow", "Bash", env=model.environment())
    frames = [json.loads(line) for line in done.stdout.splitlines()]
    assert [frame["type"] for frame in frames] == [
        "system",
        "assistant",
        "assistant",
        "user",
        "assistant",
        "result",
    ]
    assert frames[0]["subtype"] == "init"
    assert frames[1]["message"]["content"] == [{"type": "text", "text": "Hm."}]
    assert frames[2]["message"]["content"][0]["input"] == {"command": "echo hi"}
    assert frames[3]["message"]["content"][0]["content"] == "hi"
    assert frames[3]["tool_use_result"]["stdout"] == "hi"
    assert len({frame["session_id"] for frame in frames if "session_id" in frame}) == 1


def test_json_is_utf8_whatever_the_locale(cli):
    with ScriptedModel([say("ä ☃")]) as model:
        plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
        done = cli("run", "Go", "--json", env={**model.environment(), **plain}, text=False)
    assert json.loads(done.stdout.decode())["result"] == "ä ☃"


def test_text_that_the_locale_has_no_characters_for_is_escaped(cli):
    with ScriptedModel([say("snow ☃")]) as model:
        plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
        done = cli("run", "Go", env={**model.environment(), **plain})
    assert (done.returncode, done.stdout) == (0, "snow \\u2603\n")


def test_what_the_agent_says_by_itself_is_an_answer(cli, tmp_path):
    agent = ScriptedAgent(tmp_path).begin().result("The cost so far: nothing.")
    done = cli("run", "/cost", "--agent", str(agent.path))
    assert done.stdout == "The cost so far: nothing.\n"


def test_refused_calls_are_named_with_the_way_to_allow_them(cli):
    with ScriptedModel([call("Bash", command="touch made"), say("I may not.")]) as model:
        done = cli("run", "Go", env=model.environment())
    assert "Not allowed: Bash. Allow calls with --allow RULE" in done.stderr


def test_retries_of_the_api_are_told(cli):
    with ScriptedModel([fail(529) + say("late")]) as model:
        done = cli("run", "Go", env=model.environment())
    assert re.search(r"^\* The API failed \(529\); try 1 of \d+ in \d+\.\d s$", done.stderr, re.MULTILINE)
    assert done.stdout == "late\n"


def test_calls_of_subagents_stand_under_them(cli, tmp_path):
    use = [{"type": "tool_use", "id": "inner", "name": "Read", "input": {"file_path": "a.py"}}]
    agent = ScriptedAgent(tmp_path).begin().say(use, parent_tool_use_id="outer")
    agent.say("the subagent's words", parent_tool_use_id="outer").result("ok")
    done = cli("run", "Go", "--agent", str(agent.path))
    assert "  > Read: a.py\n" in done.stderr
    assert "the subagent's words" not in done.stderr
    assert "< Read: not finished" in done.stderr


@pytest.mark.parametrize("flag", ["--json", "--stream-json"])
def test_json_keeps_lone_surrogates_from_breaking_it(cli, flag, tmp_path):
    agent = (
        ScriptedAgent(tmp_path)
        .begin()
        .raw(
            '{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,'
            '"num_turns":1,"session_id":"s","result":"\\ud800!"}\n'
        )
    )
    done = cli("run", "Go", flag, "--agent", str(agent.path))
    assert json.loads(done.stdout.splitlines()[-1])["result"].endswith("!")
