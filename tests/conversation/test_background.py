import contextvars

import anyio
import pytest

from claude_wrapper.conversation.background import Background

pytestmark = pytest.mark.anyio

speaker = contextvars.ContextVar("speaker", default="nobody")


async def test_a_task_outlives_the_call_that_started_it():
    background, done = Background(), anyio.Event()

    async def work():
        done.set()

    def start():
        background.start(work)

    start()
    with anyio.fail_after(40):
        await done.wait()


async def test_stopping_ends_every_task_and_waits_for_it():
    background, started, cleaned = Background(), anyio.Event(), []

    async def work():
        try:
            started.set()
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.lowlevel.checkpoint()
            cleaned.append(True)

    background.start(work)
    with anyio.fail_after(40):
        await started.wait()
        await background.stop()

    assert cleaned == [True]


async def test_stopping_without_tasks_returns_at_once():
    with anyio.fail_after(40):
        await Background().stop()


async def test_a_failing_task_is_logged_and_harms_nobody(caplog):
    background = Background()

    async def work():
        raise RuntimeError("broken")

    background.start(work)
    with anyio.fail_after(40):
        await anyio.wait_all_tasks_blocked()
        await background.stop()

    assert "broken" in caplog.text


async def test_tasks_run_in_the_context_that_was_adopted_last():
    background, seen, done = Background(), [], anyio.Event()

    async def work():
        seen.append(speaker.get())
        done.set()

    speaker.set("first")
    background.adopt_context()
    speaker.set("second")
    background.start(work)
    with anyio.fail_after(40):
        await done.wait()

    assert seen == ["first"]


async def test_a_task_may_stop_all_others_and_go_on():
    background, others_ended, went_on = Background(), anyio.Event(), anyio.Event()

    async def other():
        try:
            await anyio.sleep_forever()
        finally:
            others_ended.set()

    async def stopper():
        await background.stop()
        await anyio.lowlevel.checkpoint()
        went_on.set()

    background.start(other)
    await anyio.wait_all_tasks_blocked()
    background.start(stopper)
    with anyio.fail_after(40):
        await others_ended.wait()
        await went_on.wait()


async def test_a_task_that_swallows_its_cancellation_is_given_up_and_complained_about(caplog, monkeypatch):
    monkeypatch.setattr("claude_wrapper.conversation.background._STOP_SECONDS", 0.05)
    background, release = Background(), anyio.Event()

    async def work():
        with anyio.CancelScope(shield=True):
            await release.wait()

    background.start(work)
    await anyio.wait_all_tasks_blocked()
    with anyio.fail_after(40):
        await background.stop()

    assert "1 tasks do not end though they are cancelled" in caplog.text
    release.set()
    await background.stop()
