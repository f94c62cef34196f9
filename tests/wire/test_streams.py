"""Whatever an agent writes, the frames made of it are those that a plain reading finds, and nothing fails.

The same check is run by `scripts/fuzz` on many more inputs, which look for new ways through the code.
"""

import importlib.util
import logging
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

HERE = Path(__file__).parent
SIZES = b"\x07\x40\x01\xff\xff"


def load_oracle():
    spec = importlib.util.spec_from_file_location("oracle", HERE / "oracle.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check = load_oracle().check

RECORDED = [
    line
    for file in sorted((HERE.parent / "frames").glob("*.jsonl"))
    for line in file.read_bytes().splitlines()
]


@pytest.fixture(autouse=True)
def quiet(caplog):
    caplog.set_level(logging.CRITICAL, "claude_wrapper")


PIECES = [
    *(b'"type":"%s"' % kind for kind in (b"system", b"result", b"user", b"assistant", b"control_request")),
    *(b'"subtype":%s' % kind for kind in (b'"init"', b'"task_updated"', b'"success"', b"5")),
    *(
        b'"%s":' % name
        for name in (b"errors", b"patch", b"user_message_uuids", b"origin", b"message", b"content")
    ),
    *(
        b"[]",
        b"{}",
        b"[5]",
        b"null",
        b"true",
        b'"x"',
        b"1e999",
        b"\\ud800",
        b"\xff",
        b"\n",
        b"\r\n",
        b"{",
        b"}",
        b'"',
    ),
]


@st.composite
def bent(draw):
    """Recorded frames, one behind the other, with pieces put in, taken out and exchanged."""
    stream = bytearray(b"\n".join(draw(st.lists(st.sampled_from(RECORDED), min_size=1, max_size=3))))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(stream)))
        end = min(len(stream), start + draw(st.integers(0, 40)))
        stream[start:end] = draw(st.sampled_from(PIECES) | st.binary(max_size=5))
    return bytes(draw(st.lists(st.integers(0, 255), min_size=5, max_size=5))) + bytes(stream)


@given(bent())
@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
def test_bent_frames(data):
    check(data)


@pytest.mark.parametrize(
    "line",
    [
        b'"text" {"type":"system","subtype":"init"}',
        b'"text" {"type":"result","subtype":"success"}',
        b'{"type":"system","subtype":"task_updated","task_id":"t","patch":"x"}',
        b'{"type":"result","subtype":"success","user_message_uuids":5}',
        b'{"type":"result","subtype":["a"],"is_error":true,"errors":7,"api_error_status":{}}',
        b'{"type":"result","is_error":true,"terminal_reason":"api_error","api_error_status":[1]}',
        b'{"type":"result","user_message_uuid":{},"origin":{"kind":[]}}',
    ],
)
def test_frames_of_a_strange_shape_that_once_ended_the_session(line):
    check(SIZES + line)
