"""The Write tool: create a file or replace all of its content."""

from __future__ import annotations

from typing import Any, ClassVar

import anyio.to_thread

from .changing import (
    CURRENT_NOTE,
    Target,
    open_target,
    reject_stale,
    require_no_link,
    require_seen,
    require_writable,
    save,
)
from .contract import InputRejected, ToolContext, ToolFailure, ToolOutput
from .matching import with_lf
from .patch import structured_patch
from .paths import with_absolute
from .textfile import clean

__all__ = ["Write"]

_DESCRIPTION = """Write a whole file: create it, with its folders, or replace everything in it.

An existing file must have been read in this conversation, and not have changed since. For a change \
to part of a file use Edit, which is shorter and safer. Content is written as given; an existing \
file's encoding is kept."""


class Write:
    """Create a file or replace all of its content."""

    name: ClassVar[str] = "Write"
    description: ClassVar[str] = _DESCRIPTION
    input_schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {
            "file_path": {"type": "string", "description": "The file, best as an absolute path"},
            "content": {"type": "string", "description": "All that the file shall hold"},
        },
        "required": ["file_path", "content"],
        "additionalProperties": False,
    }

    def is_read_only(self, tool_input: dict[str, Any]) -> bool:
        return False

    def prepare(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        return dict(tool_input)

    def for_permission(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        return with_absolute(tool_input, "file_path", context)

    async def check(self, tool_input: dict[str, Any], context: ToolContext) -> None:
        await anyio.to_thread.run_sync(_plan, tool_input, context)

    async def run(self, tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
        return await anyio.to_thread.run_sync(_write, tool_input, context)


def _plan(tool_input: dict[str, Any], context: ToolContext) -> Target:
    target = open_target(tool_input, context)
    require_seen(target)
    if target.is_stale:
        raise reject_stale()
    require_writable(target)
    return target


def _write(tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
    try:
        require_no_link(tool_input, context)
        target = _plan(tool_input, context)
    except InputRejected as rejection:  # it was fine when it was checked; the file has changed since
        raise ToolFailure(rejection.text) from rejection
    original = with_lf(target.file.text)
    content = clean(tool_input["content"])
    if original.startswith("\ufeff") and not content.startswith("\ufeff"):
        content = "\ufeff" + content
    save(target, content, context, complete=not context.user_modified)
    structured = {
        "type": "update" if target.exists else "create",
        "filePath": target.shown,
        "content": content,
        "structuredPatch": structured_patch(original, content) if target.exists else [],
        "originalFile": original if target.exists else None,
        "userModified": context.user_modified,
    }
    if target.exists:
        text = f"The file {target.shown} has been updated successfully."
    else:
        text = f"File created successfully at: {target.shown}"
    note = (
        "The user modified your proposed content before accepting it."
        if context.user_modified
        else CURRENT_NOTE
    )
    return ToolOutput(f"{text} {note}", structured)
