import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_wrapper.agent.tools.patch import structured_patch


def lines_to(count):
    return "".join(f"line {i}\n" for i in range(count))


def split(text):
    return [line for line in re.split(r"(?<=\n)", text) if line]


def applied(old, hunks):
    """The new text, by following the hunks literally."""
    lines = split(old)
    result = []
    at = 0
    for hunk in hunks:
        start = hunk["oldStart"] - 1
        result += lines[at:start]
        at = start
        before = len(result)
        assert hunk["newStart"] == before + 1
        mark = ""
        for line in hunk["lines"]:
            if line.startswith("\\"):
                if mark in " +":
                    result[-1] = result[-1].removesuffix("\n")
                continue
            mark, text = line[0], line[1:] + "\n"
            if mark in " -":
                assert lines[at].removesuffix("\n") + "\n" == text
                at += 1
            if mark in " +":
                result.append(text)
        assert at - start == hunk["oldLines"]
        assert len(result) - before == hunk["newLines"]
    return "".join(result + lines[at:])


def test_a_changed_line_stands_between_its_neighbours():
    assert structured_patch("alpha\nbeta\ngamma\n", "alpha\nBETA\ngamma\n") == [
        {
            "oldStart": 1,
            "oldLines": 3,
            "newStart": 1,
            "newLines": 3,
            "lines": [" alpha", "-beta", "+BETA", " gamma"],
        }
    ]


def test_equal_texts_have_no_hunks():
    assert structured_patch("a\n", "a\n") == []


def test_a_new_text_counts_from_line_one():
    assert structured_patch("", "created\n") == [
        {"oldStart": 1, "oldLines": 0, "newStart": 1, "newLines": 1, "lines": ["+created"]}
    ]


def test_a_text_that_goes_leaves_no_lines():
    (hunk,) = structured_patch(lines_to(3), "")
    assert (hunk["oldLines"], hunk["newStart"], hunk["newLines"]) == (3, 1, 0)


def test_a_run_of_changes_shows_what_went_before_what_came():
    (hunk,) = structured_patch("x x\nx\n", "y y\ny\n")
    assert hunk["lines"] == ["-x x", "-x", "+y y", "+y"]


def test_a_missing_newline_at_the_end_is_marked_on_each_side_that_misses_it():
    mark = "\\ No newline at end of file"
    assert structured_patch("a\nb", "a\nc")[0]["lines"] == [" a", "-b", mark, "+c", mark]
    assert structured_patch("a\nc", "a\n")[0]["lines"] == [" a", "-c", mark]
    assert structured_patch("a\nb", "A\nb")[0]["lines"] == ["-a", "+A", " b", mark]


def test_three_lines_of_context_stand_around_a_change():
    (hunk,) = structured_patch(lines_to(30), lines_to(30).replace("line 20\n", "L20\n"))
    assert (hunk["oldStart"], hunk["oldLines"], hunk["newStart"], hunk["newLines"]) == (18, 7, 18, 7)


def test_changes_share_a_hunk_when_their_contexts_touch():
    old = lines_to(40)
    assert len(structured_patch(old, old.replace("line 5\n", "x\n").replace("line 12\n", "x\n"))) == 1
    assert len(structured_patch(old, old.replace("line 5\n", "x\n").replace("line 13\n", "x\n"))) == 2


@pytest.mark.parametrize(
    ("new", "lines"),
    [
        (
            lines_to(20).replace("line 5\n", "line 6\n"),
            [
                " line 2",
                " line 3",
                " line 4",
                "-line 5",
                " line 6",
                "+line 6",
                " line 7",
                " line 8",
                " line 9",
            ],
        ),
        (
            lines_to(20).replace("line 5\nline 6\n", "line 6\n"),
            [" line 2", " line 3", " line 4", "-line 5", " line 6", " line 7", " line 8"],
        ),
    ],
)
def test_among_equal_lines_the_first_ones_stay(new, lines):
    (hunk,) = structured_patch(lines_to(20), new)
    assert hunk["lines"] == lines


def test_a_change_in_thousands_of_places_of_a_long_text_stays_cheap_and_small():
    old = lines_to(20_000)
    new = old.replace("99", "n")
    began = time.process_time()
    hunks = structured_patch(old, new)
    assert time.process_time() - began < 5
    assert len(hunks) > 100
    assert sum(len(hunk["lines"]) for hunk in hunks) < 6000
    assert applied(old, hunks) == new


TEXTS = st.lists(st.sampled_from(["a", "b", "c", "", " x"]), max_size=25).map("\n".join)


@given(TEXTS, TEXTS)
def test_the_hunks_of_any_two_texts_lead_from_one_to_the_other(old, new):
    assert applied(old, structured_patch(old, new)) == new


@given(TEXTS, TEXTS)
def test_hunks_found_by_unique_lines_alone_do_as_well(old, new):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("claude_wrapper.agent.tools.patch._MAX_EDITS", 1)
        assert applied(old, structured_patch(old, new)) == new
