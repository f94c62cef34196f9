"""What is said about summaries: to the model that writes one, and to the model that goes on with it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

__all__ = ["as_asked", "carried_on", "instruction", "said_in", "with_instruction"]

_INSTRUCTION = """\
The conversation up to here is about to be removed from your context. Write the notes that will stand in its place: \
whoever continues the work will see these notes, perhaps the last few messages, and nothing else. Answer with text \
alone and call no tools.

Put the notes between <summary> and </summary>. Leave nothing out that the work depends on:
- what the user wants, in the user's own words where they matter: the request, every later correction, every wish \
about how things are to be done, and what is not to be done;
- what is known: files that were read, written or changed, by path, and what of them matters; commands that work; \
names, numbers and error messages that will be needed again, exactly as they are;
- what was decided and why, and what was tried and failed;
- what is done, what is under way at this moment, and what comes next.
Be exact rather than long. Say nothing that the conversation does not bear out."""

_WISHES = "\n\nFor these notes it was also asked:\n{wishes}"

_TAGS_MISSED = (
    "\n\nAn earlier try came without <summary> tags and may have been an answer to something else. "
    "Answer with the notes, between those tags, and with nothing else."
)

_CARRIED_ON = """\
The earlier part of this conversation was taken out, since it had grown too long. These notes stand in its place:

{notes}
"""

_TRANSCRIPT = "\nWord for word it is still to be found in {path}, in case a detail is missing here."

_GO_ON = (
    "\nGo on with the work where it stopped, as if nothing had happened: no greeting, no recapitulation, and no "
    "question whether to go on."
)

_KEPT = (
    "\nThe messages that follow these notes were kept as they were. They are newer than the notes, so where both "
    "differ the messages are right."
)

_SUMMARY = re.compile(r"<summary>(.*?)(?:</summary>|\Z)", re.DOTALL)
_THOUGHTS = re.compile(r"<analysis>.*?(?:</analysis>|\Z)", re.DOTALL)


def instruction(wishes: Sequence[str], *, again: bool = False) -> str:
    """What the model is asked for; `again`, if its reply was no summary."""
    text = _INSTRUCTION
    if wishes:
        text += _WISHES.format(wishes="\n".join(wishes))
    return text + _TAGS_MISSED if again else text


def as_asked(reply: str) -> bool:
    """Whether a reply has the form that was asked for."""
    return _SUMMARY.search(reply) is not None


def said_in(reply: str) -> str:
    """The summary in a reply."""
    found = _SUMMARY.search(reply)
    return (found[1] if found else _THOUGHTS.sub("", reply)).strip()


def carried_on(notes: str, transcript: str, *, kept: bool) -> str:
    """The message that the conversation goes on from."""
    text = _CARRIED_ON.format(notes=notes)
    if transcript:
        text += _TRANSCRIPT.format(path=transcript)
    text += _GO_ON
    return text + _KEPT if kept else text


def with_instruction(messages: Sequence[dict[str, Any]], text: str) -> list[dict[str, Any]]:
    """The messages with one more block of the user's at the end."""
    block = {"type": "text", "text": text}
    if messages and messages[-1]["role"] == "user":
        return [*messages[:-1], {"role": "user", "content": [*messages[-1]["content"], block]}]
    return [*messages, {"role": "user", "content": [block]}]
