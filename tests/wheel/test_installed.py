"""The installed wheel at work: with nothing else on the machine, and the sources away."""

import json
import os
import shutil
import subprocess
import textwrap

import pytest

RUNNING = 90
SYSTEM = "/usr/bin:/bin"

QUERY = """
    import anyio
    import claude_wrapper
    from claude_wrapper import ClaudeAgentOptions, ClaudeSDKClient, ResultMessage, create_sdk_mcp_server, tool
    from claude_wrapper.testing import ScriptedModel, call, say

    @tool("add", "Add two numbers", {"a": float, "b": float})
    async def add(numbers):
        return {"content": [{"type": "text", "text": str(numbers["a"] + numbers["b"])}]}

    async def main():
        script = [
            call("Write", file_path="WORK/note.txt", content="alpha"),
            call("Grep", pattern="alpha", path="WORK", output_mode="content"),
            call("mcp__calculator__add", a=19, b=23),
            call("Bash", command="export -p"),
            say("done"),
        ]
        with ScriptedModel(script) as model:
            options = ClaudeAgentOptions(
                env=model.environment(),
                cwd="WORK",
                allowed_tools=["Write", "Grep", "Bash", "mcp__calculator__add"],
                mcp_servers={"calculator": create_sdk_mcp_server("calculator", tools=[add])},
                setting_sources=[],
            )
            async with ClaudeSDKClient(options) as client:
                await client.query("go")
                async for message in client.receive_response():
                    if isinstance(message, ResultMessage):
                        print("result:", message.result)
            for request in model.requests[1:]:
                print("tool:", repr(request.tool_results[-1]["content"]))
        print("package:", claude_wrapper.__file__)

    anyio.run(main)
"""


def go(command, env, cwd):
    return subprocess.run(
        [str(word) for word in command],
        env=env,
        cwd=cwd,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
        timeout=RUNNING,
    )


@pytest.mark.feature("EXT-09")
def test_a_query_with_tools_and_mcp_runs_with_nothing_on_path(installed, bare, tmp_path):
    program = textwrap.dedent(QUERY).replace("WORK", str(tmp_path))
    done = go([installed.python, "-c", program], bare, tmp_path)
    assert done.returncode == 0, done.stderr
    said = done.stdout
    assert "result: done" in said
    assert str(installed.package) in said
    _, _, found, sum_of_both, environment = said.split("tool:")
    assert "alpha" in found
    assert "42" in sum_of_both
    # What the start of a frozen program sets for itself is not handed on.
    assert 'PATH="/nonexistent"' in environment
    assert "LD_LIBRARY_PATH" not in environment
    assert "_PYI" not in environment


def test_the_demo_fixes_its_bug(installed, bare, tmp_path):
    done = go([installed.command, "demo", "--json"], {**bare, "PATH": SYSTEM}, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["fixed"] is True


def test_the_doctor_names_the_bundled_agent_and_its_ripgrep(installed, bare, model, tmp_path):
    env = {**bare, **model().environment(), "PATH": SYSTEM}
    done = go([installed.command, "doctor", "--json"], env, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    found = {each["name"]: each for each in json.loads(done.stdout)["findings"]}
    assert found["agent"]["details"]["source"] == "bundled"
    assert found["agent"]["details"]["command"] == [str(installed.agent)]
    assert found["handshake"]["status"] == "ok"
    assert found["ripgrep"]["text"] == str(installed.agent.parent / "_internal" / "rg")
    assert found["bundle"]["details"]["components"]


def test_a_link_to_the_executable_works(installed, bare, tmp_path):
    link = tmp_path / "agent of mine"
    link.symlink_to(installed.agent)
    done = go([link, "--version"], bare, tmp_path)
    assert "claude-wrapper" in done.stdout, done.stderr


def test_out_of_an_archive_the_library_says_why_there_is_no_agent(wheel, installed, bare, tmp_path):
    """A wheel on `sys.path`, as with zipapp: the library runs, no program can be run out of it."""
    program = f"""
        import sys
        sys.path.insert(0, {str(wheel)!r})
        import claude_wrapper
        assert {wheel.name!r} in claude_wrapper.__file__
        from claude_wrapper.spawn.locate import locate_agent
        try:
            locate_agent(None, {{}})
        except claude_wrapper.CLINotFoundError as error:
            print(error)
    """
    done = go([installed.python, "-c", textwrap.dedent(program)], bare, tmp_path)
    assert "in an archive, from which no program can be run; unpack it" in done.stdout, done.stderr
    assert "cli_path" in done.stdout


def test_uninstalling_leaves_nothing(wheel, new_environment, bare, tmp_path):
    folder = tmp_path / "environment"
    new_environment(folder, "--no-deps", wheel)
    before = {path for path in folder.rglob("*") if "claude" in path.name}
    assert before
    # As it is after a run: nothing was written beside the executable.
    (agent,) = folder.glob("lib/python3*/site-packages/claude_wrapper/_bundled/claude-agent")
    assert go([agent, "--version"], bare, tmp_path).returncode == 0
    python = folder / "bin" / "python"
    done = go(
        [shutil.which("python3"), "-m", "pip", "--python", python, "uninstall", "--yes", "claude-wrapper"],
        dict(os.environ),
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert not [path for path in folder.rglob("*") if "claude" in path.name.lower()]
