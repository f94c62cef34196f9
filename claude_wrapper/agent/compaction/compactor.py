"""Compacting a conversation from end to end: hooks, the summary, what is told of it and what is left."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any, Literal

import anyio
import msgspec
from msgspec import UNSET

from claude_wrapper.agent.api.request import ModelRequest
from claude_wrapper.agent.calls.call import reminder
from claude_wrapper.agent.calls.toolbox import Toolbox
from claude_wrapper.agent.context.usage import measure
from claude_wrapper.agent.hooking.compacting import begun_anew, compacted, compaction_wanted
from claude_wrapper.agent.hooking.events import HookEvents
from claude_wrapper.agent.ids import new_uuid
from claude_wrapper.agent.model.brief import Brief
from claude_wrapper.agent.pipes.frames import Frames
from claude_wrapper.agent.sessions.history import History
from claude_wrapper.agent.sessions.session import Session
from claude_wrapper.agent.start.settings import Settings
from claude_wrapper.wire.system_session import (
    CompactBoundaryFrame,
    CompactMetadata,
    PreservedMessages,
    PreservedSegment,
)

from .cut import Cut
from .summary import carried_on, said_in
from .window import Window, window_of
from .writer import NoSummaryError, SummaryWriter

__all__ = ["BlockedError", "Compacted", "CompactionFailedError", "Compactor"]

Trigger = Literal["manual", "auto"]


class CompactionFailedError(Exception):
    """The conversation is as it was; the text says why."""


class BlockedError(CompactionFailedError):
    """A hook does not want it compacted."""


class Compacted(msgspec.Struct, frozen=True):
    """What a compaction left: the message that the conversation goes on from, and the frame of its border."""

    uuid: str
    text: str
    border: CompactBoundaryFrame
    said: list[str] = msgspec.field(default_factory=list)
    """What hooks have to say to the user."""


class Compactor:
    """Compacts the conversation of a session."""

    def __init__(
        self,
        settings: Settings,
        session: Session,
        frames: Frames,
        hooks: HookEvents,
        brief: Brief,
        toolbox: Toolbox,
        writer: SummaryWriter,
    ) -> None:
        self.settings = settings
        self._session = session
        self._frames = frames
        self._hooks = hooks
        self._brief = brief
        self._toolbox = toolbox
        self._writer = writer
        self.begin_anew: Callable[[], Awaitable[None]] = _nothing
        """Reads anew what goes ahead of every conversation."""

    @property
    def window(self) -> Window:
        """The limits of the model that answers."""
        model, tuning = self._brief.answering, self._brief.tuning
        return window_of(self.settings, model, tuning.max_tokens)

    def used(self) -> int:
        """Tokens that the conversation takes: what the API last said, and an estimate of what came since."""
        known, messages = self._session.recent.tokens, self._session.history.messages
        if known is None:
            return measure(self._brief.system, self._toolbox.definitions(), messages).total
        replies = [index for index, message in enumerate(messages) if message["role"] == "assistant"]
        return known + measure((), (), messages[replies[-1] + 1 :] if replies else messages).messages

    async def run(
        self, trigger: Trigger, part: Cut | None, wishes: str = "", *, too_little: str = ""
    ) -> Compacted:
        """Compact; None for a part says that there is too little of it. Raises CompactionFailedError.

        The host is told when it begins and how it ends, but for the border itself.
        """
        if trigger == "manual":
            self._frames.status("compacting")
        outcome = await compaction_wanted(self._hooks, trigger, wishes)
        if trigger == "auto":
            self._frames.status("compacting", compact_output_chars=0)
        if outcome.block is not None:
            text = f"A PreCompact hook stopped the compaction: {outcome.block or 'no reason given'}"
            # It was wanted so: only who asked for a compaction is told of a failure.
            failed = {"compact_result": "failed", "compact_error": text} if trigger == "manual" else {}
            self._frames.status(None, **failed)
            raise BlockedError(text)
        if part is None:
            self._frames.status(None, compact_result="failed", compact_error=too_little)
            raise CompactionFailedError(too_little)
        wanted = [text for text in (wishes, *outcome.contexts, *outcome.messages) if text]
        try:
            done = await self._compact(trigger, part, wanted)
        except NoSummaryError as error:
            text = f"Error during compaction: {error}" if trigger == "manual" else str(error)
            self._frames.status(None, compact_result="failed", compact_error=text)
            raise CompactionFailedError(text) from error
        except anyio.get_cancelled_exc_class():
            self._frames.status(None, compact_result="failed", compact_error="aborted")
            raise
        self._frames.status(None, compact_result="success")
        done.said.extend(outcome.messages)
        return done

    async def _compact(self, trigger: Trigger, part: Cut, wishes: list[str]) -> Compacted:
        session, started = self._session, time.monotonic()
        before = self.used()
        reply = await self._writer.write(self._request_of, part, wishes)
        contexts = await begun_anew(self._hooks, self._brief.model.name)
        await compacted(self._hooks, trigger, reply)
        await self.begin_anew()
        kept = part.kept < len(session.history)
        text = carried_on(said_in(reply), session.transcript_path, kept=kept)
        after = self._size_of(text, part.kept)
        session.recent.dropped += max(before - after, 0)
        metadata: dict[str, Any] = {
            "trigger": trigger,
            "preTokens": before,
            "postTokens": after,
            "cumulativeDroppedTokens": session.recent.dropped,
            "durationMs": int((time.monotonic() - started) * 1000),
        }
        uuid, last = session.compact(text, part.kept, metadata)
        for context in contexts:
            session.add_note(reminder(context), hidden=True)
        return Compacted(uuid, text, self._border(metadata, last))

    def _request_of(self, messages: list[dict[str, Any]]) -> ModelRequest:
        return self._brief.request(History.of(messages), self._toolbox.definitions(), self._session.id)

    def _size_of(self, text: str, kept: int) -> int:
        messages = [text, *self._session.history.messages[kept:]]
        return measure(self._brief.system, self._toolbox.definitions(), messages).total

    def _border(self, metadata: dict[str, Any], last: str | None) -> CompactBoundaryFrame:
        segment, messages = metadata.get("preservedSegment"), metadata.get("preservedMessages")
        return CompactBoundaryFrame(
            compact_metadata=CompactMetadata(
                trigger=metadata["trigger"],
                pre_tokens=metadata["preTokens"],
                post_tokens=metadata["postTokens"],
                cumulative_dropped_tokens=metadata["cumulativeDroppedTokens"],
                duration_ms=metadata["durationMs"],
                preserved_segment=UNSET
                if segment is None
                else PreservedSegment(
                    head_uuid=segment["headUuid"],
                    anchor_uuid=segment["anchorUuid"],
                    tail_uuid=segment["tailUuid"],
                ),
                preserved_messages=UNSET
                if messages is None
                else PreservedMessages(
                    anchor_uuid=messages["anchorUuid"],
                    uuids=messages["uuids"],
                    all_uuids=messages["allUuids"],
                ),
            ),
            logical_parent_uuid=last,
            uuid=new_uuid(),
            session_id=self._session.id,
        )


async def _nothing() -> None:
    """Nothing goes ahead of the conversation."""
