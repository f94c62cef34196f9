"""Hosts of web addresses, and the patterns that rules give for them."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from urllib.parse import urlsplit


def host_of(url: str) -> str | None:
    """The host that a fetch of this address would reach, in the form that rules are compared with."""
    if re.search(r"[\s\\\x00-\x1f]", url):
        return None
    try:
        host = urlsplit(url if "://" in url else f"https://{url}").hostname
    except ValueError:
        return None
    return _folded(host) if host else None


def host_matches(pattern: str, host: str | None) -> bool:
    """Whether a `domain:` rule speaks of the host."""
    pattern = _folded(pattern.strip())
    if host is None or not pattern:
        return False
    if pattern == "*":
        return True
    if pattern.startswith("*."):
        return host.count(".") >= pattern.count(".") and _is_like(pattern[2:], host)
    return pattern.count(".") == host.count(".") and _is_like(pattern, host)


def _is_like(pattern: str, host: str) -> bool:
    """Compare label by label from the right; a star stands for part of one label."""
    labels = zip(reversed(pattern.split(".")), reversed(host.split(".")), strict=False)
    return all(fnmatchcase(part, label.replace("[", "[[]").replace("?", "[?]")) for label, part in labels)


def _folded(host: str) -> str:
    return host.rstrip(".").casefold()
