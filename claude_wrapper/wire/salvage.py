"""Saves message frames whose only fault is a content block that this library has no class for."""

from __future__ import annotations

from typing import Any, get_args

import msgspec

from .blocks import AnyBlock, UnknownBlock

__all__ = ["keep_unknown_blocks"]

_TYPES = frozenset(block.__struct_config__.tag for block in get_args(AnyBlock))


def keep_unknown_blocks(raw: dict[str, Any], frames: Any) -> Any:
    """Convert a frame with its strange blocks as UnknownBlock; None where that is not what ails it."""
    message = raw.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(content, list):
        return None
    unknown = [(index, block) for index, block in enumerate(content) if _is_unknown(block)]
    if not unknown:
        return None
    known = [block for block in content if not _is_unknown(block)]
    try:
        frame = msgspec.convert({**raw, "message": {**message, "content": known}}, frames)
    except msgspec.ValidationError:
        return None
    for index, block in unknown:
        frame.message.content.insert(index, UnknownBlock(block))
    return frame


def _is_unknown(block: Any) -> bool:
    return isinstance(block, dict) and isinstance(block.get("type"), str) and block["type"] not in _TYPES
