"""All settings of a run, in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from claude_wrapper.agent.permissions.rules import Source
from claude_wrapper.store.paths import config_dir

from .faults import Fault
from .file import SettingsFile, checked
from .places import SettingsPlaces
from .reading import MOST_BYTES, Reading, parsed, read_settings

__all__ = [
    "SOURCES",
    "SettingsError",
    "given_settings",
    "managed_paths",
    "managed_settings",
    "settings_files",
]

SOURCES: dict[str, Source] = {
    "user": "userSettings",
    "project": "projectSettings",
    "local": "localSettings",
}


class SettingsError(Exception):
    """Settings that must not be ignored cannot be read."""


def settings_files(
    names: Sequence[str], environ: Mapping[str, str], project: Path
) -> tuple[list[SettingsFile], list[Fault]]:
    """The files of these sources (`user`, `project`, `local`), lowest precedence first.

    A file that is missing or broken counts as empty: a run must not fail on it.
    """
    places = SettingsPlaces(environ, project)
    found: list[SettingsFile] = []
    faults: list[Fault] = []
    for name, source in SOURCES.items():
        path = places.path(source)
        if name not in names or path is None:
            continue
        root = config_dir(environ) if name == "user" else project
        file, wrong = checked(source, read_settings(path), root, path)
        faults += wrong
        if file is not None and file.values:
            found.append(file)
    return found, faults


def given_settings(value: str, cwd: Path) -> tuple[SettingsFile | None, list[Fault]]:
    """The settings that a flag gives: JSON, or the path of a file; raises SettingsError."""
    text = value.strip()
    if not text:
        return None, []
    if text.startswith("{") and text.endswith("}"):
        reading = parsed(text, "--settings")
        if reading.values is None:
            raise SettingsError(f"Invalid JSON provided to --settings\n{reading.fault}")
        return checked("flagSettings", reading, cwd, None)
    path = cwd / value
    _refuse_what_is_no_file(path)
    return checked("flagSettings", read_settings(path), path.parent, path)


def _refuse_what_is_no_file(path: Path) -> None:
    if not path.exists():
        raise SettingsError(f"Settings file not found: {path}")
    if not path.is_file():
        raise SettingsError(f"Cannot use settings file (it is not a file): {path}")
    if path.stat().st_size > MOST_BYTES:
        raise SettingsError(f"Settings file exceeds the 2MiB limit: {path}")


def managed_paths(folder: Path) -> list[Path]:
    """The files in which an administrator's settings may be, lowest precedence first."""
    paths = [folder / "managed-settings.json"]
    drop_ins = folder / "managed-settings.d"
    if drop_ins.is_dir():
        paths += sorted(drop_ins.glob("[!.]*.json"))
    return paths


def managed_settings(folder: Path, given: str | None = None) -> tuple[list[SettingsFile], list[Fault]]:
    """The settings that bind everybody on this machine, lowest precedence first; raises SettingsError.

    They are the administrator's word: what cannot be read stops the run, and of what can be read
    only the wrong values are left out. `given` are those that the program around this one hands on.
    """
    found: list[SettingsFile] = []
    faults: list[Fault] = []
    if given is not None:
        reading = parsed(given, "--managed-settings")
        if reading.values is None:
            raise SettingsError(f"Invalid JSON provided to --managed-settings\n{reading.fault}")
        # The program around this one may forbid and allow; how its user starts is not its business.
        permissions = reading.values.get("permissions")
        if isinstance(permissions, dict):
            permissions.pop("defaultMode", None)
        _take(found, faults, reading, None)
    for path in managed_paths(folder):
        reading = read_settings(path)
        if reading.fault is not None:
            raise SettingsError(f"{reading.fault}; managed settings have to be mended or removed")
        _take(found, faults, reading, path)
    return found, faults


def _take(found: list[SettingsFile], faults: list[Fault], reading: Reading, path: Path | None) -> None:
    file, wrong = checked("policySettings", reading, None, path, keep_rest=True)
    faults += wrong
    if file is not None and file.values:
        found.append(file)
