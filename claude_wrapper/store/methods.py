"""Asking a session store, which may be any object, which of the optional methods it has."""

from __future__ import annotations

from typing import Any

__all__ = ["implements"]


def implements(store: Any, name: str) -> bool:
    """Whether a store has a method of its own, not the protocol's that only says that there is none."""
    method = getattr(store, name, None)
    function = getattr(method, "__func__", method)
    return callable(method) and not getattr(function, "__qualname__", "").startswith("SessionStore.")
