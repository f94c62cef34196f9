"""What the configuration of an MCP server has to hold, wherever it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["needed_field", "parts_complaint"]

_NEEDS = {"stdio": "command", "sse": "url", "http": "url", "streamable-http": "url", "ws": "url"}


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
