"""Models at Microsoft Foundry: its addresses, keys and tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from .api_error import endpoint_error
from .cloud import in_thread, library
from .endpoint import Endpoint
from .outgoing import Outgoing
from .request import ModelRequest, encode_body, request_headers
from .switches import is_on

__all__ = ["Foundry"]

_SCOPE = "https://cognitiveservices.azure.com/.default"


class Foundry:
    """Asks with ANTHROPIC_FOUNDRY_API_KEY or else with the default credentials of Microsoft's library.

    CLAUDE_CODE_SKIP_FOUNDRY_AUTH leaves it to a gateway, named by ANTHROPIC_FOUNDRY_BASE_URL, to add them.
    """

    def __init__(self, endpoint: Endpoint, environment: Mapping[str, str]) -> None:
        key = environment.get("ANTHROPIC_FOUNDRY_API_KEY", "").strip() or None
        resource = environment.get("ANTHROPIC_FOUNDRY_RESOURCE", "").strip()
        base = environment.get("ANTHROPIC_FOUNDRY_BASE_URL", "").strip().rstrip("/")
        if not base and resource:
            base = f"https://{resource}.services.ai.azure.com/anthropic"
        self._asks = key is None and not is_on(environment, "CLAUDE_CODE_SKIP_FOUNDRY_AUTH")
        self._credentials: Any = None
        self._last: str | None = None
        self.endpoint = replace(endpoint, base_url=base, api_key=key, auth_token=None)

    def check(self) -> None:
        """Raise ApiError if no request could be sent, before anything is."""
        if not self.endpoint.base_url:
            raise endpoint_error(
                "Foundry needs a resource: set ANTHROPIC_FOUNDRY_RESOURCE or ANTHROPIC_FOUNDRY_BASE_URL"
            )
        self.endpoint.check_address()
        self.endpoint.check_headers()

    async def outgoing(self, request: ModelRequest, *, stream: bool) -> Outgoing:
        """Make a request ready to be sent."""
        endpoint = self.endpoint
        if self._asks:
            self._last = await in_thread("Azure", self._token)
            endpoint = replace(endpoint, auth_token=self._last)
        headers = endpoint.headers() + request_headers(request, endpoint.betas)
        return Outgoing(endpoint.url, headers, encode_body(request, stream=stream))

    def forget(self) -> bool:
        """Read the credentials anew."""
        had, self._credentials = self._credentials is not None, None
        return had

    def redact(self, text: str) -> str:
        """Take every credential out of a text."""
        text = text.replace(self._last, "[redacted]") if self._last else text
        return self.endpoint.redact(text)

    def _token(self) -> str:
        if self._credentials is None:
            self._credentials = library("azure.identity", "foundry").DefaultAzureCredential()
        # The library keeps tokens for as long as they are good.
        return str(self._credentials.get_token(_SCOPE).token)
