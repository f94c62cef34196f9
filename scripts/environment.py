"""The checkout's own virtual environment: made once, renewed when the project's metadata changes."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = Path(os.environ.get("CLAUDE_WRAPPER_VENV") or ROOT / ".venv")
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")

OLDEST = (3, 10)

INCLUDED = {"build": {"agent"}, "dev": {"agent", "cli"}}
"""Extras that bring others with them."""


def ensure(*extras: str) -> Path:
    """Make the environment with the project and these extras in it; return its folder of programs."""
    if sys.version_info < OLDEST:
        sys.exit(f"Python {'.'.join(map(str, OLDEST))} or newer is needed; this is {sys.version.split()[0]}.")
    if set(extras) <= installed():
        return BIN
    if not _works("import pip"):
        print(f"Making a virtual environment in {VENV} ...", flush=True)
        # Cleared, since one whose Python has gone cannot be repaired.
        _run(
            [sys.executable, "-m", "venv", "--clear", VENV],
            "It could not be made. On Debian, install python3-venv.",
        )
    names = ",".join(extras)
    print(
        f"Installing the project with [{names}]; this needs the network, and a minute, once ...", flush=True
    )
    _run(
        [BIN / "python", "-m", "pip", "install", "--quiet", "--editable", f"{ROOT}[{names}]"],
        "The installation failed; see above.",
    )
    _stamp(names).write_text(_fingerprint(), encoding="utf-8")
    return BIN


def installed() -> set[str]:
    """Return the extras that are in the environment as the metadata wants them now."""
    if not _works("import claude_wrapper"):
        return set()
    wanted = _fingerprint()
    current = [stamp for stamp in VENV.glob(_stamp("*").name) if stamp.read_text(encoding="utf-8") == wanted]
    named = {extra for stamp in current for extra in stamp.name.removeprefix(_stamp("").name).split(",")}
    return named.union(*(INCLUDED.get(extra, set()) for extra in named))


def run(program: str, *arguments: str) -> int:
    """Run a program of the environment in the foreground and return its exit code."""
    command = [str(BIN / program), *arguments]
    if os.name == "posix":
        # In our place: signals then reach it, and nobody else.
        os.execv(command[0], command)  # noqa: S606  # no shell is wanted
    return subprocess.call(command)


def _stamp(names: str) -> Path:
    return VENV / f".installed-{names}"


def _fingerprint() -> str:
    metadata = (ROOT / "pyproject.toml").read_bytes()
    return hashlib.sha256(metadata + str(ROOT).encode()).hexdigest()


def _works(code: str) -> bool:
    """Whether the environment has a Python that can do this."""
    try:
        done = subprocess.run([BIN / "python", "-c", code], check=False, capture_output=True, cwd=VENV)
    except OSError:
        return False
    return done.returncode == 0


def _run(command: list[str | Path], complaint: str) -> None:
    quiet = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore"}
    try:
        failed = subprocess.run(command, check=False, env=quiet).returncode
    except KeyboardInterrupt:
        sys.exit("Interrupted.")
    if failed:
        sys.exit(complaint)
