import threading

import anyio
import pytest

from claude_wrapper.errors import ClaudeSDKError
from claude_wrapper.testing import Gate, Moment, ScriptTimeoutError


def test_a_thread_waits_until_it_has_happened():
    moment = Moment("it")
    thread = threading.Thread(target=moment.wait, args=(10,))
    thread.start()
    moment.happen()
    thread.join(40)
    assert not thread.is_alive()
    assert moment.happened


def test_what_has_happened_is_not_waited_for():
    moment = Moment("it")
    moment.happen()
    moment.happen()
    moment.wait(0)


def test_a_wait_that_is_too_long_says_what_it_was_for():
    with pytest.raises(ScriptTimeoutError, match="the cow flies") as caught:
        Moment("the cow flies").wait(0.01)
    assert isinstance(caught.value, TimeoutError)
    assert isinstance(caught.value, ClaudeSDKError)


@pytest.mark.anyio
async def test_an_event_loop_is_woken_from_another_thread():
    moment = Moment("it")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(moment.reached, 10)
        await anyio.wait_all_tasks_blocked()
        await anyio.to_thread.run_sync(moment.happen)
    assert moment.happened


@pytest.mark.anyio
async def test_a_wait_in_an_event_loop_is_bounded():
    with pytest.raises(ScriptTimeoutError, match="never"):
        await Moment("never").reached(0.01)


@pytest.mark.anyio
async def test_a_cancelled_wait_leaves_nothing_behind():
    moment = Moment("it")
    with anyio.move_on_after(0.01):
        await moment.reached(10)
    moment.happen()
    await moment.reached(0.1)


def test_it_may_happen_after_the_loop_that_waited_has_ended():
    moment = Moment("it")
    with pytest.raises(ScriptTimeoutError):
        anyio.run(moment.reached, 0.01)
    moment.happen()


def test_a_gate_shows_that_somebody_stands_at_it_and_stays_open_once_released():
    gate = Gate("g")
    with pytest.raises(ScriptTimeoutError, match="'g'"):
        gate.wait(0.01)
    gate.arrival.happen()
    gate.wait(0)
    gate.release()
    assert gate.opening.happened
    assert "open" in repr(gate)
