"""Models at AWS Bedrock: its addresses, its signatures and its bearer keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from msgspec.structs import replace

from .cloud import in_thread, library, no_credentials
from .endpoint import Endpoint
from .naming import aws_region, regional
from .outgoing import Outgoing
from .request import ModelRequest, encode_body, request_headers
from .switches import is_on

__all__ = ["Bedrock"]

_VERSION = "bedrock-2023-05-31"


class Bedrock:
    """Signs requests with the credentials of the environment, of AWS profiles, or of the machine.

    AWS_BEARER_TOKEN_BEDROCK takes the place of a signature; CLAUDE_CODE_SKIP_BEDROCK_AUTH leaves
    it to a gateway, named by ANTHROPIC_BEDROCK_BASE_URL, to add one.
    """

    def __init__(self, endpoint: Endpoint, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._region = aws_region(environment)
        base = environment.get("ANTHROPIC_BEDROCK_BASE_URL", "").strip().rstrip("/")
        self._token = environment.get("AWS_BEARER_TOKEN_BEDROCK", "").strip() or None
        self._signs = self._token is None and not is_on(environment, "CLAUDE_CODE_SKIP_BEDROCK_AUTH")
        self._session: Any = None
        self.endpoint = replace(
            endpoint,
            base_url=base or f"https://bedrock-runtime.{self._region}.amazonaws.com",
            api_key=None,
            auth_token=self._token,
        )

    def check(self) -> None:
        """Raise ApiError if no request could be sent, before anything is."""
        self.endpoint.check_address()
        self.endpoint.check_headers()

    async def outgoing(self, request: ModelRequest, *, stream: bool) -> Outgoing:
        """Make a request ready to be sent."""
        named = dict(request_headers(request, self.endpoint.betas))
        betas = [beta for beta in named.pop("anthropic-beta", "").split(",") if beta]
        fields: dict[str, Any] = {"anthropic_version": _VERSION}
        if betas:
            fields["anthropic_beta"] = betas
        body = encode_body(request, stream=stream, instead=fields)
        action = "invoke-with-response-stream" if stream else "invoke"
        model = quote(regional(request.model.api_name, self._environment), safe=":.@-_")
        url = f"{self.endpoint.base_url}/model/{model}/{action}"
        headers = self.endpoint.headers() + list(named.items())
        if self._signs:
            headers = await in_thread("AWS", lambda: self._signed(url, headers, body))
        return Outgoing(url, headers, body)

    def forget(self) -> bool:
        """Read the credentials anew."""
        had, self._session = self._session is not None, None
        return had

    def redact(self, text: str) -> str:
        """Take every credential out of a text."""
        secrets = (self._environment.get("AWS_SECRET_ACCESS_KEY"), self._environment.get("AWS_SESSION_TOKEN"))
        for secret in secrets:
            text = text.replace(secret, "[redacted]") if secret else text
        return self.endpoint.redact(text)

    def _signed(self, url: str, headers: list[tuple[str, str]], body: bytes) -> list[tuple[str, str]]:
        auth, awsrequest = library("botocore.auth", "bedrock"), library("botocore.awsrequest", "bedrock")
        # A header that a proxy may change must not be signed.
        unsigned = [pair for pair in headers if pair[0] == "user-agent"]
        signed = [pair for pair in headers if pair[0] not in {"user-agent", "authorization"}]
        request = awsrequest.AWSRequest(method="POST", url=url, data=body, headers=dict(signed))
        auth.SigV4Auth(self._credentials(), "bedrock", self._region).add_auth(request)
        return unsigned + [(name.lower(), value) for name, value in request.headers.items()]

    def _credentials(self) -> Any:
        environment = self._environment
        key, secret = environment.get("AWS_ACCESS_KEY_ID"), environment.get("AWS_SECRET_ACCESS_KEY")
        if key and secret:
            credentials = library("botocore.credentials", "bedrock")
            return credentials.Credentials(key, secret, environment.get("AWS_SESSION_TOKEN") or None)
        if self._session is None:
            session = library("botocore.session", "bedrock")
            self._session = session.Session(profile=environment.get("AWS_PROFILE") or None)
        found = self._session.get_credentials()
        if found is None:
            raise no_credentials(
                "AWS", LookupError("there are none, neither in the environment nor in files")
            )
        return found.get_frozen_credentials()
