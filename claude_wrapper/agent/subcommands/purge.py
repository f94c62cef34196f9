"""`purge`: what the agent keeps about a folder is deleted, on this machine only."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from claude_wrapper.agent.config.change import change_settings
from claude_wrapper.agent.config.places import state_file
from claude_wrapper.agent.config.reading import read_settings
from claude_wrapper.store.paths import project_dir, projects_dir

from .words import Option, Shape, Words, WordsError

__all__ = ["PURGE", "purge"]

PURGE = Shape(
    "Delete the transcripts of a folder's sessions and what is known of the folder, on this machine only.",
    (
        Option("--all", "all", "switch", "of every folder"),
        Option("--dry-run", "dry_run", "switch", "only tell what would be deleted"),
        Option("-y --yes", "yes", "switch", "do it without asking"),
        Option("-i --interactive", "interactive", "switch", "ask about each item: needs a screen"),
    ),
    (),
    ("path",),
)


def purge(words: Words, environ: Mapping[str, str], cwd: Path) -> int:
    """Delete it, or tell what it is; raises WordsError and SettingsNotWrittenError."""
    everything = "all" in words.switches
    if "interactive" in words.switches or not (words.arguments or everything):
        raise WordsError(
            "Nobody can be asked here. Name a folder or --all, without -i; --dry-run only tells."
        )
    if words.arguments and everything:
        raise WordsError("--all stands for every folder: it cannot be used with one.")
    folder = None if everything else str((cwd / words.arguments[0]).resolve())
    state = state_file(environ)
    found = [each for each in _folders(environ, folder) if each.is_dir() and not each.is_symlink()]
    entries = [each for each in _known(state) if folder is None or each == folder]
    if not found and not entries:
        raise WordsError(f"Nothing is kept about {folder or 'any folder'} in {projects_dir(environ)}.")
    items = [str(each) for each in found] + [f"{state} [project: {each}]" for each in entries]
    if "dry_run" not in words.switches and "yes" not in words.switches:
        raise WordsError("\n".join(["This would be deleted:", *items, "Say -y to do it."]))
    sys.stdout.write(("Would delete" if "dry_run" in words.switches else "Deleted") + ":\n")
    if "dry_run" not in words.switches:
        for each in found:
            shutil.rmtree(each)
        if entries:
            change_settings(state, lambda values: _forget(values, entries), follow_link=True)
    sys.stdout.writelines(f"  {item}\n" for item in items)
    return 0


def _folders(environ: Mapping[str, str], folder: str | None) -> list[Path]:
    if folder is not None:
        return [project_dir(environ, folder)]
    root = projects_dir(environ)
    return sorted(root.iterdir()) if root.is_dir() else []


def _known(state: Path) -> list[str]:
    projects = (read_settings(state).values or {}).get("projects")
    return list(projects) if isinstance(projects, dict) else []


def _forget(values: dict[str, Any], entries: list[str]) -> None:
    for each in entries:
        values["projects"].pop(each, None)
