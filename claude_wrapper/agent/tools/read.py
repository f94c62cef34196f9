"""The Read tool: show a file to the model."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, ClassVar

import anyio.to_thread

from .contract import InputRejected, ToolContext, ToolFailure, ToolOutput
from .paths import absolute, failure, missing_text, reject_null_bytes, size_text, with_absolute
from .text_page import Page, PageTooLargeError, read_page
from .textfile import NotRegularError, opened

__all__ = ["Read"]

_DESCRIPTION = """Read a file: text, an image (PNG, JPEG, GIF, WebP), a PDF or a Jupyter notebook.

Text comes with line numbers, `NUMBER<tab>line`; they are not part of the file. Without offset and \
limit the whole file is shown, as far as it is not too long; use them for pieces of long files, and \
Grep to find the place. Images and PDFs are shown as they look. A folder cannot be read: list it \
with Bash. Several files can be read at once by calling this tool several times in one turn."""

_MAX_CHARACTERS = 96_000
_MAX_CHARACTERS_LARGE = 400_000
_MAX_WHOLE = 256 * 1024

_BINARY = re.compile(
    r"\.(?:3ds|7z|a|aac|ai|aiff|apk|app|avi|avif|bin|blend|bmp|bz2|class|dat|data|db|deb|dll|dmg|doc|docx|dylib|ear"
    r"|eot|eps|epub|exe|feather|fig|fla|flac|flv|gz|heic|heif|ico|idx|iso|jar|lib|lockb|lz4|m4a|m4v|max|mdb"
    r"|mkv|mov|mp3|mp4|mpeg|mpg|msi|node|npy|npz|numbers|o|obj|odp|ods|odt|ogg|opus|otf|parquet|pickle|ppt"
    r"|pptx|psd|pyc|pyo|rar|rlib|rpm|sketch|so|sqlite|sqlite3|swf|tar|tgz|tif|tiff|ttf|war|wasm|wav|webm|wma"
    r"|wmv|woff|woff2|xd|xls|xlsx|xz|z|zip|zst)"
)
_EMPTY = "<system-reminder>The file exists, but it is empty.</system-reminder>"
_MEDIA = frozenset((".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf", ".ipynb"))
_PRIVATE = re.compile(r"/proc/(?:[^/]+/(?:task/[^/]+/)?(?:environ|mem|auxv|fd/.*)|kcore|kmsg)")


class Read:
    """Show a file to the model."""

    name: ClassVar[str] = "Read"
    description: ClassVar[str] = _DESCRIPTION
    input_schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {
            "file_path": {"type": "string", "description": "The file, best as an absolute path"},
            "offset": {"type": "integer", "description": "Number of the first line to show"},
            "limit": {"type": "integer", "description": "How many lines to show"},
            "pages": {
                "type": "string",
                "description": 'For a PDF: one page ("3") or a range ("1-5"), at most 20',
            },
            "allow_large": {
                "type": "boolean",
                "description": "Show a long text file although it takes much room",
            },
        },
        "required": ["file_path"],
        "additionalProperties": False,
    }

    def is_read_only(self, tool_input: dict[str, Any]) -> bool:
        return True

    def prepare(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        return dict(tool_input)

    def for_permission(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        return with_absolute(tool_input, "file_path", context)

    async def check(self, tool_input: dict[str, Any], context: ToolContext) -> None:
        reject_null_bytes(tool_input["file_path"], "file_path")
        path = absolute(tool_input["file_path"], context)
        if _is_private(path):
            raise InputRejected(f"'{path}' is a process's private memory; it is not read.")
        if _BINARY.fullmatch(path.suffix.lower()):
            raise InputRejected(
                f"{path.name} is binary by its extension ({path.suffix}); only text, images, PDFs and notebooks can be "
                "read. Use a program that knows the format, through Bash."
            )
        if "pages" in tool_input and path.suffix.lower() == ".pdf":
            from .pdf import check_pages  # noqa: PLC0415  # only for PDFs

            check_pages(tool_input["pages"])

    async def run(self, tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
        return await anyio.to_thread.run_sync(_read, tool_input, context)


def _is_private(path: Path) -> bool:
    return _PRIVATE.fullmatch(os.path.realpath(path)) is not None


def _read(tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
    path = absolute(tool_input["file_path"], context)
    if _is_private(path):  # a link may have been put there since the check
        raise ToolFailure(f"'{path}' is a process's private memory; it is not read.")
    if str(path) == os.devnull:
        return _nothing(tool_input)
    kind = path.suffix.lower()
    try:
        return _read_as(kind, path, tool_input, context)
    except (FileNotFoundError, NotADirectoryError):
        raise ToolFailure(missing_text(path, context)) from None
    except IsADirectoryError as error:
        raise failure(error, "read", path) from error
    except NotRegularError:
        raise ToolFailure(f"'{path}' is a device, pipe or socket; only regular files are read.") from None
    except OSError as error:
        raise failure(error, "open", path) from error


def _read_as(kind: str, path: Path, tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
    if kind not in _MEDIA:
        return _read_text(path, tool_input, context)
    from . import read_media  # noqa: PLC0415  # most sessions read text only

    if kind == ".pdf":
        return read_media.read_pdf_file(path, tool_input, context)
    if kind == ".ipynb":
        return read_media.read_notebook_file(path, tool_input, context)
    return read_media.read_image(path, context)


def _read_text(path: Path, tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
    start, count = max(tool_input.get("offset", 1), 1), tool_input.get("limit", 0)
    ranged = "offset" in tool_input or count > 0
    large = tool_input.get("allow_large", False)
    with opened(path) as (file, state):
        if state.st_size > _MAX_WHOLE and not ranged and not large:
            raise ToolFailure(
                _too_large(f"The file has {size_text(state.st_size)}, more than the {size_text(_MAX_WHOLE)}")
            )
        most = _MAX_CHARACTERS_LARGE if large else _MAX_CHARACTERS
        try:
            page = read_page(file, start, count if count > 0 else None, most, may_cut=not ranged)
        except PageTooLargeError as error:
            raise ToolFailure(
                _too_large(f"These lines have {error.characters} characters, more than the {most}")
            ) from None
    context.read_files.note(path, page.digest, state, complete=page.complete)
    content = "\n".join(page.lines)
    record: dict[str, Any] = {
        "filePath": tool_input["file_path"],
        "content": content,
        "numLines": len(page.lines),
        "startLine": start,
        "totalLines": page.total,
    }
    if page.cut:
        record["truncatedByTokenCap"] = True
    return ToolOutput(_text_content(page, content), {"type": "text", "file": record})


def _text_content(page: Page, content: str) -> str:
    if not page.lines:
        return f"<system-reminder>There is no line {page.start}: the file has {page.total} lines.</system-reminder>"
    if not content and page.total == 1:
        return _EMPTY
    text = page.numbered()
    if page.cut:
        text += (
            f"\n\n[PARTIAL view: up to line {page.start + len(page.lines) - 1} of {page.total}. "
            "Read on with offset and limit, or find the place with Grep.]"
        )
    if page.flaw == "binary":
        text += "\n\n[This file holds NUL bytes: binary data, or an encoding without a mark. It cannot be edited here.]"
    elif page.flaw is not None:
        text += "\n\n[This file is not valid UTF-8: U+FFFD stands for bytes that are none. It cannot be edited here.]"
    return text


def _nothing(tool_input: dict[str, Any]) -> ToolOutput:
    """What the device that is always empty holds."""
    record = {
        "filePath": tool_input["file_path"],
        "content": "",
        "numLines": 1,
        "startLine": 1,
        "totalLines": 1,
    }
    return ToolOutput(_EMPTY, {"type": "text", "file": record})


def _too_large(what: str) -> str:
    return (
        f"{what} that are shown at once. Give offset and limit to read a part, find the place with Grep, "
        "or set allow_large if you need all of it."
    )
