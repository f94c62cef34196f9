import os
import resource
import stat
import threading

import pytest

from claude_wrapper.agent.tools.atomic import ChangedMeanwhileError, create_file, replace_file


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_reader_sees_the_old_or_the_new_file_and_nothing_between(tmp_path):
    path = tmp_path / "file"
    contents = [b"a" * 300_000, b"b" * 300_000]
    path.write_bytes(contents[0])
    seen = set()
    done = threading.Event()

    def read():
        while not done.is_set():
            seen.add(path.read_bytes())

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for turn in range(40):
            replace_file(path, contents[turn % 2], path.stat())
    finally:
        done.set()
        reader.join()
    assert seen <= set(contents)
    assert names_in(tmp_path) == ["file"]


def test_a_file_that_somebody_else_wrote_meanwhile_is_left_to_them(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    state = path.stat()
    path.write_text("theirs")
    with pytest.raises(ChangedMeanwhileError):
        replace_file(path, b"ours", state)
    assert path.read_text() == "theirs"
    assert names_in(tmp_path) == ["file"]


def test_an_existing_file_is_never_created_over(tmp_path):
    path = tmp_path / "file"
    path.write_text("theirs")
    with pytest.raises(FileExistsError):
        create_file(path, b"ours")
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(FileExistsError):
        create_file(tmp_path / "link", b"ours")
    assert not (tmp_path / "nowhere").exists()


def test_a_new_file_has_the_mode_that_the_user_wants_for_new_files(tmp_path):
    before = os.umask(0o027)
    try:
        create_file(tmp_path / "sub/file", b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "sub/file").stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "sub").stat().st_mode) == 0o750


@pytest.fixture
def small_files_only():
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.usefixtures("small_files_only")
def test_a_write_that_fails_half_way_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(OSError, match="File too large"):
        replace_file(path, b"x" * 5000, path.stat())
    with pytest.raises(OSError, match="File too large"):
        create_file(tmp_path / "other", b"x" * 5000)
    assert path.read_text() == "old"
    assert names_in(tmp_path) == ["file"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_of_a_file_is_kept(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    os.chown(path, 12345, 23456)
    replace_file(path, b"new", path.stat())
    assert (path.stat().st_uid, path.stat().st_gid, path.read_text()) == (12345, 23456, "new")
