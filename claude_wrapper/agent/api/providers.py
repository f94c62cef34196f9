"""Which provider the environment names; those in clouds are imported only then."""

from __future__ import annotations

from collections.abc import Mapping

from .direct import Direct
from .endpoint import Endpoint
from .key_helper import KeyHelper
from .naming import provider_name
from .outgoing import Provider

__all__ = ["key_source", "provider_of"]


def provider_of(
    environment: Mapping[str, str], *, user_agent: str = "claude-wrapper", key_helper: str | None = None
) -> Provider:
    """The provider for CLAUDE_CODE_USE_BEDROCK, _VERTEX or _FOUNDRY; without one the API itself."""
    endpoint = Endpoint.from_environment(environment, user_agent=user_agent)
    cloud = provider_name(environment)
    if cloud == "bedrock":
        from .bedrock import Bedrock  # noqa: PLC0415  # start-up: hardly any run needs it

        return Bedrock(endpoint, environment)
    if cloud == "vertex":
        from .vertex import Vertex  # noqa: PLC0415  # start-up, as above

        return Vertex(endpoint, environment)
    if cloud == "foundry":
        from .foundry import Foundry  # noqa: PLC0415  # start-up, as above

        return Foundry(endpoint, environment)
    return Direct(endpoint, KeyHelper(key_helper, environment) if key_helper else None)


def key_source(environment: Mapping[str, str], key_helper: str | None) -> str:
    """Where the key comes from, in the words of the init frame (`apiKeySource`)."""
    source = Endpoint.from_environment(environment).key_source
    return "apiKeyHelper" if source == "none" and key_helper else source
