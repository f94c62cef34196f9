"""Whatever comes on the pipe: texts of every kind, large frames and junk arrive, or cost themselves only."""

import pytest

from claude_wrapper import AssistantMessage, ResultMessage, query
from claude_wrapper.testing.agent_frames import assistant

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("bounded")]


async def texts(options):
    messages = [m async for m in query(prompt="go", options=options)]
    assert isinstance(messages[-1], ResultMessage)
    return [block.text for m in messages if isinstance(m, AssistantMessage) for block in m.content]


@pytest.mark.feature("WRAP-09")
@pytest.mark.parametrize(
    "text",
    [
        " " * 200_000,
        "x" * 65_535 + " " + "y" * 65_535 + " ",
        "a\u2028b\u2029c\u0085d\u000be\u000cf\u001cg",
        "\ud7ff\ue000\U0010ffff" * 10,
        "é" * 100_001,
        '\\n\\u0000\\\\" \t',
    ],
    ids=["spaces", "blanks at the borders of chunks", "separators", "edges", "two bytes each", "escapes"],
)
async def test_a_text_comes_as_it_was_said(agent, options, text):
    agent.begin().say(text).result()

    assert await texts(options()) == [text]


@pytest.mark.feature("WRAP-09")
async def test_frames_of_several_megabytes_are_ordinary(agent, options):
    agent.begin().long_line(2_000_000).long_line(10_000_000).say("after").result()

    assert [len(text) for text in await texts(options())] == [2_000_000, 10_000_000, 5]


NOTES = ["warn: no newline", "[debug] ready ", "\x1b[31mred\x1b[0m ", "12:00:01 INFO: "]


@pytest.mark.feature("WRAP-09")
async def test_a_note_in_front_of_a_frame_costs_nothing(agent, options):
    agent.begin()
    for note in NOTES:
        agent.raw(note).emit(assistant(f"behind {note!r}"))
    agent.result()

    assert await texts(options()) == [f"behind {note!r}" for note in NOTES]
