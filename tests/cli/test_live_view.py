"""What `run` looks like on a terminal."""

import re

import pytest

from claude_wrapper.testing import ScriptedAgent, ScriptedModel, call, say, stall, turn

COLOR = re.compile(rb"\x1b\[[0-9;]*3[1-7][0-9;]*m")
LOOK = say("I will look.") + call("Bash", command="echo seen; exit 3")


def test_calls_their_outcomes_and_the_end_are_shown(terminal, work):
    (work / "a.txt").write_text("one\ntwo\nthree")
    edit = call("Edit", file_path=str(work / "a.txt"), old_string="one\n two", new_string="x")
    turns = [LOOK, call("Read", file_path=str(work / "a.txt")) + edit, say("It is blue.")]
    with ScriptedModel(turns) as model:
        seen = terminal("run", "Go", "--allow", "Bash", "--allow", "Edit", env=model.environment())
        assert seen.wait() == 0
    text = "\n".join(seen.rows)
    assert "I will look." in text
    assert "✗ Bash  echo seen; exit 3" in text
    assert "    Exit code 3" in text
    assert "    seen" in text
    assert "✓ Read  a.txt" in text
    assert "    3 lines" in text
    assert "✗ Edit  a.txt" in text
    assert "tool_use_error" not in text
    assert re.search(r"✓ Done: 4 turns, \d+\.\d s, \$0\.\d{4}", text)
    assert re.search(r"^  session [0-9a-f-]{36}$", text, re.MULTILINE)
    assert "Thinking" not in text
    assert text.count("It is blue.") == 1


def test_an_edit_shows_what_it_changes(terminal, work):
    (work / "a.py").write_text("def f():\n    return 1\n")
    read = call("Read", file_path=str(work / "a.py"))
    old, new = "def f():\n    return 1", "def f():\n    return 2"
    edit = call("Edit", file_path=str(work / "a.py"), old_string=old, new_string=new)
    with ScriptedModel([read, edit, say("ok")]) as model:
        seen = terminal("run", "Go", "--allow", "Edit", env=model.environment())
        assert seen.wait() == 0
    place = seen.rows.index("    - return 1")
    assert seen.rows[place : place + 2] == ["    - return 1", "    + return 2"]


def test_text_is_shown_while_it_is_written(terminal):
    reply = turn(say("first line\nsecond line") + stall("gate", after_block=0, after_chunks=2), chunk=8)
    with ScriptedModel([reply]) as model:
        seen = terminal("run", "Go", env=model.environment())
        seen.wait_for("first line")
        assert "line\nsecond line" not in seen.text
        model.gate("gate").release()
        assert seen.wait() == 0
    assert seen.rows.count("second line") == 1


def test_a_running_call_is_shown_with_its_time(terminal, work):
    with ScriptedModel([call("Bash", command="until [ -e go ]; do sleep 0.05; done"), say("ok")]) as model:
        seen = terminal("run", "Go", "--allow", "Bash", env=model.environment())
        seen.wait_for("Bash  until [ -e go ]; do sleep 0.05; done  1 s")
        (work / "go").touch()
        assert seen.wait() == 0
    assert "✓ Bash  until" in seen.text


def test_ctrl_c_interrupts_and_gives_the_terminal_back(terminal):
    with ScriptedModel([say("I wait.") + call("Bash", command="sleep 60")]) as model:
        seen = terminal("run", "Go", "--allow", "Bash", env=model.environment())
        seen.wait_for("Bash  sleep 60")
        seen.press(b"\x03")
        assert seen.wait() == 130
    assert "Interrupting; once more to stop at once" in seen.text
    assert "claude-wrapper: interrupted by SIGINT after" in seen.text
    assert "claude-wrapper run --resume" in seen.text
    assert seen.raw.rindex(b"\x1b[?25h") > seen.raw.rindex(b"\x1b[?25l")
    assert "Traceback" not in seen.text


def test_a_narrow_terminal_is_kept_to(terminal):
    with ScriptedModel([LOOK, say("Words that need more than one row of thirty characters.")]) as model:
        seen = terminal("run", "Go", "--allow", "Bash", env=model.environment(), columns=30)
        assert seen.wait() == 0
    shown = seen.rows
    assert "Words that need more than one" in shown
    wide = [row for row in shown if len(row) > 30 and "session" not in row]
    assert not wide


def test_long_commands_are_cut_to_one_row(terminal):
    with ScriptedModel([call("Bash", command="echo " + "word " * 50), say("ok")]) as model:
        seen = terminal("run", "Go", "--allow", "Bash", env=model.environment(), columns=40)
        assert seen.wait() == 0
    assert any(
        row.startswith("✓ Bash  echo word") and row.endswith("…") and len(row) == 40 for row in seen.rows
    )


def test_colors_are_shown_unless_they_are_refused(terminal):
    with ScriptedModel([LOOK, say("ok")]) as model:
        with_colors = terminal("run", "Go", "--allow", "Bash", env=model.environment())
        assert with_colors.wait() == 0
        without = terminal("run", "Go", "--allow", "Bash", env={**model.environment(), "NO_COLOR": "1"})
        assert without.wait() == 0
    assert COLOR.search(with_colors.raw)
    assert not COLOR.search(without.raw)


@pytest.mark.parametrize("kind", [{"TERM": "dumb"}, {"PYTHONPATH": "without_rich"}])
def test_without_a_capable_terminal_or_rich_the_lines_are_plain(terminal, work, kind):
    (work / "without_rich").mkdir()
    (work / "without_rich" / "sitecustomize.py").write_text("import sys; sys.modules['rich'] = None")
    with ScriptedModel([LOOK, say("It is blue.")]) as model:
        seen = terminal("run", "Go", "--allow", "Bash", env={**model.environment(), **kind})
        assert seen.wait() == 0
    assert b"\x1b" not in seen.raw
    assert "> Bash: echo seen; exit 3\n" in seen.text
    assert "\nIt is blue.\n" in seen.text


def test_a_terminal_without_unicode_gets_other_signs(terminal):
    plain = {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    with ScriptedModel([LOOK, say("snow ☃")]) as model:
        seen = terminal("run", "Go", "--allow", "Bash", env={**model.environment(), **plain})
        assert seen.wait() == 0
    assert seen.raw.isascii()
    assert "x Bash  echo seen; exit 3" in seen.text
    assert "snow \\u2603" in seen.text


def test_what_comes_from_outside_cannot_steer_the_terminal(terminal):
    words = "\x1b]0;title\x07 \x1b[2J a\u202eb"
    turns = [say(words) + call("Bash", command="printf '\\033[31mred\\033]0;x\\007'"), say("ok")]
    with ScriptedModel(turns) as model:
        seen = terminal("run", "Go", "--allow", "Bash", env=model.environment())
        assert seen.wait() == 0
    assert b"\x1b]" not in seen.raw
    assert b"\x1b[2J" not in seen.raw
    assert "\\x1b]0;title\\x07" in seen.text
    assert "a\\u202eb" in seen.text
    assert "\u202e" not in seen.text


def test_many_calls_at_once_leave_room_for_the_rest(terminal, tmp_path):
    uses = [
        {"type": "tool_use", "id": f"u{n}", "name": "Read", "input": {"file_path": f"{n}.txt"}}
        for n in range(9)
    ]
    agent = ScriptedAgent(tmp_path).begin().say(uses).stall("gate").result("ok")
    seen = terminal("run", "Go", "--agent", str(agent.path))
    seen.wait_for("and 5 more calls")
    agent.gate("gate").release()
    assert seen.wait() == 0
    assert seen.text.count("not finished") == 9


def test_json_on_a_terminal_is_just_json(terminal):
    with ScriptedModel([say("ok")]) as model:
        seen = terminal("run", "Go", "--json", env=model.environment())
        assert seen.wait() == 0
    assert seen.raw.startswith(b'{"type":"result"')
    assert b"\x1b" not in seen.raw
