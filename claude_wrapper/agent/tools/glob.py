"""The Glob tool: find files by name."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any, ClassVar

from .contract import ToolContext, ToolFailure, ToolOutput
from .paths import absolute, kind_of, reject_null_bytes, shown

__all__ = ["Glob"]

_DESCRIPTION = """Find files by name, such as `**/*.py` or `src/**/test_*.ts`.

A pattern without a slash matches in every folder below. Hidden and ignored files are found too. The \
oldest change comes first; at most 100 files are listed. To search by content use Grep."""

_MOST_FILES = 100
_WILD = re.compile(r"[*?\[{]")


class Glob:
    """Find files by name."""

    name: ClassVar[str] = "Glob"
    description: ClassVar[str] = _DESCRIPTION
    input_schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {
            "pattern": {
                "type": "string",
                "description": "Names to find: * ? [ab] {a,b}, and ** for any folders",
            },
            "path": {"type": "string", "description": "The folder to look in; the current one if not given"},
        },
        "required": ["pattern"],
        "additionalProperties": False,
    }

    def is_read_only(self, tool_input: dict[str, Any]) -> bool:
        return True

    def prepare(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        return dict(tool_input)

    def for_permission(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        base, _ = _where(tool_input, context)
        return {**tool_input, "path": str(base)}

    async def check(self, tool_input: dict[str, Any], context: ToolContext) -> None:
        reject_null_bytes(tool_input["pattern"], "pattern")
        reject_null_bytes(tool_input.get("path", ""), "path")

    async def run(self, tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
        from .ripgrep import run_ripgrep  # noqa: PLC0415  # all about processes, not before the first search

        began = time.monotonic()
        base, pattern = _where(tool_input, context)
        _require_folder(base, tool_input.get("path") or str(base), context)
        arguments = [
            "--files",
            "--null",
            "--no-ignore",
            "--hidden",
            "--sort=modified",
            f"--glob={pattern or '*'}",
        ]
        output = await run_ripgrep(arguments, base, context)
        names = _names(output.text)
        if (options := _wanted(context)) is not None:
            # A glob overrides ignore rules, so what they leave over has to be asked for without one.
            allowed = set(_names((await run_ripgrep(["--files", "--null", *options], base, context)).text))
            names = [each for each in names if each in allowed]
        listed = [shown(str(base / name), context) for name in names[:_MOST_FILES]]
        structured = {
            "filenames": listed,
            "durationMs": round((time.monotonic() - began) * 1000),
            "numFiles": len(listed),
            "truncated": len(names) > len(listed) or not output.complete,
            "totalMatches": len(names),
            "countIsComplete": output.complete,
        }
        return ToolOutput(_text(listed, len(names), complete=output.complete), structured)


def _names(text: str) -> list[str]:
    return [each for each in text.split("\0") if each]


def _wanted(context: ToolContext) -> list[str] | None:
    """The options for files that the user wants to be found; None: all."""
    options = {"CLAUDE_CODE_GLOB_NO_IGNORE": "--no-ignore", "CLAUDE_CODE_GLOB_HIDDEN": "--hidden"}
    wanted = [
        option for name, option in options.items() if context.environment.get(name) not in ("false", "0")
    ]
    return None if len(wanted) == len(options) else wanted


def _where(tool_input: dict[str, Any], context: ToolContext) -> tuple[Path, str]:
    """The folder to search, and the pattern under it; an absolute pattern names its own folder."""
    pattern: str = tool_input["pattern"]
    if not pattern.startswith(("/", "~/")):
        return absolute(tool_input.get("path") or ".", context), pattern
    parts = pattern.split("/")
    fixed = next((index for index, part in enumerate(parts) if _WILD.search(part)), len(parts) - 1)
    return absolute("/".join(parts[:fixed]) or "/", context), "/".join(parts[fixed:])


def _require_folder(base: Path, named: str, context: ToolContext) -> None:
    kind = kind_of(base)
    if kind == "folder":
        return
    if kind is not None:
        raise ToolFailure(f"Path is not a directory: {named}")
    raise ToolFailure(
        f"Directory does not exist: {named}. Note: your current working directory is {context.cwd}."
    )


def _text(listed: list[str], total: int, *, complete: bool) -> str:
    if not listed:
        return "No files found"
    text = "\n".join(listed)
    if total > len(listed) or not complete:
        at_least = "" if complete else "at least "
        text += f"\n({len(listed)} of {at_least}{total} files; a narrower pattern or path shows the others.)"
    return text
