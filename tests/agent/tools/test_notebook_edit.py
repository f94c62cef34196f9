"""Changing a notebook cell by cell."""

import json

import pytest

pytestmark = pytest.mark.anyio


def notebook(*cells, minor=5):
    return {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": minor}


def code(source, **more):
    return {
        "cell_type": "code",
        "metadata": {},
        "source": source,
        "outputs": [{"output_type": "stream", "text": "1"}],
        "execution_count": 3,
        **more,
    }


@pytest.fixture
def book(project):
    path = project / "n.ipynb"
    path.write_text(json.dumps(notebook(code(["a\n", "b"], id="c1"), code("c", id="c2")), indent=2) + "\n")
    return path


def cells(path):
    return json.loads(path.read_text())["cells"]


@pytest.mark.feature("TOOL-04")
async def test_a_cell_is_replaced_and_its_outputs_go(session, book):
    await session.read(book)
    output = await session.call("NotebookEdit", notebook_path=str(book), cell_id="c1", new_source="x")

    assert output.content == "Updated cell c1 with x"
    assert output.structured["old_source"] == "a\nb"
    assert (cells(book)[0]["source"], cells(book)[0]["outputs"]) == ("x", [])
    assert cells(book)[1]["outputs"] != []
    assert book.read_text().startswith('{\n  "cells"')
    assert book.read_text().endswith("}\n")


@pytest.mark.feature("TOOL-04")
async def test_cells_are_inserted_behind_the_named_one_or_first_and_deleted(session, book):
    await session.read(book)
    path = str(book)
    await session.call(
        "NotebookEdit",
        notebook_path=path,
        cell_id="c1",
        new_source="new",
        cell_type="code",
        edit_mode="insert",
    )
    await session.call(
        "NotebookEdit", notebook_path=path, new_source="# t", cell_type="markdown", edit_mode="insert"
    )
    await session.call(
        "NotebookEdit", notebook_path=path, cell_id="cell-3", new_source="", edit_mode="delete"
    )

    assert ["".join(cell["source"]) for cell in cells(book)] == ["# t", "a\nb", "new"]
    assert len({cell["id"] for cell in cells(book)}) == 3


@pytest.mark.feature("TOOL-04")
async def test_what_is_no_cell_or_no_notebook_is_refused(session, book, project):
    reject = session.rejection
    path = str(book)
    assert "has not been read" in await reject(
        "NotebookEdit", notebook_path=path, cell_id="c1", new_source="x"
    )
    await session.read(book)
    assert await reject("NotebookEdit", notebook_path=path, cell_id="zz", new_source="x") == (
        'Cell with ID "zz" not found in notebook.'
    )
    assert "cell_type" in await reject("NotebookEdit", notebook_path=path, new_source="x", edit_mode="insert")
    assert "cell_id" in await reject("NotebookEdit", notebook_path=path, new_source="x")
    assert "Edit" in await reject(
        "NotebookEdit", notebook_path=str(project / "a.py"), cell_id="1", new_source="x"
    )
    book.write_text('{"cells": 3}')
    assert "modified since" in await reject("NotebookEdit", notebook_path=path, cell_id="c1", new_source="x")
