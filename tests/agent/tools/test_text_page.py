import hashlib
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_wrapper.agent.tools import text_page
from claude_wrapper.agent.tools.text_page import PageTooLargeError, read_page


@pytest.fixture
def page_of(tmp_path):
    def read(data, start=1, count=None, most=100_000, may_cut=True):
        path = tmp_path / "file"
        path.write_bytes(data)
        with io.FileIO(path) as file:
            return read_page(file, start, count, most, may_cut=may_cut)

    return read


def test_text_after_the_last_newline_is_a_line_even_when_it_is_empty(page_of):
    assert page_of(b"a\nb\n").lines == ["a", "b", ""]
    assert page_of(b"a\nb").lines == ["a", "b"]
    assert page_of(b"").lines == [""]


def test_only_newlines_end_lines(page_of):
    assert page_of("a\u2028b\x0cc\x85d\n".encode()).lines == ["a\u2028b\x0cc\x85d", ""]


def test_carriage_returns_at_line_ends_are_left_out_and_others_are_kept(page_of):
    assert page_of(b"a\rb\r\nc\r").lines == ["a\rb", "c"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_not_shown(page_of, encoding):
    page = page_of("one\nzw\u00f6lf\n".encode(encoding))
    assert (page.lines, page.flaw) == (["one", "zw\u00f6lf", ""], None)


def test_big_endian_text_behind_its_mark_is_read(page_of):
    assert page_of("\ufeffone\n".encode("utf-16-be")).lines == ["one", ""]


def test_bytes_that_are_no_utf8_are_replaced_and_told(page_of):
    page = page_of(b"gr\xfcn\n")
    assert (page.lines, page.flaw) == (["gr\ufffdn", ""], "encoding")


def test_nul_bytes_near_the_beginning_are_told(page_of):
    assert page_of(b"a\0b\n").flaw == "binary"
    assert page_of(b"a" * 9000 + b"\0").flaw is None


def test_too_much_text_is_cut_at_a_line(page_of):
    page = page_of(b"0123456789\n" * 10, most=50)
    assert page.cut
    assert not page.complete
    assert page.lines == ["0123456789"] * 3
    assert page.total == 11


def test_a_first_line_that_is_too_long_is_cut_itself(page_of):
    page = page_of(b"x" * 1000 + b"\ny\n", most=50)
    assert page.lines == ["x" * 50]
    assert page.total == 3


def test_too_much_text_is_refused_where_it_may_not_be_cut(page_of):
    with pytest.raises(PageTooLargeError):
        page_of(b"0123456789\n" * 10, count=9, most=50, may_cut=False)


def test_a_cut_through_a_character_is_no_fault_of_the_file(page_of):
    page = page_of(("\U0001f600" * 400).encode(), most=50)
    assert page.flaw is None
    assert page.lines == ["\U0001f600" * 50]


def test_a_range_far_behind_takes_no_memory_for_what_stands_before_it(tmp_path):
    import tracemalloc

    path = tmp_path / "large"
    with path.open("wb") as file:
        for _ in range(64):
            file.write(b"0123456789abcdef\n" * 60_000)
    tracemalloc.start()
    try:
        with io.FileIO(path) as file:
            page = read_page(file, 3_000_000, 2, 1000, may_cut=False)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert page.lines == ["0123456789abcdef"] * 2
    assert page.total == 64 * 60_000 + 1
    assert peak < 4_000_000


@given(
    st.text(alphabet="ab\n\r\u00e4\U0001f600\u2028", max_size=60),
    st.integers(1, 12),
    st.none() | st.integers(1, 6),
    st.integers(1, 9),
)
def test_any_range_of_any_text_in_any_chunks_is_what_splitting_gives(
    tmp_path_factory, text, start, count, chunk
):
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(text.encode())
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    with pytest.MonkeyPatch.context() as patch, io.FileIO(path) as file:
        patch.setattr(text_page, "_CHUNK", chunk)
        page = read_page(file, start, count, 10_000, may_cut=True)
    assert page.total == len(lines)
    assert page.lines == lines[start - 1 :][:count]
    assert page.complete == (len(page.lines) == len(lines))
    assert page.digest == hashlib.blake2b(text.encode(), digest_size=16).digest()
