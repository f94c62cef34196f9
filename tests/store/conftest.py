"""Transcripts to read: entries in the form that agents write, in folders of their own."""

import json
import os
from pathlib import Path

import pytest

SESSION = "11111111-1111-4111-8111-111111111111"


class Transcripts:
    """A configuration folder, and a project whose transcripts are in it."""

    session = SESSION

    def __init__(self, config: Path, project: Path) -> None:
        self.config = config
        self.project = project
        self.folder = self.folder_of(project)

    def folder_of(self, project):
        return (
            self.config
            / "projects"
            / "".join(c if c.isascii() and c.isalnum() else "-" for c in str(project))
        )

    def path(self, session=SESSION, folder=None):
        return (folder or self.folder) / f"{session}.jsonl"

    def write(self, *entries, session=SESSION, folder=None, mtime=None):
        """Write a transcript of entries, or of lines as they are, and return its path."""
        path = self.path(session, folder)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(self.line(entry) for entry in entries))
        if mtime is not None:
            os.utime(path, (mtime, mtime))
        return path

    def write_subagent(self, agent_id, *entries, below="subagents", metadata=None):
        folder = self.folder / SESSION / below
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"agent-{agent_id}.jsonl").write_bytes(b"".join(self.line(entry) for entry in entries))
        if metadata is not None:
            (folder / f"agent-{agent_id}.meta.json").write_text(metadata)

    def read(self, session=SESSION):
        return [json.loads(line) for line in self.path(session).read_bytes().splitlines()]

    @staticmethod
    def line(entry):
        return (
            entry if isinstance(entry, bytes) else json.dumps(entry, separators=(",", ":")).encode() + b"\n"
        )

    @staticmethod
    def id(number):
        return f"{number:08x}-0000-4000-8000-000000000000"

    def user(self, number, parent=None, content="hi", **more):
        return self._chained("user", number, parent, {"role": "user", "content": content}, more)

    def assistant(self, number, parent=None, text="yo", *, message_id=None, content=None, **more):
        message = {"role": "assistant", "content": content or [{"type": "text", "text": text}]}
        if message_id is not None:
            message["id"] = message_id
        return self._chained("assistant", number, parent, message, more)

    def call(self, number, parent, tool_use_id, message_id="m"):
        block = {"type": "tool_use", "id": tool_use_id, "name": "Read", "input": {}}
        return self.assistant(number, parent, message_id=message_id, content=[block])

    def tool_result(self, number, parent, tool_use_id, **more):
        content = [{"type": "tool_result", "tool_use_id": tool_use_id, "content": "r"}]
        return self.user(number, parent, content, **more)

    def note(self, number, parent, kind="attachment", **more):
        return {"type": kind, "uuid": self.id(number), "parentUuid": self._id(parent), **more}

    def _chained(self, kind, number, parent, message, more):
        return {
            "parentUuid": self._id(parent),
            "isSidechain": False,
            "type": kind,
            "message": message,
            "uuid": self.id(number),
            "timestamp": f"2026-01-02T03:04:{number % 60:02}.500Z",
            "cwd": str(self.project),
            "sessionId": SESSION,
            "gitBranch": "main",
            **more,
        }

    def _id(self, number):
        return None if number is None else self.id(number)


@pytest.fixture
def transcripts(tmp_path, monkeypatch):
    config, project = tmp_path / "config", tmp_path / "project"
    project.mkdir()
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(config))
    monkeypatch.delenv("CLAUDE_CODE_PROJECT_DIR_NAME", raising=False)
    return Transcripts(config, project)


@pytest.fixture
def numbers():
    """Which entries messages are, by the numbers they were made with."""
    return lambda messages: [int(message.uuid[:8], 16) for message in messages]
