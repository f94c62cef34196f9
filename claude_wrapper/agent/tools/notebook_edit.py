"""The NotebookEdit tool: replace, insert or delete one cell of a Jupyter notebook."""

from __future__ import annotations

import os
from typing import Any, ClassVar

import anyio.to_thread
import msgspec

from .changing import Target, open_target, reject_stale, require_no_link, require_seen, require_writable, save
from .contract import InputRejected, ToolContext, ToolFailure, ToolOutput
from .paths import with_absolute
from .textfile import clean

__all__ = ["NotebookEdit"]

_DESCRIPTION = """Change one cell of a Jupyter notebook (.ipynb): replace its source, insert a cell, or delete one.

Read the notebook first: it shows the ids of the cells. A new cell comes behind the one that cell_id names, or \
first without it. Replacing a code cell's source drops its outputs, which belong to the old one."""
_IDS_SINCE = (4, 5)


class NotebookEdit:
    """Changes a cell."""

    name: ClassVar[str] = "NotebookEdit"
    description: ClassVar[str] = _DESCRIPTION
    input_schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {
            "notebook_path": {"type": "string", "description": "The notebook, best as an absolute path"},
            "cell_id": {"type": "string", "description": "The cell's id, or cell-N for the Nth from 0"},
            "new_source": {"type": "string", "description": "What the cell shall hold"},
            "cell_type": {"type": "string", "enum": ["code", "markdown"], "description": "Needed to insert"},
            "edit_mode": {"type": "string", "enum": ["replace", "insert", "delete"]},
        },
        "required": ["notebook_path", "new_source"],
        "additionalProperties": False,
    }

    def is_read_only(self, tool_input: dict[str, Any]) -> bool:
        return False

    def prepare(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        return dict(tool_input)

    def for_permission(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        return with_absolute(tool_input, "notebook_path", context)

    async def check(self, tool_input: dict[str, Any], context: ToolContext) -> None:
        await anyio.to_thread.run_sync(_plan, tool_input, context)

    async def run(self, tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
        return await anyio.to_thread.run_sync(_edit, tool_input, context)


class _Plan(msgspec.Struct):
    target: Target
    notebook: dict[str, Any]
    index: int | None
    """The cell that is named."""
    mode: str


def _plan(tool_input: dict[str, Any], context: ToolContext) -> _Plan:
    path = tool_input["notebook_path"]
    if not path.endswith(".ipynb"):
        raise InputRejected(f"{path} is no notebook (.ipynb); change it with Edit.")
    require_no_link({"file_path": path}, context)
    target = open_target({"file_path": path}, context)
    if not target.exists:
        raise InputRejected(f"There is no notebook {path}.")
    require_seen(target)
    if target.is_stale:
        raise reject_stale()
    require_writable(target)
    notebook = _parsed(target)
    mode = tool_input.get("edit_mode", "replace")
    if mode == "insert" and "cell_type" not in tool_input:
        raise InputRejected("A cell that is inserted needs a cell_type: code or markdown.")
    wanted = tool_input.get("cell_id")
    if wanted is None and mode != "insert":
        raise InputRejected("cell_id has to name the cell, unless one is inserted.")
    return _Plan(target, notebook, None if wanted is None else _find(notebook["cells"], wanted), mode)


def _parsed(target: Target) -> dict[str, Any]:
    try:
        notebook = msgspec.json.decode(target.file.text)
    except msgspec.DecodeError as error:
        raise InputRejected(f"{target.shown} is not valid JSON: {error}") from error
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise InputRejected(f"{target.shown} is JSON, but no notebook: it has no list of cells.")
    return dict(notebook)


def _find(cells: list[dict[str, Any]], wanted: str) -> int:
    for index, cell in enumerate(cells):
        if cell.get("id") == wanted:
            return index
    number = wanted.removeprefix("cell-")
    if number.isdecimal() and int(number) < len(cells):
        return int(number)
    raise InputRejected(f'Cell with ID "{wanted}" not found in notebook.')


def _edit(tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
    try:
        plan = _plan(tool_input, context)
    except InputRejected as rejection:  # it was fine when it was checked; the file has changed since
        raise ToolFailure(rejection.text) from rejection
    original = plan.target.file.text
    facts = _change(plan, clean(tool_input["new_source"]), tool_input.get("cell_type"))
    updated = _written(plan.notebook, original)
    save(plan.target, updated, context, complete=True)
    structured = {
        "new_source": tool_input["new_source"],
        **facts,
        "language": _language(plan.notebook),
        "edit_mode": plan.mode,
        "error": "",
        "notebook_path": str(plan.target.path),
        "original_file": original,
        "updated_file": updated,
    }
    cell = facts["cell_id"]
    texts = {
        "replace": f"Updated cell {cell} with {tool_input['new_source']}",
        "insert": f"Inserted cell {cell} with {tool_input['new_source']}",
        "delete": f"Deleted cell {cell}",
    }
    return ToolOutput(texts[plan.mode], structured)


def _change(plan: _Plan, source: str, kind: str | None) -> dict[str, Any]:
    """Change the notebook; returns which cell that was, its type and what it held before."""
    cells = plan.notebook["cells"]
    if plan.mode == "insert":
        cell: dict[str, Any] = {"cell_type": kind}
        if (plan.notebook.get("nbformat", 4), plan.notebook.get("nbformat_minor", 0)) >= _IDS_SINCE:
            cell["id"] = os.urandom(4).hex()
        cell |= {"source": source, "metadata": {}}
        if kind == "code":
            cell |= {"execution_count": None, "outputs": []}
        place = 0 if plan.index is None else plan.index + 1
        cells.insert(place, cell)
        return {"cell_type": kind, "cell_id": cell.get("id", f"cell-{place}")}
    assert plan.index is not None
    cell = cells[plan.index]
    old = cell.get("source", "")
    facts = {
        "old_source": old if isinstance(old, str) else "".join(map(str, old)),
        "cell_type": kind or cell.get("cell_type", "code"),
        "cell_id": cell.get("id", f"cell-{plan.index}"),
    }
    if plan.mode == "delete":
        del cells[plan.index]
        return facts
    cell["source"] = source
    cell["cell_type"] = facts["cell_type"]
    if facts["cell_type"] == "code":
        cell["outputs"], cell["execution_count"] = [], None
    else:
        cell.pop("outputs", None)
        cell.pop("execution_count", None)
    return facts


def _written(notebook: dict[str, Any], original: str) -> str:
    """The notebook as text, indented as it was."""
    lines = original.split("\n", 2)
    indent = len(lines[1]) - len(lines[1].lstrip(" ")) if len(lines) > 1 else 0
    text = msgspec.json.format(msgspec.json.encode(notebook), indent=indent or 1).decode()
    return text + "\n" if original.endswith("\n") else text


def _language(notebook: dict[str, Any]) -> str:
    metadata = notebook.get("metadata")
    info = metadata.get("language_info") if isinstance(metadata, dict) else None
    name = info.get("name") if isinstance(info, dict) else None
    return name if isinstance(name, str) else "python"
