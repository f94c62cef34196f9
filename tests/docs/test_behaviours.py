"""The table of behaviours says what the marks of tests and scenarios say, and the page says what the table says."""

import shutil
import subprocess
import sys

import pytest


def run(root, *arguments):
    script = root / "scripts" / "build_behaviours.py"
    return subprocess.run(
        [sys.executable, script, *arguments], capture_output=True, text=True, timeout=50, check=False
    )


@pytest.fixture
def small(root, tmp_path):
    """A checkout with one test that marks A-01, and the table that a test writes."""
    for folder in ("scripts", "docs", "tests/interop/scenarios"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(root / "scripts" / "build_behaviours.py", tmp_path / "scripts")
    (tmp_path / "tests/test_a.py").write_text('@pytest.mark.feature("A-01")\ndef test_a(): ...\n')
    (tmp_path / "tests/interop/scenarios/s.driver.json").write_text(
        '{"shows": ["A-02"], "open": "compaction"}'
    )
    return tmp_path


def said(root, text):
    (root / "tests/behaviours.toml").write_text(f'[A]\ntitle = "Area"\n{text}\n')
    return run(root).stdout


def test_table_marks_and_page_agree(root):
    done = run(root, "--check")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_row_that_is_done_needs_a_mark(small):
    assert said(small, 'A-01 = "a"\nA-03 = "c"') == "A-03: done, but nothing shows it\n"


def test_an_open_scenario_shows_nothing(small):
    assert said(small, 'A-01 = "a"\nA-02 = "b"') == "A-02: done, but nothing shows it\n"


def test_a_mark_needs_a_row(small):
    assert said(small, "") == "A-01 is no row of the table, but is marked by tests/test_a.py\n"


def test_a_row_that_is_missing_has_no_mark(small):
    table = 'A-01 = { does = "a", status = "missing", why = "later" }'
    assert said(small, table) == "A-01: missing, but shown by tests/test_a.py\n"


def test_what_is_not_done_has_a_reason(small):
    assert said(small, 'A-01 = { does = "a", status = "partial" }') == "A-01: partial, without a reason\n"


def test_a_page_that_is_older_than_the_table_is_told(small):
    said(small, 'A-01 = "a"')
    said(small, 'A-01 = "a | b"')
    assert "| A-01 | a \\| b | done |" in (small / "docs/behaviours.md").read_text()
    (small / "docs/behaviours.md").write_text("old")
    done = run(small, "--check")
    assert (done.returncode, done.stdout) == (
        1,
        "docs/behaviours.md is not up to date; run scripts/build_behaviours.py\n",
    )


def test_a_row_can_be_asked_for(small):
    said(small, 'A-01 = "a"')
    assert run(small, "A-01").stdout == "A-01 (done) a\n  tests/test_a.py\n"
    assert run(small, "A-09").returncode == 2
