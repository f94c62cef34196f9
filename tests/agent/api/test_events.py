import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_wrapper.agent.api import events
from claude_wrapper.agent.api.decoding import EventDecoder, decode_event
from claude_wrapper.agent.api.events import MalformedEventError, UnknownEvent


def test_a_text_delta_is_decoded_with_its_type():
    data = b'{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"hi"}}'
    assert decode_event(data) == (events.BlockDelta(3, events.TextDelta("hi")), data)


@pytest.mark.parametrize(
    "data",
    [
        b'{"type":"hologram_start","index":1}',
        b'{"type":"content_block_delta","index":0,"delta":{"type":"hologram_delta","x":1}}',
        b'{"no":"type"}',
        b'{"type":7}',
        b"[1]",
        b"null",
        b'"text"',
    ],
)
def test_what_is_not_known_is_kept_as_bytes_and_ends_nothing(data):
    event, raw = decode_event(data)
    assert isinstance(event, UnknownEvent)
    assert raw == data


@pytest.mark.parametrize("data", [b"", b"nonsense", b"[" * 100_000])
def test_what_is_no_json_is_malformed(data):
    with pytest.raises(MalformedEventError):
        decode_event(data)


@pytest.mark.parametrize(
    "data",
    [
        b'{"type":"content_block_start","index":0}',
        b'{"type":"content_block_start","index":0,"content_block":null}',
        b'{"type":"content_block_delta","index":0,"delta":null}',
    ],
)
def test_an_event_that_lost_what_it_said_is_malformed(data):
    with pytest.raises(MalformedEventError):
        decode_event(data)


@pytest.mark.parametrize(("index", "read"), [(b'"2"', 2), (b"null", 0), (b'"x"', 0)])
def test_an_index_that_is_no_number_is_read_as_far_as_it_makes_sense(index, read):
    event, _ = decode_event(b'{"type":"content_block_stop","index":%b}' % index)
    assert event == events.BlockStop(read)


def delta(text, index=0, field=b"text"):
    return b'{"type":"content_block_delta","index":%d,"delta":{"type":"text_delta","%b":"%b"}}' % (
        index,
        field,
        text,
    )


STOP = b'{"type":"content_block_stop","index":0}'
PING = b'{"type":"ping"}'


@pytest.mark.parametrize(
    ("stream", "said"),
    [
        ([delta(rb"a\ud83d"), delta(rb"\ude00b")], ["a", "\U0001f600b"]),
        ([delta(rb"\ud83d"), PING, delta(rb"\ude00")], ["", "\U0001f600"]),
        ([delta(rb"a\ud83d"), delta(rb"\ude00\ud83d"), delta(rb"\ude00")], ["a", "\U0001f600", "\U0001f600"]),
        ([delta(rb"a\ud83d"), delta(b"b")], ["a", "\ufffd", "b"]),
        ([delta(rb"a\ud83d"), delta(rb"\ude00", 1)], ["a", "\ufffd", "\ufffd"]),
        ([delta(rb"a\ud83d"), STOP], ["a", "\ufffd"]),
        ([delta(rb"a\\ud83d"), delta(rb"\\ude00")], [r"a\ud83d", r"\ude00"]),
        ([delta(rb"a\\\ud83d"), delta(rb"\ude00")], ["a\\", "\U0001f600"]),
    ],
)
def test_a_character_that_is_divided_between_two_deltas_is_joined(stream, said):
    decoder = EventDecoder()
    decoded = [each for data in stream for each in decoder.decode(data)]
    assert [event.delta.text for event, _ in decoded if isinstance(event, events.BlockDelta)] == said
    assert [decode_event(raw) for _, raw in decoded] == decoded


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
