"""The Grep tool: search file contents."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import anyio.to_thread

from .contract import InputRejected, ToolContext, ToolFailure, ToolOutput
from .grep_report import content_report, count_report, files_report
from .paths import absolute, kind_of, reject_null_bytes, shown, with_absolute

__all__ = ["Grep"]

_DESCRIPTION = r"""Search the contents of files with ripgrep.

The pattern is a ripgrep regular expression: `log.*Error`, `fn\s+\w+`; escape braces that are meant \
as such (`interface\{\}`). By default the names of the matching files are listed, last changed \
first; `output_mode` "content" shows the lines, "count" the number per file. Narrow the search with \
`path`, `glob` or `type`. Patterns match within one line unless `multiline` is set. Ignored files \
of a git repository are left out. Long results come in pages: `head_limit` and `offset`."""

_DEFAULT_LIMIT = 250
_LONGEST_LINE = 500
_VERSION_CONTROL = (".git", ".svn", ".hg", ".bzr", ".jj", ".sl")


def _number(description: str) -> dict[str, Any]:
    return {"type": "integer", "description": description}


class Grep:
    """Search file contents."""

    name: ClassVar[str] = "Grep"
    description: ClassVar[str] = _DESCRIPTION
    input_schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "description": "Regular expression to find"},
            "path": {
                "type": "string",
                "description": "File or folder to search; the current folder if not given",
            },
            "glob": {
                "type": "string",
                "description": 'Only files with such names: "*.js", "*.{ts,tsx}", "!*.min.js"',
            },
            "type": {
                "type": "string",
                "description": "Only files of this ripgrep type: py, js, rust, go, java ...",
            },
            "output_mode": {"type": "string", "enum": ["content", "files_with_matches", "count"]},
            "-A": _number("Lines to show after each match (content)"),
            "-B": _number("Lines to show before each match (content)"),
            "-C": _number("Lines to show around each match (content)"),
            "context": _number("The same as -C"),
            "-n": {"type": "boolean", "description": "Line numbers (content); on if not given"},
            "-i": {"type": "boolean", "description": "Ignore case"},
            "-o": {"type": "boolean", "description": "Only the matching parts of lines (content)"},
            "head_limit": _number("How many lines or files to show: 250 if not given, 0 for all"),
            "offset": _number("How many lines or files to skip first"),
            "multiline": {"type": "boolean", "description": "Let matches span lines, and . match newlines"},
        },
        "required": ["pattern"],
        "additionalProperties": False,
    }

    def is_read_only(self, tool_input: dict[str, Any]) -> bool:
        return True

    def prepare(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        return dict(tool_input)

    def for_permission(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        return with_absolute({"path": ".", **tool_input}, "path", context)

    async def check(self, tool_input: dict[str, Any], context: ToolContext) -> None:
        for name, value in tool_input.items():
            if isinstance(value, str):
                reject_null_bytes(value, name)
            elif isinstance(value, int) and value < 0:
                raise InputRejected(f"{name} must be 0 or more, not {value}.")

    async def run(self, tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
        from .ripgrep import run_ripgrep  # noqa: PLC0415  # all about processes, not before the first search

        mode = tool_input.get("output_mode", "files_with_matches")
        named: str = tool_input.get("path") or "."
        target = absolute(named, context)
        if kind_of(target) is None:
            raise ToolFailure(
                f"Path does not exist: {named}. Note: your current working directory is {context.cwd}."
            )
        arguments = [
            *_arguments(tool_input, mode),
            "-e",
            tool_input["pattern"],
            "--",
            *_paths(target, context),
        ]
        output = await run_ripgrep(arguments, context.cwd, context)
        limit, offset = tool_input.get("head_limit", _DEFAULT_LIMIT), tool_input.get("offset", 0)
        if mode == "content":
            return content_report(output.text, limit, offset)
        if mode == "count":
            return count_report(output.text, limit, offset)
        names = [each for each in output.text.split("\0") if each]
        names = await anyio.to_thread.run_sync(_last_changed_first, names, context.cwd)
        return files_report(names, limit, offset)


def _arguments(tool_input: dict[str, Any], mode: str) -> list[str]:
    arguments = ["--hidden", f"--max-columns={_LONGEST_LINE}", "--no-heading", "--color=never"]
    if tool_input.get("-i"):
        arguments.append("--ignore-case")
    if tool_input.get("multiline"):
        arguments += ["--multiline", "--multiline-dotall"]
    if "type" in tool_input:
        arguments.append(f"--type={tool_input['type']}")
    arguments += [f"--glob={each}" for each in _globs(tool_input.get("glob", ""))]
    arguments += [f"--glob=!{each}" for each in _VERSION_CONTROL]
    if mode == "files_with_matches":
        arguments += ["--files-with-matches", "--null"]
    elif mode == "count":
        arguments += ["--count", "--with-filename", "--null"]
    else:
        arguments += _content_arguments(tool_input)
    return arguments


def _content_arguments(tool_input: dict[str, Any]) -> list[str]:
    arguments = ["--sort=path"]
    if tool_input.get("-n", True):
        arguments.append("--line-number")
    else:
        arguments.append("--no-line-number")
    if tool_input.get("-o"):
        arguments.append("--only-matching")
    around = tool_input.get("-C", tool_input.get("context"))
    if around is not None:
        arguments.append(f"--context={around}")
    else:
        arguments += [f"{option}{tool_input[option]}" for option in ("-A", "-B") if option in tool_input]
    return arguments


def _globs(text: str) -> list[str]:
    """Several globs may stand in one, between blanks or commas; commas within braces are the glob's own."""
    globs: list[str] = []
    for word in text.split():
        globs += [word] if "{" in word else word.split(",")
    return [each for each in globs if each]


def _paths(target: Path, context: ToolContext) -> list[str]:
    """The path as ripgrep shall print it; the current folder is searched without one, so that none is printed."""
    return [] if target == context.cwd else [shown(str(target), context)]


def _last_changed_first(names: list[str], cwd: Path) -> list[str]:
    def age(name: str) -> tuple[int, str]:
        try:
            return -(cwd / name).stat().st_mtime_ns, name
        except OSError:
            return 0, name

    return sorted(names, key=age)
