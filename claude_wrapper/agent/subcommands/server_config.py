"""What an MCP server's configuration must hold, as command lines and files give it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from claude_wrapper.agent.mcp.server_shape import needed_field, parts_complaint

from .words import WordsError

__all__ = ["check_name", "config_complaint", "config_from_json", "headers_of", "transport_of", "variables_of"]

_NAME = re.compile(r"[A-Za-z0-9_-]+")
_RESERVED = frozenset({"workspace", "ide"})
_TRANSPORTS = {"stdio": "stdio", "sse": "sse", "http": "http", "streamable-http": "http"}


def check_name(name: str) -> None:
    """Raises WordsError for what is no server's name."""
    if not _NAME.fullmatch(name):
        raise WordsError(f"Invalid name {name}. Letters, digits, hyphens and underscores make a name.")
    if name in _RESERVED:
        raise WordsError(f'Cannot add MCP server "{name}": this name is reserved.')


def transport_of(text: str | None) -> str:
    """How a server is reached; raises WordsError."""
    found = _TRANSPORTS.get("stdio" if text is None else text)
    if found is None:
        raise WordsError(f"Invalid transport type: {text}. It is one of: stdio, sse, http.")
    return found


def variables_of(given: Sequence[str]) -> dict[str, str]:
    """Variables that are written `NAME=value`; raises WordsError."""
    found = {}
    for each in given:
        name, sign, value = each.partition("=")
        if not name or not sign:
            raise WordsError(f"Invalid environment variable: {each}. Write -e NAME=value.")
        found[name] = value
    return found


def headers_of(given: Sequence[str]) -> dict[str, str]:
    """Headers that are written `Name: value`; raises WordsError."""
    found = {}
    for each in given:
        name, sign, value = each.partition(":")
        if not name.strip() or not sign:
            raise WordsError(f'Invalid header format: "{each}". Write -H "Name: value".')
        found[name.strip()] = value.strip()
    return found


def config_complaint(config: dict[str, Any]) -> str | None:
    """What is wrong with a configuration; None if nothing is."""
    kind = config.get("type", "stdio")
    needed = needed_field(kind)
    if needed is None:
        return f"type: no kind of server is called {kind!r}"
    value = config.get(needed)
    if not isinstance(value, str) or not value:
        return f"{needed}: a text is needed"
    return parts_complaint(config, ("env", "headers"))


def config_from_json(text: str) -> dict[str, Any]:
    """A configuration that was given whole; raises WordsError."""
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise WordsError("Invalid configuration: it is no JSON object.")
    wrong = config_complaint(found)
    if wrong is not None:
        raise WordsError(f"Invalid configuration: {wrong}")
    return found
