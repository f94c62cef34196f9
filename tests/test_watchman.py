"""What a watchman ends, what it leaves alone, and when."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from claude_wrapper.watchman import Watchman

WAIT = 40.0
SLEEPER = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(300)"]
STUBBORN = [
    sys.executable,
    "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(300)",
]
SLOW = """
import signal, sys, time
def end(*_):
    time.sleep(0.3)
    sys.exit(7)
signal.signal(signal.SIGTERM, end)
print("up", flush=True)
time.sleep(300)
"""
PROGRAM = """
import subprocess, sys, time
from claude_wrapper.watchman import Watchman
watchman = Watchman.hire((0.05, 0.05), "TEST_MARK=" + sys.argv[1])
child = subprocess.Popen(sys.argv[2:], start_new_session=True)
watchman.watch([(child.pid, False)])
print(watchman.pid, child.pid, flush=True)
time.sleep(300)
"""


def lives(pid):
    """Whether a process runs; one that only waits to be reaped does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except OSError:
        return False
    return state not in "ZX"


def ignores(pid, number):
    """Whether a process ignores a signal."""
    (line,) = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if "SigIgn" in line]
    return bool(int(line.split()[1], 16) >> (number - 1) & 1)


def until(condition, seconds=WAIT):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


@pytest.fixture
def start():
    """Start programs that say that they are up; they are gone afterwards."""
    running = []

    def run(argv, **options):
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, start_new_session=True, **options)
        running.append(process)
        assert process.stdout.readline() == "up\n"
        return process

    yield run
    for process in running:
        process.kill()
        process.wait(WAIT)
        process.stdout.close()


@pytest.fixture
def hire():
    """Hire watchmen; those whom a test has not seen off are dismissed."""
    hired = []

    def get(*pauses, mark=""):
        watchman = Watchman.hire(pauses or (0.05, 0.05), mark)
        hired.append(watchman)
        return watchman

    yield get
    for watchman in hired:
        watchman.dismiss()


def test_a_killed_program_takes_its_group_with_it(tmp_path):
    shell = "sleep 300 & echo $! > pid; touch up; wait"
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "x", "/bin/sh", "-c", shell],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    watchman, child = map(int, program.stdout.readline().split())
    until((tmp_path / "up").exists)
    grandchild = int((tmp_path / "pid").read_text())
    assert all(map(lives, (watchman, child, grandchild)))

    program.kill()
    program.wait(WAIT)
    program.stdout.close()

    until(lambda: not any(map(lives, (watchman, child, grandchild))))


def test_what_does_not_end_when_it_is_asked_to_is_killed(start, hire):
    process = start(STUBBORN)
    watchman = hire()
    assert watchman.watch([(process.pid, False)])
    watchman.begin()

    assert process.wait(WAIT) == -signal.SIGKILL
    until(watchman.is_done)


def test_what_ends_when_it_is_asked_to_is_waited_for(start, hire):
    slow = start([sys.executable, "-c", SLOW])
    watchman = hire(*[0.1] * 50)
    watchman.watch([(slow.pid, False)])
    watchman.begin()

    assert slow.wait(WAIT) == 7
    until(watchman.is_done)


@pytest.mark.skipif(sys.platform != "linux", reason="environments are shown by Linux only")
def test_who_has_the_mark_is_found_in_any_session_and_group(start, hire):
    marked = start(SLEEPER, env={"TEST_MARK": "0123abcd"})
    other = start(SLEEPER, env={"TEST_MARK": "ffff0000"})
    watchman = hire(mark="TEST_MARK=0123abcd")
    watchman.begin()

    assert marked.wait(WAIT) == -signal.SIGTERM
    until(watchman.is_done)
    assert lives(other.pid)


def test_only_the_groups_that_were_named_last_are_ended(start, hire):
    first, second = start(SLEEPER), start(SLEEPER)
    watchman = hire()
    watchman.watch([(first.pid, False)])
    watchman.watch([(second.pid, False)])
    watchman.begin()

    assert second.wait(WAIT) == -signal.SIGTERM
    until(watchman.is_done)
    assert lives(first.pid)


def test_a_group_whose_first_process_is_gone_is_ended(hire):
    shell = subprocess.Popen(
        ["/bin/sh", "-c", "sleep 300 >/dev/null & echo $!"],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    left = int(shell.communicate(timeout=WAIT)[0])
    assert lives(left)
    watchman = hire()
    watchman.watch([(shell.pid, True)])
    watchman.begin()

    until(lambda: not lives(left))


def test_who_got_the_number_of_a_group_that_is_gone_is_left_alone(start, hire):
    somebody = start(SLEEPER)
    watchman = hire()
    watchman.watch([(somebody.pid, True)])
    watchman.begin()

    until(watchman.is_done)
    assert lives(somebody.pid)


def test_a_dismissed_watchman_does_nothing(start, hire):
    process = start(SLEEPER)
    watchman = hire()
    watchman.watch([(process.pid, False)])
    pid = watchman.pid
    watchman.dismiss()

    assert not lives(pid)
    assert lives(process.pid)
    assert watchman.pid is None
    assert watchman.is_done()
    assert not watchman.watch([(process.pid, False)])


def test_signals_of_a_terminal_do_not_end_it(start, hire):
    process = start(SLEEPER)
    watchman = hire()
    watchman.watch([(process.pid, False)])
    until(lambda: ignores(watchman.pid, signal.SIGTERM))
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        os.kill(watchman.pid, number)
    watchman.begin()

    assert process.wait(WAIT) == -signal.SIGTERM


def test_whether_it_takes_in_what_it_is_told_is_known(hire):
    gone, stopped = hire(), hire()
    os.kill(gone.pid, signal.SIGKILL)
    until(gone.is_done)
    assert not gone.watch([(1, True)])

    os.kill(stopped.pid, signal.SIGSTOP)
    nobody = [(2**30 + number, True) for number in range(9000)]
    assert not all(stopped.watch(nobody) for _ in range(9))  # and the call returns


def test_it_holds_nothing_of_its_program_open(hire):
    read, write = os.pipe()
    os.set_inheritable(write, True)
    hire()
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        assert pipe.read() == b""  # would wait for ever
