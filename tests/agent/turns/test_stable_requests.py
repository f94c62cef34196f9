"""What thirty requests of one turn have in common: the provider's cache is matched from the front, byte by byte."""

import itertools
import json

import pytest

from claude_wrapper.testing import ScriptedModel

TURNS = 30
ODD = {"type": "wonder", "data": {"b": 1.50, "a": [2, None, "é"]}}


def thought(number):
    return {"type": "thinking", "thinking": f"Step {number}.", "signature": f"sig+/{number}=="}


@pytest.fixture
def requests(workspace, tmp_path):
    """The requests of a turn in which the model thinks, shows a block of an unknown type, and calls a tool."""
    script = tmp_path / "script.json"
    turns = [
        {
            "content": [
                thought(number),
                ODD,
                {"type": "redacted_thinking", "data": f"opaque{number}"},
                {
                    "type": "tool_use",
                    "id": f"toolu_{number}",
                    "name": "Bash",
                    "input": {"command": f"echo {number}", "description": "Füße, \u2028 and more"},
                },
            ]
        }
        for number in range(TURNS)
    ]
    script.write_text(
        json.dumps({"order": "queue", "main": [*turns, {"content": [{"type": "text", "text": "Done."}]}]})
    )
    with ScriptedModel(script) as model:
        argv = (
            "-p",
            "Go",
            "--output-format",
            "json",
            "--model",
            "claude-sonnet-4-5",
            "--allowedTools",
            "Bash",
        )
        _, output, _ = workspace.run(model, *argv)
        assert json.loads(output)["result"] == "Done."
        yield model.requests


def plain(block):
    return {key: value for key, value in block.items() if key != "cache_control"}


def marks(value):
    if isinstance(value, dict):
        return ("cache_control" in value) + sum(map(marks, value.values()))
    return sum(map(marks, value)) if isinstance(value, list) else 0


@pytest.mark.feature("ENV-09", "COST-07")
def test_requests_repeat_each_other_byte_by_byte_and_are_marked_for_the_cache(requests):
    assert len(requests) == TURNS + 1
    heads = {request.raw_body.partition(b'"messages":')[0] for request in requests}
    assert len(heads) == 1
    for earlier, later in itertools.pairwise(requests):
        old, new = earlier.messages, later.messages
        assert len(new) == len(old) + 2
        for before, after in zip(old, new, strict=False):
            assert [plain(block) for block in before["content"]] == [
                plain(block) for block in after["content"]
            ]
    for request in requests:
        assert 1 <= marks(request.body) <= 4
        assert "cache_control" in request.messages[-1]["content"][-1]


@pytest.mark.feature("ENV-09")
def test_thinking_goes_back_with_its_signature_and_unknown_blocks_as_they_came(requests):
    replies = [message["content"] for message in requests[-1].messages if message["role"] == "assistant"]
    assert len(replies) == TURNS
    for number, reply in enumerate(replies):
        assert reply[0] == thought(number)
        assert reply[1] == ODD
        assert reply[2] == {"type": "redacted_thinking", "data": f"opaque{number}"}
    raw = requests[-1].raw_body
    assert raw.count(b'{"type":"wonder","data":{"b":1.5,"a":[2,null,"\xc3\xa9"]}}') == TURNS
