import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_wrapper.agent.api import events
from claude_wrapper.agent.api.events import MalformedEventError, UnknownEvent, decode_event


def test_a_text_delta_is_decoded_with_its_type():
    data = b'{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"hi"}}'
    assert decode_event(data) == (events.BlockDelta(3, events.TextDelta("hi")), data)


@pytest.mark.parametrize(
    "data",
    [
        b'{"type":"hologram_start","index":1}',
        b'{"type":"content_block_delta","index":0,"delta":{"type":"hologram_delta","x":1}}',
        b'{"type":"content_block_start"}',
        b'{"no":"type"}',
    ],
)
def test_what_is_not_known_is_kept_as_bytes_and_ends_nothing(data):
    event, raw = decode_event(data)
    assert isinstance(event, UnknownEvent)
    assert raw == data


@pytest.mark.parametrize("data", [b"", b"nonsense", b"[1]", b'"text"', b"[" * 100_000, b'{"type":7}'])
def test_what_is_no_json_object_is_malformed(data):
    with pytest.raises(MalformedEventError):
        decode_event(data)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (rb"a\ud83d", "a\ufffd"),
        (rb"\ude00b", "\ufffdb"),
        (rb"\ud83d\ude00", "\U0001f600"),
        (b"\xed\xa0\xbd", "\ufffd\ufffd\ufffd"),
        (b"\xff", "\ufffd"),
    ],
)
def test_half_a_surrogate_pair_and_bytes_that_are_no_text_are_replaced(text, clean):
    data = b'{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"%b"}}' % text
    event, raw = decode_event(data)
    assert event == events.BlockDelta(0, events.TextDelta(clean))
    assert decode_event(raw) == (event, raw)


def test_bytes_that_are_no_text_are_replaced_in_fields_that_are_not_read_too():
    _, raw = decode_event(b'{"type":"ping","future":"\xff"}')
    raw.decode()


def test_an_event_of_several_lines_becomes_one_line():
    event, raw = decode_event(b'{"type":\n "content_block_stop",\n "index": 2}')
    assert event == events.BlockStop(2)
    assert raw == b'{"type":"content_block_stop","index":2}'


@given(st.binary(max_size=200))
def test_any_bytes_are_an_event_or_malformed(data):
    try:
        _, raw = decode_event(data)
    except MalformedEventError:
        return
    raw.decode()
    assert b"\n" not in raw
