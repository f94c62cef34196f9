from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_wrapper.wire.sse import EventTooLargeError, ServerEvent, SseParser


def parse(*chunks):
    parser = SseParser()
    return [event for chunk in chunks for event in parser.feed(chunk)]


def slices(data, cuts):
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[a:b] for a, b in pairwise(edges)]


LINE = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=20)
NAME = st.text(st.characters(min_codepoint=97, max_codepoint=122), min_size=1, max_size=8)
EVENTS = st.lists(st.tuples(NAME, st.lists(LINE, min_size=1, max_size=3)), max_size=6)
NEWLINE = st.sampled_from(["\n", "\r\n", "\r"])
CUTS = st.lists(st.integers(0, 2000), max_size=12)


@given(EVENTS, NEWLINE, CUTS)
def test_any_chunking_gives_the_events_that_were_written(events, newline, cuts):
    text = "".join(
        f"event: {name}{newline}" + "".join(f"data: {line}{newline}" for line in lines) + newline
        for name, lines in events
    )
    wanted = [ServerEvent(name, "\n".join(lines).encode()) for name, lines in events]
    assert parse(*slices(text.encode(), cuts)) == wanted


@given(st.binary(max_size=300), CUTS)
def test_any_bytes_are_read_alike_whole_and_in_pieces(data, cuts):
    assert parse(*slices(data, cuts)) == parse(data)


@given(EVENTS, CUTS)
def test_comments_ids_and_retry_hints_change_nothing(events, cuts):
    text = "".join(
        f": ping\n\nid: 7\nretry: 10\nevent:{name}\nnonsense\n"
        + "".join(f"data:{' ' if line.startswith(' ') else ''}{line}\n" for line in lines)
        + "\n"
        for name, lines in events
    )
    wanted = [ServerEvent(name, "\n".join(lines).encode()) for name, lines in events]
    assert parse(*slices(text.encode(), cuts)) == wanted


def test_an_event_without_a_name_is_a_message():
    assert parse(b"data: 1\n\nevent:\ndata: 2\n\n") == [("message", b"1"), ("message", b"2")]


def test_a_name_does_not_outlive_its_event():
    assert parse(b"event: a\ndata: 1\n\ndata: 2\n\n") == [("a", b"1"), ("message", b"2")]


def test_an_event_without_data_is_none():
    assert parse(b"event: a\n\ndata: 1\n\n") == [("message", b"1")]


def test_a_data_field_without_a_colon_is_an_empty_line():
    assert parse(b"data\n\n") == [("message", b"")]


def test_an_event_that_the_end_cuts_off_is_not_given_out():
    assert parse(b"data: 1\n\ndata: 2\n") == [("message", b"1")]


def test_a_byte_order_mark_before_the_first_line_is_no_part_of_it():
    assert parse(b"\xef\xbb\xbfdata: 1\n\n\xef\xbb\xbfdata: 2\n\n") == [("message", b"1")]


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c"])
def test_unicode_line_separators_are_text(separator):
    assert parse(f"data: a{separator}b\n\n".encode()) == [("message", f"a{separator}b".encode())]


def test_a_crlf_that_is_cut_in_two_ends_one_line():
    assert parse(b"data: 1\r", b"\n\r", b"\ndata: 2\r\n\r\n") == [("message", b"1"), ("message", b"2")]


def test_an_event_is_given_out_as_soon_as_its_blank_line_is_there():
    parser = SseParser()
    assert parser.feed(b"data: 1\r\n\r") == [("message", b"1")]
    assert parser.feed(b"\n") == []


def test_a_line_over_the_limit_is_refused():
    with pytest.raises(EventTooLargeError):
        SseParser(limit=100).feed(b"data: " + b"x" * 200 + b"\n")
