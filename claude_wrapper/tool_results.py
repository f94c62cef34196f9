"""What a tool's function returns, as the result of a call on the wire."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

__all__ = ["failure", "result_body"]

logger = logging.getLogger("claude_wrapper.tools")

Body = dict[str, Any]

_BLOCKS = frozenset({"text", "image", "audio", "resource", "resource_link"})


def failure(text: str) -> Body:
    """Return the result of a call that failed."""
    return {"content": [{"type": "text", "text": text}], "isError": True}


def result_body(tool: str, result: Any) -> Body:
    """Return the result of a call that went through; raises TypeError when it is none."""
    if not isinstance(result, Mapping):
        raise TypeError(
            f"The tool {tool} must return a dict with 'content', it returned {type(result).__name__}"
        )
    body: Body = {
        "content": _content(tool, result.get("content")),
        "isError": bool(result.get("is_error") or result.get("isError")),
    }
    for name in ("structuredContent", "_meta"):
        if result.get(name) is not None:
            body[name] = result[name]
    return body


def _content(tool: str, content: Any) -> list[Body]:
    if content is None:
        return []
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list | tuple):
        raise TypeError(
            f"The tool {tool} must return its content as a list of blocks, it is {type(content).__name__}"
        )
    return [block for given in content if (block := _block(tool, given)) is not None]


def _block(tool: str, block: Any) -> Body | None:
    if not isinstance(block, Mapping):
        raise TypeError(
            f"The tool {tool} returned a {type(block).__name__} as a block of content; blocks are dicts"
        )
    kind = block.get("type")
    if kind not in _BLOCKS:
        # An agent that meets an unknown block refuses the whole result.
        logger.warning("the tool %s returned a block of the unknown type %r, which is left out", tool, kind)
        return None
    if kind == "text" and not isinstance(block.get("text"), str):
        raise TypeError(f"The tool {tool} returned a text block without text")
    source = block.get("source")
    if kind == "image" and isinstance(source, Mapping):
        # As the Messages API has it; tools' results have it flat.
        return {"type": "image", "data": source.get("data"), "mimeType": source.get("media_type")}
    return dict(block)
