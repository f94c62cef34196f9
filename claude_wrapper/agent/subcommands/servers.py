"""`mcp add`, `list`, `get`, `remove` and their like: the MCP servers that a user keeps."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .health import told_health
from .server_config import check_name, config_from_json, headers_of, transport_of, variables_of
from .server_scopes import SCOPES, KeptServer, ServerScopes
from .words import Option, Shape, Words, WordsError, nearest

__all__ = ["SERVER_COMMANDS", "ServerCommands"]

_SCOPE = Option("-s --scope", "scope", "value", "where it is kept: local, user or project")

SERVER_COMMANDS = {
    "add": Shape(
        "Keep an MCP server. A command that has options of its own stands behind `--`.",
        (
            _SCOPE,
            Option("-t --transport", "transport", "value", "how it is reached: stdio, sse or http"),
            Option("-e --env", "env", "many", "variables for the program: NAME=value"),
            Option("-H --header", "header", "many", "headers of requests: 'Name: value'"),
        ),
        ("name", "commandOrUrl"),
        rest="args",
    ),
    "add-json": Shape(
        "Keep an MCP server that is written as JSON; `-` reads it from stdin.", (_SCOPE,), ("name", "json")
    ),
    "list": Shape("List the MCP servers and whether they answer."),
    "get": Shape("Show one MCP server and whether it answers.", (), ("name",)),
    "remove": Shape("Forget an MCP server.", (_SCOPE,), ("name",)),
    "reset-project-choices": Shape("Forget which servers of .mcp.json were approved or rejected."),
}


class ServerCommands:
    """Carries them out; each returns an exit code and raises WordsError or SettingsNotWrittenError."""

    def __init__(self, environ: Mapping[str, str], cwd: Path) -> None:
        self._environ = environ
        self._cwd = cwd
        self._scopes = ServerScopes(environ, cwd)

    def run(self, name: str, words: Words) -> int:
        """Carry one out."""
        commands: dict[str, Callable[[Words], int]] = {
            "add": self._add,
            "add-json": self._add_json,
            "list": self._list,
            "get": self._get,
            "remove": self._remove,
            "reset-project-choices": self._reset,
        }
        return commands[name](words)

    def _add(self, words: Words) -> int:
        name, target, *arguments = words.arguments
        scope, kind = _scope(words), transport_of(words.values.get("transport"))
        check_name(name)
        if kind == "stdio":
            variables = variables_of(words.lists.get("env", []))
            config: dict[str, Any] = {"type": kind, "command": target, "args": arguments, "env": variables}
            shown = f"command: {' '.join([target, *arguments])}"
        else:
            headers = headers_of(words.lists.get("header", []))
            config = {"type": kind, "url": target, **({"headers": headers} if headers else {})}
            shown = f"URL: {target}"
        self._put(scope, name, config)
        _say(f"Added {_kind(kind)} MCP server {name} with {shown} to {scope} config")
        self._say_place(scope)
        if kind == "stdio" and target.startswith(("http://", "https://")):
            _complain(
                f'Warning: "{target}" looks like a URL, and is kept as a command, for --transport was not given.'
            )
        return 0

    def _add_json(self, words: Words) -> int:
        name, text = words.arguments
        scope = _scope(words)
        check_name(name)
        config = config_from_json(sys.stdin.read() if text == "-" else text)
        self._put(scope, name, config)
        _say(f"Added {config.get('type', 'stdio')} MCP server {name} to {scope} config")
        return 0

    def _put(self, scope: str, name: str, config: dict[str, Any]) -> None:
        if name in self._scopes.servers(scope):
            raise WordsError(f"MCP server {name} already exists in {scope} config")
        self._scopes.put(scope, name, config)

    def _list(self, _: Words) -> int:
        servers = self._scopes.all()
        if not servers:
            _say("No MCP servers configured. `mcp add` adds one.")
            return 0
        for server in servers.values():
            _say(f"{server.name}: {_target(server)} - {self._health(server)}")
        return 0

    def _get(self, words: Words) -> int:
        server = self._scopes.all().get(words.arguments[0])
        if server is None:
            raise self._unknown(words.arguments[0])
        config = server.config
        lines = [
            f"{server.name}:",
            f"  Scope: {self._scopes.about(server.scope)}",
            f"  Status: {self._health(server)}",
            f"  Type: {server.kind}",
        ]
        if server.kind == "stdio":
            lines += [f"  Command: {config.get('command')}", f"  Args: {' '.join(config.get('args') or [])}"]
            # What the variables and headers hold may be secret.
            lines += [f"  Environment: {', '.join(config.get('env') or {})}".rstrip()]
        else:
            lines += [f"  URL: {config.get('url')}"]
            lines += [f"  Headers: {', '.join(config['headers'])}"] if config.get("headers") else []
        _say("\n".join([*lines, "", f"To remove it: mcp remove {server.name} -s {server.scope}"]))
        return 0

    def _remove(self, words: Words) -> int:
        name = words.arguments[0]
        holding = self._scopes.holding(name)
        if "scope" in words.values:
            scope = _scope(words)
            if scope not in holding:
                raise WordsError(f'No MCP server named "{name}" in {self._scopes.place(scope)}')
        elif not holding:
            raise self._unknown(name)
        elif len(holding) > 1:
            places = [f"  - {each}: {self._scopes.place(each)}" for each in holding]
            ways = [f"  mcp remove {name} -s {each}" for each in holding]
            raise WordsError(
                "\n".join(
                    [f'MCP server "{name}" exists in several scopes:', *places, "Say from which:", *ways]
                )
            )
        else:
            scope = holding[0]
        self._scopes.remove(scope, name)
        _say(f"Removed MCP server {name} from {scope} config")
        self._say_place(scope)
        return 0

    def _reset(self, _: Words) -> int:
        self._scopes.forget_choices()
        _say("The approvals and rejections of this folder's .mcp.json servers are forgotten.")
        return 0

    def _health(self, server: KeptServer) -> str:
        if server.scope == "project" and server.name not in self._scopes.approved():
            return "⏸ Pending approval"  # a folder's file may name any program
        return told_health(server.config, self._environ, self._cwd)

    def _unknown(self, name: str) -> WordsError:
        meant = nearest(name, list(self._scopes.all()))
        return WordsError(
            f'No MCP server named "{name}".'
            + (f' Did you mean "{meant}"?' if meant else "")
            + " See `mcp list`."
        )

    def _say_place(self, scope: str) -> None:
        _say(f"File modified: {self._scopes.place(scope)}")


def _scope(words: Words) -> str:
    scope = words.values.get("scope", "local")
    if scope not in SCOPES:
        raise WordsError(f"Invalid scope: {scope}. It is one of: {', '.join(SCOPES)}.")
    return scope


def _kind(kind: str) -> str:
    return kind if kind == "stdio" else kind.upper()


def _target(server: KeptServer) -> str:
    if server.kind != "stdio":
        return f"{server.config.get('url')} ({server.kind.upper()})"
    return " ".join([str(server.config.get("command")), *map(str, server.config.get("args") or [])])


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")


def _complain(text: str) -> None:
    sys.stderr.write(text + "\n")
