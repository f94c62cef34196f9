"""Files that carry what must not stand on a command line."""

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from claude_wrapper.spawn.private_files import PrivateFile, PrivateFolder

SERVERS = {"s": {"command": "x", "env": {"KEY": "s3cret"}}}


@pytest.mark.anyio
async def test_an_agent_finds_its_file_and_only_its_user_can_read_it(started, read_line):
    process = started(
        """
        path = sys.argv[sys.argv.index("--mcp-config") + 1]
        modes = [oct(os.stat(name).st_mode & 0o777) for name in (path, os.path.dirname(path))]
        print(path, *modes, "s3cret" in open(path).read(), flush=True)
        sys.stdin.read()
        """,
        mcp_servers=SERVERS,
    )
    path, *facts = (await read_line(process)).split()
    assert facts == ["0o600", "0o700", "True"]
    assert Path(path).exists()  # noqa: ASYNC240  # a local look
    await process.stop()
    assert not Path(path).parent.exists()


def test_a_folder_is_made_only_for_a_file():
    before = set(Path(tempfile.gettempdir()).glob(f"claude-wrapper-{os.getpid()}-*"))
    folder = PrivateFolder()
    folder.remove()
    assert set(Path(tempfile.gettempdir()).glob(f"claude-wrapper-{os.getpid()}-*")) == before


def test_folders_of_programs_that_have_gone_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    abandoned = tmp_path / f"claude-wrapper-{gone.pid}-x"
    recent = tmp_path / f"claude-wrapper-{gone.pid}-y"
    alive = tmp_path / f"claude-wrapper-{os.getpid()}-z"
    foreign = tmp_path / "claude-wrapper-notes"
    for folder in (abandoned, recent, alive, foreign):
        folder.mkdir()
        (folder / "file").write_text("")
    for folder in (abandoned, alive, foreign):
        os.utime(folder, (0, 0))
    folder = PrivateFolder()
    path = folder.write(PrivateFile("a.json", b"{}"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {entry.name for entry in tmp_path.iterdir()} == {
        *(recent.name, alive.name, foreign.name),
        path.parent.name,
    }
    folder.remove()
    assert not path.exists()
