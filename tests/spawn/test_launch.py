"""Why an agent could not be started."""

import os
import pwd
import struct
import tempfile
from pathlib import Path

import pytest

from claude_wrapper.errors import AgentStartError, CLIConnectionError
from claude_wrapper.options import ClaudeAgentOptions
from claude_wrapper.spawn.start import start_agent

pytestmark = pytest.mark.anyio


def failure(**options):
    with pytest.raises(AgentStartError) as caught:
        start_agent(ClaudeAgentOptions(**options))
    assert isinstance(caught.value, CLIConnectionError)
    return str(caught.value)


@pytest.mark.feature("WRAP-07")
async def test_a_missing_working_directory_is_named(script, tmp_path):
    missing = tmp_path / "nowhere"
    assert failure(cli_path=script(""), cwd=missing) == f"Working directory does not exist: {missing}"
    file = tmp_path / "file"
    file.write_text("")
    assert "is not a folder" in failure(cli_path=script(""), cwd=file)


async def test_a_missing_interpreter_is_named(tmp_path):
    path = tmp_path / "agent"
    path.write_text("#!/no/such/interpreter -x\n")
    path.chmod(0o755)
    assert "its interpreter is missing: /no/such/interpreter -x" in failure(cli_path=path)


async def test_a_missing_loader_is_named(tmp_path):
    machine = {"x86_64": 0x3E, "aarch64": 0xB7}.get(os.uname().machine)
    if machine is None:
        pytest.skip("a program of this machine is not at hand")
    loader = b"/lib/ld-musl-nowhere.so.1\0"
    header = b"\x7fELF\x02\x01\x01" + bytes(9)
    header += struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    segment = struct.pack("<IIQQQQQQ", 3, 4, 120, 0, 0, len(loader), len(loader), 1)
    path = tmp_path / "agent"
    path.write_bytes(header + segment + loader)
    path.chmod(0o755)
    assert "/lib/ld-musl-nowhere.so.1, the loader" in failure(cli_path=path)


async def test_a_file_that_is_no_program_is_told_as_such(tmp_path):
    path = tmp_path / "agent"
    path.write_text("just text\n")
    path.chmod(0o755)
    assert "neither a program of this system nor a script" in failure(cli_path=path)


async def test_what_makes_a_command_line_too_long_is_named_and_not_shown(script):
    message = failure(cli_path=script(""), extra_args={"name": "secret" * 50_000})
    assert "most of it is the argument of --name (300000 characters)" in message
    assert "secret" not in message
    message = failure(cli_path=script(""), env={"NAME": "secret" * 50_000})
    assert "most of it is the variable NAME (300000 characters)" in message
    assert "secret" not in message


@pytest.fixture
def open_folder():
    """A folder that everybody may look into."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.feature("WRAP-14")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may start processes as somebody else")
async def test_an_agent_runs_as_another_user_with_the_groups_of_that_user(open_folder):
    nobody = pwd.getpwnam("nobody")
    path = open_folder / "agent"
    path.write_text('#!/bin/sh\nid -u; id -g; id -G; cat "$5"\n')
    path.chmod(0o755)
    process, _ = start_agent(
        ClaudeAgentOptions(
            cli_path=path,
            user="nobody",
            cwd="/",
            system_prompt={"type": "preset", "preset": "claude_code"},
            mcp_servers={"s": {"command": "x", "env": {"A": "b"}}},
        )
    )
    try:
        assert await process.wait(40) == 0
        output = b""
        while chunk := await process.receive():
            output += chunk
    finally:
        await process.stop()
    uid, gid, groups, file = output.decode().splitlines()
    assert (int(uid), int(gid), int(groups)) == (nobody.pw_uid, nobody.pw_gid, nobody.pw_gid)
    assert '"A": "b"' in file


async def test_an_unknown_user_is_named(script):
    message = failure(cli_path=script(""), user="nobody-of-that-name")
    assert "'nobody-of-that-name', whom this system does not know" in message


async def test_the_current_user_needs_no_right_to_change_users(started):
    process = started("print(os.getuid(), flush=True)", user=pwd.getpwuid(os.getuid()).pw_name)
    assert int(await process.receive()) == os.getuid()


def test_nothing_is_left_of_a_start_that_failed(tmp_path):
    path = tmp_path / "agent"
    path.write_text("just text\n")
    path.chmod(0o755)
    before = set(Path(tempfile.gettempdir()).iterdir())
    failure(cli_path=path, mcp_servers={"s": {"command": "x", "env": {"KEY": "secret"}}})
    new = set(Path(tempfile.gettempdir()).iterdir()) - before
    assert not [path for path in new if path.name.startswith(f"claude-wrapper-{os.getpid()}-")]
