"""Whether the tool servers among the options are configured so that an agent can start or reach them.

Commands, addresses and headers may hold secrets: messages name places and types, never values.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from .option_shapes import given, refuse

__all__ = ["check_servers"]

_NEEDED = {"stdio": "command", "sse": "url", "http": "url", "ws": "url", "sdk": "instance"}
"""What a server of each kind cannot do without."""

_OPTION = "mcp_servers"


def check_servers(servers: Any) -> None:
    """Raise OptionsError for what is no configuration of servers."""
    if servers is None or isinstance(servers, os.PathLike):
        return
    if isinstance(servers, str):
        _check_text(servers)
    elif not isinstance(servers, Mapping):
        raise refuse(_OPTION, f"must be a dict, a path or JSON text, got a {type(servers).__name__}")
    elif servers.get("type") == "sdk" and "instance" in servers:
        raise refuse(_OPTION, "maps names to servers; give this one a name: {'NAME': server}")
    else:
        for name, config in servers.items():
            if not isinstance(name, str):
                raise refuse(_OPTION, f"maps names to servers, got {given(name)} as a name")
            _check_server(f"{_OPTION}[{name!r}]", config)


def _check_text(text: str) -> None:
    if not text.lstrip().startswith("{"):
        return
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        raise refuse(_OPTION, f"is no valid JSON text: {error}") from None


def _check_server(name: str, config: Any) -> None:
    if not isinstance(config, Mapping):
        hint = "; give what create_sdk_mcp_server() returned" if hasattr(config, "handle") else ""
        raise refuse(name, f"must be a dict, got a {type(config).__name__}{hint}")
    kind = config.get("type", "stdio")
    needed = _NEEDED.get(kind) if isinstance(kind, str) else None
    if needed is None:
        raise refuse(name, f"has the unknown type {given(kind)}; the types are {', '.join(_NEEDED)}")
    if not config.get(needed):
        raise refuse(name, f"is of the type {kind!r} and needs {needed!r}")
    for key, (problem_of, wanted) in _MEMBERS.items():
        problem = None if config.get(key) is None else problem_of(config[key])
        if problem is not None:
            raise refuse(f"{name}[{key!r}]", f"must be {wanted}, got {problem}")


def _is_text(value: Any) -> str | None:
    return None if isinstance(value, str) else f"a {type(value).__name__}"


def _are_texts(value: Any) -> str | None:
    if not isinstance(value, list | tuple):
        return f"a {type(value).__name__}"
    return next((f"a {type(item).__name__} in it" for item in value if not isinstance(item, str)), None)


def _map_texts(value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return f"a {type(value).__name__}"
    wrong = (
        (key, item) for key, item in value.items() if not (isinstance(key, str) and isinstance(item, str))
    )
    return next((f"a {type(item).__name__} for {key!r}" for key, item in wrong), None)


_MEMBERS: dict[str, tuple[Callable[[Any], str | None], str]] = {
    "command": (_is_text, "a string; its arguments stand in 'args'"),
    "url": (_is_text, "a string"),
    "args": (_are_texts, "a list of strings"),
    "env": (_map_texts, "a dict of strings"),
    "headers": (_map_texts, "a dict of strings"),
}
"""For each member, what says how a value is wrong, and what is wanted."""
