"""The conversation as the model gets it: messages of blocks, repaired so that every call has its result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from claude_wrapper.store.entries import StoredEntry

from .thoughts import THINKING, Thoughts

__all__ = ["Block", "History", "history_of"]

Block = dict[str, Any]
Message = dict[str, Any]

_SERVER_CALLS = frozenset({"server_tool_use", "mcp_tool_use"})
_BROKE_OFF = "[The use of a tool was cut off here.]"
_LOST = "The result of this call is not known: the session ended before it was written down."


class History:
    """The messages so far. Neighbours in one role are one message, as the API wants it."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self.thoughts = Thoughts()

    @staticmethod
    def of(messages: list[Message]) -> History:
        """A history that consists of these messages."""
        history = History()
        history._messages = messages
        return history

    @property
    def messages(self) -> list[Message]:
        """The messages to send; not to be changed."""
        return self._messages

    @property
    def waits_for_reply(self) -> bool:
        """Whether the last word was the user's."""
        return bool(self._messages) and self._messages[-1]["role"] == "user"

    def __len__(self) -> int:
        return len(self._messages)

    def add_user(self, blocks: Sequence[Block]) -> None:
        """Add blocks in the user's role. A reply before them that was nothing but thinking is dropped."""
        last = self._messages[-1] if self._messages else None
        if blocks and last is not None and last["role"] == "assistant" and _only_thinks(last):
            self._messages.pop()
        self._add("user", blocks)

    def add_reply_block(self, block: Block, model: str = "") -> None:
        """Add a block of the model's reply; `model` is who was asked for it."""
        if not _is_sendable(block) or self._is_known_call(block):
            return
        if self._messages and self._messages[-1]["role"] == "assistant":
            _put(block, self._messages[-1]["content"])
        else:
            self._add("assistant", [block])
        if model:
            self.thoughts.note(block, model)

    def replace_with(self, blocks: Sequence[Block], kept: int) -> None:
        """Put blocks in the user's role in the place of all messages before the one numbered `kept`."""
        messages: list[Message] = [{"role": "user", "content": list(blocks)}]
        for message in self._messages[kept:]:
            _append(messages, message["role"], message["content"])
        self._messages = messages

    def drop_reply(self) -> None:
        """Take back the reply at the end, of which nothing can be used."""
        if self._messages and self._messages[-1]["role"] == "assistant":
            self._messages.pop()

    def mend_reply(self) -> None:
        """Make the reply at the end fit to be sent although it broke off.

        The API wants a result behind each use of its own tools, and more than thinking.
        """
        if not self._messages or self._messages[-1]["role"] != "assistant":
            return
        blocks = _mended(self._messages[-1]["content"])
        if blocks:
            self._messages[-1]["content"] = blocks
        else:
            self.drop_reply()

    def open_calls(self) -> list[str]:
        """Ids of the tool calls at the end that have no result yet."""
        if not self._messages:
            return []
        last = self._messages[-1]
        if last["role"] == "assistant":
            return _calls(last)
        if len(self._messages) < 2:
            return []
        answered = {block.get("tool_use_id") for block in last["content"]}
        return [call for call in _calls(self._messages[-2]) if call not in answered]

    def _is_known_call(self, block: Block) -> bool:
        """Whether the reply has a call of the same id already; the API refuses a second one."""
        if block.get("type") != "tool_use" or not self._messages:
            return False
        return block.get("id") in _calls(self._messages[-1])

    def forget_result(self, call: str) -> None:
        """Take back what stands in for the result of a call at the end: the call is run after all."""
        if self._messages and self._messages[-1]["role"] == "user":
            kept = [block for block in self._messages[-1]["content"] if block.get("tool_use_id") != call]
            self._messages[-1]["content"] = kept
            if not kept:
                self._messages.pop()

    def repair(self) -> None:
        """Give every call a result right behind it, in the order of the calls, and drop stray results."""
        repaired: list[Message] = []
        for message in self._messages:
            if message["role"] == "assistant":
                _append(repaired, "assistant", _mended(message["content"]))
                continue
            calls = _calls(repaired[-1]) if repaired else []
            answered = _with_results(calls, message["content"])
            _append(repaired, "user", answered["content"])
        if repaired and _calls(repaired[-1]):
            repaired.append(_with_results(_calls(repaired[-1]), []))
        self._messages = repaired

    def _add(self, role: str, blocks: Sequence[Block]) -> None:
        _append(self._messages, role, blocks)


def history_of(entries: Iterable[StoredEntry]) -> History:
    """The history that a stored conversation stands for."""
    history = History()
    for entry in _together(entries):
        message = entry.message
        if message is None or entry.is_api_error_message:
            continue
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if not isinstance(blocks, list):
            continue
        if entry.type == "user":
            history.add_user([block for block in blocks if isinstance(block, dict)])
        elif entry.type == "assistant" and message.get("model") != "<synthetic>":
            for block in blocks:
                history.add_reply_block(block, entry.requested_model or str(message.get("model") or ""))
    history.repair()
    return history


def _together(entries: Iterable[StoredEntry]) -> list[StoredEntry]:
    """The entries with the blocks of each reply side by side: results may have come between them."""
    ordered: list[StoredEntry] = []
    newest, end = None, 0
    for entry in entries:
        reply = (entry.message or {}).get("id") if entry.type == "assistant" else None
        if reply is not None and reply == newest:
            ordered.insert(end, entry)
            end += 1
            continue
        ordered.append(entry)
        if reply is not None:
            newest, end = reply, len(ordered)
    return ordered


def _append(messages: list[Message], role: str, blocks: Sequence[Block]) -> None:
    """Add blocks, to the last message if that is of the same role."""
    if not blocks:
        return
    if messages and messages[-1]["role"] == role:
        messages[-1]["content"].extend(blocks)
    else:
        messages.append({"role": role, "content": list(blocks)})


def _only_thinks(message: Message) -> bool:
    return all(block.get("type") in THINKING for block in message["content"])


def _put(block: Block, blocks: list[Block]) -> None:
    """Add a block of a reply: calls come last, as their results follow them.

    Thinking that goes on right behind calls which began with thinking keeps its place, and so does all that follows.
    """
    calls = len(blocks)
    while calls and blocks[calls - 1].get("type") == "tool_use":
        calls -= 1
    goes_on = block.get("type") in THINKING and calls > 0 and blocks[calls - 1].get("type") in THINKING
    stays = (
        block.get("type") == "tool_use"
        or goes_on
        or any(each.get("type") == "tool_use" for each in blocks[:calls])
    )
    blocks.insert(len(blocks) if stays else calls, block)


def _mended(blocks: Sequence[Block]) -> list[Block]:
    """A reply without uses of the API's own tools that got no result; nothing if only thinking is left."""
    answered = {block.get("tool_use_id") for block in blocks}
    kept = [
        block for block in blocks if block.get("type") not in _SERVER_CALLS or block.get("id") in answered
    ]
    if any(block.get("type") not in THINKING for block in kept):
        return kept
    return [] if len(kept) == len(blocks) else [*kept, {"type": "text", "text": _BROKE_OFF}]


def _calls(message: Message) -> list[str]:
    if message["role"] != "assistant":
        return []
    return [block["id"] for block in message["content"] if block.get("type") == "tool_use"]


def _with_results(calls: Sequence[str], blocks: Sequence[Block]) -> Message:
    results = {block.get("tool_use_id"): block for block in blocks if block.get("type") == "tool_result"}
    ordered = [results.get(call) or _lost_result(call) for call in calls]
    others = [block for block in blocks if block.get("type") != "tool_result"]
    return {"role": "user", "content": [*ordered, *others]}


def _lost_result(call: str) -> Block:
    return {"type": "tool_result", "tool_use_id": call, "content": _LOST, "is_error": True}


def _is_sendable(block: Block) -> bool:
    """Whether the API takes a block back: it refuses empty text."""
    return block.get("type") != "text" or bool(str(block.get("text", "")).strip())
