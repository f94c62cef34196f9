"""Variables of the environment that switch something on."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["is_on"]


def is_on(environment: Mapping[str, str], name: str) -> bool:
    """Whether a switch of the environment is on."""
    return environment.get(name, "").strip().lower() in {"1", "true", "yes", "on"}
