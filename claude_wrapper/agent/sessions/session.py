"""One session: its id, its conversation, and the transcript in which every step is written down."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec import UNSET, UnsetType

from claude_wrapper.agent.ids import new_uuid, now_iso
from claude_wrapper.agent.version import COMPATIBLE_VERSION
from claude_wrapper.store.append import TranscriptWriter
from claude_wrapper.store.entries import (
    AssistantEntry,
    AttachmentEntry,
    CostStateEntry,
    Entry,
    LastPromptEntry,
    ReplyEndEntry,
    SystemEntry,
    TitleEntry,
    UserEntry,
)

from .deferred import note_of
from .history import Block, History
from .recent import Recent

__all__ = ["Session"]

_PROMPT_LIMIT = 200


class Session:
    """Adds to the conversation and to the transcript at once.

    What a method writes is with the operating system when it returns, so the frame that tells of
    it may be sent. How a reply ended is put into the lines of its blocks afterwards. `copied` are lines of another session
    with which the transcript has to begin. `agent_id` is given for the conversation of a subagent, which
    belongs to a session and has a transcript of its own.
    """

    def __init__(
        self,
        session_id: str,
        cwd: Path,
        entrypoint: str,
        transcript: TranscriptWriter | None,
        history: History | None = None,
        leaf: str | None = None,
        copied: Sequence[dict[str, Any]] = (),
        recent: Recent | None = None,
        agent_id: str | None = None,
    ) -> None:
        self.id = session_id
        self._agent_id = agent_id
        self.history = history or History()
        self.recent = recent or Recent()
        """The newest reply and what followed it, which a compaction keeps."""
        self.prompt_id = ""
        self.prompt_entry: str | None = None
        """The id under which the newest prompt was written down; of several at once the first."""
        self.last_prompt: str | None = None
        self.transcript = transcript
        self._leaf = leaf
        self._copied = list(copied)
        self._cwd = cwd
        self.folder: Callable[[], Path] = lambda: cwd
        """Where commands run now."""
        self._entrypoint = entrypoint
        self._branch: str | None = None
        self._calls: dict[str, list[str]] = {}
        self._results: dict[str, str] = {}
        self._drafts: list[AssistantEntry] = []
        self._beside: list[tuple[str, str]] = []

    def restart(self, session_id: str) -> None:
        """Go on as another session, whose conversation is empty; the transcript of this one stays."""
        self._settle()
        self.id = session_id
        self.history = History()
        self.recent = Recent()
        self.prompt_id = ""
        self.prompt_entry = None
        self.last_prompt = None
        self._leaf, self._copied = None, []
        self._calls.clear()
        self._results.clear()
        if self.transcript is not None:
            self.transcript = self.transcript.beside(session_id)

    @property
    def transcript_path(self) -> str:
        """Where the transcript is, empty when none is written."""
        return str(self.transcript.path) if self.transcript is not None else ""

    def begin_prompt(self) -> None:
        """A new prompt begins: what follows belongs to it."""
        self.prompt_id = new_uuid()
        self.prompt_entry = None

    def add_prompt(self, uuid: str | None, content: str | list[Block], mode: str | None) -> str:
        """Add a prompt; returns its uuid. Neither commands nor what a subagent is asked have a mode."""
        text = content if isinstance(content, str) else None
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        self.last_prompt = text or _text_of(blocks) or self.last_prompt
        beside, self._beside = self._beside, []
        for each, said in beside:
            self.add_command(each, said)
        entry = self._user(uuid or new_uuid(), {"role": "user", "content": content})
        entry.permission_mode = UNSET if mode is None or self._agent_id is not None else mode
        self.prompt_entry = self.prompt_entry or entry.uuid
        self.history.add_user(blocks)
        self.recent.add(entry.uuid)
        self._write(entry)
        return entry.uuid

    def add_command(self, uuid: str, text: str) -> None:
        """Write down a command that was answered without the model."""
        self._write(self._user(uuid, {"role": "user", "content": text}))

    def note_files(self, entry: dict[str, Any]) -> None:
        """Write down what is known of files, beside the conversation."""
        if self.transcript is not None:
            self._append([])
            self.transcript.append([entry])

    def add_beside(self, uuid: str, text: str) -> None:
        """Something happened beside the conversation: written down ahead of the next prompt, if there is one."""
        self._beside.append((uuid, text))

    def mention(self, *texts: str) -> None:
        """Let the model know of what went on beside the conversation, when it is asked next."""
        self.history.add_user([{"type": "text", "text": text} for text in texts])

    def add_note(self, text: str, *, hidden: bool = False) -> str:
        """Add a text of the agent's own in the user's role; readers of transcripts skip a hidden one."""
        blocks = [{"type": "text", "text": text}]
        entry = self._user(new_uuid(), {"role": "user", "content": blocks})
        entry.is_meta = True if hidden else UNSET
        self.history.add_user(blocks)
        self.recent.add(entry.uuid)
        self._write(entry)
        return entry.uuid

    def add_reply_block(
        self, message: dict[str, Any], block: Block, index: int, requested_model: str | None
    ) -> str:
        """Add a finished block of a reply; returns its uuid."""
        begins = self.history.waits_for_reply
        self.history.add_reply_block(block, requested_model or str(message.get("model") or ""))
        entry = AssistantEntry(
            message={**message, "content": [block]},
            api_block_index=index,
            requested_model=UNSET if requested_model is None else requested_model,
            **self._chain(new_uuid()),
        )
        if block.get("type") == "tool_use":
            self._calls.setdefault(block["id"], []).append(entry.uuid)
        self.recent.add(entry.uuid, begins=begins)
        self._leaf = entry.uuid
        if self.transcript is not None:
            self._append([])
            self.transcript.draft(entry)
        self._drafts.append(entry)
        return entry.uuid

    def add_error_message(self, message: dict[str, Any], error: str | None) -> str:
        """Write down a message that the agent made itself; the model never sees it."""
        entry = AssistantEntry(
            message=message,
            is_api_error_message=True,
            error=UNSET if error is None else error,
            **self._chain(new_uuid()),
        )
        self._write(entry)
        return entry.uuid

    def begin_reply(self) -> None:
        """A reply may begin; one that never ended stays as it is."""
        self._settle()

    def end_reply(self, message_id: str, end: dict[str, Any]) -> None:
        """Write down how a reply ended: `stop_reason`, `usage` and what else belongs to it."""
        self.recent.count(end["usage"])
        for entry in self._drafts:
            entry.message.update(end)
        if not self._settle():
            note = ReplyEndEntry(
                session_id=self.id, message_id=message_id, stop_reason=end["stop_reason"], usage=end["usage"]
            )
            self._append([note])

    def _settle(self) -> bool:
        had_any = bool(self._drafts)
        self._drafts.clear()
        if self.transcript is None or not self.transcript.has_drafts:
            return had_any
        return self.transcript.settle()

    def add_tool_result(
        self, block: Block, structured: Any, decision: dict[str, Any] | UnsetType = UNSET
    ) -> str:
        """Write a tool's result down; it joins the history with the others, by `add_results`."""
        sources = self._calls.get(block["tool_use_id"])
        source = sources.pop(0) if sources else None
        entry = self._user(new_uuid(), {"role": "user", "content": [block]})
        # Of a subagent only what went wrong is kept.
        if self._agent_id is None or isinstance(structured, str):
            entry.tool_use_result = structured
        entry.permission_decision = decision
        if source is not None:
            entry.source_tool_assistant_uuid = source
            entry.parent_uuid = source
        self._write(entry)
        self.recent.add(entry.uuid)
        self._results[block["tool_use_id"]] = entry.uuid
        return entry.uuid

    def add_results(self, blocks: Sequence[Block]) -> None:
        """Add the results of a reply's calls to the history, in the order of the calls.

        What follows hangs on the result of the last call, whichever came last, so that all calls
        lie on the way from there to the root; or on what the reply said behind all results.
        """
        self.history.add_user(blocks)
        results = [self._results.get(block["tool_use_id"]) for block in blocks if "tool_use_id" in block]
        if self._leaf in results:
            self._leaf = next(uuid for uuid in reversed(results) if uuid is not None)
        self._results.clear()

    def compact(self, text: str, kept: int, metadata: dict[str, Any]) -> tuple[str, str | None]:
        """Put a summary in the place of the messages before the one numbered `kept`.

        `metadata` is told of the border, and gets the ids of what was kept. Returns the summary's
        id, and that of the last entry before the border.
        """
        self._settle()
        before, chain = self._leaf, self._chain(new_uuid())
        summary = self._user(new_uuid(), {"role": "user", "content": text})
        summary.parent_uuid, summary.is_compact_summary = chain["uuid"], True
        summary.is_visible_in_transcript_only = True
        uuids = self.recent.uuids if kept < len(self.history) else []
        if uuids:
            metadata["preservedSegment"] = {
                "headUuid": uuids[0],
                "anchorUuid": summary.uuid,
                "tailUuid": uuids[-1],
            }
            metadata["preservedMessages"] = {"anchorUuid": summary.uuid, "uuids": uuids, "allUuids": uuids}
        border = SystemEntry(
            **{**chain, "parent_uuid": None},
            subtype="compact_boundary",
            content="What came before is summed up below",
            level="info",
            logical_parent_uuid=before,
            compact_metadata=metadata,
        )
        self.history.replace_with([{"type": "text", "text": text}], kept)
        self.recent.compacted(uuids)
        self._append([border])
        self._write(summary)
        return summary.uuid, before

    def note_deferred(self, call_id: str, name: str, tool_input: dict[str, Any], mode: str) -> None:
        """Write down that a call was put off; until it is run its result counts as lost."""
        self.history.repair()
        note = note_of(call_id, name, tool_input, mode)
        self._write(AttachmentEntry(attachment=note, **self._chain(new_uuid())))

    def take_up_call(self, call_id: str, source: str) -> None:
        """A call is run after all that counted as lost; `source` is the entry that has it."""
        self.history.forget_result(call_id)
        self._calls.setdefault(call_id, []).append(source)

    def set_title(self, title: str) -> None:
        """Give the session a title."""
        self._append([TitleEntry(session_id=self.id, custom_title=title)])

    def save(
        self, total_cost: float, api_ms: float, wall_ms: float, usage: dict[str, dict[str, Any]]
    ) -> None:
        """Write down where the session stands after a turn."""
        entries: list[Entry] = []
        if self.last_prompt is not None and self._leaf is not None:
            short = self.last_prompt[:_PROMPT_LIMIT]
            entries.append(LastPromptEntry(session_id=self.id, last_prompt=short, leaf_uuid=self._leaf))
        entries.append(
            CostStateEntry(
                session_id=self.id,
                total_cost_usd=total_cost,
                total_api_duration=api_ms,
                total_api_duration_without_retries=api_ms,
                total_duration=wall_ms,
                start_time=int(time.time() * 1000 - wall_ms),
                model_usage=usage,
            )
        )
        self._append(entries)

    def _user(self, uuid: str, message: dict[str, Any]) -> UserEntry:
        return UserEntry(message=message, prompt_id=self.prompt_id or UNSET, **self._chain(uuid))

    def _chain(self, uuid: str) -> dict[str, Any]:
        if self._branch is None:
            self._branch = _git_branch(self._cwd)
        return {
            "session_id": self.id,
            "uuid": uuid,
            "parent_uuid": self._leaf,
            "is_sidechain": self._agent_id is not None,
            "agent_id": UNSET if self._agent_id is None else self._agent_id,
            "timestamp": now_iso(),
            "cwd": str(self.folder()),
            "version": COMPATIBLE_VERSION,
            "git_branch": self._branch,
            "user_type": "external",
            "entrypoint": self._entrypoint,
        }

    def _write(self, entry: UserEntry | AssistantEntry | AttachmentEntry) -> None:
        self._leaf = entry.uuid
        self._append([entry])

    def _append(self, entries: Sequence[Entry]) -> None:
        if self.transcript is None:
            return
        if self._copied:
            self.transcript.append(self._copied)
            self._copied = []
        if entries:
            self.transcript.append(entries)


def _text_of(blocks: Sequence[Block]) -> str:
    return "\n".join(block["text"] for block in blocks if isinstance(block.get("text"), str))


def _git_branch(folder: Path) -> str:
    """The branch that is checked out, `HEAD` where there is none."""
    for each in (folder, *folder.parents):
        head = each / ".git" / "HEAD"
        try:
            text = head.read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            continue
        prefix = "ref: refs/heads/"
        return text[len(prefix) :] if text.startswith(prefix) else "HEAD"
    return "HEAD"
