"""The doctor: says which agent would run and why, and what a run lacks; shows no secret."""

import json
import os
import shutil
import socket
import sys
import threading
from pathlib import Path

import pytest

import claude_wrapper
from claude_wrapper.testing import ModelProcess, ScriptedAgent, say

KEY = "sk-very-secret-key"


@pytest.fixture(scope="module")
def model():
    with ModelProcess([say("ok")]) as running:
        yield running


@pytest.fixture
def reachable(model):
    """Variables with which nothing is missing."""
    return {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": model.url}


@pytest.fixture
def report(cli):
    """The report as JSON: the findings by name, and the outcome of the command."""

    def read(*words, env=None):
        done = cli("doctor", "--json", *words, env=env)
        assert done.stderr == ""
        whole = json.loads(done.stdout)
        assert done.returncode == (0 if whole["ok"] else 1)
        assert whole["ok"] == (not [f for f in whole["findings"] if f["status"] == "fault"])
        return {finding["name"]: finding for finding in whole["findings"]}

    return read


def test_it_tells_the_agent_the_reason_and_every_place_and_exits_0(cli, reachable):
    done = cli("doctor", env=reachable)
    assert done.returncode == 0, done
    lines = done.stdout.splitlines()
    assert [line.split()[1] for line in lines[:6]] == ["library", "agent", *["searched"] * 4]
    for place in ("cli_path", "CLAUDE_WRAPPER_AGENT", "_bundled", "the agent's Python code"):
        assert any(place in line for line in lines[2:6])
    for name in (
        "handshake",
        "key",
        "base URL",
        "config",
        "cache",
        "temporary",
        "terminal",
        "sandbox",
        "shell",
        "ripgrep",
    ):
        assert any(line[6:].startswith(name) for line in lines), name
    assert lines[-1] == "Nothing keeps a run from working."


def test_the_versions_and_the_handshake_are_in_the_report(report, reachable):
    found = report(env=reachable)
    handshake = found["handshake"]
    assert handshake["status"] == "ok"
    version = claude_wrapper.__version__
    assert handshake["details"]["agent_version"] == handshake["details"]["library_version"] == version
    assert handshake["details"]["protocol"] == "2.1.332"
    assert found["library"]["details"]["version"] == version
    assert found["agent"]["details"]["command"][0] == sys.executable


def test_no_secret_is_shown(cli, model):
    secret = model.url.replace("http://", "http://user:pass-word@") + "?token=hidden"
    env = {
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": secret,
        "ANTHROPIC_CUSTOM_HEADERS": "Authorization: Bearer other-secret",
        "HTTPS_PROXY": "http://me:proxy-word@127.0.0.1:1",
    }
    for words in (["doctor"], ["doctor", "--json"]):
        done = cli(*words, env=env)
        for hidden in (KEY, "pass-word", "hidden", "other-secret", "proxy-word"):
            assert hidden not in done.stdout + done.stderr
        assert "ANTHROPIC_API_KEY, ANTHROPIC_CUSTOM_HEADERS is set" in done.stdout


def test_a_missing_key_is_a_fault(report, reachable):
    del reachable["ANTHROPIC_API_KEY"]
    assert report(env=reachable)["key"]["status"] == "fault"
    assert report(env={**reachable, "ANTHROPIC_AUTH_TOKEN": KEY})["key"]["status"] == "ok"


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://127.0.0.1:1", "refused"),
        ("ftp://127.0.0.1", "no http or https address"),
        ("http://", "no http or https address"),
        ("http://[bad", "no http or https address"),
        ("http://user:word@host:port", "no http or https address"),
        ("http://a b", "no http or https address"),
    ],
)
def test_an_address_that_does_not_answer_is_a_fault(report, url, why):
    found = report(env={"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": url})["base URL"]
    assert found["status"] == "fault"
    assert why in found["text"]


def test_an_address_where_something_else_answers_is_a_fault(report):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(30)

        def answer():
            connection, _ = server.accept()
            with connection:
                connection.recv(1024)
                connection.sendall(b"-ERR unknown command\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        found = report(env={"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": url})["base URL"]
        thread.join(40)
    assert found["status"] == "fault"
    assert "does not answer as web servers do" in found["text"]


def test_a_key_from_the_settings_is_found(report, model, tmp_path):
    config = tmp_path / "config"
    config.mkdir()
    (config / "settings.json").write_text('{"apiKeyHelper": "echo key"}')
    found = report(env={"ANTHROPIC_BASE_URL": model.url, "CLAUDE_CONFIG_DIR": str(config)})["key"]
    assert found["status"] == "ok"
    assert "apiKeyHelper" in found["text"]


def test_models_at_a_cloud_need_no_key_of_the_api(report):
    found = report(env={"CLAUDE_CODE_USE_BEDROCK": "1", "AWS_REGION": "eu-west-1"})
    assert found["key"]["status"] == found["base URL"]["status"] == "note"
    assert "AWS Bedrock" in found["key"]["text"]


def test_a_proxy_that_is_away_is_named(report):
    env = {
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": "http://example.invalid",
        "http_proxy": "http://127.0.0.1:1",
    }
    found = report(env=env)["base URL"]
    assert found["status"] == "fault"
    assert "through the proxy http://127.0.0.1:1" in found["text"]


def test_a_named_agent_that_cannot_be_one_is_a_fault_and_nothing_is_started(report, reachable, tmp_path):
    found = report("--agent", str(tmp_path), env=reachable)
    assert found["agent"]["status"] == "fault"
    assert "is a folder" in found["agent"]["text"]
    assert "handshake" not in found
    missing = report(env={**reachable, "CLAUDE_WRAPPER_AGENT": str(tmp_path / "nowhere")})["agent"]
    assert "no such file" in missing["text"]


def test_an_agent_that_fails_at_the_handshake_is_a_fault_with_its_reason(report, reachable, tmp_path):
    agent = ScriptedAgent(tmp_path).stderr("cannot load libfoo.so\n").exit(127)
    found = report("--agent", str(agent.path), env=reachable)["handshake"]
    assert found["status"] == "fault"
    assert "127" in found["text"]
    assert "cannot load libfoo.so" in found["text"]


def test_an_agent_of_another_version_is_told(report, reachable, tmp_path):
    answer = {"capabilities": ["agent:claude-wrapper/0.0.3"], "claude_code_version": "2.1.332"}
    agent = ScriptedAgent(tmp_path).answer("initialize", answer).wait("eof")
    found = report("--agent", str(agent.path), env=reachable)["handshake"]
    assert found["status"] == "warning"
    assert "claude-wrapper 0.0.3, older than this library" in found["text"]


def test_an_agent_on_path_that_is_not_used_is_told(report, reachable, environment, tmp_path):
    folder = tmp_path / "programs"
    folder.mkdir()
    decoy = folder / "claude-agent"
    decoy.write_text("#!/bin/sh\nexit 1\n")
    decoy.chmod(0o755)
    path = os.pathsep.join([str(folder), environment["PATH"]])
    found = report(env={**reachable, "PATH": path})
    assert found["other: claude-agent"]["details"]["path"] == str(decoy)
    assert found["agent"]["details"]["command"][0] == sys.executable


def test_two_installations_are_told(report, reachable, tmp_path):
    other = tmp_path / "site" / "claude_wrapper-0.0.2.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: claude-wrapper\nVersion: 0.0.2\n")
    found = report(env={**reachable, "PYTHONPATH": str(other.parent)})["library"]
    assert found["status"] == "warning"
    assert "0.0.2 is installed as well" in found["text"]
    assert str(other.parent) in {each["path"] for each in found["details"]["installed"]}


def test_folders_that_cannot_be_written_are_told(report, reachable, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    found = report(
        env={**reachable, "CLAUDE_CONFIG_DIR": str(blocked / "config"), "XDG_CACHE_HOME": str(blocked)}
    )
    assert found["config"]["status"] == "warning"
    assert found["cache"]["status"] == "warning"
    assert str(blocked) in found["config"]["text"]


def test_what_tools_need_is_told_when_it_is_missing(report, reachable, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    found = report(env={**reachable, "PATH": str(empty)})
    assert found["shell"]["status"] == "warning"
    assert found["sandbox"]["status"] == "note"
    assert found["ripgrep"]["status"] == (
        "ok" if shutil.which("rg", path=Path(sys.executable).parent) else "warning"
    )
