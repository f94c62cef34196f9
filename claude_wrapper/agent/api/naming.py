"""What the names that users choose stand for, which depends on the provider and on the environment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from .switches import is_on

__all__ = ["LONG", "ProviderName", "aws_region", "is_default", "meant", "provider_name", "regional"]

ProviderName = Literal["firstParty", "bedrock", "vertex", "foundry"]

LONG = re.compile(r"\[1m\]$", re.IGNORECASE)
"""What asks for the long window, behind a model's name."""

_CLOUDS: tuple[ProviderName, ...] = ("bedrock", "vertex", "foundry")
_REPLACED_BY = {"default": "OPUS", "best": "OPUS", "opusplan": "SONNET"}
_PROFILES = {"eu": "eu", "ap": "apac", "us": "us"}
_ELSEWHERE = "global"
_GOVERNMENT = "us-gov"


def provider_name(environment: Mapping[str, str]) -> ProviderName:
    """The provider that CLAUDE_CODE_USE_BEDROCK, _VERTEX or _FOUNDRY names, as results call it."""
    chosen = (cloud for cloud in _CLOUDS if is_on(environment, f"CLAUDE_CODE_USE_{cloud.upper()}"))
    return next(chosen, "firstParty")


def is_default(name: str | None) -> bool:
    """Whether no model was chosen."""
    return LONG.sub("", (name or "").strip()).lower() in {"", "default"}


def meant(
    name: str | None,
    aliases: Mapping[str, str],
    clouds: Mapping[str, Mapping[str, str]],
    environment: Mapping[str, str],
) -> str:
    """The full name of a model; `aliases` are those of the API itself, `clouds` where others differ.

    ANTHROPIC_DEFAULT_SONNET_MODEL and its like say what an alias stands for, themselves by name or alias.
    """
    given = (name or "").strip() or "default"
    alias = LONG.sub("", given).lower()
    if alias not in aliases:
        return given
    suffix = given[len(alias) :]
    replaced = _replacement(alias, environment)
    if replaced and LONG.sub("", replaced).lower() not in aliases:
        return replaced if LONG.search(replaced) else replaced + suffix
    if replaced:
        alias = LONG.sub("", replaced).lower()
    provider = provider_name(environment)
    full = clouds.get(provider, {}).get(alias, aliases[alias]) + suffix
    return regional(full, environment) if provider == "bedrock" else full


def regional(name: str, environment: Mapping[str, str]) -> str:
    """A model as Bedrock names it, by the profile of the region, unless the name says more already."""
    if name.startswith("arn:") or "anthropic." in name:
        return name
    return f"{_profile(aws_region(environment))}.anthropic.{name}"


def aws_region(environment: Mapping[str, str]) -> str:
    """The region of AWS that requests go to."""
    given = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
    return (given or "us-east-1").strip()


def _profile(region: str) -> str:
    if region.startswith(f"{_GOVERNMENT}-"):
        return _GOVERNMENT
    return _PROFILES.get(region[:2], _ELSEWHERE)


def _replacement(alias: str, environment: Mapping[str, str]) -> str:
    family = _REPLACED_BY.get(alias, alias.upper())
    return environment.get(f"ANTHROPIC_DEFAULT_{family}_MODEL", "").strip()
