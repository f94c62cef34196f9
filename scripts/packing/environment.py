"""The environment that builds run in: one of its own, in a cache folder, made once."""

from __future__ import annotations

import importlib
import os
import platform
import subprocess
import sys
from pathlib import Path

IN_ENVIRONMENT = "CLAUDE_WRAPPER_BUILDING"
_EPOCH = "1700000000"
"""A fixed time in place of now, where tools write one."""


def again(arguments: list[str]) -> int:
    """Run a script of this folder's parent once more, with the Python of the build environment."""
    os.environ["CLAUDE_WRAPPER_VENV"] = os.environ.get("CLAUDE_WRAPPER_BUILD_VENV") or str(_cached())
    programs: Path = importlib.import_module("environment").ensure("build")
    python = programs / ("python.exe" if os.name == "nt" else "python")
    # A fixed hash seed: the order of sets is written into code objects.
    more = {IN_ENVIRONMENT: "1", "PYTHONHASHSEED": "0", "SOURCE_DATE_EPOCH": _EPOCH}
    return subprocess.run([python, *arguments], env={**os.environ, **more}, check=False).returncode


def _cached() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    libc = "".join(platform.libc_ver()) or sys.platform
    return cache / "claude-wrapper" / f"build-{sys.implementation.cache_tag}-{libc}"
