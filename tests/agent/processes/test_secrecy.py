"""What a command, or a tool, can find out about the credentials that the agent was started with."""

import os
import subprocess
import sys
import uuid

import pytest

from claude_wrapper.testing import ScriptedModel, call, say

# Of this process alone: agents of tests beside this one have secrets of their own while they start.
SECRET = f"unheard-of-{uuid.uuid4().hex}"
KEY = f"sk-ant-{SECRET}"
TOKEN = f"tok-{SECRET}"
# So that the search does not find itself.
PATTERN = f"[u]{SECRET[1:]}"
SEARCH = f"""
{{ env; tr '\\0' '\\n' < /proc/$PPID/environ; }} 2>/dev/null | grep '{PATTERN}' > own
grep -ls '{PATTERN}' /proc/[0-9]*/environ /proc/[0-9]*/task/*/environ /proc/[0-9]*/cmdline > others
tr '\\0' '\\n' < /proc/$PPID/environ > seen 2>/dev/null
touch looked
"""
# A superuser who may trace processes may read their memory; in containers it usually may not.
WITHOUT_TRACING = """
import ctypes, os, sys
PR_CAPBSET_DROP, CAP_SYS_PTRACE, CAP_SYS_ADMIN, CAP_PERFMON = 24, 19, 21, 38
for capability in (CAP_SYS_PTRACE, CAP_SYS_ADMIN, CAP_PERFMON):
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, *map(ctypes.c_ulong, (capability, 0, 0, 0)))
os.execv(sys.executable, [sys.executable, "-m", "claude_wrapper.agent", *sys.argv[1:]])
"""
LOOK_AT_MEMORY = """
for file in environ mem maps; do
    if ( : < /proc/$PPID/$file ) 2>/dev/null; then echo open; else echo closed; fi
done > looked
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.fixture
def run(workspace):
    """Run an agent with these credentials, which makes one call; return what it printed."""

    def start(wish, launcher=("-m", "claude_wrapper.agent"), **env):
        with ScriptedModel([wish, say("done")]) as model:
            credentials = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_AUTH_TOKEN": TOKEN, **env}
            words = ["-p", "go", "--output-format", "stream-json", "--verbose", "--allowedTools", "Bash,Read"]
            done = subprocess.run(
                [sys.executable, *launcher, *words],
                capture_output=True,
                text=True,
                cwd=workspace.project,
                env=workspace.environment(model, **credentials),
                timeout=30,
                check=False,
            )
            sent = [request.headers for request in model.requests]
        assert done.returncode == 0, done.stderr
        assert all(headers["x-api-key"] == KEY for headers in sent)
        return done.stdout + done.stderr

    return start


@pytest.mark.feature("ENV-13")
def test_a_command_finds_no_credential_in_any_environment_or_command_line(run, workspace):
    out = run(call("Bash", command=SEARCH))

    assert (workspace.project / "looked").exists()
    assert (workspace.project / "own").read_text() == ""
    assert (workspace.project / "others").read_text() == ""
    assert SECRET not in out


@pytest.mark.skipif(os.geteuid() != 0, reason="others do not see the environment at all")
def test_the_rest_of_the_environment_is_left_as_it_was(run, workspace):
    run(call("Bash", command=SEARCH), OTHER="one two")
    seen = (workspace.project / "seen").read_text().splitlines()

    assert "OTHER=one two" in seen
    assert f"HOME={workspace.home}" in seen
    assert "ANTHROPIC_API_KEY=" in seen


@pytest.mark.parametrize(
    "path", ["/proc/self/environ", "/proc/thread-self/environ", "/proc/self/task/../environ"]
)
def test_the_agents_own_tools_find_none_either(run, path):
    out = run(call("Read", file_path=path))

    assert "tool_result" in out
    assert SECRET not in out


def test_what_the_user_wants_scrubbed_is_hidden_as_well(run, workspace):
    run(call("Bash", command=SEARCH), CLAUDE_CODE_SUBPROCESS_ENV_SCRUB="1", DB_PASSWORD=f"pw-{SECRET}")

    assert (workspace.project / "looked").exists()
    assert (workspace.project / "own").read_text() == ""
    assert (workspace.project / "others").read_text() == ""


def test_the_memory_of_the_agent_is_closed_to_commands(run, workspace):
    run(call("Bash", command=LOOK_AT_MEMORY), ("-c", WITHOUT_TRACING))

    assert (workspace.project / "looked").read_text().split() == ["closed"] * 3


def test_commands_can_look_at_each_other(run, workspace):
    """Only the agent is closed: debuggers and the like go on working on what is started."""
    look = "sleep 30 & cat /proc/$!/environ > looked; kill $!"
    run(call("Bash", command=look), ("-c", WITHOUT_TRACING))

    assert "PATH=" in (workspace.project / "looked").read_text()
