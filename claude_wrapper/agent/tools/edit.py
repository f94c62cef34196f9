"""The Edit tool: replace one exact piece of a text file by another."""

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
from .matching import Replacement, find, with_lf
from .patch import structured_patch
from .paths import absolute, missing_text, with_absolute
from .textfile import clean

__all__ = ["Edit"]

_DESCRIPTION = """Replace text in a file.

`old_string` must be in the file exactly once, letter for letter, indentation included; without the \
line numbers that Read puts in front. If it is there more than once, quote more of the surrounding \
lines, or set `replace_all` to change every place (handy for renaming). Read the file first; an edit \
of a file that was never read is refused. An empty `old_string` creates a file that does not exist \
yet, with its folders. Encoding and line endings of the file are kept. Notebooks have their own tool."""


class Edit:
    """Replace one exact piece of a text file by another."""

    name: ClassVar[str] = "Edit"
    description: ClassVar[str] = _DESCRIPTION
    input_schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {
            "file_path": {"type": "string", "description": "The file, best as an absolute path"},
            "old_string": {"type": "string", "description": "The text to replace, exactly as in the file"},
            "new_string": {"type": "string", "description": "What to put there; must differ from old_string"},
            "replace_all": {"type": "boolean", "default": False, "description": "Replace every occurrence"},
        },
        "required": ["file_path", "old_string", "new_string"],
        "additionalProperties": False,
    }

    def is_read_only(self, tool_input: dict[str, Any]) -> bool:
        return False

    def prepare(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        return {"replace_all": False, **tool_input}

    def for_permission(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        return with_absolute(tool_input, "file_path", context)

    async def check(self, tool_input: dict[str, Any], context: ToolContext) -> None:
        await anyio.to_thread.run_sync(_plan, tool_input, context)

    async def run(self, tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
        return await anyio.to_thread.run_sync(_edit, tool_input, context)


def _plan(tool_input: dict[str, Any], context: ToolContext) -> tuple[Target, Replacement]:
    """The file as it is now and the places to change; raises InputRejected."""
    old, new = clean(tool_input["old_string"]), clean(tool_input["new_string"])
    if old == new:
        raise InputRejected("No changes to make: old_string and new_string are exactly the same.")
    target = open_target(tool_input, context)
    if old == "":
        return target, _whole(target, new)
    if not target.exists:
        raise InputRejected(missing_text(absolute(target.shown, context), context))
    if target.path.suffix == ".ipynb":
        raise InputRejected("This is a Jupyter notebook; its cells are changed with NotebookEdit.")
    require_seen(target)
    require_writable(target)
    places = find(target.file.text, old, new)
    wanted = 1 if not tool_input.get("replace_all", False) else len(places.starts)
    if target.is_stale and (not places.starts or len(places.starts) != wanted):
        raise reject_stale()
    if not places.starts:
        raise InputRejected(f"String to replace not found in file.\nString: {old}")
    if len(places.starts) != wanted:
        raise InputRejected(
            f"Found {len(places.starts)} matches of the string to replace, but replace_all is false. "
            f"Set replace_all to change all of them, or quote more context to single one out.\nString: {old}"
        )
    return target, places


def _whole(target: Target, new: str) -> Replacement:
    """Filling a file that is new or empty."""
    if target.data:
        raise InputRejected("An empty old_string creates a file, but this one exists and is not empty.")
    return Replacement("", "", [0], 0, new)


def _edit(tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
    try:
        require_no_link(tool_input, context)
        target, places = _plan(tool_input, context)
    except InputRejected as rejection:  # it was fine when it was checked; the file has changed since
        raise ToolFailure(rejection.text) from rejection
    text = places.apply()
    stale = target.is_stale
    knows_all = (
        not stale and (target.sighting is None or target.sighting.complete) and not context.user_modified
    )
    save(target, text, context, complete=knows_all)
    had_crlf = places.view != places.text
    structured: dict[str, Any] = {
        "filePath": target.shown,
        "oldString": places.found,
        "newString": clean(tool_input["new_string"]),
        "originalFile": places.view,
        "structuredPatch": structured_patch(places.view, with_lf(text) if had_crlf else text),
        "userModified": context.user_modified,
        "replaceAll": tool_input.get("replace_all", False),
    }
    if stale:
        structured["staleRecovered"] = True
    if not knows_all:
        structured["contentNotInModelContext"] = True
    return ToolOutput(_told(target, tool_input, context, stale=stale, knows_all=knows_all), structured)


def _told(
    target: Target, tool_input: dict[str, Any], context: ToolContext, *, stale: bool, knows_all: bool
) -> str:
    if tool_input.get("replace_all", False):
        text = f"The file {target.shown} has been updated. All occurrences were successfully replaced."
    else:
        text = f"The file {target.shown} has been updated successfully."
    if context.user_modified:
        return f"{text} The user modified your proposed changes before accepting them."
    if stale:
        return (
            f"{text} (The file had changed on disk since you read it. The edit fitted, but there are other changes "
            "that you have not seen: read it before you rely on the rest.)"
        )
    return f"{text} {CURRENT_NOTE}" if knows_all else text
