"""Where requests go and who sends them: the address and the credentials, from the environment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

import msgspec

from .api_error import ApiError, endpoint_error

__all__ = ["DEFAULT_BASE_URL", "Endpoint"]

DEFAULT_BASE_URL = "https://api.anthropic.com"

_API_VERSION = "2023-06-01"
_FORBIDDEN = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_SHORTEST_SECRET = 6


class Endpoint(msgspec.Struct, frozen=True):
    """The address of the API and the headers that every request carries.

    Keys stay out of `repr()`, and `redact()` takes them out of any text that came from the
    server.
    """

    base_url: str = DEFAULT_BASE_URL
    api_key: str | None = None
    auth_token: str | None = None
    custom_headers: tuple[tuple[str, str], ...] = ()
    betas: tuple[str, ...] = ()
    user_agent: str = "claude-wrapper"

    def __repr__(self) -> str:
        return f"Endpoint(host={self.host!r}, key_source={self.key_source!r})"

    @staticmethod
    def from_environment(environment: Mapping[str, str], *, user_agent: str = "claude-wrapper") -> Endpoint:
        """Read ANTHROPIC_BASE_URL, _API_KEY, _AUTH_TOKEN, _CUSTOM_HEADERS and _BETAS."""

        def read(name: str) -> str:
            return environment.get(name, "").strip()

        betas = [beta.strip() for beta in read("ANTHROPIC_BETAS").split(",")]
        return Endpoint(
            base_url=read("ANTHROPIC_BASE_URL").rstrip("/") or DEFAULT_BASE_URL,
            api_key=read("ANTHROPIC_API_KEY") or None,
            auth_token=read("ANTHROPIC_AUTH_TOKEN") or None,
            custom_headers=tuple(_parse_headers(read("ANTHROPIC_CUSTOM_HEADERS"))),
            betas=tuple(beta for beta in betas if beta),
            user_agent=user_agent,
        )

    @property
    def key_source(self) -> str:
        """Where the key comes from, in the words of the init frame (`apiKeySource`)."""
        return "ANTHROPIC_API_KEY" if self.api_key else "none"

    @property
    def has_credentials(self) -> bool:
        """Whether requests would carry anything that says who sends them."""
        names = {name.lower() for name, _ in self.custom_headers}
        return bool(self.api_key or self.auth_token or names & {"authorization", "x-api-key"})

    @property
    def is_secure(self) -> bool:
        """Whether the connection needs TLS."""
        return urlsplit(self.base_url).scheme == "https"

    @property
    def host(self) -> str:
        """Host and port, for texts; never what stands before an `@`."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]

    @property
    def address(self) -> tuple[str, int]:
        """Host and port, for a connection."""
        parts = urlsplit(self.base_url)
        return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)

    @property
    def url(self) -> str:
        """The address of the Messages API."""
        return f"{self.base_url}/v1/messages?beta=true"

    def check_address(self) -> None:
        """Raise ApiError if nothing could be sent there."""
        try:
            parts = urlsplit(self.base_url)
            usable = parts.scheme in {"http", "https"} and bool(self.address[0])
        except ValueError as error:
            raise endpoint_error("Invalid URL in ANTHROPIC_BASE_URL") from error
        if not usable:
            raise endpoint_error("Invalid URL in ANTHROPIC_BASE_URL")

    def check_headers(self) -> None:
        """Raise ApiError if a header could not be sent."""
        for name, value in self.headers():
            _check_header(name, value)

    def headers(self) -> list[tuple[str, str]]:
        """The headers of every request. A custom header replaces ours of the same name."""
        own = [
            ("content-type", "application/json"),
            ("accept", "application/json"),
            ("user-agent", self.user_agent),
            ("anthropic-version", _API_VERSION),
        ]
        if self.auth_token:
            own.append(("authorization", f"Bearer {self.auth_token}"))
        if self.api_key:
            own.append(("x-api-key", self.api_key))
        replaced = {name.lower() for name, _ in self.custom_headers}
        return [pair for pair in own if pair[0] not in replaced] + list(self.custom_headers)

    def redact(self, text: str) -> str:
        """Take every credential out of a text."""
        secrets = [self.api_key, self.auth_token, *(value for _, value in self.custom_headers)]
        for secret in secrets:
            if secret and len(secret) >= _SHORTEST_SECRET:
                text = text.replace(secret, "[redacted]")
        return text


def _parse_headers(text: str) -> list[tuple[str, str]]:
    """Read `Name: value` lines; a line that is none is left out."""
    pairs = (line.partition(":") for line in re.split(r"\r?\n", text))
    return [(name.strip(), value.strip()) for name, colon, value in pairs if colon and name.strip()]


def _check_header(name: str, value: str) -> None:
    what = "the API key" if name in {"x-api-key", "authorization"} else f"the header {name[:40]!r}"
    problem: ApiError = endpoint_error(f"{what} holds characters that no HTTP header can carry")
    if _FORBIDDEN.search(value) or not _NAME.fullmatch(name):
        raise problem
    try:
        value.encode("latin-1")
    except UnicodeEncodeError:
        # The foreign error would quote the value, so it is not kept as the cause.
        raise problem from None
