"""The build hook of the wheel: puts the frozen agent that CLAUDE_WRAPPER_BUNDLE names into it.

Without the variable the wheel is pure, and its agent is Python code with dependencies of its own.
`build_wheel.py` sets the variables; they are no interface for others.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUNDLE = "CLAUDE_WRAPPER_BUNDLE"
TAG = "CLAUDE_WRAPPER_BUNDLE_TAG"


class BundleHook(BuildHookInterface[Any]):
    """Adds files and the platform to a wheel; an editable installation stays as it is."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        folder = os.environ.get(BUNDLE)
        if not folder or version == "editable":
            return
        name = "claude-agent.exe" if os.environ[TAG].startswith("win") else "claude-agent"
        program = Path(folder, name)
        if not program.is_file() or not os.access(program, os.X_OK):
            message = f"{program} is not there or may not be run; no wheel is made without it"
            raise SystemExit(message)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{os.environ[TAG]}"
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file():
                place = path.relative_to(folder).as_posix()
                build_data["force_include"][str(path)] = f"claude_wrapper/_bundled/{place}"
