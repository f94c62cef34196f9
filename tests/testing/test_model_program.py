import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from claude_wrapper.testing import (
    ModelProcess,
    ScriptedModel,
    ScriptError,
    call,
    cut,
    fail,
    malformed,
    say,
    stall,
    turn,
)

FULL_SCRIPT = {
    "main": [
        {
            "content": [{"type": "tool_use", "name": "Bash", "input": {"command": "echo $ID"}}],
            "usage": {"input_tokens": 9},
        },
        {"content": [{"type": "text", "text": "abcdef"}], "chunk": 3, "chunk_delay": 0.001, "delay": 0.001},
        {
            "content": [{"type": "text", "text": "late"}],
            "status": 529,
            "times": 1,
            "message": "busy",
            "headers": [["retry-after", "0"]],
        },
        {"content": [{"type": "text", "text": "cut"}], "cut": 0, "stop_reason": "max_tokens"},
        {"whole": {"body": "<html>", "status": 502, "content_type": "text/html"}},
    ],
    "sub": {"SUBTASK": [{"content": [{"type": "text", "text": "from the sub list"}]}]},
    "count": "all",
    "toolless": True,
}


def conversation(replies, opening="Go"):
    """Messages with so many replies of the model in them."""
    rest = [{"role": "assistant", "content": []}, {"role": "user", "content": "on"}] * replies
    return [{"role": "user", "content": opening}, *rest]


@pytest.fixture
def script_file(tmp_path):
    path = tmp_path / "script.json"
    path.write_text(json.dumps(FULL_SCRIPT))
    return path


def test_a_script_file_plays_all_that_it_can_say(client, script_file, decode):
    with ScriptedModel(script_file) as model:
        one = client(model)
        first = decode(one.send(messages=conversation(0), tools=[]).read())
        assert first[0]["message"]["usage"]["input_tokens"] == 9
        assert "$ID" not in str(first)
        second = decode(one.send(messages=conversation(1)).read())
        assert [e["delta"]["text"] for e in second if e["type"] == "content_block_delta"] == ["abc", "def"]
        third = one.send(messages=conversation(2))
        assert (third.status, third.headers["retry-after"], json.loads(third.read())["error"]["message"]) == (
            529,
            "0",
            "busy",
        )
        assert one.text(messages=conversation(2)) == "late"
        assert b"message_stop" not in one.send(messages=conversation(3)).read()
        page = client(model).send(messages=conversation(4))
        assert (page.status, page.read()) == (502, b"<html>")
        assert client(model).text(messages=conversation(1, "SUBTASK")) == "from the sub list"


def test_a_changed_script_file_is_played_from_the_next_request_on(client, script_file):
    with ScriptedModel(script_file) as model:
        assert client(model).text(messages=conversation(1)) == "abcdef"
        script_file.write_text('[{"content": [{"type": "text", "text": "new"}]}]')
        assert client(model).text() == "new"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "no JSON"),
        ('{"sausage": []}', "sausage"),
        ('[{"content": [], "sausage": 1}]', "sausage"),
        ('[{"content": [{"text": "x"}]}]', "type"),
        ('{"count": "some"}', "count"),
    ],
)
def test_a_script_file_with_a_mistake_is_refused_with_its_place(tmp_path, text, reason):
    path = tmp_path / "script.json"
    path.write_text(text)
    with pytest.raises(ScriptError, match=reason):
        ScriptedModel(path)


def test_a_script_file_that_is_missing_is_named(tmp_path):
    with pytest.raises(ScriptError, match=r"nowhere\.json"):
        ScriptedModel(tmp_path / "nowhere.json")


def test_a_lone_surrogate_may_stand_in_a_script_file(client, tmp_path):
    path = tmp_path / "script.json"
    path.write_text(r'[{"content": [{"type": "text", "text": "a\ud83d"}]}]')
    with ScriptedModel(path) as model:
        assert client(model).text() == "a\ud83d"


def test_a_script_in_a_process_of_its_own_plays_like_one_in_this(client):
    script = [
        call("Bash", command="ls"),
        fail(529) + fail(500, times=2) + turn(say("abcdef"), chunk=2),
        stall("g") + say("held"),
        say("x") + cut(),
        malformed(b"\xff\x00", bare=False),
    ]
    with ModelProcess(script, sub={"SUB": [say("sub")]}) as model:
        one = client(model)
        asked = [
            {"role": "user", "content": "Go"},
            {"role": "assistant", "content": []},
            {"role": "user", "content": [{"type": "tool_result"}]},
        ]
        refused = [client(model).send(messages=asked).status for _ in range(3)]
        assert refused == [529, 500, 500]
        assert one.text(messages=asked) == "abcdef"
        assert one.text(messages=[{"role": "user", "content": "SUB"}]) == "sub"
        model.release("g")
        assert one.text(messages=asked + asked[1:]) == "held"
        assert b"message_stop" not in one.send(messages=asked + asked[1:] * 2).read()
        assert client(model).send(messages=asked + asked[1:] * 3).read() == b"\xff\x00"
        logged = model.logged()
        pid = model.pid
    assert [entry["path"] for entry in logged].count("/v1/messages") == 8
    assert logged[0]["body"]["messages"] == asked
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_process_of_its_own_takes_what_a_script_takes(client):
    script = [stall("a b") + say("one"), say("two")]
    with ModelProcess(script, side={"title": [say("A title")]}, order="queue") as model:
        one = client(model)
        assert one.text(tools=[], system="a title") == "A title"
        model.release("a b")
        assert [one.text(), one.text(), one.send().status] == ["one", "two", 400]
        assert [entry["path"] for entry in model.logged()] == ["/v1/messages"] * 4
    with ModelProcess(script[1:], count_all=True, toolless=True) as model:
        assert client(model).text(tools=[]) == "two"


def test_the_log_has_no_keys_and_is_private(client, tmp_path):
    log = tmp_path / "log.jsonl"
    with ScriptedModel([say("hi")], log=log) as model:
        one = client(model)
        one.send(
            headers={"X-Api-Key": "sk-secret", "Authorization": "Bearer sk-secret", "X-App": "cli"}
        ).read()
        one.send(b"no json").read()
        one.send(b'{"a":\n1}').read()
        one.send(b"", method="GET").read()
    assert b"sk-secret" not in log.read_bytes()
    assert log.stat().st_mode & 0o077 == 0
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    assert [entry["body"] for entry in entries][1:] == [{}, {"a": 1}]
    assert entries[0]["headers"]["X-App"] == "cli"
    assert entries[0]["t"] > 0


def program(*arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "claude_wrapper.testing.model", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_program_serves_until_it_is_told_to_end(client, script_file, tmp_path, number):
    with program(str(script_file), "--log", str(tmp_path / "log")) as process:
        process.url = process.stdout.readline().strip()
        assert client(process).text(messages=conversation(1)) == "abcdef"
        process.send_signal(number)
        assert process.wait(40) == 0
        assert process.stderr.read() == ""
    assert (tmp_path / "log").read_text().count("\n") == 1


def test_the_program_takes_the_port_it_is_given(script_file):
    with ScriptedModel([]) as model:
        port = model.port
    with program(str(script_file), "--port", str(port)) as process:
        assert process.stdout.readline() == f"http://127.0.0.1:{port}\n"
        process.terminate()


def test_the_program_says_what_is_wrong_with_a_script(tmp_path):
    with program(str(tmp_path / "nowhere.json")) as process:
        assert process.wait(40) == 1
        assert "nowhere.json" in process.stderr.read()


def test_the_program_ends_with_the_test_that_started_it(script_file):
    with program(str(script_file), "--until-eof", stdin=subprocess.PIPE) as process:
        assert process.stdout.readline()
        process.stdin.close()
        assert process.wait(40) == 0


def test_a_model_process_that_cannot_start_is_an_error(tmp_path, capfd):
    with pytest.raises(ScriptError, match="did not start"):
        ModelProcess(Path(tmp_path / "nowhere.json")).__enter__()
    assert "nowhere.json" in capfd.readouterr().err
