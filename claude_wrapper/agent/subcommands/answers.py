"""Subcommands that only tell something: `auth status`, `agents --json`, `doctor`, `plugin list`."""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from claude_wrapper.agent.api.endpoint import Endpoint
from claude_wrapper.agent.api.naming import provider_name
from claude_wrapper.agent.api.providers import key_source
from claude_wrapper.agent.config.merged import value_of
from claude_wrapper.agent.start.cli import Arguments
from claude_wrapper.agent.start.load_files import load_files
from claude_wrapper.agent.version import version_line
from claude_wrapper.store.paths import config_dir, projects_dir

from .words import Words

__all__ = ["auth_status", "doctor", "running_agents"]


def auth_status(words: Words, environ: Mapping[str, str], cwd: Path) -> int:
    """Tell by what requests will be signed; 1 where it is nothing."""
    files, _, _ = load_files(Arguments(), environ, cwd)
    helper = value_of(files, "apiKeyHelper")
    cloud = provider_name(environ)
    source = key_source(environ, helper if isinstance(helper, str) else None)
    cloudy = cloud != "firstParty"
    signed = cloudy or source != "none" or Endpoint.from_environment(environ).has_credentials
    base = environ.get("ANTHROPIC_BASE_URL")
    if "text" in words.switches:
        lines = [f"Provider: {cloud}" if cloudy else f"API key: {source}" if signed else "Not logged in."]
        _say("\n".join(lines + ([f"Anthropic base URL: {base}"] if base else [])))
        return 0 if signed else 1
    about: dict[str, Any] = {
        "loggedIn": signed,
        "authMethod": "third_party" if cloudy else _method(source, signed=signed),
        "apiProvider": cloud,
        "projectsDirectory": str(projects_dir(environ)),
        "configDirectory": str(config_dir(environ)),
    }
    if source != "none":
        about["apiKeySource"] = source
    _say_json(about)
    return 0 if signed else 1


def _method(source: str, *, signed: bool) -> str:
    if source == "none":
        return "oauth_token" if signed else "none"
    return "api_key_helper" if source == "apiKeyHelper" else "api_key"


def running_agents(_words: Words, _environ: Mapping[str, str], _cwd: Path) -> int:
    """List agents that run on their own: this one starts none."""
    _say_json([])
    return 0


def doctor(_words: Words, environ: Mapping[str, str], cwd: Path) -> int:
    """Tell what the agent is, what it finds, and what is wrong with its settings."""
    search = shutil.which("rg", path=environ.get("PATH"))
    files, warnings, notes = load_files(Arguments(), environ, cwd)
    lines = [
        "claude-agent doctor",
        "",
        f"Running: {version_line()}",
        f"Platform: {platform.system().lower()}-{platform.machine()}",
        f"Path: {sys.executable}",
        f"Search: {'OK (' + search + ')' if search else 'bundled'}",
        "Auto-updates: none; the agent comes with its Python package",
        f"Config directory: {config_dir(environ)}",
        *(f"Settings: {each.place}" for each in files),
        *(f"Warning: {each}" for each in [*warnings, *notes]),
    ]
    _say("\n".join(lines))
    return 0


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")


def _say_json(value: Any) -> None:
    _say(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())
