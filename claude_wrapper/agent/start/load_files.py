"""Which settings files a run reads, by its command line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from claude_wrapper.agent.config.file import SettingsFile
from claude_wrapper.agent.config.places import managed_folder
from claude_wrapper.agent.config.sources import SOURCES, given_settings, managed_settings, settings_files
from claude_wrapper.agent.config.trust import without_untrusted_grants
from claude_wrapper.agent.permissions.rules import Source

from .cli import Arguments, UsageError

__all__ = ["chosen_sources", "load_files", "project_of", "with_variables"]

_MANAGED_FAULTS = "Managed settings contain invalid entries (the others are in force): "
_NOT_A_FOLDERS_BUSINESS = re.compile(
    r"CLAUDE_CODE_(?:PROCESS_WRAPPER|PROJECT_DIR_NAME|SYNC_SKILLS.*|PLUGIN_.*)|CLAUDE_CONFIG_DIR"
)
"""Variables that say where the agent itself keeps and finds things: a project cannot set them."""


def load_files(
    arguments: Arguments, environ: Mapping[str, str], cwd: Path
) -> tuple[list[SettingsFile], list[str], list[str]]:
    """The settings in order of precedence, lowest first; what is wrong with them; and what is not heeded.

    Raises SettingsError.
    """
    project = project_of(arguments, cwd)
    files, faults = settings_files(_sources(arguments), environ, project)
    files, told = without_untrusted_grants(files, environ, project)
    given = arguments.value("settings")
    if given is not None:
        file, wrong = given_settings(given, cwd)
        files += [file] if file is not None else []
        faults += wrong
    managed, wrong = managed_settings(managed_folder(), arguments.value("managed_settings"))
    if wrong:
        told.append(_MANAGED_FAULTS + "; ".join(map(str, wrong)))
    return files + managed, [str(fault) for fault in faults], told


def project_of(arguments: Arguments, cwd: Path) -> Path:
    """The folder whose settings are those of the project."""
    root = arguments.value("project_config_root")
    return cwd / root if root else cwd


def chosen_sources(arguments: Arguments) -> list[Source]:
    """The sources that are files and that the run may read."""
    names = _sources(arguments)
    return [source for name, source in SOURCES.items() if name in names]


def with_variables(environ: Mapping[str, str], files: list[SettingsFile]) -> dict[str, str]:
    """The environment with what settings put into it."""
    environment = dict(environ)
    for each in files:
        in_folder = each.source in {"projectSettings", "localSettings"}
        environment.update(
            {
                name: value
                for name, value in each.environment().items()
                if not (in_folder and _NOT_A_FOLDERS_BUSINESS.fullmatch(name))
            }
        )
    return environment


def _sources(arguments: Arguments) -> tuple[str, ...]:
    if arguments.has("restricted"):
        return ()
    chosen = arguments.value("setting_sources")
    if chosen is None:
        return tuple(SOURCES)
    names = tuple(part.strip() for part in chosen.split(",") if part.strip())
    for name in names:
        if name not in SOURCES:
            raise UsageError(
                f"Error processing --setting-sources: Invalid setting source: {name}. "
                f"Valid options are: {', '.join(SOURCES)}",
                plain=True,
            )
    return names
