"""What the configuration of an MCP server has to hold, wherever it is written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["complaint", "filled_in", "needed_field", "parts_complaint", "with_usual_kind"]

_NEEDS = {"stdio": "command", "sse": "url", "http": "url", "streamable-http": "url", "ws": "url"}
_RESERVED = frozenset({"workspace", "claude-in-chrome", "computer-use"})
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_FILLED = ("command", "args", "env", "url", "headers")


def needed_field(kind: Any) -> str | None:
    """The field without which a server of this kind cannot be reached; None for what is no kind."""
    return _NEEDS.get(kind) if isinstance(kind, str) else None


def parts_complaint(config: Mapping[str, Any], objects: Sequence[str]) -> str | None:
    """What is wrong with the arguments and with these fields, which hold texts by name; None if nothing is."""
    arguments = config.get("args", [])
    if not isinstance(arguments, list) or not all(isinstance(each, str) for each in arguments):
        return "args: a list of texts is needed"
    for name in objects:
        texts = config.get(name, {})
        if not isinstance(texts, dict) or not all(isinstance(each, str) for each in texts.values()):
            return f"{name}: an object of texts is needed"
    return None


def complaint(name: str, config: Any) -> dict[str, str] | None:
    """What is wrong with a server, as init frames tell it; None if nothing is."""
    if name in _RESERVED:
        return {
            "name": name,
            "type": "reserved_name",
            "message": f'Skipped — no MCP server may have the name "{name}"',
        }
    if not isinstance(config, dict):
        return _invalid(name, "it is no object")
    if "type" not in config and "url" in config and "command" not in config:
        message = (
            f'Skipped — MCP server "{name}" has a url, but does not say what `type` it is: http, sse or ws'
        )
        return {"name": name, "type": "url_missing_type", "message": message}
    kind = config.get("type", "stdio")
    needed = "name" if kind == "sdk" else needed_field(kind)
    if needed is None:
        message = f'Skipped — unknown MCP server type "{kind}" for server "{name}"'
        return {"name": name, "type": "unknown_type", "message": message}
    if kind != "sdk" and not isinstance(config.get(needed), str):
        return _invalid(name, f"{needed}: a text is needed")
    wrong = parts_complaint(config, ("env", "headers"))
    return None if wrong is None else _invalid(name, wrong)


def filled_in(config: Any, environ: Mapping[str, str]) -> Any:
    """A configuration with its variables filled in, and its kind by the usual name.

    `${NAME:-default}` falls back to the default; without one, a variable that is not set stays as it is written.
    """
    if not isinstance(config, dict):
        return config
    filled = {name: _filled(value, environ) if name in _FILLED else value for name, value in config.items()}
    return with_usual_kind(filled)


def with_usual_kind(config: dict[str, Any]) -> dict[str, Any]:
    """The configuration, its kind by the usual one of its names."""
    return {**config, "type": "http"} if config.get("type") == "streamable-http" else config


def _filled(value: Any, environ: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return _VARIABLE.sub(
            lambda found: environ.get(found[1], found[2] if found[2] is not None else found[0]), value
        )
    if isinstance(value, list):
        return [_filled(each, environ) for each in value]
    if isinstance(value, dict):
        return {name: _filled(each, environ) for name, each in value.items()}
    return value


def _invalid(name: str, why: str) -> dict[str, str]:
    message = f'Skipped — invalid MCP server config for "{name}": {why}'
    return {"name": name, "type": "invalid_config", "message": message}
