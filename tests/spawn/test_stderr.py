"""What an agent writes to stderr."""

import io
import logging

import pytest

from claude_wrapper.options import ClaudeAgentOptions
from claude_wrapper.spawn.stderr import StderrSink, line_callback

FLOOD = """
sys.stderr.write(("x" * 99 + "\\n") * 30_000)
print("done", flush=True)
sys.stdin.read()
"""


@pytest.mark.anyio
@pytest.mark.parametrize("callback", [None, len])
async def test_a_flood_blocks_neither_the_agent_nor_the_reader(started, callback, read_line):
    process = started(FLOOD, stderr=callback)
    assert await read_line(process) == "done"
    assert len(process.stderr_tail) <= 16 * 1024


@pytest.mark.anyio
async def test_the_reason_of_a_failure_is_kept_without_a_callback(started, capfd):
    process = started("sys.stderr.write('real reason\\n'); sys.exit(1)")
    assert await process.wait(40) == 1
    assert process.stderr_tail == "real reason"
    await process.stop()
    assert capfd.readouterr().err == ""


@pytest.mark.anyio
async def test_lines_come_in_order_without_their_ends_and_a_bad_byte_costs_one_character(started):
    lines = []
    process = started(
        "os.write(2, b'one\\n\\n  two  \\r\\nthr'); time.sleep(0.05); os.write(2, b'ee \\xff!\\nlast')",
        stderr=lines.append,
    )
    assert await process.wait(40) == 0
    assert lines == ["one", "  two", "three \ufffd!", "last"]


@pytest.mark.anyio
async def test_a_failing_callback_is_logged_once_and_called_again(started, caplog):
    lines = []

    def callback(line):
        lines.append(line)
        raise RuntimeError("no")

    with caplog.at_level(logging.ERROR):
        process = started("sys.stderr.write('a\\nb\\nc\\n')", stderr=callback)
        assert await process.wait(40) == 0
    assert lines == ["a", "b", "c"]
    assert len(caplog.records) == 1


def test_the_tail_is_bounded_and_begins_with_a_whole_line():
    sink = StderrSink(100)
    for number in range(1000):
        sink.feed(b"line %d\n" % number)
    assert len(sink.tail) <= 100
    assert sink.tail.startswith("line ")
    assert sink.tail.endswith("line 999")


def test_the_tail_has_at_most_two_hundred_lines():
    sink = StderrSink(16 * 1024)
    sink.feed(b"x\n" * 5000)
    assert len(sink.tail.splitlines()) == 200


def test_a_tail_of_no_bytes_is_empty():
    sink = StderrSink(0)
    sink.feed(b"text\n")
    assert sink.tail == ""


def test_a_line_without_an_end_is_given_out_in_pieces():
    lines = []
    sink = StderrSink(100, lines.append)
    for _ in range(10):
        sink.feed(b"y" * 20_000)
    assert len(lines) == 2
    sink.finish()
    assert sum(map(len, lines)) == 200_000


def test_debug_output_goes_to_its_stream_only_when_it_is_switched_on():
    stream = io.StringIO()
    assert line_callback(ClaudeAgentOptions(debug_stderr=stream)) is None
    write = line_callback(ClaudeAgentOptions(debug_stderr=stream, extra_args={"debug-to-stderr": None}))
    write("hello")
    assert stream.getvalue() == "hello\n"
    callback = [].append
    options = ClaudeAgentOptions(debug_stderr=stream, stderr=callback, extra_args={"debug-to-stderr": None})
    assert line_callback(options) is callback
    assert line_callback(ClaudeAgentOptions(debug_stderr=None, extra_args={"debug-to-stderr": None})) is None
