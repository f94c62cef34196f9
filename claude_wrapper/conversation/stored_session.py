"""Going on with a session that is in a session store: puts it where the agent will look for it."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import os
from collections.abc import Awaitable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import msgspec

from claude_wrapper.errors import SessionStoreError
from claude_wrapper.options import ClaudeAgentOptions
from claude_wrapper.spawn.environment import build_environment
from claude_wrapper.spawn.private_files import PrivateFile, PrivateFolder
from claude_wrapper.store.methods import implements
from claude_wrapper.store.paths import config_dir, is_session_id, project_dir
from claude_wrapper.store.subagents import METADATA_TYPE, is_safe_subpath
from claude_wrapper.store.summary import SUMMARY_READER
from claude_wrapper.wire.codec import encode_line

__all__ = ["restore"]

logger = logging.getLogger("claude_wrapper.conversation")

T = TypeVar("T")

_CONFIG = "config"
_FIXED_NAME = "CLAUDE_CODE_PROJECT_DIR_NAME"


async def restore(options: ClaudeAgentOptions, folder: PrivateFolder) -> ClaudeAgentOptions:
    """Write the session that is to be resumed or continued into `folder`; return the options that use it.

    Where the store has no such session the options stay as they are: the agent may have it. Raises
    SessionStoreError when the store fails or takes longer than `load_timeout_ms` for a call.
    """
    store = options.session_store
    if store is None or not (options.resume or options.continue_conversation):
        return options
    environ = build_environment(options, os.environ)
    loader = _Loader(store, options, project_dir(environ, os.fspath(options.cwd or ".")).name)
    session_id, entries = await loader.find()
    if session_id is None:
        return options
    transcripts = {"": entries, **await loader.subagents(session_id)}
    place = folder.path / _CONFIG
    env = {**options.env, "CLAUDE_CONFIG_DIR": str(place)}
    if environ.get(_FIXED_NAME) and not environ.get("CLAUDE_CONFIG_DIR"):
        # It had no effect so far, and would have one from now on.
        env[_FIXED_NAME] = ""
    prefix = f"{_CONFIG}/projects/{loader.project_key}/{session_id}"
    try:
        files = [*_session_files(prefix, transcripts), *_config_files(environ)]
        await anyio.to_thread.run_sync(_write, folder, files)
    except (OSError, TypeError, ValueError) as error:
        raise SessionStoreError(
            f"Session {session_id} could not be written for the agent: {error}"
        ) from error
    return dataclasses.replace(options, env=env, resume=session_id, continue_conversation=False)


class _Loader:
    """Asks the store, within the time that is left to each call."""

    def __init__(self, store: Any, options: ClaudeAgentOptions, project_key: str) -> None:
        self.project_key = project_key
        self._store = store
        self._resume = options.resume
        self._milliseconds = options.load_timeout_ms

    async def find(self) -> tuple[str | None, list[Any]]:
        """Return the session that is wanted, and its entries."""
        if self._resume:
            entries = await self._load(self._resume) if is_session_id(self._resume) else []
            return (self._resume if entries else None), entries
        sessions = await self._asked("list_sessions()", self._store.list_sessions(self.project_key))
        for session in sorted(sessions, key=lambda session: session["mtime"], reverse=True):
            entries = await self._load(session["session_id"])
            if _is_conversation(entries):
                return session["session_id"], entries
        return None, []

    async def subagents(self, session_id: str) -> dict[str, list[Any]]:
        """Return the further transcripts of a session by their subpaths."""
        if not implements(self._store, "list_subkeys"):
            return {}
        key = {"project_key": self.project_key, "session_id": session_id}
        subpaths = await self._asked("list_subkeys()", self._store.list_subkeys(key))
        found: dict[str, list[Any]] = {}
        for subpath in subpaths:
            name = str(PurePosixPath(subpath))
            if not is_safe_subpath(subpath):
                logger.warning("the session store names a transcript outside its session: %r", subpath)
            elif name not in found:
                found[name] = await self._load(session_id, subpath)
        return found

    async def _load(self, session_id: str, subpath: str | None = None) -> list[Any]:
        key = {"project_key": self.project_key, "session_id": session_id}
        if subpath is not None:
            key["subpath"] = subpath
        return await self._asked(f"load() of session {session_id}", self._store.load(key)) or []

    async def _asked(self, what: str, call: Awaitable[T]) -> T:
        try:
            with anyio.fail_after(self._milliseconds / 1000):
                return await call
        except (TimeoutError, asyncio.TimeoutError) as error:
            raise SessionStoreError(
                f"{what} of the session store took longer than {self._milliseconds} ms"
            ) from error
        except Exception as error:
            raise SessionStoreError(f"{what} of the session store failed: {error}") from error


def _is_conversation(entries: list[Any]) -> bool:
    read = [entry for entry in map(SUMMARY_READER.entry, entries) if entry is not None]
    spoken = any(entry.type in {"user", "assistant"} for entry in read)
    return spoken and not read[0].is_sidechain


def _session_files(prefix: str, transcripts: dict[str, list[Any]]) -> Iterator[PrivateFile]:
    for subpath, entries in transcripts.items():
        stem = f"{prefix}/{subpath}" if subpath else prefix
        lines = [entry for entry in entries if not _is_metadata(entry)]
        yield PrivateFile(f"{stem}.jsonl", b"".join(map(encode_line, lines)))
        for metadata in list(filter(_is_metadata, entries))[-1:]:
            content = {name: value for name, value in metadata.items() if name != "type"}
            yield PrivateFile(f"{stem}.meta.json", encode_line(content))


def _is_metadata(entry: Any) -> bool:
    return isinstance(entry, dict) and entry.get("type") == METADATA_TYPE


def _config_files(environ: Mapping[str, str]) -> Iterator[PrivateFile]:
    """Give the files without which the agent would not be logged in, or set up as it was."""
    config = config_dir(environ)
    beside = config if environ.get("CLAUDE_CONFIG_DIR") else config.parent
    for path in (beside / ".claude.json", config / "settings.json"):
        content = _content(path)
        if content is not None:
            yield PrivateFile(f"{_CONFIG}/{path.name}", content)
    credentials = _content(config / ".credentials.json")
    if credentials is not None:
        yield PrivateFile(f"{_CONFIG}/.credentials.json", _without_refresh(credentials))


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _without_refresh(credentials: bytes) -> bytes:
    """Take out what can be used once: the agent would keep its successor in a folder that is removed."""
    try:
        content = msgspec.json.decode(credentials, type=dict[str, Any])
    except msgspec.DecodeError:
        return credentials
    login = content.get("claudeAiOauth")
    if isinstance(login, dict):
        content["claudeAiOauth"] = {name: value for name, value in login.items() if name != "refreshToken"}
    return msgspec.json.encode(content)


def _write(folder: PrivateFolder, files: list[PrivateFile]) -> None:
    for file in files:
        folder.write(file)
