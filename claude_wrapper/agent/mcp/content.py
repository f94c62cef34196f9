"""What a server's tool gave back, as blocks that the model's API takes."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["as_read", "blocks_of", "text_of"]

_MOST_INLINE = 50_000
_PREVIEW = 2_000
_EXTENSIONS = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}


def blocks_of(content: Any, results_dir: Path, name: str) -> list[dict[str, Any]]:
    """The items of a result as blocks; pictures are kept as files too, so that other tools can use them."""
    blocks: list[dict[str, Any]] = []
    for index, item in enumerate(content if isinstance(content, list) else []):
        if not isinstance(item, dict):
            continue
        kind = item.get("type")
        if kind == "text":
            blocks.append({"type": "text", "text": str(item.get("text", ""))})
        elif kind == "image":
            blocks += _image(item, results_dir, f"{name}-{index}")
        elif kind == "resource":
            blocks.append({"type": "text", "text": _resource(item.get("resource"))})
        elif kind == "resource_link":
            words = [str(item[key]) for key in ("name", "uri", "description") if item.get(key)]
            blocks.append({"type": "text", "text": f"[Resource: {' '.join(words)}]"})
        else:
            blocks.append(
                {"type": "text", "text": f"[The server gave back {kind} content, which is not passed on.]"}
            )
    return blocks


def as_read(
    blocks: list[dict[str, Any]], results_dir: Path, name: str, tool: str
) -> str | list[dict[str, Any]]:
    """A result as the model reads it: something at least, and of a very long text its beginning and where it is."""
    if not blocks:
        return f"({tool} completed with no output)"
    text = text_of(blocks)
    if len(text) <= _MOST_INLINE or any(block.get("type") != "text" for block in blocks):
        return blocks
    path = results_dir / f"{name}.txt"
    try:
        results_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="replace")
        path.chmod(0o600)
    except OSError:
        return blocks
    return (
        f"<persisted-output>\nOutput too large ({len(text) / 1024:.1f}KB). Full output saved to: {path}\n\n"
        f"Preview (first 2KB):\n{text[:_PREVIEW]}\n...\n</persisted-output>"
    )


def text_of(blocks: Sequence[dict[str, Any]]) -> str:
    """The texts of blocks, for results that can only be text."""
    return "\n".join(block["text"] for block in blocks if block.get("type") == "text")


def _image(item: dict[str, Any], results_dir: Path, name: str) -> list[dict[str, Any]]:
    media = str(item.get("mimeType") or "image/png")
    data = str(item.get("data") or "")
    block = {"type": "image", "source": {"type": "base64", "media_type": media, "data": data}}
    path = results_dir / f"{name}.{_EXTENSIONS.get(media, 'bin')}"
    try:
        results_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(data, validate=True))
        path.chmod(0o600)
    except (OSError, binascii.Error):
        return [block]
    return [block, {"type": "text", "text": f"[Image: source: {path}]"}]


def _resource(resource: Any) -> str:
    if not isinstance(resource, dict):
        return "[Resource]"
    text = resource.get("text")
    return text if isinstance(text, str) else f"[Resource: {resource.get('uri') or ''}, not text]"
