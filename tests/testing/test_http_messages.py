import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_wrapper.testing.http_messages import BadRequestError, RequestReader, chunked, reply_head

PLAIN = b"POST /v1/messages?beta=true HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
CHUNKED = b"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
BARE = b"HEAD / HTTP/1.0\r\n\r\n"


def read(*pieces):
    reader, found = RequestReader(), []
    for piece in pieces:
        reader.feed(piece)
        while (request := reader.next()) is not None:
            found.append(request)
    return found


@given(cuts=st.lists(st.integers(0, len(PLAIN + CHUNKED + BARE))))
def test_requests_are_the_same_however_their_bytes_arrive(cuts):
    whole = PLAIN + CHUNKED + BARE
    places = [0, *sorted(cuts), len(whole)]
    pieces = [whole[start:end] for start, end in itertools.pairwise(places)]
    assert [(request.method, request.path, request.body) for request in read(*pieces)] == [
        ("POST", "/v1/messages?beta=true", b"hello"),
        ("POST", "/a", b"abcde"),
        ("HEAD", "/", b""),
    ]


@pytest.mark.parametrize(
    ("head", "kept"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", True),
        (b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", False),
        (b"GET / HTTP/1.0\r\n\r\n", False),
        (b"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", True),
    ],
)
def test_a_connection_is_kept_as_its_version_and_header_say(head, kept):
    assert read(head)[0].keeps_alive is kept


def test_a_client_that_waits_to_be_told_is_told_once():
    reader = RequestReader()
    reader.feed(b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
    assert reader.next() is None
    assert reader.awaits_continue
    assert not reader.awaits_continue
    reader.feed(b"ok")
    assert reader.next().body == b"ok"


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01 tls hello\r\n\r\n",
        b"GET /\r\n\r\n",
        b"GET / HTTP/2.0\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: many\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: 999999999999\r\n\r\n",
        b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"x" * 70_000,
    ],
)
def test_what_is_no_request_is_refused(data):
    with pytest.raises(BadRequestError):
        read(data)


def test_a_head_names_its_status_even_an_unusual_one():
    assert reply_head(404, [("a", "b")]) == b"HTTP/1.1 404 Not Found\r\na: b\r\n\r\n"
    assert reply_head(529, []).startswith(b"HTTP/1.1 529 ")


def test_an_empty_chunk_ends_a_body():
    assert chunked(b"x" * 17) == b"11\r\n" + b"x" * 17 + b"\r\n"
    assert chunked(b"") == b"0\r\n\r\n"
