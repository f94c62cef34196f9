"""The state of one turn: what it was asked, what it has used, how far it has come."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType, field

from claude_wrapper.agent.api.usage import Usage
from claude_wrapper.agent.calls.call import CallResult, ToolCall
from claude_wrapper.agent.host.prompts import Prompt

__all__ = ["Clock", "Ending", "Turn"]


class Clock(msgspec.Struct):
    """When things happened in a turn, in seconds of the monotonic clock."""

    started: float = field(default_factory=time.monotonic)
    requested: float | None = None
    first_event: float | None = None
    first_token: float | None = None
    first_frame: float | None = None
    request_wall_ms: int | None = None
    api_ms: float = 0.0

    def since_start(self, moment: float | None) -> int | None:
        """Milliseconds from the start of the turn."""
        return None if moment is None else int((moment - self.started) * 1000)

    def since_request(self, moment: float | None) -> int | None:
        """Milliseconds from the first request to the model."""
        if moment is None or self.requested is None:
            return None
        return int((moment - self.requested) * 1000)


class Ending(msgspec.Struct):
    """How a turn ends: what its result frame says."""

    subtype: str = "success"
    terminal_reason: str | None = "completed"
    is_error: bool = False
    text: str = ""
    """The `result`, for the subtype success."""
    errors: list[str] = field(default_factory=list)
    stop_reason: str | UnsetType | None = UNSET
    """UNSET: that of the last reply."""
    fields: dict[str, Any] = field(default_factory=dict)
    """Further fields of the result."""
    num_turns: int | None = None
    """The count that the result reports, where it is not the turn's own."""
    timed: bool = True
    """Whether the result tells how quick the model was."""


class Turn(msgspec.Struct):
    """One turn. Lives from the moment its prompts are taken up until its result is sent."""

    prompts: list[Prompt]
    id: str
    clock: Clock = field(default_factory=Clock)
    stage: str = "opening"
    """`opening`, `begun`, `streaming`, `tools`, `between` or `closing`: where an interrupt would find it."""
    reached_model: bool = False
    """The prompts were taken up, and the model is asked unless a limit forbids it."""
    requests: int = 0
    """Requests to the model, failed ones too."""
    user_messages: int = 0
    """Messages that the turn added in the user's role, the prompts apart."""
    usage: Usage = field(default_factory=Usage)
    usage_before_last: Usage = field(default_factory=Usage)
    first_usage: Usage | None = None
    stop_reason: str | None = None
    last_text: str = ""
    denials: list[dict[str, Any]] = field(default_factory=list)
    begun: list[str] = field(default_factory=list)
    """Ids of the API's messages that were begun."""
    first_delta: int = 0
    """How many characters the reply began with: all that is known of its length until it ends."""
    answered: bool = False
    """An assistant frame was sent that names the prompts."""
    calls: list[ToolCall] = field(default_factory=list)
    results: dict[str, CallResult] = field(default_factory=dict)
    """Results of the running round of calls, as far as they are known."""
    length_nudges: int = 0
    empty_nudges: int = 0
    answer_nudges: int = 0
    refusals: int = 0
    pauses: int = 0
    call_nudges: int = 0
    shown: list[str] = field(default_factory=list)
    """Ids of the frames that show the last reply."""
    superseded: list[str] = field(default_factory=list)
    """Ids of frames that were taken back, and that the next frame of the model takes the place of."""
    cuts: int = 0
    """Replies one after another that broke off and were gone on with."""
    empty_cuts: int = 0
    """Replies one after another that broke off before they said anything."""
    asks_again: bool = False
    """The next request repeats the last one, which the host is not told."""
    bad_answers: int = 0
    last_bad_answer: str = ""
    stop_blocks: int = 0
    """How often in a row, without a call in between, hooks kept the turn from ending."""
    stop_active: bool = False
    """They have done so in this turn."""
    stop_trouble_told: bool = False
    compacted_at: int | None = None
    """How many requests there had been when the conversation was compacted last."""
    refills: int = 0
    """How often in a row it had to be compacted again soon after."""
    found_too_long: bool = False
    """The API found the last request too long, and the conversation was compacted for it."""
    when_interrupted: Callable[[], Ending] | None = None
    """How the turn ends if it is interrupted at this place, where that is a special one."""

    prompt_uuid: str | None = None
    """The id of the last prompt that began the turn, of those that have one: its answer is told by it."""

    def __post_init__(self) -> None:
        """Name the turn by its prompts, before others join it."""
        self.prompt_uuid = next(reversed(self.prompt_uuids), None)

    @property
    def prompt_uuids(self) -> list[str]:
        """Ids of the prompts that have one."""
        return [prompt.uuid for prompt in self.prompts if prompt.uuid is not None]

    @property
    def num_turns(self) -> int:
        """The count that results report."""
        return 1 + self.user_messages if self.reached_model else 0

    def count_reply(self, usage: Usage) -> None:
        """Add a reply's usage to that of the turn."""
        self.usage_before_last = self.usage
        self.usage = self.usage + usage
        if self.first_usage is None:
            self.first_usage = usage
