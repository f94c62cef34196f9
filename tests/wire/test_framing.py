"""Bytes become lines whatever the chunks are, and a line that is too long costs itself alone."""

import tracemalloc

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from claude_wrapper.wire.framing import LineSplitter, OversizeLine

line_bytes = st.binary(max_size=300).map(lambda data: data.replace(b"\n", b"."))


@st.composite
def chunked(draw, line=line_bytes):
    """Lines, whether the last one has a newline, and the stream cut anywhere."""
    lines = draw(st.lists(line, max_size=12))
    stream = b"\n".join(lines) + (b"\n" if lines and draw(st.booleans()) else b"")
    cuts = sorted(draw(st.lists(st.integers(0, len(stream)), max_size=20)))
    chunks = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    return stream, chunks


def split(chunks, limit=1 << 20):
    splitter = LineSplitter(limit)
    lines = [line for chunk in chunks for line in splitter.feed(chunk)]
    return [*lines, *splitter.finish()]


@given(chunked())
def test_any_chunking_gives_the_same_lines(case):
    stream, chunks = case
    expected = stream.split(b"\n")
    if not expected[-1]:
        expected.pop()
    assert split(chunks) == expected


@given(chunked(), st.integers(1, 40))
def test_where_a_line_counts_as_long_changes_nothing(case, long):
    stream, chunks = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("claude_wrapper.wire.framing._LONG", long)
        lines = split(chunks)

    assert lines == split([stream])


@example((b"aaab\n", [b"aa", b"a", b"b\n"]), 1)
@given(chunked(), st.integers(1, 250))
def test_lines_over_the_limit_are_replaced_in_their_place(case, limit):
    stream, chunks = case
    expected = stream.split(b"\n")
    if not expected[-1]:
        expected.pop()
    lines = split(chunks, limit)
    assert len(lines) == len(expected)
    for got, line in zip(lines, expected, strict=True):
        if len(line) <= limit:
            assert got == line
        else:
            assert isinstance(got, OversizeLine)
            assert got.size == len(line)
            assert got.head
            assert line.startswith(got.head)


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c", "\r"])
def test_only_a_newline_ends_a_line(separator):
    text = f"one{separator}two".encode()
    assert split([text + b"\n" + text]) == [text, text]


def test_carriage_return_before_the_newline_stays_for_the_decoder():
    assert split([b"{}\r\n", b"{}\r", b"\n"]) == [b"{}\r", b"{}\r"]


def test_one_oversize_line_costs_one_line():
    stream = b"first\n" + b"x" * 5000 + b"\nlast\n"
    lines = split([stream[i : i + 7] for i in range(0, len(stream), 7)], limit=1000)
    assert [lines[0], lines[2]] == [b"first", b"last"]
    assert (lines[1].size, lines[1].head[:3]) == (5000, b"xxx")


def test_an_oversize_line_is_not_kept_in_memory():
    splitter = LineSplitter(limit=100_000)
    chunk = b"x" * 50_000
    tracemalloc.start()
    try:
        for _ in range(200):
            splitter.feed(chunk)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert splitter.pending == 200 * len(chunk)
    assert held < 10_000


def test_pending_tells_how_much_of_a_line_has_come():
    splitter = LineSplitter()
    splitter.feed(b"one\ntw")
    assert splitter.pending == 2
    splitter.feed(b"o\n")
    assert splitter.pending == 0


@pytest.mark.parametrize(("size", "chunk"), [(8 << 20, 65536), (1 << 20, 4096), (300_000, 16), (20_000, 1)])
def test_bytes_copied_for_a_large_line_grow_with_its_size_alone(size, chunk):
    stream = b"x" * size + b"\n"
    chunks = [stream[i : i + chunk] for i in range(0, len(stream), chunk)]
    splitter = LineSplitter()
    allocated = 0
    lines = []
    tracemalloc.start()
    try:
        for piece in chunks:
            before, _ = tracemalloc.get_traced_memory()
            tracemalloc.reset_peak()
            lines += splitter.feed(piece)
            allocated += tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert lines == [stream[:-1]]
    # Gluing each chunk to what came before would allocate `size * size / chunk / 2`. A feed by itself
    # costs a few hundred bytes for its lists.
    assert allocated < 4 * size + 500 * len(chunks)
