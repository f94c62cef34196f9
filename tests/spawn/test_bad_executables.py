"""Executables that cannot be an agent: each is refused at once, with the reason."""

import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from claude_wrapper import ClaudeAgentOptions, ClaudeSDKClient
from claude_wrapper.errors import AgentStartError, CLIConnectionError, ProcessError
from claude_wrapper.spawn.executables import why_forbidden, why_not_a_program
from claude_wrapper.spawn.start import start_agent
from claude_wrapper.testing import ScriptedAgent

pytestmark = pytest.mark.anyio

HERE = {"x86_64": 62, "aarch64": 183}.get(os.uname().machine)
ELSEWHERE = {"x86_64": (183, "aarch64"), "aarch64": (62, "x86_64")}.get(os.uname().machine)
linux = pytest.mark.skipif(sys.platform != "linux" or HERE is None, reason="made for 64-bit Linux")


def refusal(path):
    with pytest.raises(AgentStartError) as caught:
        start_agent(ClaudeAgentOptions(cli_path=path))
    return str(caught.value)


async def failure(path, **options):
    client = ClaudeSDKClient(ClaudeAgentOptions(cli_path=path, **options))
    with pytest.raises(CLIConnectionError) as caught:
        await client.connect()
    return caught.value


def runnable(path, content):
    path.write_bytes(content)
    path.chmod(0o755)
    return path


def elf(machine, length=1_000_000):
    """The head of a program whose one segment is `length` bytes long."""
    head = b"\x7fELF\x02\x01\x01" + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, 0x400000, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    return head + struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, length, length, 4096)


def a_third_of(program):
    whole = Path(shutil.which(program)).resolve().read_bytes()
    return whole[: len(whole) // 3]


def without_its_library(folder):
    """Build a program and take its library away."""
    source, library = folder / "agent.c", folder / "library.c"
    source.write_text("int missing(void); int main(void) { return missing(); }\n")
    library.write_text("int missing(void) { return 0; }\n")
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no compiler is here")
    subprocess.run([compiler, "-shared", "-o", folder / "libgone.so", library], check=True)
    subprocess.run([compiler, "-o", folder / "agent", source, f"-L{folder}", "-lgone"], check=True)
    (folder / "libgone.so").unlink()


@linux
async def test_a_program_for_another_machine_is_told_with_both_names(tmp_path):
    number, name = ELSEWHERE
    text = refusal(runnable(tmp_path / "agent", elf(number)))
    assert f"the file is a program for {name}; this machine is {os.uname().machine}" in text


@linux
async def test_programs_for_other_systems_are_told(tmp_path):
    windows = b"MZ" + bytes(58) + struct.pack("<I", 64) + b"PE\0\0" + struct.pack("<H", 0x8664)
    assert "a program for Windows on x86_64" in why_not_a_program(runnable(tmp_path / "w", windows))
    assert "a program for macOS" in refusal(runnable(tmp_path / "m", b"\xcf\xfa\xed\xfe" + bytes(60)))


@linux
async def test_a_program_that_is_cut_off_in_its_head_is_told(tmp_path):
    text = refusal(runnable(tmp_path / "agent", elf(HERE)[:40]))
    assert "the file is cut off: it has 40 bytes" in text
    assert "it has 120 bytes of at least 1000000" in why_not_a_program(runnable(tmp_path / "b", elf(HERE)))


async def test_an_empty_file_is_told(tmp_path):
    assert "the file is empty" in refusal(runnable(tmp_path / "agent", b""))


@linux
async def test_a_program_that_is_cut_off_further_on_ends_the_start_at_once(tmp_path):
    """The system starts it, or kills it on the way; the error says which program it was and how it ended."""
    error = await failure(runnable(tmp_path / "agent", a_third_of("bash")))
    assert isinstance(error, (ProcessError, AgentStartError))
    assert error.exit_code if isinstance(error, ProcessError) else "cut off" in str(error)


@linux
async def test_missing_libraries_are_named(tmp_path):
    """The loader's own words come with the error."""
    without_its_library(tmp_path)
    error = await failure(tmp_path / "agent")
    assert error.exit_code == 127
    assert "libgone.so" in str(error)


@linux
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
def test_a_file_system_mounted_noexec_is_told(tmp_path):
    folder = tmp_path / "mounted"
    folder.mkdir()
    # In a mount namespace of the child: nobody else sees it, and it ends with the child.
    program = f"""
import subprocess, sys
from pathlib import Path
subprocess.run(["mount", "-t", "tmpfs", "-o", "noexec,size=1m", "none", {str(folder)!r}], check=True)
agent = Path({str(folder)!r}, "agent")
agent.write_text("#!/bin/sh\\n")
agent.chmod(0o755)
from claude_wrapper.spawn.locate import locate_agent
try:
    locate_agent(agent)
except Exception as error:
    print(type(error).__name__, error)
"""
    command = ["unshare", "--mount", sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    if "ermission" in done.stderr or "not permitted" in done.stderr:
        pytest.skip("this machine allows no mounts")
    assert done.stdout.startswith("AgentStartError"), done.stderr
    assert "mounted noexec" in done.stdout
    assert "chmod" not in done.stdout


async def test_a_file_that_only_others_may_run_is_told_with_its_mode(unprivileged):
    path = runnable(unprivileged / "agent", b"#!/bin/sh\n")
    path.chmod(0o611)
    assert "may not be run by this user; its mode is -rw---x--x" in refusal(path)


async def test_systems_that_tell_nothing_of_noexec_say_what_they_can(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "ST_NOEXEC", raising=False)
    assert "its mode is -rwxr-xr-x" in why_forbidden(runnable(tmp_path / "agent", b""))


async def test_a_slow_start_is_waited_for(tmp_path):
    """As a scanner causes it that reads every program before it runs."""
    agent = ScriptedAgent(tmp_path).sleep(1.5).wait("init").wait("eof")
    async with ClaudeSDKClient(ClaudeAgentOptions(cli_path=agent.path)) as client:
        assert await client.get_server_info() is not None


async def test_a_start_that_is_too_slow_ends_with_the_limit_named(tmp_path):
    agent = ScriptedAgent(tmp_path).mute("initialize").wait("eof")
    error = await failure(agent.path, initialize_timeout=0.5)
    assert "0.5" in str(error)
