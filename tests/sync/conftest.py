import contextlib
import signal
import sys
import threading
import traceback

import pytest

from claude_wrapper import ClaudeAgentOptions
from claude_wrapper.sync import loop_thread
from claude_wrapper.testing.polling import poll


@pytest.fixture
def options(agent):
    """Options for the scripted agent; its steps may still be added when they are made."""
    return lambda **more: ClaudeAgentOptions(cli_path=agent.path, **more)


@pytest.fixture(autouse=True)
def nothing_left_behind():
    """Each test ends with the threads it began with, but those that asked for a plain callback."""
    before = set(threading.enumerate())
    yield
    left = [thread for thread in set(threading.enumerate()) - before if "worker" not in thread.name]
    for thread in left:
        thread.join(40)
    assert [thread for thread in left if thread.is_alive()] == []


@pytest.fixture
def aside():
    """Runs functions in threads that are waited for at the end."""
    with contextlib.ExitStack() as stack:

        def start(function):
            thread = threading.Thread(target=function)
            thread.start()
            stack.callback(thread.join, 10)
            return thread

        yield start


def waits_in_a_call(thread):
    """Whether a thread stands in a blocking call of the door."""
    stack = traceback.extract_stack(sys._current_frames()[thread.ident])
    return any(frame.filename == loop_thread.__file__ and frame.name == "_wait" for frame in stack)


@pytest.fixture
def ctrl_c(aside):
    """Presses Ctrl+C once `ready` has returned and the main thread waits in a call."""

    def press(ready):
        def send():
            ready()
            poll(lambda: waits_in_a_call(threading.main_thread()), "the main thread waits", 10)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

        aside(send)

    return press
