"""Looks whether the API can be asked: who pays, without showing a key, and whether the address answers."""

from __future__ import annotations

import http.client
import os
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from .finding import Finding

__all__ = ["base_url", "credentials"]

_DEFAULT_URL = "https://api.anthropic.com"
_PATIENCE = 8.0
_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
_CLOUDS = {
    "CLAUDE_CODE_USE_BEDROCK": "AWS Bedrock",
    "CLAUDE_CODE_USE_VERTEX": "Google Vertex AI",
    "CLAUDE_CODE_USE_FOUNDRY": "Microsoft Foundry",
}
"""Variables that have models asked elsewhere, with keys and addresses of other kinds."""
_HEADER_NAMES = ("authorization:", "x-api-key:")


def credentials(environ: Mapping[str, str], info: Mapping[str, Any]) -> Finding:
    """Whether requests would carry anything that says who sends them; only where from, never what."""
    if variable := _cloud(environ):
        text = (
            f"{variable} is set: {_CLOUDS[variable]} asks for credentials of its own, which are not looked at"
        )
        return Finding("key", "note", text, {"variables": [variable]})
    found = [name for name in _KEYS if environ.get(name, "").strip()]
    headers = environ.get("ANTHROPIC_CUSTOM_HEADERS", "").lower()
    if any(line.strip().startswith(_HEADER_NAMES) for line in headers.splitlines()):
        found.append("ANTHROPIC_CUSTOM_HEADERS")
    account = info.get("account") or {}
    told = {str(account[name]) for name in ("apiKeySource", "tokenSource") if account.get(name)} - {"none"}
    details: dict[str, Any] = {"variables": found, "agent_says": sorted(told)}
    if found:
        return Finding("key", "ok", f"{', '.join(found)} is set", details)
    if told:
        return Finding("key", "ok", f"the agent has one from {', '.join(sorted(told))}", details)
    return Finding("key", "fault", "there is none: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN", details)


def base_url(environ: Mapping[str, str]) -> Finding:
    """Whether something answers at the address; what it answers does not matter, and no key is sent."""
    if variable := _cloud(environ):
        return Finding("base URL", "note", f"not tried: requests go to {_CLOUDS[variable]}", {})
    url = environ.get("ANTHROPIC_BASE_URL", "").strip().rstrip("/") or _DEFAULT_URL
    if not _is_web_address(url):
        shown = _shown(url)
        return Finding("base URL", "fault", f"{shown} is no http or https address", {"url": shown})
    details: dict[str, Any] = {"url": _shown(url), "proxy": _proxy(url)}
    via = f" through the proxy {details['proxy']}" if details["proxy"] else ""
    try:
        status = _status(url)
    except http.client.HTTPException as error:
        text = f"{_shown(url)} does not answer as web servers do{via}: {type(error).__name__}"
        return Finding("base URL", "fault", text, details)
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        return Finding("base URL", "fault", f"{_shown(url)} cannot be reached{via}: {reason}", details)
    details["status"] = status
    return Finding("base URL", "ok", f"{_shown(url)} answers{via}", details)


def _cloud(environ: Mapping[str, str]) -> str | None:
    """The variable that has models asked at a cloud, read as the agent reads it."""
    return next(
        (name for name in _CLOUDS if environ.get(name, "").strip().lower() in {"1", "true", "yes", "on"}),
        None,
    )


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        # Read for its error: the port may be no number.
        _ = parts.port
    except ValueError:
        return False
    has_gap = any(letter.isspace() or not letter.isprintable() for letter in parts.netloc)
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and not has_gap


def _status(url: str) -> int:
    request = urllib.request.Request(_without_user(url) + "/", method="HEAD")  # noqa: S310  # checked above
    context = ssl.create_default_context()
    extra = os.environ.get("NODE_EXTRA_CA_CERTS")
    if extra and Path(extra).is_file():
        context.load_verify_locations(extra)
    opener = urllib.request.build_opener(_NoRedirect(), urllib.request.HTTPSHandler(context=context))
    try:
        with opener.open(request, timeout=_PATIENCE) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as answer:
        with answer:
            return answer.code


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Takes an answer that leads elsewhere for the answer."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _proxy(url: str) -> str | None:
    host = urlsplit(url).hostname or ""
    if urllib.request.proxy_bypass(host):
        return None
    proxy = urllib.request.getproxies().get(urlsplit(url).scheme)
    return _shown(proxy) if proxy else None


def _without_user(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl().rstrip("/")


def _shown(url: str) -> str:
    """The address without what may be secret in it."""
    try:
        return _without_user(url)
    except ValueError:
        return "the base URL"
