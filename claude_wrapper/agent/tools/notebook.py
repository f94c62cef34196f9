"""Shows a Jupyter notebook as cells: their sources and what running them gave."""

from __future__ import annotations

from typing import Any

import msgspec

from .contract import ToolFailure
from .textfile import clean

__all__ = ["Notebook", "read_notebook"]

_MAX_OUTPUT = 10_000
_IMAGES = ("image/png", "image/jpeg")


class _Output(msgspec.Struct):
    output_type: str = ""
    text: str | list[str] = ""
    data: dict[str, Any] = {}
    ename: str = ""
    evalue: str = ""
    traceback: list[str] = []


class _Cell(msgspec.Struct):
    source: str | list[str]
    cell_type: str = "code"
    id: str | None = None
    execution_count: int | None = None
    outputs: list[_Output] = []


class _Language(msgspec.Struct):
    name: str = "python"


class _Metadata(msgspec.Struct):
    language_info: _Language = msgspec.field(default_factory=_Language)


class Notebook(msgspec.Struct):
    """The parts of a notebook file that are shown."""

    cells: list[_Cell]
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


def read_notebook(data: bytes, name: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The cells as content blocks for the model and as records for the host."""
    try:
        notebook = msgspec.json.decode(data, type=Notebook)
    except msgspec.ValidationError as error:
        raise ToolFailure(f"{name} is JSON, but not a Jupyter notebook: {error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ToolFailure(f"{name} is not valid JSON, so not a readable notebook: {error}") from error
    language = notebook.metadata.language_info.name
    records = [_record(cell, index, language) for index, cell in enumerate(notebook.cells)]
    return _blocks(records), records


def _record(cell: _Cell, index: int, language: str) -> dict[str, Any]:
    record: dict[str, Any] = {"cellType": cell.cell_type, "source": _joined(cell.source)}
    if cell.execution_count is not None:
        record["execution_count"] = cell.execution_count
    record["cell_id"] = cell.id or f"cell-{index}"
    if cell.cell_type != "code":
        return record
    record["language"] = language
    outputs = [_output(each) for each in cell.outputs]
    if sum(len(each.get("text", "")) for each in outputs) > _MAX_OUTPUT:
        text = f"(The outputs of this cell are too long to show; see them with: jq '.cells[{index}].outputs' NOTEBOOK)"
        outputs = [{"output_type": "stream", "text": text}]
    if outputs:
        record["outputs"] = outputs
    return record


def _output(output: _Output) -> dict[str, Any]:
    kind = output.output_type
    if kind == "error":
        text = "\n".join([f"{output.ename}: {output.evalue}", *output.traceback])
        return {"output_type": kind, "text": clean(text)}
    if kind == "stream":
        return {"output_type": kind, "text": _joined(output.text)}
    shown: dict[str, Any] = {"output_type": kind}
    plain = output.data.get("text/plain")
    if isinstance(plain, (str, list)):
        shown["text"] = _joined(plain)
    for media_type in _IMAGES:
        image = output.data.get(media_type)
        if isinstance(image, (str, list)):
            shown["image"] = {"image_data": "".join(_joined(image).split()), "media_type": media_type}
            break
    return shown


def _joined(text: str | list[Any]) -> str:
    return clean(text if isinstance(text, str) else "".join(map(str, text)))


def _blocks(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Text of neighbouring cells runs together; an image interrupts it."""
    blocks: list[dict[str, Any]] = []
    texts: list[str] = []
    for record in records:
        kind = record["cellType"]
        mark = "" if kind == "code" else f"<cell_type>{kind}</cell_type>"
        texts.append(
            f'<cell id="{record["cell_id"]}">{mark}{record["source"]}</cell id="{record["cell_id"]}">'
        )
        for output in record.get("outputs", ()):
            if output.get("text"):
                texts.append(f"\n{output['text']}")
            if image := output.get("image"):
                blocks.append({"type": "text", "text": "\n".join(texts)})
                texts = []
                source = {"type": "base64", "data": image["image_data"], "media_type": image["media_type"]}
                blocks.append({"type": "image", "source": source})
    if texts:
        blocks.append({"type": "text", "text": "\n".join(texts)})
    return blocks
