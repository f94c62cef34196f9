"""Which settings files a run reads, by its command line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from .cli import Arguments, UsageError
from .config.file import SettingsFile
from .config.places import managed_folder
from .config.sources import given_settings, managed_settings, settings_files
from .config.trust import without_untrusted_grants

__all__ = ["load_files"]

_ALL_SOURCES = ("user", "project", "local")


def load_files(
    arguments: Arguments, environ: Mapping[str, str], cwd: Path
) -> tuple[list[SettingsFile], list[str]]:
    """The settings in order of precedence, lowest first, and what is wrong with them; raises SettingsError."""
    root = arguments.value("project_config_root")
    project = cwd / root if root else cwd
    files, faults = settings_files(_sources(arguments), environ, project)
    files, told = without_untrusted_grants(files, environ, project)
    given = arguments.value("settings")
    if given is not None:
        file, wrong = given_settings(given, cwd)
        files += [file] if file is not None else []
        faults += wrong
    managed, wrong = managed_settings(managed_folder(), arguments.value("managed_settings"))
    return files + managed, [*told, *(str(fault) for fault in (*faults, *wrong))]


def _sources(arguments: Arguments) -> tuple[str, ...]:
    if arguments.has("restricted") or arguments.has("safe_mode"):
        return ()
    chosen = arguments.value("setting_sources")
    if chosen is None:
        return _ALL_SOURCES
    names = tuple(part.strip() for part in chosen.split(",") if part.strip())
    for name in names:
        if name not in _ALL_SOURCES:
            raise UsageError(
                f"Error processing --setting-sources: Invalid setting source: {name}. "
                f"Valid options are: {', '.join(_ALL_SOURCES)}"
            )
    return names
