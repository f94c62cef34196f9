"""Print mode: one prompt, one answer, an exit code; and what keeps a run from starting."""

import json
import subprocess
import sys

import pytest

from claude_wrapper.testing import ScriptedModel, call, fail, say

SCHEMA = json.dumps({"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]})


@pytest.mark.feature("CLI-01", "CLI-02", "CLI-03")
def test_the_answer_is_printed_and_nothing_else(workspace):
    with ScriptedModel([call("Bash", command="echo 1"), say("hello")]) as model:
        code, out, err = workspace.run(model, "-p", "hi")

    assert (code, out, err) == (0, "hello\n", "")
    assert model.requests[0].messages[0]["content"][0]["text"] == "hi"


@pytest.mark.feature("CLI-01")
def test_the_prompt_may_come_on_stdin_or_on_both(workspace):
    with ScriptedModel([say("a"), say("b")], order="queue") as model:
        workspace.run(model, "-p", stdin=b"from stdin\n")
        workspace.run(model, "-p", "what is this", stdin=b"some text")

    assert [r.messages[0]["content"][0]["text"] for r in model.requests] == [
        "from stdin\n",
        "some text\nwhat is this",
    ]


@pytest.mark.feature("CLI-02", "CLI-04")
def test_json_is_one_result_object(workspace):
    with ScriptedModel([say("hello")]) as model:
        code, out, _ = workspace.run(model, "-p", "--output-format", "json", "hi")

    result = json.loads(out)
    assert code == 0
    assert (result["type"], result["subtype"], result["result"]) == ("result", "success", "hello")
    assert {
        "duration_ms",
        "num_turns",
        "session_id",
        "total_cost_usd",
        "usage",
        "permission_denials",
    } <= result.keys()


@pytest.mark.feature("CLI-02")
def test_verbose_json_is_all_messages(workspace):
    with ScriptedModel([say("hello")]) as model:
        _, out, _ = workspace.run(model, "-p", "--output-format=json", "--verbose", "hi")

    assert [frame["type"] for frame in json.loads(out)] == ["system", "assistant", "result"]


@pytest.mark.feature("CLI-03", "CLI-05")
def test_a_failed_run_prints_why_and_exits_1(workspace):
    with ScriptedModel([fail(400, times=1, message="bad thing")]) as model:
        code, out, _ = workspace.run(model, "-p", "hi")
    assert (code, "bad thing" in out) == (1, True)

    with ScriptedModel([call("Bash", command="echo 1")]) as model:
        code, out, _ = workspace.run(model, "-p", "--max-turns", "1", "hi")
    assert (code, out) == (1, "Error: Reached max turns (1)\n")


def test_words_behind_a_list_need_two_dashes(workspace):
    with ScriptedModel([say("hi")]) as model:
        code, out, _ = workspace.run(model, "-p", "--allowedTools", "Bash", "Read", "--", "the prompt")

    assert (code, out) == (0, "hi\n")
    assert model.requests[0].messages[0]["content"][0]["text"] == "the prompt"


def test_an_open_stdin_does_not_hold_the_run_up_for_ever(workspace):
    with ScriptedModel([say("hi")]) as model:
        process = subprocess.Popen(
            [sys.executable, "-m", "claude_wrapper.agent", "-p", "go"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=workspace.project,
            env=workspace.environment(model),
        )
        code = process.wait(40)
        out, err = process.stdout.read(), process.stderr.read()
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()

    assert (code, out) == (0, b"hi\n")
    assert b"stdin" in err


@pytest.mark.feature("STRUCT-01", "STRUCT-02")
def test_structured_output_ends_the_run_with_the_value(workspace):
    with ScriptedModel([call("StructuredOutput", x="no"), call("StructuredOutput", x=4)]) as model:
        code, out, _ = workspace.run(model, "-p", "--output-format", "json", "--json-schema", SCHEMA, "go")

    result = json.loads(out)
    assert code == 0
    assert result["structured_output"] == {"x": 4}
    assert result["result"] == '{"x":4}'
    assert result["stop_reason"] == "tool_use"
    rejected = model.requests[1].messages[-1]["content"][0]
    assert rejected["content"] == "Output does not match required schema: /x: must be integer"
    assert len(model.requests) == 2


def test_a_value_in_one_wrapping_too_many_is_sent_back(workspace):
    script = [call("StructuredOutput", output={"x": 3}), call("StructuredOutput", x=4)]
    with ScriptedModel(script) as model:
        _, out, _ = workspace.run(model, "-p", "--output-format", "json", "--json-schema", SCHEMA, "go")

    assert json.loads(out)["structured_output"] == {"x": 4}
    assert "must have required property 'x'" in model.requests[1].messages[-1]["content"][0]["content"]


@pytest.mark.feature("STRUCT-02", "RES-10")
def test_five_bad_values_end_the_run(workspace):
    with ScriptedModel([call("StructuredOutput", x="no")] * 5) as model:
        code, out, _ = workspace.run(model, "-p", "--output-format", "json", "--json-schema", SCHEMA, "go")

    result = json.loads(out)
    assert code == 1
    assert result["subtype"] == "error_max_structured_output_retries"
    assert result["terminal_reason"] == "structured_output_retry_exhausted"
    assert "must be integer" in result["errors"][0]


@pytest.mark.feature("STRUCT-04")
def test_a_model_that_never_hands_the_value_in_is_reminded_once(workspace):
    with ScriptedModel([say("I will not."), say("I will not.")], order="queue") as model:
        code, out, _ = workspace.run(model, "-p", "--output-format", "json", "--json-schema", SCHEMA, "go")

    result = json.loads(out)
    assert (code, result["result"], result["num_turns"]) == (0, "I will not.", 2)
    assert "structured_output" not in result
    assert "You MUST call the StructuredOutput tool" in str(model.requests[1].messages[-1])


@pytest.mark.feature("CLI-03", "STRUCT-03", "SET-04")
@pytest.mark.parametrize(
    ("argv", "text"),
    [
        (("--no-such-flag",), "unknown option '--no-such-flag'"),
        (("--permission-mode", "nonsense"), "'--permission-mode <mode>' argument 'nonsense' is invalid."),
        (("--model",), "'--model <model>' argument missing"),
        (("--settings", "{bad"), "Settings file not found"),
        (("--settings", '{"a": }'), "Invalid JSON provided to --settings"),
        (("--mcp-config", "{bad"), "MCP config file not found"),
        (("--mcp-config", '{"mcpServers": 3}'), "Invalid MCP configuration"),
        (("--json-schema", "{bad"), "--json-schema is not valid JSON"),
        (("--json-schema", "[1]"), "--json-schema must be a JSON object"),
        (("--json-schema", '{"type": "nosuch"}'), "is not a valid JSON Schema"),
        (("--output-format", "stream-json"), "requires --verbose"),
        (("--input-format", "stream-json"), "--output-format=stream-json"),
        (("--max-turns", "many"), "It takes a number."),
        (("--max-budget-usd", "-1"), "It takes a number above zero"),
        (("--setting-sources", "user,nosuch"), "Invalid setting source: nosuch"),
    ],
)
def test_what_keeps_a_run_from_starting_is_named(workspace, argv, text):
    code, out, err = workspace.run(None, "-p", "x", *argv)

    assert (code, out) == (1, "")
    assert text in err


def test_without_a_prompt_there_is_nothing_to_do(workspace):
    code, out, err = workspace.run(None, "-p")
    assert (code, out) == (1, "")
    assert err == "Error: There is no prompt: give one as an argument or on stdin.\n"
    assert "only whitespace" in workspace.run(None, "-p", "  ")[2]


@pytest.mark.feature("CLI-12")
def test_version_and_help(workspace):
    code, out, _ = workspace.run(None, "--version")
    assert (code, out.split()[0].count("."), "claude-wrapper" in out) == (0, 2, True)

    code, out, _ = workspace.run(None, "--help")
    assert code == 0
    assert "--output-format" in out
