"""Finding the worktrees of a repository: the same as git finds."""

import os
import subprocess
from pathlib import Path

import pytest

from claude_wrapper.store.worktrees import worktrees


def git(folder, *arguments):
    identity = ["-c", "user.email=a@b.c", "-c", "user.name=n", "-c", "commit.gpgsign=false"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ["git", *identity, *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        env=environment,
        timeout=30,
    )
    return done.stdout.decode()


def as_git_says(folder):
    listed = git(folder, "worktree", "list", "--porcelain")
    return sorted(
        line.removeprefix("worktree ") for line in listed.splitlines() if line.startswith("worktree ")
    )


@pytest.fixture
def main(tmp_path):
    folder = tmp_path / "main"
    (folder / "deep" / "er").mkdir(parents=True)
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


def found(folder):
    return sorted(map(str, worktrees(folder)))


def test_all_worktrees_are_found_from_each(main, tmp_path):
    git(main, "worktree", "add", "-q", str(tmp_path / "one tree"), "-b", "one")
    git(main, "worktree", "add", "-q", str(main / "inside"), "-b", "two")

    expected = as_git_says(main)

    assert len(expected) == 3
    for place in (main, main / "deep" / "er", tmp_path / "one tree", main / "inside"):
        assert found(place) == expected


def test_a_worktree_whose_folder_is_gone_is_still_one(main, tmp_path):
    git(main, "worktree", "add", "-q", str(tmp_path / "gone"), "-b", "one")
    for path in (tmp_path / "gone").iterdir():
        path.unlink()
    (tmp_path / "gone").rmdir()

    assert found(main) == as_git_says(main) == sorted([str(main), str(tmp_path / "gone")])


def test_pointers_may_be_relative(main, tmp_path):
    git(main, "worktree", "add", "-q", str(tmp_path / "one"), "-b", "one")
    pointer = main / ".git" / "worktrees" / "one" / "gitdir"
    pointer.write_text(os.path.relpath(tmp_path / "one" / ".git", pointer.parent) + "\n")
    (tmp_path / "one" / ".git").write_text("gitdir: ../main/.git/worktrees/one\n")

    assert found(main) == found(tmp_path / "one") == sorted([str(main), str(tmp_path / "one")])


def test_a_repository_without_further_worktrees_has_one(main):
    assert found(main / "deep") == [str(main)] == as_git_says(main)


def test_a_submodule_is_a_repository_of_its_own(main):
    git(main, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(main), "part")

    assert found(main / "part") == [str(main / "part")]


@pytest.mark.parametrize("content", ["", "gitdir:", "nonsense", "gitdir: /does/not/exist"])
def test_broken_pointers_lead_nowhere(content, tmp_path):
    (tmp_path / ".git").write_text(content)

    assert set(worktrees(tmp_path)) <= {tmp_path}


def test_outside_of_repositories_there_are_none():
    assert worktrees(Path("/")) == []
