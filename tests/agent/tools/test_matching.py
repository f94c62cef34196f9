import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_wrapper.agent.tools.matching import find, with_lf


def replaced(text, old, new):
    return find(text, old, new).apply()


def test_every_place_is_found_without_overlaps():
    assert find("aaaa", "aa", "b").starts == [0, 2]
    assert replaced("aaaa", "aa", "b") == "bb"


def test_what_replaces_is_taken_as_it_is():
    assert replaced("price", "price", r"$& \1 \g<0> $$") == r"$& \1 \g<0> $$"


def test_a_file_with_crlf_is_matched_with_lf_and_stays_as_it_is():
    assert replaced(
        "one\r\ntwo\r\nthree\r\n", "two\nthree", "2\n3\n4"
    ) == "one\r\n2\r\n3\r\n4\r\nthree\r\n".replace("4\r\nthree", "4")


def test_crlf_in_what_is_wanted_is_the_same():
    assert replaced("one\r\ntwo\r\n", "one\r\ntwo", "1\r\n2") == "1\r\n2\r\n"


def test_in_a_mixed_file_only_the_replaced_lines_change():
    assert replaced("a\r\nb\nc\r\nd\n", "b", "B") == "a\r\nB\nc\r\nd\n"


def test_new_lines_end_like_most_lines_of_the_file():
    assert replaced("a\nb\nc\r\nd\n", "b", "x\ny") == "a\nx\ny\nc\r\nd\n"
    assert replaced("a\r\nb\r\nc\nd\r\n", "c", "x\ny") == "a\r\nb\r\nx\r\ny\nd\r\n"


def test_lines_that_replace_lines_end_like_those():
    assert replaced("a\r\nb\nc\nd\r\n", "b\nc", "x\ny\nz") == "a\r\nx\ny\nz\nd\r\n"
    assert replaced("a\r\nb\nc", "a\nb\n", "1\n2\n3\n") == "1\r\n2\n3\nc"


def test_a_carriage_return_that_is_asked_for_in_a_file_without_any_is_written():
    assert replaced("a\nb\n", "a", "x\r") == "x\r\nb\n"


def test_typographic_quotes_match_plain_ones_and_stay_typographic():
    places = find("say \u201chi\u201d now, it\u2019s\n", 'say "hi"', 'tell "hi"')
    assert places.found == "say \u201chi\u201d"
    assert places.apply() == "tell \u201chi\u201d now, it\u2019s\n"
    assert replaced("it\u2019s", "it's", "that's") == "that\u2019s"


def test_plain_quotes_go_first_where_both_are_there():
    assert replaced('\u201ca\u201d "a"', '"a"', "x") == "\u201ca\u201d x"


def test_nothing_else_is_taken_for_what_is_wanted():
    assert find("a  \nb", "a\nb", "").starts == []
    assert find("gr\u00fcn", "gru\u0308n", "").starts == []
    assert find("A", "a", "").starts == []


LINES = st.lists(
    st.tuples(st.sampled_from(["x", "yy", "", "x x", "\r"]), st.sampled_from(["\n", "\r\n"])), max_size=12
)


@given(LINES, st.sampled_from(["x", "yy", "x\n", "\nyy", "x x\nyy", "yy\n\n"]))
def test_replacing_something_by_itself_changes_no_byte(lines, old):
    text = "".join(map("".join, lines))
    assert replaced(text, old, old) == text


@given(LINES, st.sampled_from(["x", "yy"]), st.text(alphabet="ab", max_size=4))
def test_an_edit_in_any_mix_of_line_ends_is_the_same_edit_as_without_them(lines, old, new):
    text = "".join(map("".join, lines))
    result = replaced(text, old, new)
    assert with_lf(result) == with_lf(text).replace(old, new)
    assert result.count("\r\n") == text.count("\r\n")


@pytest.mark.parametrize("size", [200_000])
def test_many_places_in_a_large_file_cost_little(size):
    text = "x\r\n" * size
    assert replaced(text, "x", "yy") == "yy\r\n" * size
