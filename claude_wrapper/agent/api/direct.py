"""The Messages API itself, or a gateway that speaks it: keys, tokens, and the command that gives keys."""

from __future__ import annotations

from msgspec.structs import replace

from .api_error import not_logged_in
from .endpoint import Endpoint
from .key_helper import KeyHelper
from .outgoing import Outgoing
from .request import ModelRequest, encode_body, request_headers

__all__ = ["Direct"]


class Direct:
    """Sends requests as they are."""

    def __init__(self, endpoint: Endpoint, helper: KeyHelper | None = None) -> None:
        self.endpoint = endpoint
        self._helper = helper

    def check(self) -> None:
        """Raise ApiError if no request could be sent, before anything is."""
        self.endpoint.check_address()
        if self._helper is None and not self.endpoint.has_credentials:
            raise not_logged_in()
        self.endpoint.check_headers()

    async def outgoing(self, request: ModelRequest, *, stream: bool) -> Outgoing:
        """Make a request ready to be sent."""
        endpoint = self.endpoint
        if self._helper is not None:
            key = await self._helper.key()
            endpoint = replace(
                endpoint, api_key=endpoint.api_key or key, auth_token=endpoint.auth_token or key
            )
            endpoint.check_headers()
        headers = endpoint.headers() + request_headers(request, endpoint.betas)
        return Outgoing(endpoint.url, headers, encode_body(request, stream=stream))

    def forget(self) -> bool:
        """Ask the helper anew."""
        if self._helper is None:
            return False
        self._helper.forget()
        return True

    def use_helper(self, command: str) -> None:
        """Get keys by another command."""
        if self._helper is not None:
            self._helper.use(command)

    def redact(self, text: str) -> str:
        """Take every credential out of a text."""
        text = self.endpoint.redact(text)
        key = self._helper.last if self._helper is not None else None
        return text.replace(key, "[redacted]") if key else text
