"""Definitions of subagents in files: a head with the fields, and the prompt behind it."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path

from claude_wrapper.agent.config.places import project_folders
from claude_wrapper.store.paths import config_dir

from .definition import AgentDefinition, defined
from .frontmatter import BadHeadError, parted

__all__ = ["folders_of", "read_folder", "user_folder"]

_log = logging.getLogger("claude_wrapper.agent")

_MOST_BYTES = 1024 * 1024


def folders_of(cwd: Path, environ: Mapping[str, str], *, user: bool, project: bool) -> list[Path]:
    """The folders that may hold such files, the weightiest last."""
    own = [user_folder(environ)] if user else []
    return own + [
        folder / ".claude" / "agents" for folder in (reversed(project_folders(cwd)) if project else ())
    ]


def user_folder(environ: Mapping[str, str]) -> Path:
    """The folder of the user's own."""
    return config_dir(environ) / "agents"


def read_folder(folder: Path) -> Iterator[AgentDefinition]:
    """The definitions in a folder and those below it; files that hold none are passed over."""
    for path in sorted(folder.rglob("*.md")):
        try:
            if not path.is_file() or path.stat().st_size > _MOST_BYTES:
                continue
            found = _definition(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, BadHeadError) as error:
            _log.warning("%s defines no subagent: %s", path, error)
            continue
        if found is not None:
            yield found


def _definition(text: str) -> AgentDefinition | None:
    fields, prompt = parted(text)
    name, description = fields.get("name"), fields.get("description")
    if not isinstance(name, str) or not name or ":" in name:
        return None
    if not isinstance(description, str) or not description:
        return None
    if fields.get("hooks") is not None:
        from claude_wrapper.agent.hooks.section import fault_of  # noqa: PLC0415  # few bring any

        fault = fault_of(fields["hooks"], name, known_events=False)
        if fault is not None:
            raise BadHeadError(fault)
    return defined(name, fields, prompt)
