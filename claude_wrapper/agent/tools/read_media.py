"""Reads what is not plain text: images, PDFs and notebooks, as content blocks."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from .contract import ToolContext, ToolFailure, ToolOutput
from .image import ImageInfo, sniff
from .ledger import digest_of
from .notebook import read_notebook
from .paths import size_text
from .pdf import read_pdf
from .textfile import read_bytes

__all__ = ["read_image", "read_notebook_file", "read_pdf_file"]

_MAX_IMAGE = 3_750_000
"""Bytes; base64 makes it the 5 MB that the Messages API takes."""
_MAX_IMAGE_SIDE = 8000
_MAX_DOCUMENT = 64 * 1024 * 1024
_MAX_NOTEBOOK_TEXT = 256 * 1024


def read_image(path: Path, context: ToolContext) -> ToolOutput:
    """An image block; the format is told by the bytes, not by the name."""
    data, state = read_bytes(path, _MAX_DOCUMENT)
    if not state.st_size:
        raise ToolFailure(f"The image file is empty: {path}")
    info = sniff(data)
    if data and info is None:
        raise ToolFailure(
            f"{path.name} has the extension of an image, but holds no PNG, JPEG, GIF or WebP (it begins with "
            f"{data[:8].hex(' ')}). See what it is with `file`, or show it as text with `head -c 500`."
        )
    if info is None or state.st_size > _MAX_IMAGE or max(info.width or 0, info.height or 0) > _MAX_IMAGE_SIDE:
        raise ToolFailure(
            f"The image is too large to be shown ({size_text(state.st_size)}): at most {size_text(_MAX_IMAGE)} and "
            f"{_MAX_IMAGE_SIDE} pixels a side. Scale a copy down and read that."
        )
    context.read_files.note(path, digest_of(data), state, complete=True)
    encoded = base64.b64encode(data).decode()
    source = {"type": "base64", "data": encoded, "media_type": info.media_type}
    record = {"base64": encoded, "type": info.media_type, "originalSize": len(data), **_dimensions(info)}
    return ToolOutput([{"type": "image", "source": source}], {"type": "image", "file": record})


def _dimensions(info: ImageInfo) -> dict[str, Any]:
    if info.width is None:
        return {}
    return {
        "dimensions": {
            "originalWidth": info.width,
            "originalHeight": info.height,
            "displayWidth": info.width,
            "displayHeight": info.height,
        }
    }


def read_pdf_file(path: Path, tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
    """A document block, of the whole file or of the wanted pages."""
    data, state = read_bytes(path, _MAX_DOCUMENT)
    if state.st_size > _MAX_DOCUMENT:
        raise ToolFailure(f"The PDF is too large to be read ({size_text(state.st_size)}).")
    content, structured = read_pdf(data, tool_input["file_path"], tool_input.get("pages"))
    context.read_files.note(path, digest_of(data), state, complete="pages" not in tool_input)
    return ToolOutput(content, structured)


def read_notebook_file(path: Path, tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
    """The cells as text and image blocks."""
    data, state = read_bytes(path, _MAX_DOCUMENT)
    if state.st_size > _MAX_DOCUMENT:
        raise ToolFailure(
            f"The notebook is too large to be read ({size_text(state.st_size)}); take parts of it with jq."
        )
    content, cells = read_notebook(data, path.name)
    if sum(len(block.get("text", "")) for block in content) > _MAX_NOTEBOOK_TEXT:
        raise ToolFailure("The notebook's cells are too long to be shown at once; take parts of it with jq.")
    context.read_files.note(path, digest_of(data), state, complete=True)
    structured = {"type": "notebook", "file": {"filePath": tool_input["file_path"], "cells": cells}}
    return ToolOutput(content or "(The notebook has no cells.)", structured)
