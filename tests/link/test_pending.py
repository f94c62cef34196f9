from hypothesis import given
from hypothesis import strategies as st

from claude_wrapper.link.pending import PendingReplies


def test_a_reply_reaches_the_request_with_its_id():
    pending = PendingReplies()
    first, second = pending.open("a", list), pending.open("b", list)

    assert pending.resolve("b", 2)

    assert (first.done, second.value) == (False, 2)


def test_a_reply_that_nobody_waits_for_is_reported():
    pending = PendingReplies()
    slot = pending.open("a", list)
    pending.close(slot)

    assert not pending.resolve("a", 1)
    assert not pending.resolve("never opened", 1)


def test_closing_says_whether_the_request_was_still_waiting():
    pending = PendingReplies()
    answered, given_up = pending.open("a", list), pending.open("b", list)
    pending.resolve("a", 1)

    assert not pending.close(answered)
    assert pending.close(given_up)
    assert len(pending) == 0


def test_the_first_fatal_error_fails_all_that_waits_and_all_that_comes():
    pending = PendingReplies()
    before = pending.open("a", list)
    cause = RuntimeError("gone")

    pending.fail_all(cause)
    pending.fail_all(RuntimeError("later"))
    after = pending.open("b", list)

    assert before.error is cause
    assert after.error is cause


def test_the_waiter_is_woken_once_per_request():
    woken = []
    pending = PendingReplies()
    pending.open("a", lambda: woken.append("a"))
    pending.resolve("a", 1)
    pending.resolve("a", 2)
    pending.fail_all(RuntimeError())

    assert woken == ["a"]


@given(st.lists(st.sampled_from("abcdef"), unique=True), st.data())
def test_every_request_gets_its_own_reply_in_any_order(ids, data):
    pending = PendingReplies()
    slots = {i: pending.open(i, list) for i in ids}
    for i in data.draw(st.permutations(ids)):
        pending.resolve(i, i.upper())

    assert {i: slot.value for i, slot in slots.items()} == {i: i.upper() for i in ids}
