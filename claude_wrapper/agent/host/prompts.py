"""The queue of prompts: what waits, what joins the running turn, what gets a turn of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

__all__ = ["Prompt", "PromptQueue", "merged", "notice"]


class Prompt(msgspec.Struct, eq=False):
    """One prompt of the host."""

    content: str | list[dict[str, Any]]
    uuid: str | None = None
    priority: str | None = None
    as_written: bool = False
    """No commands, no mentions: the text goes to the model as it is."""
    asks_model: bool = True
    """False: only added to the conversation."""
    is_synthetic: bool = False
    """Made by a program, not written by a person."""
    origin: dict[str, Any] | None = None
    """Where it comes from, if that is not the host; the result of its turn says so."""
    is_human: bool = False
    """The host says that a person wrote it, and is to be told so again."""
    announced: bool = False
    """The host was told that it waits."""

    @property
    def told_origin(self) -> dict[str, Any] | UnsetType:
        """Where it comes from, as hosts are told."""
        if self.origin is not None:
            return self.origin
        return {"kind": "human"} if self.is_human else UNSET

    @property
    def text(self) -> str:
        """The prompt's text, without what is no text."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(block["text"] for block in self.content if isinstance(block.get("text"), str))

    @property
    def blocks(self) -> list[dict[str, Any]]:
        """The prompt as content blocks."""
        if isinstance(self.content, str):
            return [{"type": "text", "text": self.content}]
        return self.content


def notice(text: str, run_id: str) -> Prompt:
    """What a task in the background has to say at its end."""
    origin = {"kind": "task-notification", "producer": "session-task", "runId": run_id}
    return Prompt(text, as_written=True, is_synthetic=True, origin=origin)


def merged(prompts: Sequence[Prompt]) -> Prompt:
    """Several prompts as one, under the id of the last."""
    if len(prompts) == 1:
        return prompts[0]
    content: str | list[dict[str, Any]]
    if all(isinstance(prompt.content, str) for prompt in prompts):
        content = "\n".join(prompt.text for prompt in prompts)
    else:
        content = [block for prompt in prompts for block in prompt.blocks]
    last = prompts[-1]
    as_written = all(prompt.as_written for prompt in prompts)
    return Prompt(content, last.uuid, as_written=as_written, is_human=last.is_human)


class PromptQueue:
    """Prompts in the order in which they are to be answered.

    `on_waiting` is called with a prompt that is taken in, `on_repeated` with one whose id was answered before. A prompt
    of priority `now` goes first, one of priority `later` after all others; what has neither may join the running turn.
    Those that wait share a turn with their like, unless it is one that `stands_alone`.
    """

    def __init__(
        self,
        on_waiting: Callable[[Prompt], None],
        on_repeated: Callable[[Prompt], None],
        stands_alone: Callable[[Prompt], bool] = lambda _: False,
    ) -> None:
        self._on_waiting = on_waiting
        self._stands_alone = stands_alone
        self._on_repeated = on_repeated
        self._waiting: list[Prompt] = []
        self._seen: set[str] = set()
        self._changed = asyncio.Event()
        self._end = asyncio.Event()
        self._closed = False
        self.busy = False
        """A turn is running."""
        self.expected: Callable[[], bool] = lambda: False
        """Whether work goes on elsewhere that will end in a prompt, though the host may send none."""
        self.remarks: list[str] = []
        """What the model is to know with the next prompt, and what is worth no turn of its own."""
        self.on_urgent: Callable[[], None] | None = None
        """Called when a prompt comes that cannot wait for the turn's end."""

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def closed(self) -> bool:
        """Whether no more prompts will come."""
        return self._closed

    @property
    def urgent(self) -> bool:
        """Whether a prompt waits that wants the running turn cut short."""
        return any(prompt.priority == "now" for prompt in self._waiting)

    @property
    def uuids(self) -> list[str]:
        """The ids of those that wait and have one."""
        return [prompt.uuid for prompt in self._waiting if prompt.uuid is not None]

    def know(self, uuids: Iterable[str]) -> None:
        """Take prompts with these ids as answered."""
        self._seen.update(uuids)

    def put(self, prompt: Prompt) -> None:
        """Add a prompt, unless it was there before."""
        if prompt.uuid is not None:
            if prompt.uuid in self._seen:
                if prompt.uuid not in self.uuids:
                    self._on_repeated(prompt)
                return
            self._seen.add(prompt.uuid)
        self._waiting.append(prompt)
        if self.busy:
            self._announce(prompt)
            if prompt.priority == "now" and self.on_urgent is not None:
                self.on_urgent()
        self._changed.set()

    def put_first(self, prompt: Prompt) -> None:
        """Add a prompt ahead of all others, with a turn of its own."""
        self._waiting.insert(0, prompt)
        self._changed.set()

    def close(self) -> None:
        """No more prompts will come; those that wait are still answered."""
        self._closed = True
        self._end.set()
        self._changed.set()

    def look_again(self) -> None:
        """What was expected may come no more."""
        self._changed.set()

    async def until_closed(self) -> None:
        """Wait until the host sends no more."""
        await self._end.wait()

    def clear(self) -> list[Prompt]:
        """Drop what waits, and return it."""
        dropped, self._waiting = self._waiting, []
        return dropped

    def cancel(self, uuid: str) -> Prompt | None:
        """Drop one prompt that waits; None when there is none with this id."""
        for prompt in self._waiting:
            if prompt.uuid == uuid:
                self._waiting.remove(prompt)
                return prompt
        return None

    async def arrival(self) -> None:
        """Wait for a prompt, or until there will be none."""
        while not self._waiting and not self._closed:
            self._changed.clear()
            await self._changed.wait()

    async def next_turn(self) -> list[Prompt] | None:
        """Wait for the prompts of the next turn; None once there will be none.

        Prompts that waited for the end of a turn may share the next one. The first to come to an
        idle session has its turn to itself, however close behind it others are.
        """
        idle = not self._waiting
        while not self._waiting:
            if self._closed and not self.expected():
                return None
            self._changed.clear()
            await self._changed.wait()
        group = self._next_group()
        return self._take(group[:1] if idle else group)

    def joining(self) -> list[Prompt]:
        """Take the prompts that join the running turn."""
        return self._take([prompt for prompt in self._waiting if self._joins(prompt)])

    def take_remarks(self) -> list[str]:
        """What is to be known, once."""
        taken, self.remarks = self.remarks, []
        return taken

    def announce(self, prompts: Iterable[Prompt]) -> None:
        """Tell the host that these were taken in, where it was not told yet."""
        for prompt in prompts:
            self._announce(prompt)

    def announce_all(self) -> None:
        """Tell the host of all that wait."""
        self.announce(self._waiting)

    def _announce(self, prompt: Prompt) -> None:
        if not prompt.announced:
            prompt.announced = True
            self._on_waiting(prompt)

    def _next_group(self) -> list[Prompt]:
        rank = min(_rank(prompt) for prompt in self._waiting)
        if rank and self._waiting[0].origin is not None:
            return [self._one_notice()]
        alike = [prompt for prompt in self._waiting if _rank(prompt) == rank]
        group = alike[:1]
        if self._may_share(group[0]):
            for prompt in alike[1:]:
                if not self._may_share(prompt) or prompt.origin is not None:
                    break
                group.append(prompt)
        return group

    def _one_notice(self) -> Prompt:
        """The first that waits, which comes from no host. The model answers the last of several in a row."""
        first = self._waiting[0]
        first.asks_model = len(self._waiting) == 1 or self._waiting[1].origin is None
        return first

    def _take(self, prompts: list[Prompt]) -> list[Prompt]:
        self._waiting = [prompt for prompt in self._waiting if prompt not in prompts]
        return prompts

    def _joins(self, prompt: Prompt) -> bool:
        """Whether a prompt may join the running turn."""
        return prompt.priority not in {"now", "later"} and self._may_share(prompt)

    def _may_share(self, prompt: Prompt) -> bool:
        """Whether a prompt may share a turn with others."""
        return prompt.asks_model and not self._stands_alone(prompt)


def _rank(prompt: Prompt) -> int:
    """The place in the order of turns."""
    return {"now": 0, "later": 2}.get(prompt.priority or "", 1)
