"""The value of the agent's `settings` flag: the user's settings with the sandbox merged in."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from claude_wrapper.errors import CLIConnectionError, OptionsError
from claude_wrapper.options import ClaudeAgentOptions

__all__ = ["is_json_text", "resolve_settings"]


def resolve_settings(options: ClaudeAgentOptions) -> str | None:
    """Return a settings file's path or JSON text, None without settings.

    A sandbox has to be written into the settings; only then is a settings file read, relative to
    the agent's working directory. Raises CLIConnectionError when that fails.
    """
    settings = os.fspath(options.settings) if options.settings else None
    if options.sandbox is None:
        return settings
    merged = {**_load(settings, options.cwd), "sandbox": options.sandbox}
    try:
        return msgspec.json.encode(merged).decode()
    except (TypeError, ValueError) as error:
        raise OptionsError(f"ClaudeAgentOptions.sandbox holds what JSON cannot: {error}") from error


def is_json_text(value: str) -> bool:
    """Tell JSON text from a path."""
    text = value.strip()
    return text.startswith("{") and text.endswith("}")


def _load(settings: str | None, cwd: str | os.PathLike[str] | None) -> dict[str, Any]:
    if settings is None:
        return {}
    try:
        text = settings.encode() if is_json_text(settings) else Path(cwd or "", settings).read_bytes()
        return msgspec.json.decode(text, type=dict[str, Any])
    except (OSError, UnicodeError, msgspec.MsgspecError) as error:
        raise CLIConnectionError(f"Failed to load settings: {error}") from error
