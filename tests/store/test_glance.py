"""Learning what long transcripts are about without reading them."""

import os

import pytest

from claude_wrapper import get_session_info, get_session_messages

KIB = 1024


@pytest.fixture
def padding(transcripts):
    """A line of so many KiB that says nothing."""
    return lambda size: transcripts.line({"type": "other", "text": "x" * size * KIB})


def test_both_ends_of_a_long_transcript_are_read(transcripts, padding):
    transcripts.write(
        transcripts.user(1, content="first"),
        {"type": "custom-title", "customTitle": "old"},
        *[padding(30)] * 20,
        {"type": "custom-title", "customTitle": "new"},
        transcripts.assistant(2, 1, gitBranch="fix"),
    )

    told = get_session_info(transcripts.session)

    assert (told.first_prompt, told.custom_title, told.git_branch) == ("first", "new", "fix")


def test_the_middle_of_a_long_transcript_is_not_read(transcripts, padding):
    far = [padding(30)] * 20
    transcripts.write(transcripts.user(1), *far, {"type": "custom-title", "customTitle": "lost"}, *far)

    assert get_session_info(transcripts.session).custom_title is None


def test_a_line_at_the_border_counts_once_and_whole(transcripts, padding):
    for size in range(60, 70):
        transcripts.write(
            padding(size),
            transcripts.user(1, content="at the border"),
            padding(200),
        )
        assert get_session_info(transcripts.session).first_prompt == "at the border", size


@pytest.mark.parametrize("size", [1, 100, 2000])
def test_a_first_prompt_is_found_behind_or_in_a_large_line(size, transcripts, padding):
    transcripts.write(padding(size), transcripts.user(1, content="late"), padding(200))
    assert get_session_info(transcripts.session).summary == "late"

    transcripts.write(transcripts.user(1, content="y" * size * KIB), padding(200))
    assert get_session_info(transcripts.session).summary.startswith("yyy")


def test_what_the_end_says_is_not_changed_by_the_search_for_a_first_prompt(transcripts, padding):
    transcripts.write(
        padding(100),
        transcripts.user(1, content="late", gitBranch="middle"),
        padding(200),
        transcripts.assistant(2, 1, gitBranch="end"),
    )

    told = get_session_info(transcripts.session)

    assert (told.first_prompt, told.git_branch) == ("late", "end")


def test_a_glance_at_a_huge_transcript_reads_little_of_it(transcripts, padding):
    path = transcripts.write(transcripts.user(1), *[padding(30)] * 3)
    # A hole takes no place on the disk, but whoever reads it is busy for minutes.
    os.truncate(path, 64 * KIB**3)
    with path.open("ab") as file:
        file.write(b"\n" + transcripts.line({"type": "custom-title", "customTitle": "end"}))

    assert get_session_info(transcripts.session).summary == "end"


def test_pages_of_a_long_transcript_cost_no_memory_for_the_rest(transcripts):
    resource = pytest.importorskip("resource")
    large = "z" * 256 * KIB
    entries = [transcripts.user(1)] + [transcripts.assistant(n, n - 1, large) for n in range(2, 400)]
    transcripts.write(*entries)
    del entries
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    messages = get_session_messages(transcripts.session, limit=2, offset=300)

    assert [len(m.message["content"][0]["text"]) for m in messages] == [len(large)] * 2
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40 * KIB
