"""Listing sessions: which there are, in which order, and what a list says of each."""

import dataclasses
import os
import pickle
import subprocess
from pathlib import Path

import pytest

from claude_wrapper import SDKSessionInfo, get_session_info, list_sessions, project_key_for_directory


@pytest.fixture
def info(transcripts):
    """What is told of a transcript of these entries."""

    def info(*entries):
        transcripts.write(*entries)
        return get_session_info(transcripts.session, str(transcripts.project))

    return info


def ids(infos):
    return [int(info.session_id[:8], 16) for info in infos]


# -- one session


@pytest.mark.feature("SESS-12")
def test_a_session_is_told_with_all_that_its_transcript_says(transcripts):
    path = transcripts.write(
        {"type": "queue-operation", "operation": "enqueue", "content": "x"},
        transcripts.user(1, content="Fix the bug"),
        transcripts.assistant(2, 1, gitBranch="fix"),
        {"type": "custom-title", "customTitle": "Bug"},
        {"type": "tag", "tag": "work"},
        mtime=1_700_000_000.25,
    )

    assert get_session_info(transcripts.session) == SDKSessionInfo(
        session_id=transcripts.session,
        summary="Bug",
        last_modified=1_700_000_000_250,
        file_size=path.stat().st_size,
        custom_title="Bug",
        first_prompt="Fix the bug",
        git_branch="fix",
        cwd=str(transcripts.project),
        tag="work",
        created_at=1_767_323_041_500,
    )


def test_what_is_told_is_a_value_like_a_dataclass(info, transcripts):
    told = info(transcripts.user(1))

    assert dataclasses.asdict(told)["first_prompt"] == "hi"
    assert [field.name for field in dataclasses.fields(told)][:3] == [
        "session_id",
        "summary",
        "last_modified",
    ]
    assert dataclasses.replace(told, tag="t").tag == "t"
    assert pickle.loads(pickle.dumps(told)) == told
    match told:
        case SDKSessionInfo(summary="hi", tag=None):
            pass
        case _:
            pytest.fail("it does not match")


TITLES = {
    "a title of the user": ({"type": "custom-title", "customTitle": "mine"}, "mine"),
    "a title of a model": ({"type": "ai-title", "aiTitle": "generated"}, "generated"),
    "the last prompt": ({"type": "last-prompt", "lastPrompt": "last"}, "last"),
    "a summary": ({"type": "summary", "summary": "sum"}, "sum"),
}


@pytest.mark.parametrize(("entry", "summary"), TITLES.values(), ids=TITLES)
def test_a_session_is_called_by(entry, summary, info, transcripts):
    assert info(transcripts.user(1), entry).summary == summary


def test_names_are_taken_in_an_order_whatever_the_order_of_the_lines(info, transcripts):
    entries = [entry for entry, _ in TITLES.values()]

    found = [info(transcripts.user(1), *reversed(entries[start:])).summary for start in range(4)]

    assert found == [summary for _, summary in TITLES.values()]


def test_the_latest_title_counts_and_an_empty_one_takes_it_away(info, transcripts):
    title = lambda text: {"type": "custom-title", "customTitle": text}  # noqa: E731

    assert info(transcripts.user(1), title("old"), title("new")).custom_title == "new"
    assert info(transcripts.user(1), title("old"), title("")).custom_title is None


def test_an_empty_tag_takes_the_tag_away(info, transcripts):
    assert info(transcripts.user(1), {"type": "tag", "tag": "t"}, {"type": "tag", "tag": ""}).tag is None


NOT_PROMPTS = [
    {"content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]},
    {"content": "note", "isMeta": True},
    {"content": "summary", "isCompactSummary": True},
    {"content": "<local-command-stdout>x</local-command-stdout>"},
    {"content": "[Request interrupted by user for tool use]"},
    {"content": "<command-name>/compact</command-name>"},
    {"content": " \n "},
    {"content": None},
    {"content": [{"type": "image"}, "odd", 5]},
]


@pytest.mark.parametrize("fields", NOT_PROMPTS)
def test_what_nobody_typed_is_no_first_prompt(fields, info, transcripts):
    assert info(transcripts.user(1, **fields), transcripts.user(2, 1, "typed")).first_prompt == "typed"


def test_a_session_of_commands_only_is_called_by_the_first(info, transcripts):
    told = info(
        transcripts.user(1, content="<command-name>/init</command-name> <command-args>x</command-args>"),
        transcripts.user(2, 1, "<command-name>/cost</command-name>"),
    )

    assert (told.summary, told.first_prompt) == ("/init", "/init")


def test_the_first_prompt_is_put_on_one_line_and_cut(info, transcripts):
    assert info(transcripts.user(1, content=" a\nb ")).first_prompt == "a b"
    assert info(transcripts.user(1, content="x" * 201)).first_prompt == "x" * 200 + "…"
    assert info(transcripts.user(1, content="x" * 200)).first_prompt == "x" * 200


def test_the_text_of_blocks_is_a_prompt(info, transcripts):
    blocks = [{"type": "image"}, {"type": "text", "text": "<tick>"}, {"type": "text", "text": "look"}]

    assert info(transcripts.user(1, content=blocks)).first_prompt == "look"


@pytest.mark.parametrize(
    ("time", "created"), [("2026-01-02T03:04:05+02:00", 1_767_315_845_000), ("junk", None)]
)
def test_the_time_of_creation_is_that_of_the_first_entry(time, created, info, transcripts):
    assert info(transcripts.user(1, timestamp=time)).created_at == created


def test_without_a_folder_of_its_own_a_session_is_in_the_one_it_was_found_by(info, transcripts):
    entry = transcripts.user(1)
    del entry["cwd"]

    assert info(entry).cwd == str(transcripts.project)
    assert get_session_info(transcripts.session).cwd is None


# -- which sessions there are


def test_sessions_are_listed_newest_first(transcripts):
    for number, mtime in ((1, 300), (2, 100), (3, 200)):
        transcripts.write(transcripts.user(1), session=transcripts.id(number), mtime=mtime)

    assert ids(list_sessions(str(transcripts.project))) == [1, 3, 2]


PAGES = [
    ({"limit": 2}, [1, 2]),
    ({"limit": 2, "offset": 1}, [2, 3]),
    ({"offset": 3}, [4]),
    ({"offset": 9}, []),
    ({"limit": 0}, [1, 2, 3, 4]),
    ({"limit": -1, "offset": -1}, [1, 2, 3, 4]),
]


@pytest.mark.parametrize(("page", "expected"), PAGES)
def test_a_page_counts_only_sessions_that_are_shown(page, expected, transcripts):
    for number in range(1, 5):
        transcripts.write(transcripts.user(1), session=transcripts.id(number), mtime=1000 - number)
        # Nobody said anything in this one.
        transcripts.write({"type": "mode"}, session=transcripts.id(number + 100), mtime=1000 - number)

    assert ids(list_sessions(str(transcripts.project), **page)) == expected


def test_what_is_no_session_is_not_listed(transcripts):
    transcripts.write(transcripts.user(1), session=transcripts.id(1))
    transcripts.write(session=transcripts.id(2))
    transcripts.write(transcripts.user(1, isSidechain=True), session=transcripts.id(3))
    transcripts.write(transcripts.assistant(1), session=transcripts.id(4))
    transcripts.write(transcripts.user(1), session="no-uuid")
    transcripts.path(transcripts.id(5)).mkdir()
    (transcripts.folder / f"{transcripts.id(6)}.txt").write_text("x")

    assert ids(list_sessions(str(transcripts.project))) == [1]


def test_without_a_directory_all_projects_are_listed_each_session_once(transcripts):
    other = transcripts.folder_of(transcripts.project / "other")
    transcripts.write(transcripts.user(1), session=transcripts.id(1), mtime=100)
    transcripts.write(
        transcripts.user(1, content="newer"), session=transcripts.id(1), folder=other, mtime=200
    )
    transcripts.write(transcripts.user(1), session=transcripts.id(2), folder=other, mtime=150)

    assert [(info.first_prompt, info.last_modified) for info in list_sessions()] == [
        ("newer", 200_000),
        ("hi", 150_000),
    ]
    assert get_session_info(transcripts.id(1)).first_prompt == "newer"
    assert get_session_info(transcripts.id(1), str(transcripts.project)).first_prompt == "hi"


def test_there_are_no_sessions_where_there_is_no_folder(transcripts):
    assert list_sessions() == []
    assert list_sessions(str(transcripts.project)) == []
    assert list_sessions("/does/not/exist") == []
    assert get_session_info(transcripts.session) is None


@pytest.mark.parametrize("bad", ["", "x", "../x", "11111111-1111-4111-8111-11111111111g"])
@pytest.mark.usefixtures("transcripts")
def test_a_bad_id_names_no_session(bad):
    assert get_session_info(bad) is None


def test_another_directory_does_not_have_the_session(transcripts, tmp_path):
    transcripts.write(transcripts.user(1))

    assert get_session_info(transcripts.session, str(tmp_path)) is None


# -- folders


@pytest.mark.feature("SESS-01")
def test_a_folder_is_the_same_by_every_path(transcripts, tmp_path, monkeypatch):
    transcripts.write(transcripts.user(1))
    link = tmp_path / "link"
    link.symlink_to(transcripts.project)
    monkeypatch.chdir(transcripts.project)

    for path in (str(link), str(transcripts.project) + "/", f"{tmp_path}/x/../project", "."):
        assert len(list_sessions(path)) == 1, path
    assert len(list_sessions(Path(link))) == 1
    assert project_key_for_directory(link) == project_key_for_directory() == transcripts.folder.name


@pytest.mark.feature("SESS-01")
def test_a_long_path_is_found_whatever_its_hash(transcripts, tmp_path):
    deep = tmp_path / ("d" * 120) / ("e" * 120)
    deep.mkdir(parents=True)
    key = project_key_for_directory(deep)
    others = transcripts.config / "projects" / (key[:200] + "-another")
    transcripts.write(transcripts.user(1), folder=others)

    assert len(list_sessions(str(deep))) == 1

    transcripts.write(transcripts.user(1), session=transcripts.id(1), folder=others.with_name(key))
    assert ids(list_sessions(str(deep))) == [1]


def test_a_path_with_composed_characters_is_found_by_its_own_key_or_that_of_others(transcripts, tmp_path):
    project = tmp_path / "cafe\u0301"
    project.mkdir()
    transcripts.write(transcripts.user(1), folder=transcripts.folder_of(tmp_path / "caf\u00e9"))
    assert len(list_sessions(str(project))) == 1

    transcripts.write(transcripts.user(1), session=transcripts.id(2), folder=transcripts.folder_of(project))
    assert ids(list_sessions(str(project))) == [2]


@pytest.fixture
def repository(tmp_path):
    """A repository with two worktrees beside it."""
    main = tmp_path / "main"
    (main / "sub").mkdir(parents=True)

    def git(*arguments):
        identity = ["-c", "user.email=a@b.c", "-c", "user.name=n", "-c", "commit.gpgsign=false"]
        environment = {name: os.environ[name] for name in os.environ if not name.startswith("GIT_")}
        subprocess.run(
            ["git", *identity, *arguments],
            cwd=main,
            check=True,
            capture_output=True,
            env=environment,
            timeout=30,
        )

    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "first")
    return main, git


def test_the_sessions_of_all_worktrees_are_listed(transcripts, repository, tmp_path):
    main, git = repository
    git("worktree", "add", "-q", str(tmp_path / "one"), "-b", "one")
    for number, folder in enumerate((main, tmp_path / "one", main / "sub")):
        transcripts.write(
            transcripts.user(1),
            session=transcripts.id(number),
            folder=transcripts.folder_of(folder),
            mtime=100 + number,
        )

    assert ids(list_sessions(str(main))) == [1, 0]
    assert ids(list_sessions(str(tmp_path / "one"))) == [1, 0]
    assert ids(list_sessions(str(main / "sub"))) == [2, 1, 0]
    assert ids(list_sessions(str(main), include_worktrees=False)) == [0]
    assert get_session_info(transcripts.id(1), str(main)) is not None
    assert get_session_info(transcripts.id(2), str(main)) is None


def test_a_folder_within_the_only_worktree_is_a_project_of_its_own(transcripts, repository):
    main, _ = repository
    transcripts.write(transcripts.user(1), folder=transcripts.folder_of(main))

    assert list_sessions(str(main / "sub")) == []
    assert get_session_info(transcripts.session, str(main / "sub")) is not None
