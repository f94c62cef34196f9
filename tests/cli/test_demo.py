"""The demo: a bug that is really there, tools that really run, a fix that is really checked."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from claude_wrapper.cli.demo_project import FIXED, WRONG, check, make_project
from claude_wrapper.testing import ScriptedAgent


def is_empty(folder):
    return not list(Path(folder).iterdir())


def test_the_bug_is_found_and_fixed(cli):
    done = cli("demo")
    assert done.returncode == 0, done
    assert done.stderr == ""
    said = done.stdout
    assert "The model's words are scripted" in " ".join(said.split())
    assert "2 of 4 tests fail" in said
    assert "FAILED (failures=2)" in said
    assert "- if age < SESSION_SECONDS:" in said
    assert "+ if age >= SESSION_SECONDS:" in said
    assert "4 of 4 tests pass; the bug is fixed." in said
    assert re.search(r"^Done: 6 turns, \d+\.\d s, \$0\.\d{4}, session [0-9a-f-]{36}$", said, re.MULTILINE)
    order = [
        "> Bash",
        "< Bash: failed",
        "> Read",
        "> Read",
        "< Read",
        "> Edit",
        "< Edit: ok",
        "> Bash",
        "< Bash: ok",
    ]
    places = [said.index(order[0])]
    for step in order[1:]:
        places.append(said.index(step, places[-1] + 1))


def test_it_is_shown_live_on_a_terminal(terminal):
    seen = terminal("demo")
    assert seen.wait() == 0
    assert "scripted-model in" in seen.text
    assert "✗ Bash" in seen.text
    assert "✓ Edit  auth.py" in seen.text
    assert "the bug is fixed." in seen.text


def test_it_needs_nothing_but_a_path_and_leaves_nothing(environment, tmp_path):
    bare = {"PATH": environment["PATH"], "TMPDIR": environment["TMPDIR"]}
    done = subprocess.run(
        [sys.executable, "-m", "claude_wrapper", "demo"],
        env=bare,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done
    assert is_empty(environment["TMPDIR"])


def test_nothing_lands_in_the_users_folders(cli, environment, work):
    assert cli("demo").returncode == 0
    assert is_empty(environment["HOME"])
    assert is_empty(environment["TMPDIR"])
    assert is_empty(work)


def test_json_is_one_object(cli):
    done = cli("demo", "--json")
    assert done.returncode == 0
    told = json.loads(done.stdout)
    assert (told["fixed"], told["tests"], told["failed_before"], told["failed_after"]) == (True, 4, 2, 0)
    assert told["project"] is None
    assert told["result"]["subtype"] == "success"
    assert told["result"]["total_cost_usd"] > 0
    assert told["result"]["session_id"]


def test_the_project_can_be_kept(cli, environment):
    done = cli("demo", "--keep", "--json")
    project = json.loads(done.stdout)["project"]
    assert project.startswith(os.path.realpath(environment["TMPDIR"]))
    source = Path(project, "auth.py").read_text(encoding="utf-8")
    assert FIXED in source
    assert WRONG not in source
    tests = subprocess.run(
        [sys.executable, "-m", "unittest"], cwd=project, capture_output=True, timeout=30, check=False
    )
    assert tests.returncode == 0


def test_the_users_own_key_and_settings_play_no_part(cli, tmp_path, environment):
    agent = ScriptedAgent(tmp_path).begin().result("done")
    own = {
        "CLAUDE_WRAPPER_AGENT": str(agent.path),
        "ANTHROPIC_API_KEY": "sk-mine",
        "ANTHROPIC_AUTH_TOKEN": "mine",
        "ANTHROPIC_MODEL": "mine",
        "HTTP_PROXY": "http://127.0.0.1:9",
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "CLAUDE_CONFIG_DIR": environment["HOME"],
    }
    cli("demo", env=own)
    given = agent.wait_run().env
    assert given["ANTHROPIC_API_KEY"] == "sk-test"
    assert given["ANTHROPIC_BASE_URL"].startswith("http://127.0.0.1:")
    assert not {"ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_MODEL", "HTTP_PROXY", "HTTPS_PROXY"} & given.keys()
    assert given["HOME"] != environment["HOME"]
    assert given["CLAUDE_CONFIG_DIR"].startswith(given["HOME"])


def test_an_agent_that_only_says_so_has_fixed_nothing(cli, tmp_path):
    agent = ScriptedAgent(tmp_path).begin().say("All tests pass now.").result("All tests pass now.")
    done = cli("demo", env={"CLAUDE_WRAPPER_AGENT": str(agent.path)})
    assert done.returncode == 1
    assert "2 of 4 tests pass; the bug is NOT fixed." in done.stdout


def test_an_agent_that_is_not_there_ends_it_with_3(cli, environment):
    done = cli("demo", env={"CLAUDE_WRAPPER_AGENT": "/no/such/agent"})
    assert done.returncode == 3
    assert "/no/such/agent" in done.stderr
    assert "Traceback" not in done.stderr
    assert is_empty(environment["TMPDIR"])


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is another thing there")
def test_ctrl_c_ends_it_and_leaves_nothing(terminal, environment):
    seen = terminal("demo")
    seen.wait_for("scripted-model in")
    seen.press(b"\x03")
    assert seen.wait() == 130
    assert is_empty(environment["TMPDIR"])


def test_a_reader_that_stops_reading_ends_it_quietly(start, environment):
    process = start("demo")
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(30) == 141
    assert process.stderr.read() == ""
    assert is_empty(environment["TMPDIR"])


def test_tests_that_were_weakened_do_not_count(tmp_path):
    make_project(tmp_path)
    (tmp_path / "test_auth.py").write_text(
        "import unittest\nclass T(unittest.TestCase):\n    def test(self): pass\n"
    )
    verdict = anyio.run(check, tmp_path)
    assert (verdict.tests, verdict.failed, verdict.is_good) == (4, 2, False)


def test_a_fix_counts_even_within_the_second_in_which_the_bug_was_compiled(tmp_path):
    make_project(tmp_path)
    module = tmp_path / "auth.py"
    os.utime(module, (1_000_000_000, 1_000_000_000))
    run_tests = [sys.executable, "-m", "unittest"]
    assert (
        subprocess.run(run_tests, cwd=tmp_path, capture_output=True, timeout=30, check=False).returncode == 1
    )
    module.write_text(module.read_text().replace(WRONG, FIXED))
    os.utime(module, (1_000_000_000, 1_000_000_000))
    assert (
        subprocess.run(run_tests, cwd=tmp_path, capture_output=True, timeout=30, check=False).returncode == 0
    )
    assert anyio.run(check, tmp_path).is_good


def test_a_module_that_does_not_even_load_is_not_fixed(tmp_path):
    make_project(tmp_path)
    (tmp_path / "auth.py").write_text("def")
    assert not anyio.run(check, tmp_path).is_good
