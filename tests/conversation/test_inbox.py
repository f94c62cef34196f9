import anyio
import pytest

from claude_wrapper.conversation.inbox import Inbox, Slot

pytestmark = pytest.mark.anyio


async def test_messages_are_taken_in_order():
    inbox = Inbox(100)
    inbox.put([1, 2], 10)
    inbox.put([3], 10)

    taken = []
    while inbox and await inbox.wait():
        taken.append(inbox.take())

    assert taken == [1, 2, 3]


async def test_a_waiting_reader_is_woken_by_a_message_and_by_the_end():
    inbox = Inbox(100)
    seen = []

    async def read():
        while await inbox.wait():
            seen.extend(inbox.take_all())
        seen.append("end")

    with anyio.fail_after(40):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            await anyio.wait_all_tasks_blocked()
            inbox.put(["a"], 1)
            await anyio.wait_all_tasks_blocked()
            assert seen == ["a"]
            inbox.end(None)

    assert seen == ["a", "end"]


async def test_what_had_arrived_before_the_end_is_still_given():
    inbox = Inbox(100)
    inbox.put(["last"], 1)
    inbox.end(RuntimeError("gone"))

    assert await inbox.wait()
    assert inbox.take() == "last"
    assert not await inbox.wait()


async def test_the_first_end_counts():
    inbox = Inbox(100)
    first = RuntimeError("first")
    inbox.end(first)
    inbox.end(RuntimeError("second"))

    assert inbox.error is first


async def test_it_is_full_by_bytes_and_drained_when_everything_was_taken():
    inbox = Inbox(10)
    inbox.put(["small"], 10)
    assert not inbox.is_full
    inbox.put(["large"], 1)
    assert inbox.is_full

    drained = []

    async def wait():
        await inbox.drained()
        drained.append(True)

    with anyio.fail_after(40):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            inbox.take()
            assert not drained
            inbox.take()
            tasks.start_soon(inbox.wait)
            await anyio.wait_all_tasks_blocked()
            assert drained
            assert not inbox.is_full
            inbox.end(None)


async def test_a_reader_that_waits_for_room_can_be_released():
    inbox = Inbox(1)
    inbox.put(["x"], 2)

    with anyio.fail_after(40):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(inbox.drained)
            await anyio.wait_all_tasks_blocked()
            inbox.release()

    assert len(inbox) == 1


async def test_a_slot_holds_back_what_is_behind_it_until_it_is_filled():
    inbox = Inbox(100)
    slot = Slot()
    inbox.put([1], 1)
    inbox.hold(slot)
    inbox.put([4], 1)

    assert (len(inbox), inbox.take_all(), bool(inbox)) == (2, [1], False)
    with anyio.move_on_after(0.05) as waiting:
        await inbox.wait()
    assert waiting.cancelled_caught

    inbox.fill(slot, [2, 3])
    assert await inbox.wait()
    assert (inbox.take(), inbox.take_all(), len(inbox)) == (2, [3, 4], 0)


async def test_a_filled_slot_wakes_who_waits_and_may_be_empty():
    inbox = Inbox(100)
    slots = [Slot(), Slot()]
    for slot in slots:
        inbox.hold(slot)
    inbox.put(["last"], 1)
    inbox.end(None)
    taken = []

    async def read():
        while await inbox.wait():
            taken.extend(inbox.take_all())

    with anyio.fail_after(40):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            for slot in reversed(slots):
                await anyio.wait_all_tasks_blocked()
                assert taken == []
                inbox.fill(slot, [])

    assert taken == ["last"]
