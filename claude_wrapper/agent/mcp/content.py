"""What a server's tool gave back, as blocks that the model's API takes."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["blocks_of", "text_of"]

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
            blocks.append(
                {"type": "text", "text": f"[Resource: {item.get('name') or ''} {item.get('uri') or ''}]"}
            )
        else:
            blocks.append(
                {"type": "text", "text": f"[The server gave back {kind} content, which is not passed on.]"}
            )
    return blocks


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
