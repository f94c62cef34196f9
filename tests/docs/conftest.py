import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


class Section:
    """A heading of a document with the programs under it."""

    def __init__(self, title):
        self.title = title
        self.programs = []


def sections_of(document):
    """The sections that hold Python, in order."""
    found = [Section("")]
    parts = re.findall(r"^#+ ([^\n]+)$|^```(\w*)\n(.*?)^```$", document, re.MULTILINE | re.DOTALL)
    for heading, language, code in parts:
        if heading:
            found.append(Section(heading))
        elif language == "python":
            found[-1].programs.append(code)
    return [section for section in found if section.programs]


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture
def sections():
    """Reads the sections with Python of a document."""
    return lambda name: sections_of((ROOT / name).read_text(encoding="utf-8"))


@pytest.fixture
def project(tmp_path):
    """A small project to run programs in."""
    folder = tmp_path / "project"
    folder.mkdir()
    (tmp_path / "home").mkdir()
    (folder / "hello.txt").write_text("Good morning\n")
    (folder / "hello.py").write_text("print('Good morning'\n")
    (folder / ".env").write_text("PASSWORD=open sesame\n")
    return folder


@pytest.fixture
def program_environment(tmp_path):
    """Variables for a program that shall find our agent and no key but a made-up one."""
    python = Path(sys.executable).parent
    return {"PATH": f"{python}:/usr/bin:/bin", "HOME": str(tmp_path / "home")}
