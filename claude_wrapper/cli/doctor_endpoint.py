"""Looks whether the API can be asked: who pays, without showing a key, and whether the address answers."""

from __future__ import annotations

import os
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from .finding import Finding

__all__ = ["base_url", "credentials"]

_DEFAULT_URL = "https://api.anthropic.com"
_PATIENCE = 8.0
_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
_HEADER_NAMES = ("authorization:", "x-api-key:")


def credentials(environ: Mapping[str, str], info: Mapping[str, Any]) -> Finding:
    """Whether requests would carry anything that says who sends them; only where from, never what."""
    found = [name for name in _KEYS if environ.get(name, "").strip()]
    headers = environ.get("ANTHROPIC_CUSTOM_HEADERS", "").lower()
    if any(line.strip().startswith(_HEADER_NAMES) for line in headers.splitlines()):
        found.append("ANTHROPIC_CUSTOM_HEADERS")
    account = info.get("account") or {}
    told = {str(account.get(name)) for name in ("apiKeySource", "tokenSource") if account.get(name)} - {
        "none"
    }
    details: dict[str, Any] = {"variables": found, "agent_says": sorted(told)}
    if found:
        return Finding("key", "ok", f"{', '.join(found)} is set", details)
    if told:
        return Finding("key", "ok", f"the agent has one from {', '.join(sorted(told))}", details)
    return Finding("key", "fault", "there is none: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN", details)


def base_url(environ: Mapping[str, str]) -> Finding:
    """Whether something answers at the address; what it answers does not matter, and no key is sent."""
    url = environ.get("ANTHROPIC_BASE_URL", "").strip().rstrip("/") or _DEFAULT_URL
    details: dict[str, Any] = {"url": _shown(url), "proxy": _proxy(url)}
    if urlsplit(url).scheme not in {"http", "https"} or not urlsplit(url).hostname:
        return Finding("base URL", "fault", f"{_shown(url)} is no http or https address", details)
    via = f" through the proxy {details['proxy']}" if details["proxy"] else ""
    try:
        status = _status(url)
    except (OSError, ValueError, ssl.SSLError) as error:
        reason = getattr(error, "reason", None) or error
        return Finding("base URL", "fault", f"{_shown(url)} cannot be reached{via}: {reason}", details)
    details["status"] = status
    return Finding("base URL", "ok", f"{_shown(url)} answers{via}", details)


def _status(url: str) -> int:
    request = urllib.request.Request(_without_user(url) + "/", method="HEAD")  # noqa: S310  # checked above
    context = ssl.create_default_context()
    extra = os.environ.get("NODE_EXTRA_CA_CERTS")
    if extra and os.path.isfile(extra):  # noqa: PTH113  # as the agent does
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
