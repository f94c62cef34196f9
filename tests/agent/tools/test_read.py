import base64
import json
import os
import struct
import sys
import zlib

import pytest

pytestmark = pytest.mark.anyio

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.mark.feature("TOOL-01", "TOOL-16")
async def test_text_comes_with_line_numbers_and_as_a_record(session, project):
    (project / "a.txt").write_text("alpha\nbeta\ngamma\n")
    output = await session.read(project / "a.txt")
    assert output.content == "1\talpha\n2\tbeta\n3\tgamma\n4\t"
    assert output.is_error is None
    assert output.structured == {
        "type": "text",
        "file": {
            "filePath": str(project / "a.txt"),
            "content": "alpha\nbeta\ngamma\n",
            "numLines": 4,
            "startLine": 1,
            "totalLines": 4,
        },
    }


async def test_a_range_keeps_the_real_numbers(session, project):
    (project / "lines.txt").write_text("".join(f"line {i}\n" for i in range(1, 11)))
    output = await session.call("Read", file_path=str(project / "lines.txt"), offset=3, limit=2)
    assert output.content == "3\tline 3\n4\tline 4"
    file = output.structured["file"]
    assert (file["content"], file["numLines"], file["startLine"], file["totalLines"]) == (
        "line 3\nline 4",
        2,
        3,
        11,
    )


@pytest.mark.parametrize("odd", [{"offset": 0}, {"offset": -4}, {"limit": 0}, {"offset": -1, "limit": -1}])
async def test_senseless_ranges_mean_the_whole_file(session, project, odd):
    (project / "a.txt").write_text("alpha\nbeta\n")
    output = await session.call("Read", file_path=str(project / "a.txt"), **odd)
    assert output.content == "1\talpha\n2\tbeta\n3\t"


async def test_a_relative_path_starts_at_the_current_folder_and_is_shown_as_it_was_written(session, project):
    (project / "a.txt").write_text("x")
    output = await session.call("Read", file_path="./sub/../a.txt")
    assert output.content == "1\tx"
    assert output.structured["file"]["filePath"] == "./sub/../a.txt"


async def test_a_tilde_is_the_home_of_the_environment(session, context):
    (context.results_dir.parent / "notes.txt").write_text("x")
    assert (await session.call("Read", file_path="~/notes.txt")).content == "1\tx"


async def test_an_empty_file_is_told_to_be_empty(session, project):
    (project / "empty.txt").touch()
    output = await session.read(project / "empty.txt")
    assert output.content == "<system-reminder>The file exists, but it is empty.</system-reminder>"
    file = output.structured["file"]
    assert (file["content"], file["numLines"], file["totalLines"]) == ("", 1, 1)


async def test_a_line_behind_the_end_is_told_not_to_exist(session, project):
    (project / "a.txt").write_text("x\n")
    output = await session.call("Read", file_path="a.txt", offset=10)
    assert "no line 10" in output.content
    file = output.structured["file"]
    assert (file["content"], file["numLines"], file["startLine"], file["totalLines"]) == ("", 0, 10, 2)


async def test_a_missing_file_is_told_with_the_current_folder_and_a_near_name(session, project):
    (project / "a.txt").touch()
    note = f"File does not exist. Note: your current working directory is {project}."
    assert await session.failure("Read", file_path=str(project / "nosuch.txt")) == note
    assert await session.failure("Read", file_path="a.md") == f"{note} Did you mean a.txt?"
    assert await session.failure("Read", file_path="A.TXT") == f"{note} Did you mean a.txt?"
    assert await session.failure("Read", file_path="a.txt/below") == note


async def test_a_folder_is_no_file(session, project):
    text = await session.failure("Read", file_path=str(project))
    assert text == f"EISDIR: illegal operation on a directory, read '{project}'"


async def test_a_name_with_a_nul_is_rejected_before_anybody_is_asked(session):
    assert "NUL" in await session.rejection("Read", file_path="a\0b")


async def test_a_name_that_is_too_long_is_a_failure_like_others(session):
    assert (await session.failure("Read", file_path="a" * 300)).startswith("ENAMETOOLONG: ")


async def test_binary_files_are_rejected_by_their_extension(session, project):
    (project / "z.zip").write_bytes(b"PK\3\4")
    assert "binary" in await session.rejection("Read", file_path="z.zip")


async def test_binary_bytes_without_such_an_extension_are_shown_with_a_warning(session, project):
    (project / "data").write_bytes(b"a\0b\n")
    output = await session.read(project / "data")
    assert output.content.startswith("1\ta\0b\n2\t\n\n[This file holds NUL bytes")
    assert output.structured["file"]["content"] == "a\0b\n"


async def test_a_pipe_does_not_block(session, project):
    os.mkfifo(project / "fifo")
    assert "only regular files" in await session.failure("Read", file_path="fifo")


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/random", "/dev/tty0nosuch"])
async def test_devices_are_not_read(session, path):
    await session.failure("Read", file_path=path)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux")
async def test_the_environment_of_processes_is_not_read_not_even_through_a_link(session, project):
    assert "private" in await session.rejection("Read", file_path="/proc/self/environ")
    (project / "link").symlink_to(f"/proc/{os.getpid()}/environ")
    assert "private" in await session.rejection("Read", file_path="link")
    assert "Name:" in (await session.call("Read", file_path="/proc/self/status")).content


async def test_links_are_followed_and_loops_are_not(session, project):
    (project / "a.txt").write_text("x")
    (project / "link").symlink_to("a.txt")
    (project / "loop").symlink_to("loop")
    (project / "dangling").symlink_to("nowhere")
    assert (await session.call("Read", file_path="link")).content == "1\tx"
    assert (await session.failure("Read", file_path="loop")).startswith("ELOOP: ")
    assert (await session.failure("Read", file_path="dangling")).endswith(f"is {project}.")


async def test_a_long_file_is_shown_up_to_where_it_gets_too_much(session, project):
    (project / "mid.txt").write_text("".join(f"line {i} of a text file\n" for i in range(5000)))
    output = await session.read(project / "mid.txt")
    file = output.structured["file"]
    assert file["truncatedByTokenCap"] is True
    assert file["totalLines"] == 5001
    assert 3000 < file["numLines"] < 4000
    assert f"[PARTIAL view: up to line {file['numLines']} of 5001." in output.content
    assert len(output.content) < 100_000
    whole = await session.call("Read", file_path="mid.txt", allow_large=True)
    assert whole.structured["file"]["numLines"] == 5001
    assert "truncatedByTokenCap" not in whole.structured["file"]


async def test_a_range_that_is_too_long_is_a_failure(session, project):
    (project / "long.txt").write_text("x" * 200_000 + "\ny\n")
    assert "200000 characters" in await session.failure("Read", file_path="long.txt", offset=1, limit=1)
    assert (await session.call("Read", file_path="long.txt", offset=2)).content == "2\ty\n3\t"


async def test_a_very_large_file_is_read_in_parts_only(session, project):
    (project / "huge.txt").write_text("".join(f"line {i} of a text file\n" for i in range(20_000)))
    assert "497KB" in await session.failure("Read", file_path="huge.txt")
    output = await session.call("Read", file_path="huge.txt", offset=100, limit=1)
    assert output.content == "100\tline 99 of a text file"


async def test_lines_of_thousands_of_characters_are_not_cut(session, project):
    (project / "wide.txt").write_text("L" * 2500 + "\n")
    assert (await session.read(project / "wide.txt")).content == "1\t" + "L" * 2500 + "\n2\t"


async def test_an_image_becomes_an_image_block(session, project):
    (project / "p.png").write_bytes(PIXEL)
    output = await session.read(project / "p.png")
    encoded = base64.b64encode(PIXEL).decode()
    source = {"type": "base64", "data": encoded, "media_type": "image/png"}
    assert output.content == [{"type": "image", "source": source}]
    dimensions = {"originalWidth": 1, "originalHeight": 1, "displayWidth": 1, "displayHeight": 1}
    file = {"base64": encoded, "type": "image/png", "originalSize": 70, "dimensions": dimensions}
    assert output.structured == {"type": "image", "file": file}


async def test_the_bytes_tell_the_format_and_not_the_name(session, project):
    (project / "p.jpg").write_bytes(PIXEL)
    output = await session.read(project / "p.jpg")
    assert output.content[0]["source"]["media_type"] == "image/png"


async def test_images_that_are_none_or_empty_or_too_large_are_failures(session, project):
    (project / "fake.png").write_bytes(b"<html>")
    (project / "empty.gif").touch()
    header = struct.pack(">IIBBBBB", 9000, 10, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", 13) + b"IHDR" + header + struct.pack(">I", zlib.crc32(b"IHDR" + header))
    (project / "wide.png").write_bytes(b"\x89PNG\r\n\x1a\n" + chunk)
    (project / "heavy.png").write_bytes(PIXEL + bytes(4_000_000))
    assert "3c 68 74 6d 6c 3e" in await session.failure("Read", file_path="fake.png")
    assert "empty" in await session.failure("Read", file_path="empty.gif")
    assert "too large" in await session.failure("Read", file_path="wide.png")
    assert "too large" in await session.failure("Read", file_path="heavy.png")


def notebook(*cells, **metadata):
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


async def test_a_notebook_is_shown_as_cells(session, project):
    cell = {"cell_type": "code", "id": "c1", "metadata": {}, "source": ["print(1)"], "outputs": []}
    (project / "n.ipynb").write_text(notebook(cell, language_info={"name": "python"}))
    output = await session.read(project / "n.ipynb")
    assert output.content == [{"type": "text", "text": '<cell id="c1">print(1)</cell id="c1">'}]
    cells = [{"cellType": "code", "source": "print(1)", "cell_id": "c1", "language": "python"}]
    assert output.structured == {
        "type": "notebook",
        "file": {"filePath": str(project / "n.ipynb"), "cells": cells},
    }


async def test_outputs_of_cells_are_shown_where_they_came(session, project):
    image = base64.b64encode(PIXEL).decode()
    cells = [
        {"cell_type": "markdown", "id": "m1", "source": ["# T\n", "text"]},
        {
            "cell_type": "code",
            "id": "c1",
            "source": "x",
            "execution_count": 3,
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["hello\n", "w\n"]},
                {"output_type": "execute_result", "data": {"text/plain": ["42"], "text/html": ["<b>42</b>"]}},
            ],
        },
        {
            "cell_type": "code",
            "source": "plot",
            "outputs": [
                {"output_type": "display_data", "data": {"image/png": image, "text/plain": "<Figure>"}}
            ],
        },
        {
            "cell_type": "code",
            "source": "",
            "outputs": [
                {"output_type": "error", "ename": "ValueError", "evalue": "bad", "traceback": ["tb1"]}
            ],
        },
    ]
    (project / "n.ipynb").write_text(notebook(*cells))
    output = await session.read(project / "n.ipynb")
    assert output.content == [
        {
            "type": "text",
            "text": '<cell id="m1"><cell_type>markdown</cell_type># T\ntext</cell id="m1">\n'
            '<cell id="c1">x</cell id="c1">\n\nhello\nw\n\n\n42\n<cell id="cell-2">plot</cell id="cell-2">\n\n<Figure>',
        },
        {"type": "image", "source": {"type": "base64", "data": image, "media_type": "image/png"}},
        {"type": "text", "text": '<cell id="cell-3"></cell id="cell-3">\n\nValueError: bad\ntb1'},
    ]
    records = output.structured["file"]["cells"]
    assert records[0] == {"cellType": "markdown", "source": "# T\ntext", "cell_id": "m1"}
    assert records[1]["execution_count"] == 3
    assert records[1]["outputs"] == [
        {"output_type": "stream", "text": "hello\nw\n"},
        {"output_type": "execute_result", "text": "42"},
    ]
    assert records[2]["outputs"][0]["image"] == {"image_data": image, "media_type": "image/png"}
    assert records[3]["outputs"] == [{"output_type": "error", "text": "ValueError: bad\ntb1"}]


async def test_outputs_that_are_too_long_are_named_and_left_out(session, project):
    outputs = [{"output_type": "stream", "text": "y" * 20_000}]
    (project / "n.ipynb").write_text(notebook({"cell_type": "code", "source": "x", "outputs": outputs}))
    text = (await session.read(project / "n.ipynb")).content[0]["text"]
    assert ".cells[0].outputs" in text
    assert len(text) < 500


@pytest.mark.parametrize(
    ("content", "part"),
    [("{}", "not a Jupyter notebook"), ("not json", "not valid JSON"), ("", "not valid JSON")],
)
async def test_notebooks_that_are_none_are_failures(session, project, content, part):
    (project / "n.ipynb").write_text(content)
    assert part in await session.failure("Read", file_path="n.ipynb")


async def test_a_notebook_without_cells_says_so(session, project):
    (project / "n.ipynb").write_text(notebook())
    assert (await session.read(project / "n.ipynb")).content == "(The notebook has no cells.)"


PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj "
    b"3 0 obj<</Type/Page/MediaBox[0 0 99 99]/Parent 2 0 R>>endobj\ntrailer<</Root 1 0 R>>"
)


async def test_a_short_pdf_becomes_a_document(session, project):
    (project / "p.pdf").write_bytes(PDF)
    output = await session.read(project / "p.pdf")
    encoded = base64.b64encode(PDF).decode()
    text, document = output.content
    assert text["text"] == f"PDF file read: {project / 'p.pdf'} ({len(PDF)} bytes)"
    assert document["source"] == {"type": "base64", "media_type": "application/pdf", "data": encoded}
    file = {"filePath": str(project / "p.pdf"), "base64": encoded, "originalSize": len(PDF)}
    assert output.structured == {"type": "pdf", "file": file}


async def test_a_long_pdf_is_not_read_without_pages(session, project):
    (project / "p.pdf").write_bytes(PDF + b"<</Type /Page /X 1>>" * 11)
    assert "12 pages" in await session.failure("Read", file_path="p.pdf")


@pytest.mark.parametrize("pages", ["zz", "0", "3-1", "1,2", "1-", "1-30", ""])
async def test_page_ranges_that_make_no_sense_are_rejected(session, project, pages):
    (project / "p.pdf").write_bytes(PDF)
    assert await session.rejection("Read", file_path="p.pdf", pages=pages)


async def test_pages_of_a_pdf_need_the_library_and_say_so(session, project):
    (project / "p.pdf").write_bytes(PDF)
    try:
        import pypdf
    except ImportError:
        assert "pypdf" in await session.failure("Read", file_path="p.pdf", pages="1")
        return
    writer = pypdf.PdfWriter()
    for width in (10, 20, 30):
        writer.add_blank_page(width, 10)
    writer.write(project / "p.pdf")
    output = await session.call("Read", file_path="p.pdf", pages="2-3")
    (project / "part.pdf").write_bytes(base64.b64decode(output.content[1]["source"]["data"]))
    assert [page.mediabox.width for page in pypdf.PdfReader(project / "part.pdf").pages] == [20, 30]
    assert "only 3 pages" in await session.failure("Read", file_path="p.pdf", pages="4")


@pytest.mark.parametrize(("content", "part"), [(b"hello", "Not a PDF"), (b"", "empty")])
async def test_pdfs_that_are_none_are_failures(session, project, content, part):
    (project / "p.pdf").write_bytes(content)
    assert part in await session.failure("Read", file_path="p.pdf")


async def test_reading_may_run_beside_other_calls(session):
    assert session.tools["Read"].is_read_only({"file_path": "x"})
