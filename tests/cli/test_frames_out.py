"""What `--stream-json` prints is what the agent sent."""

import json
from pathlib import Path

from claude_wrapper.testing import ScriptedAgent

RECORDED = Path(__file__).parent.parent / "frames" / "agent.jsonl"
KINDS = {"assistant", "user", "system", "stream_event", "result", "conversation_reset"}


def is_part_of(inner, outer):
    if isinstance(inner, dict) and isinstance(outer, dict):
        return all(
            name in outer and is_part_of(value, outer[name])
            for name, value in inner.items()
            if value is not None
        )
    if isinstance(inner, list) and isinstance(outer, list):
        return len(inner) == len(outer) and all(map(is_part_of, inner, outer))
    return inner == outer


def test_recorded_frames_come_through(cli, tmp_path):
    recorded = [json.loads(line) for line in RECORDED.read_text().splitlines()]
    sent = [frame for frame in recorded if frame["type"] in KINDS and not frame.get("sdk_host_only")]
    assert {frame["type"] for frame in sent} == KINDS
    agent = ScriptedAgent(tmp_path).begin().flood([json.dumps(frame).encode() + b"\n" for frame in sent])
    agent.result("the end")
    done = cli("run", "Go", "--stream-json", "--agent", str(agent.path))
    shown = [json.loads(line) for line in done.stdout.splitlines()][1:-1]
    assert len(shown) == len(sent)
    for ours, theirs in zip(shown, sent, strict=True):
        assert is_part_of(ours, theirs), (ours, theirs)
        assert ours["type"] == theirs["type"]


def test_blocks_and_frames_of_unknown_kinds_come_through(cli, tmp_path):
    agent = ScriptedAgent(tmp_path).begin().say([{"type": "hologram", "depth": 3}])
    limit = {"status": "allowed_warning", "resetsAt": 1, "newField": True}
    agent.emit({"type": "future", "x": [1]}, {"type": "rate_limit_event", "rate_limit_info": limit}).result(
        "ok"
    )
    done = cli("run", "Go", "--stream-json", "--agent", str(agent.path))
    frames = [json.loads(line) for line in done.stdout.splitlines()]
    assert frames[1]["message"]["content"] == [{"type": "hologram", "depth": 3}]
    assert (frames[2]["type"], frames[2]["x"]) == ("future", [1])
    assert (frames[3]["type"], frames[3]["rate_limit_info"]) == ("rate_limit_event", limit)
