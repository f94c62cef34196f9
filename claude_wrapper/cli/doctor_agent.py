"""Looks for the agent as a run would, says where else one is, and shakes hands with it."""

from __future__ import annotations

import logging
import platform
import shutil
import sys
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import anyio
import msgspec

import claude_wrapper
from claude_wrapper.client import ClaudeSDKClient
from claude_wrapper.conversation.agent_version import agent_version, mismatch
from claude_wrapper.errors import ClaudeSDKError
from claude_wrapper.options import ClaudeAgentOptions
from claude_wrapper.spawn.locate import AgentProgram, Place, bundled_path, search

from .finding import Finding

__all__ = ["Handshake", "agent", "library", "others", "places", "shake_hands"]

_PATIENCE = 30.0
_KNOWN_NAMES = ("claude-agent", "claude")


def library() -> Finding:
    """The version of this package, and whether there is more than one of it."""
    version = claude_wrapper.__version__
    place = str(Path(claude_wrapper.__file__).parent)
    installed = _installations()
    details: dict[str, Any] = {
        "version": version,
        "path": place,
        "python": platform.python_version(),
        "executable": sys.executable,
        "platform": platform.platform(),
        "installed": installed,
    }
    text = f"claude-wrapper {version}, Python {platform.python_version()}, {platform.platform()}"
    different = sorted({each["version"] for each in installed} - {version})
    if different:
        return Finding(
            "library",
            "warning",
            f"{text}; {', '.join(different)} is installed as well, see `installed`",
            details,
        )
    if len(installed) > 1:
        return Finding("library", "warning", f"{text}; installed more than once, {place} is used", details)
    return Finding("library", "ok", f"{text}, in {place}", details)


def _installations() -> list[dict[str, str]]:
    found = {}
    for each in metadata.distributions(name="claude-wrapper"):
        found[str(Path(str(each.locate_file(""))).resolve())] = each.version
    return [{"path": path, "version": version} for path, version in found.items()]


def places(cli_path: str | None) -> list[Place]:
    """Every place that is searched, in order."""
    return list(search(cli_path))


def agent(searched: list[Place]) -> tuple[Finding, AgentProgram | None]:
    """The agent that a run would start, and why that one."""
    details: dict[str, Any] = {"searched": [{"place": each.name, "found": each.finding} for each in searched]}
    for place in searched:
        if place.error is not None:
            return Finding("agent", "fault", str(place.error), details), None
        if place.program is not None:
            details |= {"command": place.program.argv, "source": place.program.source}
            why = f"from {place.name}, the first place that has one"
            return Finding("agent", "ok", f"{' '.join(place.program.argv)}, {why}", details), place.program
    text = "there is none: install a wheel for this platform or claude-wrapper[agent], or name one"
    return Finding("agent", "fault", text, details), None


def others(chosen: AgentProgram | None) -> Iterator[Finding]:
    """Agents that lie about and are not used, since nothing named them."""
    for name in _KNOWN_NAMES:
        found = shutil.which(name)
        if found is not None and not (chosen and Path(chosen.argv[0]).resolve() == Path(found).resolve()):
            text = f"{found} is on PATH and not used; name it with cli_path or CLAUDE_WRAPPER_AGENT to use it"
            yield Finding(f"other: {name}", "note", text, {"path": found})
    manifest = bundled_path().with_name("manifest.json")
    if manifest.is_file():
        yield _bundle(manifest)


def _bundle(manifest: Path) -> Finding:
    try:
        bundle = msgspec.json.decode(manifest.read_bytes(), type=dict[str, Any])
    except (OSError, msgspec.DecodeError) as error:
        return Finding("bundle", "warning", f"{manifest} cannot be read: {error}; install the wheel again")
    fields = {name: bundle.get(name) for name in ("version", "protocol", "tag", "components")}
    text = f"version {bundle.get('version')}, built for {bundle.get('tag')}"
    return Finding("bundle", "ok", text, fields)


class Handshake:
    """How the agent answered."""

    def __init__(self, finding: Finding, info: dict[str, Any]) -> None:
        self.finding = finding
        self.info = info


def shake_hands(cli_path: str | None) -> Handshake:
    """Start the agent, let it answer the first request, and end it."""
    # What is logged on the way stands in the findings.
    logging.getLogger("claude_wrapper").addHandler(logging.NullHandler())
    started = time.monotonic()
    try:
        info = anyio.run(_handshake, cli_path)
    except (ClaudeSDKError, OSError) as error:
        return Handshake(Finding("handshake", "fault", str(error), {"seconds": _since(started)}), {})
    own = agent_version(info)
    version = info.get("claude_code_version")
    details = {
        "seconds": _since(started),
        "protocol": version,
        "agent_version": own,
        "capabilities": info.get("capabilities") or [],
        "library_version": claude_wrapper.__version__,
    }
    who = f"claude-wrapper {own}, which speaks as {version}" if own else f"version {version}"
    if text := mismatch(info):
        return Handshake(Finding("handshake", "warning", text, details), info)
    return Handshake(
        Finding("handshake", "ok", f"answered in {details['seconds']:.2f} s: {who}", details), info
    )


async def _handshake(cli_path: str | None) -> dict[str, Any]:
    options = ClaudeAgentOptions(cli_path=cli_path, initialize_timeout=_PATIENCE, close_timeout=5.0)
    client = ClaudeSDKClient(options)
    await client.connect()
    try:
        return dict(await client.get_server_info() or {})
    finally:
        await client.disconnect()


def _since(started: float) -> float:
    return round(time.monotonic() - started, 3)
