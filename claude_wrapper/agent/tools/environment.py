"""The environment that child processes of tools get: the user's, without what is nobody's business there."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping

__all__ = ["child_environment", "without_secrets"]

_SECRETS = re.compile(
    r"ANTHROPIC_(?:API_KEY|AUTH_TOKEN|CUSTOM_HEADERS|FOUNDRY_API_KEY|FOUNDRY_AUTH_TOKEN)"
    r"|AWS_BEARER_TOKEN_BEDROCK"
    r"|CLAUDE_CODE_(?:OAUTH_.*|API_KEY_FILE_DESCRIPTOR|CLIENT_KEY.*|MESSAGING_TOKEN|SESSION_ACCESS_TOKEN)"
    r"|CLAUDE_TRUSTED_DEVICE_TOKEN"
    r"|OTEL_.*"
)
"""Keys of the model's API and of telemetry; a command that needs one is given it by the user, not by us."""
_CLOUD_SECRETS = re.compile(
    r"AWS_(?:SECRET_ACCESS_KEY|SESSION_TOKEN|ACCESS_KEY_ID)"
    r"|AZURE_CLIENT_(?:SECRET|CERTIFICATE_PATH|CERTIFICATE_PASSWORD)"
    r"|GOOGLE_APPLICATION_CREDENTIALS"
    r"|(?:.*_)?(?:API_KEY|ACCESS_TOKEN|AUTH_TOKEN|SECRET|SECRET_KEY|PASSWORD)"
    r"|G(?:H|ITHUB|ITLAB)_TOKEN|NPM_TOKEN"
)
"""Taken away as well when the user asks for it: builds and deployments often need these."""


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without keys of the model's API; without all credentials if it asks to be scrubbed."""
    scrub_all = environment.get("CLAUDE_CODE_SUBPROCESS_ENV_SCRUB") in ("1", "true")
    return {
        name: value
        for name, value in environment.items()
        if not _SECRETS.fullmatch(name) and not (scrub_all and _CLOUD_SECRETS.fullmatch(name))
    }


def child_environment(environment: Mapping[str, str], session_id: str) -> dict[str, str]:
    """What a command sees: scrubbed, and told that an agent runs it."""
    return {
        **_as_the_user_had_it(without_secrets(environment)),
        "CLAUDECODE": "1",
        "CLAUDE_CODE_CHILD_SESSION": "1",
        "CLAUDE_CODE_SESSION_ID": session_id,
        "GIT_EDITOR": "true",  # an editor would wait for a person who is not there
    }


def _as_the_user_had_it(environment: dict[str, str]) -> dict[str, str]:
    """Without what the loader of a frozen agent sets for itself, which would break other programs."""
    for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"):
        original = environment.pop(f"{name}_ORIG", None)
        if original is not None:
            environment[name] = original
        elif getattr(sys, "frozen", False):
            environment.pop(name, None)
    return {name: value for name, value in environment.items() if not name.startswith(("_PYI_", "_MEIPASS"))}
