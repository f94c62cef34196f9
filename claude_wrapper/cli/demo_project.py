"""The small project of the demo: an auth module with a bug, its tests, and how they are run."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path
from typing import NamedTuple

import anyio

__all__ = ["FIXED", "MODULE", "TESTS", "WRONG", "Verdict", "check", "make_project", "test_command"]

MODULE = "auth.py"
TESTS = "test_auth.py"

WRONG = "        if age < SESSION_SECONDS:\n            return None"
FIXED = "        if age >= SESSION_SECONDS:\n            return None"
"""Longer than WRONG: Python takes compiled code for current when size and second of the source are the same."""

_MODULE_TEXT = f'''"""Logs users in and knows whose session a token is."""

import hashlib
import hmac
import secrets
import time

SESSION_SECONDS = 3600


class Auth:
    def __init__(self, clock=time.time):
        self._clock = clock
        self._passwords = {{}}
        self._sessions = {{}}

    def register(self, name, password):
        salt = secrets.token_bytes(16)
        self._passwords[name] = (salt, _digest(password, salt))

    def login(self, name, password):
        """Return a new token, or None when name or password are wrong."""
        salt, digest = self._passwords.get(name, (b"", b""))
        if not hmac.compare_digest(_digest(password, salt), digest):
            return None
        token = secrets.token_urlsafe(32)
        self._sessions[token] = (name, self._clock())
        return token

    def user_of(self, token):
        """Return the name behind a token, or None when there is none or it is too old."""
        if token not in self._sessions:
            return None
        name, started = self._sessions[token]
        age = self._clock() - started
{WRONG}
        return name


def _digest(password, salt):
    return hashlib.pbkdf2_hmac("sha256", password.encode(), salt, 10_000)
'''

_TESTS_TEXT = """import unittest

from auth import SESSION_SECONDS, Auth


class AuthTest(unittest.TestCase):
    def setUp(self):
        self.now = 1_000_000
        self.auth = Auth(clock=lambda: self.now)
        self.auth.register("ada", "correct horse")

    def test_a_wrong_password_gets_no_token(self):
        self.assertIsNone(self.auth.login("ada", "wrong"))

    def test_an_unknown_token_is_nobody(self):
        self.assertIsNone(self.auth.user_of("made up"))

    def test_a_session_is_good_after_login(self):
        token = self.auth.login("ada", "correct horse")
        self.assertEqual(self.auth.user_of(token), "ada")

    def test_a_session_ends_after_its_time(self):
        token = self.auth.login("ada", "correct horse")
        self.now += SESSION_SECONDS + 1
        self.assertIsNone(self.auth.user_of(token))


if __name__ == "__main__":
    unittest.main()
"""

_CHECK_SECONDS = 60.0


class Verdict(NamedTuple):
    """What the project's tests say."""

    tests: int
    failed: int
    """Tests that failed; all of them where the tests could not be run."""

    @property
    def is_good(self) -> bool:
        return self.tests > 0 and self.failed == 0


def make_project(folder: Path) -> None:
    """Write the project into a folder."""
    (folder / MODULE).write_text(_MODULE_TEXT, encoding="utf-8")
    (folder / TESTS).write_text(_TESTS_TEXT, encoding="utf-8")


def test_command() -> str:
    """Return the shell command that runs the tests with this Python, so that nothing must be installed."""
    python = sys.executable.replace("\\", "/") if os.name == "nt" else sys.executable
    return f"{shlex.quote(python)} -m unittest"


async def check(folder: Path) -> Verdict:
    """Run the tests as they were written at first, whatever was done to their file."""
    (folder / TESTS).write_text(_TESTS_TEXT, encoding="utf-8")
    with anyio.fail_after(_CHECK_SECONDS):
        done = await anyio.run_process(
            [sys.executable, "-B", "-m", "unittest"], input=b"", cwd=folder, check=False
        )
    said = done.stderr.decode("utf-8", "replace")
    ran = re.search(r"^Ran (\d+) tests?", said, re.MULTILINE)
    tests = int(ran[1]) if ran else 0
    failed = sum(int(number) for number in re.findall(r"(?:failures|errors)=(\d+)", said))
    return Verdict(tests, failed or (tests if done.returncode else 0))
