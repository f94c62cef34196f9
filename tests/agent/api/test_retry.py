import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_wrapper.agent.api.failure import Failure
from claude_wrapper.agent.api.retry import GiveUp, Retry, RetryPolicy, RetryState, Switch, Unstreamed, decide

POLICY = RetryPolicy()


def verdict(failure, policy=POLICY, state=None, random=0.0):
    return decide(failure, state or RetryState(), policy, lambda: random)


def status(code, **more):
    return Failure("status", status=code, **more)


@pytest.mark.feature("ENV-03")
@pytest.mark.parametrize("code", [401, 408, 409, 429, 500, 502, 503, 504, 529])
def test_these_statuses_are_tried_again(code):
    assert isinstance(verdict(status(code)), Retry)


@pytest.mark.feature("ENV-03")
@pytest.mark.parametrize("code", [301, 400, 402, 403, 413, 422])
def test_these_statuses_are_not(code):
    assert verdict(status(code)) == GiveUp()


@pytest.mark.parametrize("cause", ["refused", "unreachable", "dropped", "timeout"])
def test_a_connection_that_fails_is_tried_again(cause):
    assert isinstance(verdict(Failure(cause)), Retry)


def test_a_certificate_that_is_not_trusted_will_not_be_so_the_next_time():
    assert verdict(Failure("tls")) == GiveUp()


@given(st.floats(0, 1))
def test_waits_double_from_half_a_second_with_jitter_and_a_limit(random):
    state = RetryState()
    waits = [verdict(status(500), RetryPolicy(max_retries=9), state, random).delay for _ in range(9)]
    for wait, least in zip(waits, [0.5, 1, 2, 4, 8, 16, 32, 32, 32], strict=True):
        assert least <= wait <= least * 1.25


def test_attempts_count_from_one_and_end_with_the_last_retry():
    state = RetryState()
    policy = RetryPolicy(max_retries=2)
    assert verdict(status(500), policy, state).attempt == 1
    assert verdict(status(500), policy, state).attempt == 2
    assert verdict(status(500), policy, state) == GiveUp()


@pytest.mark.feature("ENV-03")
def test_the_wait_that_the_server_asks_for_is_kept():
    assert verdict(status(429, retry_after=3.0)).delay == 3.0
    assert verdict(status(429, retry_after=3.0), random=1.0).delay == 3.75


def test_nobody_waits_more_than_a_minute_for_a_server():
    assert verdict(status(429, retry_after=61.0)) == GiveUp()
    assert verdict(status(429, retry_after=60.0)).delay == 60.0


@pytest.mark.feature("ENV-03")
def test_the_server_can_say_whether_trying_again_helps():
    assert verdict(status(529, should_retry=False)) == GiveUp()
    assert isinstance(verdict(status(404, should_retry=True)), Retry)


@pytest.mark.feature("ENV-03")
def test_a_patient_policy_waits_for_an_overloaded_server_for_ever():
    policy = RetryPolicy(max_retries=1, patient=True)
    state = RetryState()
    waits = [verdict(status(529), policy, state).delay for _ in range(40)]
    assert waits[-1] == 300
    assert verdict(status(429, retry_after=3600.0), policy).delay == 3600
    assert verdict(status(500), policy, state) == GiveUp()


def test_a_stream_that_breaks_is_streamed_again_and_then_asked_for_in_one_piece():
    state = RetryState()
    policy = RetryPolicy(max_retries=2)
    verdicts = [verdict(Failure("cut"), policy, state) for _ in range(3)]
    assert [type(v) for v in verdicts] == [Retry, Retry, Unstreamed]
    assert not state.streaming
    assert verdict(status(500), policy, state) == GiveUp()


def test_a_stream_that_ends_too_early_gets_one_more_chance():
    state = RetryState(block_begun=True)
    verdicts = [verdict(Failure("unfinished"), POLICY, state) for _ in range(2)]
    assert [type(v) for v in verdicts] == [Retry, Unstreamed]


@pytest.mark.parametrize("cause", ["no_reply", "malformed"])
def test_a_stream_that_makes_no_sense_is_not_trusted_again(cause):
    state = RetryState()
    assert verdict(Failure(cause), POLICY, state) == Unstreamed()
    assert verdict(Failure(cause), POLICY, state) == GiveUp()


def test_an_error_in_the_stream_is_followed_by_a_request_for_one_piece_and_then_by_the_usual_rules():
    state = RetryState(block_begun=True)
    assert verdict(Failure("error_event", status=529), POLICY, state) == Unstreamed()
    assert verdict(status(529), POLICY, state) == Retry(1, 0.5)
    assert verdict(status(400), POLICY, state) == GiveUp()


def test_where_replies_in_one_piece_are_not_wanted_a_stream_is_only_streamed_again():
    policy = RetryPolicy(max_retries=1, unstreamed=False)
    state = RetryState()
    assert isinstance(verdict(Failure("cut"), policy, state), Retry)
    assert verdict(Failure("cut"), policy, state) == GiveUp()
    assert isinstance(verdict(Failure("error_event", status=529), policy), Retry)
    assert verdict(Failure("error_event", status=400), policy) == GiveUp()
    assert verdict(Failure("no_reply"), policy) == GiveUp()


@pytest.mark.feature("ENV-03")
@pytest.mark.parametrize(
    ("value", "retries"), [("", 10), ("x", 10), ("0", 0), ("3", 3), ("15", 15), ("99", 15), ("-1", 0)]
)
def test_the_environment_says_how_often(value, retries):
    assert RetryPolicy.from_environment({"CLAUDE_CODE_MAX_RETRIES": value}).max_retries == retries


def test_without_a_word_of_the_environment_it_is_ten_times():
    policy = RetryPolicy.from_environment({})
    assert policy == RetryPolicy()
    assert policy.max_retries == 10
    assert not policy.patient


def test_switches_of_the_environment():
    policy = RetryPolicy.from_environment(
        {"CLAUDE_CODE_RETRY_WATCHDOG": "1", "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "true"}
    )
    assert policy.patient
    assert not policy.unstreamed


@pytest.mark.feature("ENV-13")
def test_a_missing_model_is_final_but_a_missing_address_may_have_no_streams():
    assert verdict(status(404, message="model: nope")) == GiveUp()
    state = RetryState()
    assert verdict(status(404, message="no such route"), POLICY, state) == Unstreamed()
    assert verdict(status(404, message="no such route"), POLICY, state) == GiveUp()


def test_a_stream_that_ends_before_any_block_is_not_trusted_again():
    assert verdict(Failure("unfinished")) == Unstreamed()


def test_a_stream_that_is_overloaded_before_it_gives_anything_is_quietly_tried_twice_more():
    state = RetryState()
    overloaded = Failure("error_event", status=529, error_type="overloaded_error")
    verdicts = [verdict(overloaded, POLICY, state) for _ in range(3)]
    assert verdicts == [Retry(0, 0.5), Retry(0, 1.0), Unstreamed()]


@pytest.mark.feature("ENV-07")
def test_another_model_is_asked_when_this_one_is_overloaded_three_times():
    state = RetryState(can_switch=True)
    verdicts = [verdict(status(529), POLICY, state) for _ in range(3)]
    assert verdicts == [Retry(1, 0.5), Retry(2, 1.0), Switch("overloaded")]


@pytest.mark.feature("ENV-07")
@pytest.mark.parametrize(
    ("failure", "trigger"),
    [
        (status(500), "server_error"),
        (status(503, should_retry=False), "server_error"),
        (status(404, message="model: nope"), "model_not_found"),
    ],
)
def test_another_model_is_asked_at_once_when_this_one_fails_or_is_missing(failure, trigger):
    assert verdict(failure, POLICY, RetryState(can_switch=True)) == Switch(trigger)


@pytest.mark.feature("ENV-07")
@pytest.mark.parametrize("code", [400, 401, 402, 403, 408, 409, 413, 429])
def test_no_other_model_is_asked_for_what_it_would_not_do_better(code):
    assert not isinstance(verdict(status(code), POLICY, RetryState(can_switch=True)), Switch)


def test_a_key_that_is_refused_three_times_stays_refused():
    state = RetryState()
    verdicts = [verdict(status(401), POLICY, state) for _ in range(3)]
    assert verdicts == [Retry(1, 0.5), Retry(2, 1.0), GiveUp()]
