import os
import stat

import pytest

from claude_wrapper.agent.tools import changing

pytestmark = pytest.mark.anyio

NOTE = changing.CURRENT_NOTE
UNREAD = "File has not been read yet. Read it first before writing to it."


@pytest.fixture
def read_file(session, project):
    async def make(name, content):
        path = project / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content)
        await session.read(path)
        return path

    return make


async def edit(session, path, old, new, **more):
    return await session.call("Edit", file_path=str(path), old_string=old, new_string=new, **more)


@pytest.mark.feature("TOOL-02", "TOOL-16")
async def test_an_edit_replaces_one_exact_text(session, read_file):
    path = await read_file("a.txt", "alpha\nbeta\ngamma\n")
    output = await edit(session, path, "beta", "BETA")
    assert output.content == f"The file {path} has been updated successfully. {NOTE}"
    assert output.is_error is None
    assert output.structured == {
        "filePath": str(path),
        "oldString": "beta",
        "newString": "BETA",
        "originalFile": "alpha\nbeta\ngamma\n",
        "structuredPatch": [
            {
                "oldStart": 1,
                "oldLines": 3,
                "newStart": 1,
                "newLines": 3,
                "lines": [" alpha", "-beta", "+BETA", " gamma"],
            }
        ],
        "userModified": False,
        "replaceAll": False,
    }
    assert path.read_text() == "alpha\nBETA\ngamma\n"


async def test_the_default_of_replace_all_is_shown_first(session, context):
    prepared = session.tools["Edit"].prepare(
        {"file_path": "a", "old_string": "b", "new_string": "c"}, context
    )
    assert list(prepared) == ["replace_all", "file_path", "old_string", "new_string"]
    assert prepared["replace_all"] is False


@pytest.mark.feature("TOOL-02")
async def test_a_text_that_is_not_there_is_rejected(session, read_file):
    path = await read_file("a.txt", "x\n")
    text = await session.rejection("Edit", file_path=str(path), old_string="absent", new_string="y")
    assert text == "String to replace not found in file.\nString: absent"


@pytest.mark.feature("TOOL-02")
async def test_a_text_that_is_there_several_times_is_rejected_unless_all_are_meant(session, read_file):
    path = await read_file("dup.txt", "x x\nx\n")
    text = await session.rejection("Edit", file_path=str(path), old_string="x", new_string="y")
    assert text.startswith("Found 3 matches of the string to replace, but replace_all is false. ")
    assert text.endswith("\nString: x")
    output = await edit(session, path, "x", "y", replace_all=True)
    assert (
        output.content
        == f"The file {path} has been updated. All occurrences were successfully replaced. {NOTE}"
    )
    assert output.structured["replaceAll"] is True
    assert path.read_text() == "y y\ny\n"


async def test_an_edit_that_changes_nothing_is_rejected(session, read_file):
    path = await read_file("a.txt", "y\n")
    text = await session.rejection("Edit", file_path=str(path), old_string="y", new_string="y")
    assert text == "No changes to make: old_string and new_string are exactly the same."


@pytest.mark.feature("TOOL-02", "TOOL-03")
async def test_a_file_that_was_not_read_is_not_changed(session, project):
    path = project / "unread.txt"
    path.write_text("x\n")
    assert await session.rejection("Edit", file_path=str(path), old_string="x", new_string="y") == UNREAD
    assert await session.rejection("Write", file_path=str(path), content="y") == UNREAD
    assert path.read_text() == "x\n"


async def test_a_missing_file_cannot_be_edited(session, project):
    text = await session.rejection("Edit", file_path="nosuch", old_string="x", new_string="y")
    assert text == f"File does not exist. Note: your current working directory is {project}."


@pytest.mark.feature("TOOL-02")
async def test_an_empty_old_string_creates_a_file_and_its_folders(session, project):
    output = await edit(session, "deep/er/new.txt", "", "created\n")
    assert output.content == f"The file deep/er/new.txt has been updated successfully. {NOTE}"
    assert output.structured["originalFile"] == ""
    assert output.structured["structuredPatch"] == [
        {"oldStart": 1, "oldLines": 0, "newStart": 1, "newLines": 1, "lines": ["+created"]}
    ]
    assert (project / "deep/er/new.txt").read_text() == "created\n"


async def test_an_empty_old_string_fills_an_empty_file_and_spares_any_other(session, project):
    (project / "empty.txt").touch()
    await edit(session, "empty.txt", "", "filled\n")
    assert "not empty" in await session.rejection(
        "Edit", file_path="empty.txt", old_string="", new_string="x"
    )
    assert (project / "empty.txt").read_text() == "filled\n"


@pytest.mark.feature("TOOL-02")
async def test_a_change_by_others_does_not_hinder_an_edit_that_still_fits(session, read_file):
    path = await read_file("a.txt", "one\ntwo\n")
    path.write_text("one\ntwo\nthree\n")
    output = await edit(session, path, "two", "2")
    assert "had changed on disk" in output.content
    assert output.structured["staleRecovered"] is True
    assert output.structured["contentNotInModelContext"] is True
    assert path.read_text() == "one\n2\nthree\n"


@pytest.mark.feature("TOOL-02")
@pytest.mark.parametrize(
    "command", ["echo three >> a.txt", "sed -i s/one/uno/ a.txt", "cat a.txt > b; cp b a.txt"]
)
async def test_what_the_models_own_command_did_to_a_file_that_it_named_is_no_change_by_others(
    session, read_file, command
):
    path = await read_file("a.txt", "one\ntwo\n")
    await session.bash(command)
    output = await edit(session, path, "two", "2")
    assert output.content.endswith(NOTE)
    assert "staleRecovered" not in output.structured


@pytest.mark.parametrize("command", ["for f in *.tx?; do echo x >> $f; done", "echo x >> a.t*"])
async def test_a_file_that_the_models_own_command_changed_without_naming_it_was_changed_by_others(
    session, read_file, command
):
    path = await read_file("a.txt", "one\ntwo\n")
    await session.bash(command)
    assert (await edit(session, path, "two", "2")).structured["staleRecovered"] is True


async def test_a_command_on_a_file_that_others_had_changed_does_not_make_it_known(session, read_file):
    path = await read_file("a.txt", "one\ntwo\n")
    path.write_text("one\ntwo\nthree\n")
    await session.bash("echo four >> a.txt")
    assert (await edit(session, path, "two", "2")).structured["staleRecovered"] is True


async def test_a_change_by_others_is_the_reason_when_an_edit_does_not_fit_any_more(session, read_file):
    path = await read_file("a.txt", "one\ntwo\n")
    path.write_text("one\nTWO\n")
    text = await session.rejection("Edit", file_path=str(path), old_string="two", new_string="2")
    assert text.startswith("File has been modified since it was read.")


async def test_a_new_time_on_the_same_bytes_is_no_change(session, read_file):
    path = await read_file("a.txt", "one\n")
    os.utime(path, (1, 1))
    assert (await edit(session, path, "one", "two")).content.endswith(NOTE)
    os.utime(path, (2, 2))
    assert (await session.call("Write", file_path=str(path), content="x")).content.endswith(NOTE)


@pytest.mark.feature("TOOL-03")
async def test_a_change_by_others_hinders_overwriting(session, read_file):
    path = await read_file("a.txt", "one\n")
    path.write_text("two\n")
    text = await session.rejection("Write", file_path=str(path), content="x")
    assert text.startswith("File has been modified since it was read.")
    assert path.read_text() == "two\n"


async def test_an_edit_after_reading_a_part_says_that_the_rest_is_not_known(session, project):
    (project / "a.txt").write_text("".join(f"line {i}\n" for i in range(20)))
    await session.call("Read", file_path="a.txt", offset=3, limit=2)
    output = await edit(session, "a.txt", "line 15", "LINE")
    assert output.content == "The file a.txt has been updated successfully."
    assert output.structured["contentNotInModelContext"] is True


@pytest.mark.parametrize("command", ["cat a.txt", "head -2 a.txt", "sed -n 1,2p a.txt", "grep -n line a.txt"])
@pytest.mark.feature("TOOL-02")
async def test_a_file_that_a_plain_command_has_shown_counts_as_read(session, project, command):
    (project / "a.txt").write_text("line 1\nline 2\nline 3\n")
    await session.bash(command)
    output = await edit(session, "a.txt", "line 3", "LINE")
    assert ("contentNotInModelContext" in output.structured) == (not command.startswith("cat"))


async def test_one_file_under_two_names_is_one_file(session, project):
    (project / "sub").mkdir()
    (project / "sub/a.txt").write_text("one\n")
    (project / "link").symlink_to("sub")
    await session.call("Read", file_path="link/a.txt")
    await edit(session, "sub/a.txt", "one", "two")
    assert (project / "sub/a.txt").read_text() == "two\n"


@pytest.mark.feature("TOOL-03", "TOOL-16")
async def test_writing_creates_a_file_and_its_folders(session, project):
    path = project / "fresh/deep.txt"
    output = await session.call("Write", file_path=str(path), content="new\n")
    assert output.content == f"File created successfully at: {path} {NOTE}"
    assert output.structured == {
        "type": "create",
        "filePath": str(path),
        "content": "new\n",
        "structuredPatch": [],
        "originalFile": None,
        "userModified": False,
    }
    assert path.read_text() == "new\n"


@pytest.mark.feature("TOOL-03")
async def test_writing_over_a_file_that_was_read_replaces_all_of_it(session, read_file):
    path = await read_file("lines.txt", "1\n2\n")
    output = await session.call("Write", file_path=str(path), content="over\n")
    assert output.content == f"The file {path} has been updated successfully. {NOTE}"
    assert output.structured["type"] == "update"
    assert output.structured["originalFile"] == "1\n2\n"
    assert output.structured["structuredPatch"][0]["lines"] == ["-1", "-2", "+over"]


async def test_what_was_written_may_be_written_again_without_reading(session, project):
    for content in ("one\n", "two\n"):
        await session.call("Write", file_path="a.txt", content=content)
    await edit(session, "a.txt", "two", "three")
    assert (project / "a.txt").read_text() == "three\n"


async def test_a_file_that_went_since_it_was_read_is_created(session, read_file):
    path = await read_file("a.txt", "x")
    path.unlink()
    assert (await session.call("Write", file_path=str(path), content="y")).structured["type"] == "create"


async def test_what_the_host_changed_is_told_to_the_model(session, context, read_file):
    path = await read_file("a.txt", "one\n")
    context.user_modified = True
    output = await edit(session, path, "one", "two")
    assert output.content.endswith("The user modified your proposed changes before accepting them.")
    assert output.structured["userModified"] is True
    output = await session.call("Write", file_path="other.txt", content="two\n")
    assert output.content == (
        "File created successfully at: other.txt The user modified your proposed content before accepting it."
    )
    assert output.structured["userModified"] is True


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"one\r\ntwo\r\n", b"1\r\nnew\r\ntwo\r\n"),
        (b"\xef\xbb\xbfone\ntwo\n", b"\xef\xbb\xbf1\nnew\ntwo\n"),
        ("one\ntwo\n".encode("utf-16"), "1\nnew\ntwo\n".encode("utf-16")),
        ("\ufeffone\r\ntwo\r\n".encode("utf-16-be"), "\ufeff1\r\nnew\r\ntwo\r\n".encode("utf-16-be")),
        (b"one\r\ntwo\nthree\n", b"1\nnew\r\ntwo\nthree\n"),
        (b"one\ntwo", b"1\nnew\ntwo"),
    ],
)
async def test_encoding_and_line_ends_survive_an_edit(session, read_file, before, after):
    path = await read_file("a.txt", before)
    await edit(session, path, "one", "1\nnew")
    assert path.read_bytes() == after


async def test_a_byte_order_mark_survives_overwriting(session, read_file):
    path = await read_file("a.txt", b"\xef\xbb\xbfone\n")
    output = await session.call("Write", file_path=str(path), content="two\n")
    assert path.read_bytes() == b"\xef\xbb\xbftwo\n"
    assert output.structured["content"] == "\ufefftwo\n"


@pytest.mark.parametrize("content", [b"gr\xfcn\nx\n", b"a\0b\nx\n"])
async def test_bytes_that_could_not_be_written_back_are_left_alone(session, read_file, content):
    path = await read_file("a.txt", content)
    assert "left alone" in await session.rejection(
        "Edit", file_path=str(path), old_string="x", new_string="y"
    )
    assert "left alone" in await session.rejection("Write", file_path=str(path), content="y")
    assert path.read_bytes() == content


async def test_half_a_surrogate_pair_is_replaced_before_it_reaches_the_disk(session, project):
    output = await session.call("Write", file_path="a.txt", content="x\ud83dy \ud83d\ude00")
    assert (project / "a.txt").read_text() == "x\ufffdy \U0001f600"
    assert output.structured["content"] == "x\ufffdy \U0001f600"
    await edit(session, "a.txt", "y", "\udc00")
    assert (project / "a.txt").read_text() == "x\ufffd\ufffd \U0001f600"


async def test_the_mode_of_a_file_is_kept(session, read_file, project):
    path = await read_file("run.sh", "echo\n")
    path.chmod(0o754)
    await edit(session, path, "echo", "ls")
    assert stat.S_IMODE(path.stat().st_mode) == 0o754
    assert [each.name for each in project.iterdir()] == ["run.sh"]


async def test_links_are_not_written_through_and_their_target_is_named(session, read_file, project):
    path = await read_file("a.txt", "one\n")
    (project / "link").symlink_to("a.txt")
    (project / "dangling").symlink_to("nowhere.txt")
    await session.call("Read", file_path="link")
    assert str(path) in await session.failure("Edit", file_path="link", old_string="one", new_string="two")
    assert "nowhere.txt" in await session.failure("Write", file_path="dangling", content="x")
    assert path.read_text() == "one\n"
    assert not (project / "nowhere.txt").exists()


async def test_a_link_put_in_the_place_of_a_checked_file_is_not_written_through(
    session, context, read_file, project
):
    path = await read_file("a.txt", "one\n")
    other = project / "other.txt"
    other.write_text("one\n")
    tool = session.tools["Edit"]
    prepared = tool.prepare({"file_path": str(path), "old_string": "one", "new_string": "two"}, context)
    await tool.check(prepared, context)
    path.unlink()
    path.symlink_to(other)
    with pytest.raises(Exception, match="symbolic link"):
        await tool.run(prepared, context)
    assert other.read_text() == "one\n"


async def test_a_file_that_changed_after_the_check_is_not_edited_on_old_knowledge(
    session, context, read_file
):
    path = await read_file("a.txt", "one\n")
    tool = session.tools["Edit"]
    prepared = tool.prepare({"file_path": str(path), "old_string": "one", "new_string": "two"}, context)
    await tool.check(prepared, context)
    path.write_text("quite other\n")
    with pytest.raises(Exception, match="modified since"):
        await tool.run(prepared, context)
    assert path.read_text() == "quite other\n"


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("", "is a directory"),
        ("sub", "is a directory"),
        ("fifo", "only regular files"),
        ("/dev/null", "regular"),
        ("x\0", "NUL"),
    ],
)
async def test_what_is_no_file_is_not_written(session, project, path, part):
    (project / "sub").mkdir()
    os.mkfifo(project / "fifo")
    assert part in await session.rejection("Write", file_path=path, content="x")


@pytest.mark.parametrize(("path", "code"), [("file/below", "ENOTDIR"), ("a" * 300, "ENAMETOOLONG")])
async def test_names_that_cannot_be_are_rejected_with_the_system_code(session, project, path, code):
    (project / "file").touch()
    assert (await session.rejection("Write", file_path=path, content="x")).startswith(f"{code}: ")


async def test_notebooks_are_not_edited_as_text(session, read_file):
    path = await read_file("n.ipynb", '{"cells": []}')
    assert "NotebookEdit" in await session.rejection(
        "Edit", file_path=str(path), old_string="cells", new_string="x"
    )


@pytest.mark.parametrize(
    ("name", "key"), [("Read", "file_path"), ("Edit", "file_path"), ("Write", "file_path")]
)
async def test_permission_is_asked_for_the_path_in_full(session, context, project, name, key):
    tool = session.tools[name]
    assert tool.for_permission({key: "sub/../a.txt", "x": 1}, context) == {key: f"{project}/a.txt", "x": 1}
    assert tool.for_permission({key: "~/a"}, context)[key] == f"{context.environment['HOME']}/a"
    assert tool.for_permission({key: " /etc/passwd\n"}, context)[key] == "/etc/passwd"
