import json
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

import anyio
import pytest

from claude_wrapper.testing import ScriptedAgent, ScriptError, ScriptTimeoutError, agent_frames, floods

INITIALIZE = {
    "type": "control_request",
    "request_id": "req_1",
    "request": {"subtype": "initialize", "hooks": None},
}
PROMPT = {"type": "user", "uuid": "p-1", "message": {"role": "user", "content": "Go"}}


class Host:
    """A process of the agent and both ends of its pipes."""

    def __init__(self, agent, *argv, **options):
        self.process = subprocess.Popen(
            [agent.path, *argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )

    def send(self, *frames):
        self.process.stdin.write(b"".join(json.dumps(frame).encode() + b"\n" for frame in frames))
        self.process.stdin.flush()

    def frame(self):
        return json.loads(self.process.stdout.readline())

    def rest(self):
        """Everything that is still to come, and the exit code."""
        self.process.stdin.close()
        data = self.process.stdout.read()
        return data, self.process.wait(40)

    def frames(self):
        data, code = self.rest()
        assert code == 0
        return [json.loads(line) for line in data.split(b"\n") if line]


@pytest.fixture
def host(agent):
    """Starts the agent, and ends what is left of it."""
    hosts = []

    def start(*argv, **options):
        hosts.append(Host(agent, *argv, **options))
        return hosts[-1]

    yield start
    for started in hosts:
        started.process.kill()
        with started.process:
            pass


def test_a_turn_is_played_as_a_host_expects_it(agent, host):
    agent.begin().say("hi").result("done")
    talk = host()
    talk.send(INITIALIZE, PROMPT)
    reply, *frames = talk.frames()
    assert reply == {
        "type": "control_response",
        "response": {"subtype": "success", "request_id": "req_1", "response": {}},
    }
    assert [(frame["type"], frame.get("subtype")) for frame in frames] == [
        ("system", "init"),
        ("assistant", None),
        ("result", "success"),
    ]
    assert len({frame["uuid"] for frame in frames}) == 3
    assert len({frame["session_id"] for frame in frames}) == 1


def test_the_json_form_plays_the_same(agent, host):
    agent.steps(
        [
            {"answer": {"subtype": "initialize", "response": {"commands": []}}},
            {"wait": "init"},
            {"wait": "user"},
            {"out": "I"},
            {"out": "A", "times": 3},
            {"out": {"type": "future_event"}},
            {"raw": "no frame\n", "times": 2},
            {"hex": "ff0a"},
            {"err": "note\n", "times": 2},
            {"sleep": 0.001},
            {"out": "R"},
            {"exit": 3},
        ]
    )
    talk = host()
    talk.send(INITIALIZE, PROMPT)
    data, code = talk.rest()
    assert code == 3
    assert talk.process.stderr.read() == b"note\nnote\n"
    lines = data.split(b"\n")[:-1]
    assert lines[-4:-1] == [b"no frame", b"no frame", b"\xff"]
    assert [json.loads(line)["type"] for line in lines if line.startswith(b"{")] == [
        "control_response",
        "system",
        "assistant",
        "assistant",
        "assistant",
        "future_event",
        "result",
    ]


@pytest.mark.parametrize("wrong", [{"out": "X"}, {"jump": 1}, {"wait": "init", "out": "A"}, {}])
def test_a_step_that_does_not_exist_is_refused(agent, wrong):
    with pytest.raises(ScriptError):
        agent.steps([wrong])


def test_it_shows_what_it_was_started_with(agent, host, tmp_path):
    agent.wait("eof")
    host("--model", "m x", cwd=tmp_path, env={"ONLY": "this", "B": "\u00e9"})
    run = agent.wait_run()
    assert run.argv == ["--model", "m x"]
    assert run.cwd == tmp_path
    assert {key: run.env[key] for key in ("ONLY", "B")} == {"ONLY": "this", "B": "\u00e9"}
    assert set(run.env) <= {"ONLY", "B", "LC_CTYPE", "PWD"}
    assert run.pid != os.getpid()
    assert run.state == "running"
    assert "this" not in repr(run)


def test_it_shows_what_it_has_read(agent, host):
    agent.wait("interrupt").wait("eof")
    talk = host()
    talk.send(INITIALIZE, PROMPT)
    run = agent.wait_run()
    assert run.wait_frame("user") == PROMPT
    assert run.frames_of("initialize") == [INITIALIZE]
    with pytest.raises(ScriptTimeoutError, match="interrupt"):
        run.wait_frame("interrupt", timeout=0.01)
    talk.process.stdin.write(b'{"type": "half')
    talk.rest()
    assert run.frames == [INITIALIZE, PROMPT]
    assert run.received.endswith(b'{"type": "half')


@pytest.mark.anyio
async def test_an_event_loop_can_wait_for_it(agent):
    agent.stall("g").wait("user").wait("eof")
    async with await anyio.open_process([agent.path]) as process:
        run = await agent.run()
        await agent.gate("g").reached()
        agent.gate("g").release()
        await process.stdin.send(json.dumps(PROMPT).encode() + b"\n")
        assert await run.frame("user") == PROMPT
        with pytest.raises(ScriptTimeoutError):
            await agent.run(2, timeout=0.01)
        await process.stdin.aclose()
        await process.wait()
        await run.gone()


def test_control_requests_are_answered_as_the_script_says(agent, host):
    agent.answer("initialize", {"commands": [1]}).answer("set_model", error='no "such" model').wait(
        "interrupt"
    )
    talk = host()
    for number, subtype in enumerate(["initialize", "set_model", "other", "interrupt"]):
        talk.send({"type": "control_request", "request_id": f'r"{number}', "request": {"subtype": subtype}})
    assert [frame["response"] for frame in talk.frames()] == [
        {"subtype": "success", "request_id": 'r"0', "response": {"commands": [1]}},
        {"subtype": "error", "request_id": 'r"1', "error": 'no "such" model'},
        {"subtype": "success", "request_id": 'r"2', "response": {}},
        {"subtype": "success", "request_id": 'r"3', "response": {}},
    ]


def test_a_muted_request_stays_open_until_it_is_replied_to(agent, host):
    agent.mute("interrupt").wait("interrupt").wait("mute:set_model")
    agent.emit({"type": "note"}).reply("set_model", {"late": 1}).reply("interrupt", error="late")
    talk = host()
    talk.send(
        {"type": "control_request", "request_id": "a", "request": {"subtype": "interrupt"}},
        {"type": "control_request", "request_id": "b", "request": {"subtype": "set_model"}},
    )
    note, *replies = talk.frames()
    assert note["type"] == "note"
    assert [frame["response"]["request_id"] for frame in replies] == ["b", "a"]


def test_a_reply_to_no_request_ends_it_with_a_reason(agent, host):
    agent.reply("interrupt")
    talk = host()
    assert talk.rest()[1] == 70
    assert b"no open request interrupt" in talk.process.stderr.read()


def test_it_asks_its_host_and_waits_for_the_answer(agent, host):
    agent.ask("q1", "can_use_tool", tool_name="Bash", input={}).wait("control_response").result()
    talk = host()
    asked = talk.frame()
    assert asked == {
        "type": "control_request",
        "request_id": "q1",
        "request": {"subtype": "can_use_tool", "tool_name": "Bash", "input": {}},
    }
    answer = {
        "type": "control_response",
        "response": {"subtype": "success", "request_id": "q1", "response": {}},
    }
    talk.send(answer)
    assert talk.frame()["type"] == "result"
    assert agent.runs[0].frames_of("control_response") == [answer]


def test_a_frame_can_name_the_prompt_it_belongs_to(agent, host):
    agent.wait("user").result(user_message_uuid="$PROMPT_UUID")
    talk = host()
    talk.send({**PROMPT, "uuid": 'a"b'})
    assert talk.frame()["user_message_uuid"] == 'a"b'


def test_the_end_of_stdin_ends_it_unless_it_waits_for_that(agent, host):
    agent.wait("user").say("never").next_start().wait("eof").say("late").exit(4)
    assert host().rest() == (b"", 0)
    data, code = host().rest()
    assert (json.loads(data)["type"], code) == ("assistant", 4)


def test_input_that_is_no_frame_is_passed_over(agent, host):
    agent.wait("user").say("hi")
    talk = host()
    talk.process.stdin.write(b'\n[]\n{"type": \nnot json\n5\n{"type": "\xff"}\n')
    talk.send(PROMPT)
    assert talk.frame()["type"] == "assistant"


def test_a_huge_frame_is_read(agent, host):
    agent.wait("user").say("hi")
    talk = host()
    talk.send({"type": "user", "text": "x" * 5_000_000})
    assert talk.frame()["type"] == "assistant"


def test_each_start_plays_its_own_list_and_later_ones_the_last(agent, host):
    agent.say("first").next_start().say("second")
    texts = [host().frames()[0]["message"]["content"][0]["text"] for _ in range(3)]
    assert texts == ["first", "second", "second"]
    assert len(agent.runs) == 3
    assert agent.wait_run(3).state in {"running", "zombie", "gone"}


def test_many_starts_at_once_are_told_apart(agent, host):
    agent.wait("eof")
    talks = [host(str(number)) for number in range(20)]
    agent.wait_run(20)
    assert sorted(int(run.argv[0]) for run in agent.runs) == list(range(20))
    assert all(talk.rest()[1] == 0 for talk in talks)


def test_it_stands_at_a_gate_until_the_test_lets_it_pass(agent, host):
    agent.stall("g").say("hi")
    talk = host()
    agent.gate("g").wait()
    agent.gate("g").release()
    assert talk.frame()["type"] == "assistant"


def test_a_gate_that_nobody_opens_ends_it_with_a_reason(tmp_path):
    agent = ScriptedAgent(tmp_path / "other", gate_limit=0.02).stall("g")
    with pytest.raises(ScriptTimeoutError, match="'h'"):
        agent.gate("h").wait(timeout=0.01)
    done = subprocess.run(
        [agent.path], stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False
    )
    assert (done.returncode, b"gate g" in done.stderr) == (70, True)


def test_bad_bytes_come_as_they_were_asked_for(agent, host):
    agent.half_line(agent_frames.result()).raw("\n").invalid_utf8().raw(b"\x00\xff\n", times=2).raw("{]\n")
    data, _ = host().rest()
    half, bad, zero, again, broken, end = data.split(b"\n")
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        json.loads(half)
    assert json.loads(bad.decode("utf-8", "replace"))["message"]["content"][0]["text"] == "a\ufffdb"
    assert (zero, again, broken, end) == (b"\x00\xff", b"\x00\xff", b"{]", b"")


def test_frames_can_trickle(agent, host):
    agent.trickle(agent_frames.assistant("é\u2028\U0001f600" * 20), agent_frames.result(), size=7)
    first, second = host().frames()
    assert first["message"]["content"][0]["text"] == "é\u2028\U0001f600" * 20
    assert second["type"] == "result"


def test_a_line_of_a_hundred_megabytes_is_written_without_a_large_script(agent, host):
    agent.long_line(100_000_000).result()
    talk = host()
    line = talk.process.stdout.readline()
    assert len(json.loads(line)["message"]["content"][0]["text"]) == 100_000_000
    assert talk.frame()["type"] == "result"
    assert (agent.path.parent / "script").stat().st_size < 5_000


def test_stderr_can_be_flooded(agent, host):
    agent.stderr("x" * 100 + "\n", times=5_000).say("hi")
    talk = host()
    drained = []
    thread = threading.Thread(target=lambda: drained.append(talk.process.stderr.read()))
    thread.start()
    assert talk.frame()["type"] == "assistant"
    thread.join(40)
    assert len(drained[0]) == 101 * 5_000


@pytest.mark.parametrize(
    ("lines", "count", "kinds"),
    [
        (floods.deltas(1000), 1000, {"stream_event"}),
        (floods.tool_turns(500), 1000, {"assistant", "user"}),
        (floods.big_frames(5, 300_000), 5, {"assistant"}),
    ],
    ids=["deltas", "tool-turns", "big-frames"],
)
def test_a_flood_is_whole_frames_each_with_its_own_ids(agent, host, lines, count, kinds):
    agent.flood(lines, times=2)
    frames = host().frames()
    assert len(frames) == 2 * count
    assert frames[:count] == frames[count:]
    assert {frame["type"] for frame in frames} == kinds
    if "user" in kinds:
        calls = [frame["message"]["content"][0] for frame in frames[:count]]
        assert [call["id"] for call in calls[::2]] == [result["tool_use_id"] for result in calls[1::2]]
        assert len({call["id"] for call in calls[::2]}) == count // 2
    else:
        assert len({frame["uuid"] for frame in frames}) == count


def test_a_flood_also_goes_to_a_file(agent, tmp_path):
    agent.flood(floods.deltas(100))
    with (tmp_path / "out").open("wb") as out:
        subprocess.run([agent.path], stdin=subprocess.DEVNULL, stdout=out, timeout=20, check=True)
    assert (tmp_path / "out").read_bytes().count(b"\n") == 100


def test_a_host_that_stops_reading_ends_the_agent_quietly(agent, host):
    agent.flood(floods.deltas(100_000)).next_start().long_line(10_000_000)
    for _ in range(2):
        talk = host()
        talk.process.stdout.read(10)
        talk.process.stdout.close()
        assert talk.process.wait(40) == 1
        assert talk.process.stderr.read() == b""


def test_it_can_close_its_pipes_and_go_on(agent, host):
    agent.close(1).wait("eof").exit(5)
    talk = host()
    assert talk.process.stdout.read() == b""
    assert talk.process.poll() is None
    assert talk.rest()[1] == 5


def test_it_can_ignore_sigterm_and_die_by_a_signal(agent, host):
    agent.ignore_term().say("ready").wait("user").kill(signal.SIGKILL)
    talk = host()
    talk.frame()
    talk.process.terminate()
    talk.send(PROMPT)
    assert talk.rest()[1] == -signal.SIGKILL


def test_its_children_are_seen_and_ended(agent, host):
    agent.spawn("sleep", "30").say("ready").wait("eof")
    talk = host()
    talk.frame()
    run = agent.wait_run()
    assert run.states_of_children == ["running"]
    talk.process.stdin.close()
    talk.process.wait(40)
    with pytest.raises(ScriptTimeoutError, match="children"):
        run.wait_gone(timeout=0.01)
    with agent:
        pass
    run.wait_gone()
    assert run.state == "gone"


def test_a_process_that_nobody_waited_for_is_a_zombie(agent, host):
    agent.exit(0)
    talk = host()
    run = agent.wait_run()
    end = time.monotonic() + 20
    while run.state == "running" and time.monotonic() < end:
        time.sleep(0.002)
    assert run.state == "zombie"
    talk.process.wait(40)
    assert run.state == "gone"


def test_a_forgotten_process_ends_by_itself(tmp_path):
    agent = ScriptedAgent(tmp_path / "short", life=1).ignore_term().sleep(30)
    done = subprocess.run([agent.path], stdin=subprocess.DEVNULL, timeout=20, check=False)
    assert done.returncode == -signal.SIGALRM


def test_steps_that_are_added_later_are_played_by_the_next_start(agent, host):
    agent.say("one")
    assert len(host().frames()) == 1
    agent.say("two")
    assert len(host().frames()) == 2


def test_a_python_with_an_awkward_path_starts_as_well(tmp_path, monkeypatch):
    awkward = tmp_path / f"a folder {'x' * 120}" / "python"
    awkward.parent.mkdir()
    awkward.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    awkward.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(awkward))
    agent = ScriptedAgent(tmp_path / "my agent's place").say("hi")
    done = subprocess.run(
        [agent.path, "a b"], stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=True
    )
    assert json.loads(done.stdout)["type"] == "assistant"
    assert agent.runs[0].argv == ["a b"]


def test_it_loads_nothing_that_takes_long(agent, host):
    agent.path.write_text(agent.path.read_text() + "print(sorted(sys.modules))\n")
    loaded = host().rest()[0].decode()
    assert "player" in loaded
    for slow in ("anyio", "msgspec", "json", "re", "enum", "typing", "site", "pathlib"):
        assert f"'{slow}'" not in loaded


def processor_seconds_of(*argv):
    """What a program takes of the processor, however busy that is."""
    pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=[(os.POSIX_SPAWN_CLOSE, 0)])
    _, status, used = os.wait4(pid, 0)
    assert status == 0
    return used.ru_utime + used.ru_stime


def test_it_starts_almost_as_fast_as_python_itself(agent):
    agent.exit(0)
    # In turns, so that whatever else the machine does weighs on both alike.
    pairs = [
        (processor_seconds_of(str(agent.path)), processor_seconds_of(sys.executable, "-IS", "-c", "0"))
        for _ in range(20)
    ]
    agents, bare = zip(*pairs, strict=True)
    assert statistics.median(agents) < 2 * statistics.median(bare)


def test_nobody_else_gets_at_its_files(agent):
    assert agent.path.parent.stat().st_mode & 0o077 == 0


def test_the_folder_may_be_relative(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    agent = ScriptedAgent("here").say("hi")
    done = subprocess.run(
        [agent.path], cwd="/", stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=True
    )
    assert b"assistant" in done.stdout
    assert agent.path.is_relative_to(Path(tmp_path))
