"""One request to the Messages API: its fields, and their encoding as a body and headers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from claude_wrapper.wire.codec import encode

from .catalog import Model
from .switches import is_on
from .tuning import Tuning
from .written import WrittenMessages

__all__ = ["CacheTtl", "ModelRequest", "cache_ttl", "encode_body", "request_headers"]

CacheTtl = Literal["5m", "1h"]

_UNCACHEABLE = frozenset({"thinking", "redacted_thinking"})
_LONG_CACHE_BETA = "extended-cache-ttl-2025-04-11"
_DEFERRED_TOOLS_BETA = "advanced-tool-use-2025-11-20"


class ModelRequest(msgspec.Struct, frozen=True):
    """What is asked of the model.

    `system` are the blocks of the system prompt, `tools` the definitions, `messages` the history
    in the API's form. None of them is changed. Put what differs from session to session behind
    what does not: the provider's cache is matched from the front. `cache` says how long the
    prompt is kept there, None not to mark it. `extra` is merged into the body as it is. With `aside`
    the last message is no part of the conversation and will not be sent again, so it is not kept.
    `written` keeps what was written of the same conversation before.
    """

    model: Model
    messages: Sequence[Mapping[str, Any]]
    tuning: Tuning
    system: Sequence[str] = ()
    tools: Sequence[Mapping[str, Any]] = ()
    tool_choice: Mapping[str, Any] | None = None
    cache: CacheTtl | None = "5m"
    user_id: str | None = None
    session_id: str | None = None
    agent_id: str | None = None
    parent_agent_id: str | None = None
    betas: tuple[str, ...] = ()
    extra: Mapping[str, Any] = msgspec.field(default_factory=dict)
    aside: bool = False
    written: WrittenMessages | None = None


def cache_ttl(model: Model, environment: Mapping[str, str]) -> CacheTtl | None:
    """How long the prompt is cached, by the environment's switches."""
    families = [name for name in ("haiku", "sonnet", "opus") if name in model.canonical]
    if is_on(environment, "DISABLE_PROMPT_CACHING") or any(
        is_on(environment, f"DISABLE_PROMPT_CACHING_{f.upper()}") for f in families
    ):
        return None
    if is_on(environment, "ENABLE_PROMPT_CACHING_1H") and not is_on(environment, "FORCE_PROMPT_CACHING_5M"):
        return "1h"
    return "5m"


def encode_body(
    request: ModelRequest, *, stream: bool = True, instead: Mapping[str, Any] | None = None
) -> bytes:
    """Encode the body. What later turns repeat comes first, the history last.

    So the bytes of one turn's body are the beginning of the next one's, apart from the mark at
    the end of the history, which moves. `instead` are fields that take the place of `model` and
    `stream` where a provider has these in the address.
    """
    tuning = request.tuning
    mark = _mark(request.cache)
    body: dict[str, Any] = {
        "model": request.model.api_name,
        "max_tokens": tuning.max_tokens,
        "stream": stream,
    }
    if instead is not None:
        body = {"max_tokens": tuning.max_tokens, **instead}
    if request.user_id:
        body["metadata"] = {"user_id": request.user_id}
    if tuning.thinking:
        body["thinking"] = tuning.thinking
    if tuning.output_config:
        body["output_config"] = tuning.output_config
    if request.tool_choice:
        body["tool_choice"] = request.tool_choice
    body.update(request.extra)
    if request.system:
        body["system"] = _marked([{"type": "text", "text": text} for text in request.system], mark)
    if request.tools:
        body["tools"] = _marked_tools(request.tools, mark)
    body["messages"] = _history(request, mark)
    return encode(body)


def request_headers(request: ModelRequest, betas: Sequence[str] = ()) -> list[tuple[str, str]]:
    """The headers that belong to this request. `betas` are further ones that the caller wants."""
    needed = [*request.tuning.betas, *request.betas, *betas]
    if request.cache == "1h":
        needed.append(_LONG_CACHE_BETA)
    if any(tool.get("defer_loading") for tool in request.tools):
        needed.append(_DEFERRED_TOOLS_BETA)
    headers = {
        "anthropic-beta": ",".join(dict.fromkeys(needed)),
        "x-claude-code-session-id": request.session_id,
        "x-claude-code-agent-id": request.agent_id,
        "x-claude-code-parent-agent-id": request.parent_agent_id,
    }
    return [(name, value) for name, value in headers.items() if value]


def _mark(ttl: CacheTtl | None) -> dict[str, str] | None:
    if ttl is None:
        return None
    return {"type": "ephemeral", "ttl": "1h"} if ttl == "1h" else {"type": "ephemeral"}


def _marked(blocks: list[Any], mark: dict[str, str] | None) -> list[Any]:
    """Mark the last block that can carry a mark. The list is ours, its blocks are not."""
    if mark is None:
        return blocks
    for index in range(len(blocks) - 1, -1, -1):
        if _can_be_marked(blocks[index]):
            blocks[index] = {**blocks[index], "cache_control": mark}
            break
    return blocks


def _can_be_marked(block: Any) -> bool:
    if not isinstance(block, Mapping) or block.get("type") in _UNCACHEABLE:
        return False
    # The API refuses a mark on text that is empty.
    return block.get("type") != "text" or bool(block.get("text"))


def _marked_tools(tools: Sequence[Mapping[str, Any]], mark: dict[str, str] | None) -> list[Any]:
    """Mark the last tool that is loaded from the start: deferred ones are no part of the prefix."""
    marked: list[Any] = list(tools)
    if mark is None:
        return marked
    for index in range(len(marked) - 1, -1, -1):
        if not marked[index].get("defer_loading"):
            marked[index] = {**marked[index], "cache_control": mark}
            break
    return marked


def _history(request: ModelRequest, mark: dict[str, str] | None) -> Any:
    if request.written is None:
        return _marked_history(request.messages, mark, aside=request.aside)

    def finish(part: Sequence[Mapping[str, Any]], ends: bool) -> list[Any]:
        return _marked_history(part, mark if ends else None, aside=request.aside)

    return request.written.write(request.messages, finish)


def _marked_history(
    messages: Sequence[Mapping[str, Any]], mark: dict[str, str] | None, *, aside: bool
) -> list[Any]:
    """Mark the end of the history, and its end at the time of the request before.

    The provider looks back only some twenty blocks from a mark, and one turn may add more.
    Content that is plain text becomes a block everywhere, since a mark needs one and the bytes
    of a message must not depend on where it stands.
    """
    # A long history is walked for each request: what is in blocks already costs no call.
    history: list[Any] = [
        message if isinstance(message["content"], list) else _with_blocks(message) for message in messages
    ]
    marks = 0
    for index in range(len(history) - (2 if aside else 1), -1, -1):
        if marks == 2 or mark is None:
            break
        if history[index].get("role") == "user":
            history[index] = {**history[index], "content": _marked(list(history[index]["content"]), mark)}
            marks += 1
    return history


def _with_blocks(message: Mapping[str, Any]) -> Mapping[str, Any]:
    content = message.get("content")
    if isinstance(content, str):
        return {**message, "content": [{"type": "text", "text": content}]}
    return message
