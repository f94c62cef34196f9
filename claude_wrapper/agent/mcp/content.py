"""What a server's tool gave back, as blocks that the model's API takes."""

from __future__ import annotations

import base64
import binascii
from pathlib import Path
from typing import Any

import msgspec

__all__ = ["McpResult", "as_read", "kept_blob", "result_from"]

_MOST_INLINE = 50_000
_PREVIEW = 2_000
_CHARACTERS_OF_A_TOKEN = 4
_EXTENSIONS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "audio/wav": "wav",
    "audio/mpeg": "mp3",
    "application/pdf": "pdf",
}
_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


class McpResult(msgspec.Struct):
    """A result: what the model reads, and what hosts get beside it."""

    content: str | list[dict[str, Any]]
    structured: Any = None
    links: list[dict[str, Any]] = msgspec.field(default_factory=list)

    @property
    def text(self) -> str:
        """The texts of it, for where only text can be."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(block["text"] for block in self.content if block.get("type") == "text")

    @property
    def for_host(self) -> Any:
        """The content alone, or with what the server gave beside it."""
        more = {}
        if self.structured is not None:
            more["structuredContent"] = self.structured
        if self.links:
            more["resourceLinks"] = self.links
        return {"content": self.content, **more} if more else self.content


def result_from(given: dict[str, Any], results_dir: Path, name: str, server: str) -> McpResult:
    """What a call gave back; pictures and other files are kept as files, so that other tools can use them."""
    structured = given.get("structuredContent")
    items = [item for item in given.get("content") or () if isinstance(item, dict)]
    links = [
        {key: value for key, value in item.items() if key != "type"}
        for item in items
        if item.get("type") == "resource_link"
    ]
    if isinstance(structured, dict) and all(item.get("type") == "text" for item in items):
        return McpResult(msgspec.json.encode(structured).decode(), structured)
    blocks = [
        block
        for index, item in enumerate(items)
        for block in _blocks(item, results_dir, f"{name}-{index}", server)
    ]
    return McpResult(blocks, structured if isinstance(structured, dict) else None, links)


def as_read(
    result: McpResult,
    results_dir: Path,
    name: str,
    tool: str,
    *,
    most_tokens: int | None,
    most_characters: int | None = None,
) -> tuple[str | list[dict[str, Any]], Any]:
    """A result as the model reads it, and as hosts get it.

    There is something at least; a long text is in a file, its beginning here; of a very long one only the
    place is told. A tool may set a limit of its own.
    """
    if not result.content:
        return f"({tool} completed with no output)", result.for_host
    text = result.text
    if len(text) <= (most_characters or min(_MOST_INLINE, (most_tokens or 0) * _CHARACTERS_OF_A_TOKEN)):
        return result.content, result.for_host
    if isinstance(result.content, list) and any(block.get("type") != "text" for block in result.content):
        return result.content, result.for_host
    path = results_dir / f"{name}.txt"
    if not _kept(path, text.encode("utf-8", "replace")):
        return result.content, result.for_host
    if most_tokens is not None and len(text) > most_tokens * _CHARACTERS_OF_A_TOKEN:
        lines = text.count("\n") + (not text.endswith("\n"))
        told = (
            f"Error: result ({len(text):,} characters across {lines:,} lines) exceeds maximum allowed tokens. "
            f"Output has been saved to {path}.\nRead it there in parts, or search it for what you need, and say "
            f"so if you have not read all of it."
        )
        return told, told
    return (
        f"<persisted-output>\nOutput too large ({len(text) / 1024:.1f}KB). Full output saved to: {path}\n\n"
        f"Preview (first 2KB):\n{text[:_PREVIEW]}\n...\n</persisted-output>"
    ), result.for_host


def _blocks(item: dict[str, Any], results_dir: Path, name: str, server: str) -> list[dict[str, Any]]:
    match item.get("type"):
        case "text":
            return [_text(str(item.get("text", "")))]
        case "image":
            return _image(str(item.get("mimeType") or "image/png"), item.get("data"), results_dir, name, "")
        case "audio":
            return [
                _file(f"[Audio from {server}]", item.get("mimeType"), item.get("data"), results_dir, name)
            ]
        case "resource":
            return _resource(item.get("resource"), results_dir, name, server)
        case "resource_link":
            words = [str(item[key]) for key in ("uri", "description") if item.get(key)]
            return [_text(" ".join([f"[Resource link: {item.get('name') or ''}]", *words]))]
        case kind:
            return [_text(f"[The server gave back {kind} content, which is not passed on.]")]


def _resource(resource: Any, results_dir: Path, name: str, server: str) -> list[dict[str, Any]]:
    if not isinstance(resource, dict):
        return [_text(f"[Resource from {server}]")]
    head = f"[Resource from {server} at {resource.get('uri') or ''}]"
    text = resource.get("text")
    if isinstance(text, str):
        return [_text(f"{head} {text}")]
    media = str(resource.get("mimeType") or "")
    if media in _PICTURES:
        return _image(media, resource.get("blob"), results_dir, name, head)
    return [_file(head, media, resource.get("blob"), results_dir, name)]


def _image(media: str, data: Any, results_dir: Path, name: str, head: str) -> list[dict[str, Any]]:
    block = {"type": "image", "source": {"type": "base64", "media_type": media, "data": str(data or "")}}
    path = kept_blob(data, media, results_dir, name)
    begun = [_text(head)] if head else []
    if path is None:
        return [*begun, block]
    return [*begun, block, _text(f"[Image: source: {path}]")]


def _file(head: str, media: Any, data: Any, results_dir: Path, name: str) -> dict[str, Any]:
    path = kept_blob(data, media, results_dir, name)
    if path is None:
        return _text(f"{head} Binary content ({media}) that could not be kept")
    return _text(f"{head} Binary content ({media}, {path.stat().st_size} bytes) saved to {path}")


def kept_blob(data: Any, media: Any, results_dir: Path, name: str) -> Path | None:
    """The file in which binary content is kept now; None if that cannot be done."""
    path = results_dir / f"{name}.{_EXTENSIONS.get(str(media), 'bin')}"
    return path if _kept(path, _decoded(data)) else None


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _decoded(data: Any) -> bytes | None:
    try:
        return base64.b64decode(str(data or ""), validate=True)
    except (binascii.Error, ValueError):
        return None


def _kept(path: Path, content: bytes | None) -> bool:
    """Write a file that only the user can read; False if that cannot be done."""
    if content is None:
        return False
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o600)
    except OSError:
        return False
    return True
