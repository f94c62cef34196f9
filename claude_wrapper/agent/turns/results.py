"""Result frames: how a turn ended, what it took, and the exit code that follows from it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import UNSET, UnsetType

from claude_wrapper.agent.api.api_error import ApiError
from claude_wrapper.agent.api.usage import Usage
from claude_wrapper.agent.ids import new_uuid
from claude_wrapper.agent.model.meter import Meter
from claude_wrapper.agent.pipes.frames import Frames
from claude_wrapper.wire.messages import AssistantBody, ResultFrame

from .turn import Ending, Turn

__all__ = [
    "AgentResultFrame",
    "Results",
    "api_error_ending",
    "as_kept",
    "crashed",
    "error_body",
    "startup_failure",
]


class AgentResultFrame(ResultFrame, kw_only=True, tag="result"):
    """A result with what only hosts that give their prompts ids are told."""

    request_sent_wall_ms: int | UnsetType = UNSET
    first_request_input_tokens: int | UnsetType = UNSET
    first_request_cache_read_input_tokens: int | UnsetType = UNSET


class Results:
    """Makes the results of a process, one for each turn."""

    def __init__(self, frames: Frames, meter: Meter, *, partial: bool) -> None:
        self._frames = frames
        self._meter = meter
        self._partial = partial
        self._count = 0
        self._held: list[tuple[Turn, Ending]] = []
        self.last_was_error = False
        self.hold: Callable[[], bool] = lambda: False
        """Whether results wait, since further turns belong to the same answer."""
        self.stats: Callable[[], dict[str, Any] | UnsetType] = lambda: UNSET
        """What is known of the session's subagents."""

    def send(self, turn: Turn, ending: Ending) -> None:
        """Send the result of a turn, or keep it until those that it belongs to are there."""
        self._held.append((turn, ending))
        if not self.hold():
            self.flush()

    def flush(self) -> None:
        """Send the results that wait."""
        held, self._held = self._held, []
        for turn, ending in held:
            self._send(turn, ending)

    def _send(self, turn: Turn, ending: Ending) -> None:
        clock = turn.clock
        timed = ending.timed and ending.subtype == "success" and not ending.is_error
        frame = AgentResultFrame(
            subtype=ending.subtype,
            is_error=ending.is_error,
            duration_ms=int((time.monotonic() - clock.started) * 1000),
            duration_api_ms=int(clock.api_ms),
            num_turns=turn.num_turns if ending.num_turns is None else ending.num_turns,
            session_id=self._frames.session_id,
            uuid=new_uuid(),
            stop_reason=turn.stop_reason if ending.stop_reason is UNSET else ending.stop_reason,
            total_cost_usd=self._meter.total_cost_usd,
            usage=turn.usage.to_result(),
            model_usage=self._meter.model_usage(),
            model_usage_since_last_result=self._meter.take_recent(),
            permission_denials=turn.denials,
            fast_mode_state="off",
            queued_turn_count=0,
            subagent_stats=self.stats(),
            result_index=self._count,
            origin=turn.prompts[0].told_origin if turn.prompts else UNSET,
            terminal_reason=UNSET if ending.terminal_reason is None else ending.terminal_reason,
            **ending.fields,
        )
        if ending.subtype == "success":
            frame.result = ending.text
            if turn.reached_model and frame.api_error_status is UNSET:
                frame.api_error_status = None
        else:
            frame.errors = ending.errors
        if timed:
            frame.ttft_ms = _known(clock.since_request(clock.first_token))
            frame.ttft_stream_ms = _known(clock.since_request(clock.first_event))
            frame.time_to_request_ms = _known(clock.since_start(clock.requested))
            frame.first_content_frame_ms = _known(clock.since_start(clock.first_frame))
        if self._partial and turn.reached_model:
            frame.begun_message_ids = turn.begun
        self._identify(frame, turn, timed=timed)
        self._count += 1
        self.last_was_error = ending.is_error
        self._frames.emit(frame)

    def _identify(self, frame: AgentResultFrame, turn: Turn, *, timed: bool) -> None:
        """Name the prompts that the result answers."""
        uuids = turn.prompt_uuids
        if not uuids:
            return
        frame.user_message_uuid = turn.prompt_uuid or uuids[0]
        frame.user_message_uuids = uuids
        if timed and turn.clock.request_wall_ms is not None and turn.first_usage is not None:
            frame.request_sent_wall_ms = turn.clock.request_wall_ms
            frame.first_request_input_tokens = turn.first_usage.input_tokens
            frame.first_request_cache_read_input_tokens = turn.first_usage.cache_read_input_tokens


def startup_failure(text: str, session_id: str) -> AgentResultFrame:
    """The result of a run that could not begin."""
    return AgentResultFrame(
        subtype="error_during_execution",
        is_error=True,
        duration_ms=0,
        duration_api_ms=0,
        num_turns=0,
        session_id=session_id,
        uuid=new_uuid(),
        stop_reason=None,
        total_cost_usd=0,
        usage=Usage().to_result(),
        model_usage={},
        permission_denials=[],
        errors=[text],
        result_index=0,
    )


def api_error_ending(error: ApiError) -> Ending:
    """How a turn ends that the API gave no reply to."""
    fields: dict[str, Any] = {"api_error_status": error.status}
    if error.error_type is not None:
        fields["api_error_type"] = error.error_type
    if error.api_error is not None:
        fields["api_error"] = error.api_error
    return Ending(
        is_error=True,
        text=error.text,
        terminal_reason=error.terminal_reason,
        stop_reason="stop_sequence",
        fields=fields,
        timed=False,
    )


def crashed(text: str) -> Ending:
    """How a turn ends that the agent itself failed in."""
    return Ending("error_during_execution", None, is_error=True, errors=[text], stop_reason=None, timed=False)


def error_body(text: str, stop_reason: str = "stop_sequence") -> AssistantBody:
    """The body of a message that the agent makes in the place of the model's."""
    content: Sequence[Any] = [{"type": "text", "text": text}]
    return AssistantBody(
        content=list(content),
        model="<synthetic>",
        id=new_uuid(),
        type="message",
        role="assistant",
        stop_reason=stop_reason,
        stop_sequence=None if stop_reason == "tool_use" else "",
        stop_details=None,
        container=None,
        diagnostics=None,
        context_management=None,
        usage=_no_usage(),
    )


def as_kept(body: AssistantBody) -> dict[str, Any]:
    """What the transcript has of such a message."""
    return {
        "role": "assistant",
        "model": body.model,
        "id": body.id,
        "content": body.content,
        "stop_reason": body.stop_reason,
        "usage": body.usage,
    }


def _no_usage() -> dict[str, Any]:
    unknown = ("output_tokens_details", "service_tier", "inference_geo", "iterations", "speed")
    return {**Usage().to_result(), **dict.fromkeys(unknown)}


def _known(value: int | None) -> int | UnsetType:
    return UNSET if value is None else value
