"""Runs `claude-wrapper` as its users do: as a process, in a pipe or on a terminal, with a home of its own."""

import contextlib
import os
import re
import select
import signal
import subprocess
import sys
import time

import pytest

WAIT = 30.0
COMMAND = [sys.executable, "-m", "claude_wrapper"]

# Takes the terminal on its stdin for its own, as a shell's child has it, and becomes the command.
ON_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0);"
    "os.execv(sys.executable, [sys.executable, '-m', 'claude_wrapper', *sys.argv[1:]])"
)
STEPS = re.compile(r"(\x1b\[[0-9;?]*[a-zA-Z])|([^\x1b])", re.DOTALL)
CONTROL = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\r")


@pytest.fixture
def environment(tmp_path):
    """What the command gets of this machine: a path, an empty home, and nothing about anybody."""
    folders = {name: tmp_path / name for name in ("home", "tmp")}
    for folder in folders.values():
        folder.mkdir()
    return {"PATH": os.environ["PATH"], "HOME": str(folders["home"]), "TMPDIR": str(folders["tmp"])}


@pytest.fixture
def work(tmp_path):
    """The folder that the command is called in."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def start(environment, work):
    """Starts the command and leaves it to the test; what is left at the end is killed."""
    started = []

    def start(*words, env=None, **how):
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        options = {"cwd": work, "text": True, **pipes, **how}
        process = subprocess.Popen([*COMMAND, *words], env={**environment, **(env or {})}, **options)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def cli(start):
    """Runs the command to its end; the outcome has `returncode`, `stdout` and `stderr`."""

    def run(*words, data=None, **how):
        if data is not None:
            how["stdin"] = subprocess.PIPE
        process = start(*words, **how)
        stdout, stderr = process.communicate(data, timeout=WAIT)
        return subprocess.CompletedProcess(words, process.returncode, stdout, stderr)

    return run


class Terminal:
    """The command on a terminal of its own."""

    def __init__(self, words, environment, cwd, columns):
        import pty
        import termios

        self._master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (50, columns)) if hasattr(termios, "tcsetwinsize") else _resize(
            slave, columns
        )
        self.process = subprocess.Popen(
            [sys.executable, "-c", ON_TERMINAL, *words],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=cwd,
            env=environment,
            start_new_session=True,
        )
        os.close(slave)
        self.raw = b""

    @property
    def text(self):
        """All that was written so far, without what moves the cursor and sets colors."""
        return CONTROL.sub("", self.raw.decode("utf-8", "replace"))

    @property
    def rows(self):
        """What stands there now: rows that were wiped and written over are gone."""
        rows, row, column = [""], 0, 0
        for command, character in STEPS.findall(self.raw.decode("utf-8", "replace")):
            if command == "\x1b[2K":
                rows[row] = ""
            elif command.endswith("A"):
                row -= int(command[2:-1] or 1)
            elif character == "\r":
                column = 0
            elif character == "\n":
                row, column = row + 1, 0
                rows += [""] * (row + 1 - len(rows))
            elif character:
                rows[row] = rows[row][:column].ljust(column) + character + rows[row][column + 1 :]
                column += 1
        return [each.rstrip() for each in rows]

    def wait_for(self, text):
        """Read until a text is there."""
        self._read(lambda: text in self.text)
        assert text in self.text, self.text

    def wait(self):
        """Read to the end and return the exit code."""
        self._read(lambda: False)
        return self.process.wait(WAIT)

    def press(self, keys):
        """Type something."""
        os.write(self._master, keys)

    def _read(self, enough):
        deadline = time.monotonic() + WAIT
        while not enough():
            left = deadline - time.monotonic()
            assert left > 0, f"nothing more came; so far: {self.text}"
            if select.select([self._master], [], [], left)[0]:
                try:
                    data = os.read(self._master, 65536)
                except OSError:  # Linux says so when the last process has let go of the terminal
                    return
                if not data:
                    return
                self.raw += data

    def close(self):
        """End what is left."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(WAIT)
        os.close(self._master)


def _resize(descriptor, columns):
    import fcntl
    import struct
    import termios

    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))


@pytest.fixture
def terminal(environment, work):
    """Starts the command on a terminal."""
    if sys.platform == "win32":
        pytest.skip("there are no pseudo-terminals")
    opened = []

    def open_terminal(*words, env=None, columns=100):
        settings = {"TERM": "xterm-256color", "LANG": "C.UTF-8", **environment, **(env or {})}
        opened.append(Terminal(words, settings, work, columns))
        return opened[-1]

    yield open_terminal
    for each in opened:
        each.close()
