"""Hands a PDF to the model as a document, whole or some pages of it."""

from __future__ import annotations

import base64
import importlib
import io
import re
from typing import Any

from .contract import InputRejected, ToolFailure

__all__ = ["check_pages", "read_pdf"]

_MAX_PAGES_WHOLE = 10
_MAX_PAGES = 20
_MAX_BYTES = 20 * 1024 * 1024


def check_pages(pages: str) -> tuple[int, int]:
    """First and last page of a range like "3" or "2-5"; raises InputRejected."""
    match = re.fullmatch(r"\s*([0-9]{1,6})(?:\s*-\s*([0-9]{1,6}))?\s*", pages)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 1 <= first <= last:
        raise InputRejected(
            f'pages is "{pages}"; it must be one page ("3") or one range ("2-5"), counted from 1.'
        )
    if last - first >= _MAX_PAGES:
        raise InputRejected(f'"{pages}" are more than the {_MAX_PAGES} pages that one call may read.')
    return first, last


def read_pdf(data: bytes, path: str, pages: str | None) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The content blocks, and the record for the host."""
    if not data:
        raise ToolFailure(f"The PDF file is empty: {path}")
    if b"%PDF-" not in data[:1024]:
        raise ToolFailure(f"Not a PDF, in spite of its name (there is no %PDF- header): {path}")
    size = len(data)
    if pages is not None:
        data = _extracted(data, path, *check_pages(pages))
    elif (count := _page_count(data)) > _MAX_PAGES_WHOLE:
        raise ToolFailure(
            f"This PDF has {count} pages; more than {_MAX_PAGES_WHOLE} are not read at once. "
            f'Give `pages` (like "1-5", at most {_MAX_PAGES} pages a call).'
        )
    if len(data) > _MAX_BYTES:
        raise ToolFailure(
            f"This PDF has {len(data) >> 20} MB; more than {_MAX_BYTES >> 20} MB cannot be sent."
        )
    encoded = base64.b64encode(data).decode()
    which = f", pages {pages}" if pages is not None else ""
    blocks: list[dict[str, Any]] = [
        {"type": "text", "text": f"PDF file read: {path} ({size} bytes{which})"},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": encoded}},
    ]
    return blocks, {"type": "pdf", "file": {"filePath": path, "base64": encoded, "originalSize": size}}


def _pypdf() -> Any:
    try:
        return importlib.import_module("pypdf")
    except ImportError:
        return None


def _page_count(data: bytes) -> int:
    """The number of pages; without the PDF library, those that can be seen in the file."""
    pypdf = _pypdf()
    if pypdf is not None:
        try:
            return len(pypdf.PdfReader(io.BytesIO(data)).pages)
        except Exception:  # noqa: BLE001, S110  # the library raises anything on odd files; the model may still read them
            pass
    return len(re.findall(rb"/Type\s*/Page(?![a-zA-Z])", data))


def _extracted(data: bytes, path: str, first: int, last: int) -> bytes:
    pypdf = _pypdf()
    if pypdf is None:
        raise ToolFailure(
            "Single pages of a PDF can only be read where the Python package pypdf is installed, and it is not. "
            f"A PDF of up to {_MAX_PAGES_WHOLE} pages can be read whole, without `pages`."
        )
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        count = len(reader.pages)
        if first <= count:
            writer = pypdf.PdfWriter()
            for number in range(first - 1, min(last, count)):
                writer.add_page(reader.pages[number])
            out = io.BytesIO()
            writer.write(out)
            return out.getvalue()
    except Exception as error:  # the library raises anything on odd files
        raise ToolFailure(f"The pages could not be taken out of {path}: {error}") from error
    raise ToolFailure(f"The PDF has only {count} pages: {path}")
