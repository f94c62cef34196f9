"""The checkout's own virtual environment: made once, renewed when the project's metadata changes."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = Path(os.environ.get("CLAUDE_WRAPPER_VENV", ROOT / ".venv"))
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")

OLDEST = (3, 10)


def ensure(*extras: str) -> Path:
    """Make the environment with the project and these extras in it; return its folder of programs."""
    if sys.version_info < OLDEST:
        sys.exit(f"Python {'.'.join(map(str, OLDEST))} or newer is needed; this is {sys.version.split()[0]}.")
    stamp = VENV / f".installed-{'-'.join(extras)}"
    wanted = _fingerprint()
    if stamp.is_file() and stamp.read_text() == wanted:
        return BIN
    if not (BIN / "pip").exists() and not (BIN / "pip.exe").exists():
        print(f"Making a virtual environment in {VENV} ...", flush=True)
        _run([sys.executable, "-m", "venv", str(VENV)], "Could not make it. On Debian, install python3-venv.")
    print(f"Installing the project with [{', '.join(extras)}] ...", flush=True)
    target = f"{ROOT}[{','.join(extras)}]"
    python = str(BIN / "python")
    _run([python, "-m", "pip", "install", "--quiet", "--editable", target], "The installation failed; see above.")
    stamp.write_text(wanted)
    return BIN


def _fingerprint() -> str:
    metadata = (ROOT / "pyproject.toml").read_bytes()
    return hashlib.sha256(metadata + sys.version.encode() + str(ROOT).encode()).hexdigest()


def _run(command: list[str], complaint: str) -> None:
    quiet = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    if subprocess.run(command, check=False, env=quiet).returncode:
        sys.exit(complaint)
