"""What a folder that nobody trusts may not grant itself."""

from __future__ import annotations

import os
import subprocess  # noqa: TID251  # one question to git, before anything runs
from collections.abc import Mapping
from pathlib import Path

from .file import SettingsFile
from .places import ignoring, is_trusted

__all__ = ["without_untrusted_grants"]

_GIT_SECONDS = 2.0


def without_untrusted_grants(
    files: list[SettingsFile], environ: Mapping[str, str], project: Path
) -> tuple[list[SettingsFile], list[str]]:
    """The settings without what a folder that nobody trusts would grant itself, and what the user is told."""
    kept: list[SettingsFile] = []
    told: list[str] = []
    trusted: bool | None = None
    for each in files:
        if not _grants(each) or not _comes_with_the_folder(each, project):
            kept.append(each)
            continue
        if trusted is None:
            trusted = is_trusted(environ, project)
        if trusted:
            kept.append(each)
            continue
        kept.append(each.without_grants())
        told += _told(each, environ, project)
    return kept, told


def _grants(file: SettingsFile) -> bool:
    return bool(file.rules("allow") or file.directories())


def _comes_with_the_folder(file: SettingsFile, project: Path) -> bool:
    """Whether somebody else may have written the file. Local settings are the user's own unless git keeps them."""
    if file.source == "projectSettings":
        return True
    return file.source == "localSettings" and file.path is not None and _is_tracked(file.path, project)


def _is_tracked(path: Path, project: Path) -> bool:
    if not any((each / ".git").exists() for each in (project, *project.parents)):
        return False
    command = ["git", "-c", "core.fsmonitor=", "ls-files", "--error-unmatch", "--", str(path)]
    try:
        answer = subprocess.run(
            command,
            cwd=project,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_GIT_SECONDS,
            check=False,
            env={"PATH": os.environ.get("PATH", os.defpath), "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, subprocess.TimeoutExpired):
        # Who cannot tell does not trust.
        return True
    return answer.returncode == 0


def _told(file: SettingsFile, environ: Mapping[str, str], project: Path) -> list[str]:
    name = f".claude/{file.path.name}" if file.path is not None else file.place
    counts = {"allow": len(file.rules("allow")), "additionalDirectories": len(file.directories())}
    return [ignoring(count, key, name, environ, project) for key, count in counts.items() if count]
