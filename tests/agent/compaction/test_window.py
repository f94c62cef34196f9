"""When the window counts as full."""

from pathlib import Path

import pytest

from claude_wrapper.agent.api.catalog import find_model
from claude_wrapper.agent.compaction.window import window_of
from claude_wrapper.agent.start.settings import Settings

SMALL = find_model("claude-sonnet-4-5")
LONG_REPLIES = 32_000


def window(environ=None, flag=None, values=None, replies=LONG_REPLIES, model=SMALL):
    settings = Settings(Path("/project"), environ=environ or {}, compact_window=flag, values=values or {})
    return window_of(settings, model, replies)


@pytest.mark.feature("CTX-10")
def test_room_is_left_for_a_reply_and_for_what_comes_with_it():
    assert window(flag=100_000).threshold == 67_000
    assert window(flag=100_000, replies=8_000).threshold == 79_000
    assert window(flag=200_000).threshold == 167_000


@pytest.mark.feature("CTX-10")
def test_a_variable_goes_before_the_flag_and_the_flag_before_settings():
    variable, setting = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "150000"}, {"autoCompactWindow": 120_000}

    assert window(variable, 110_000, setting).size == 150_000
    assert window(None, 110_000, setting).size == 110_000
    assert window(None, None, setting).size == 120_000


@pytest.mark.parametrize("value", ["", "many", "-1", "0", "1e6", "²"])
def test_a_variable_that_is_no_number_is_left_out(value):
    assert not window({"CLAUDE_CODE_AUTO_COMPACT_WINDOW": value}).chosen


@pytest.mark.parametrize("value", [99_999, "150000", 1.5, None, [], -1])
def test_a_setting_that_is_no_window_is_left_out(value):
    assert not window(values={"autoCompactWindow": value}).chosen


def test_a_variable_below_the_least_stands_for_the_least():
    assert window({"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "5"}).size == 100_000


def test_no_window_is_larger_than_the_models():
    assert window(flag=1_000_000).size == SMALL.context_window
    assert window(flag=1_000_000).chosen


def test_leaving_it_to_the_model_by_flag_goes_before_settings():
    left = window(flag=0, values={"autoCompactWindow": 100_000})

    assert (left.chosen, left.size) == (False, SMALL.context_window)


@pytest.mark.feature("CTX-10")
def test_a_percentage_makes_it_happen_sooner_and_never_later():
    def at(text):
        return window({"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": text}, 100_000).threshold

    assert at("50") == 40_000
    assert at("12.5") == 10_000
    assert at("99") == at("100") == at("0") == at("-5") == at("much") == at("nan") == at("101") == 67_000


@pytest.mark.feature("CTX-10")
@pytest.mark.parametrize("name", ["DISABLE_COMPACT", "DISABLE_AUTO_COMPACT"])
def test_switches_turn_it_off(name):
    assert not window({name: "1"}).automatic
    assert not window({name: "true"}).automatic
    assert window({name: "0"}).automatic
    assert window().automatic


@pytest.mark.feature("CTX-10")
def test_a_setting_turns_it_off():
    assert not window(values={"autoCompactEnabled": False}).automatic
    assert window(values={"autoCompactEnabled": True}).automatic


def test_what_stays_free_is_known_where_the_window_was_chosen_or_nothing_makes_room():
    assert window().buffer == 0
    assert window(flag=100_000).buffer == 33_000
    assert window({"DISABLE_AUTO_COMPACT": "1"}).buffer == 3_000
    assert window().last == 177_000
