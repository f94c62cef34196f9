"""Models at Google Vertex AI: its addresses and its tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from msgspec.structs import replace

from .api_error import endpoint_error
from .cloud import in_thread, library
from .endpoint import Endpoint
from .outgoing import Outgoing
from .request import ModelRequest, encode_body, request_headers
from .switches import is_on

__all__ = ["Vertex"]

_VERSION = "vertex-2023-10-16"
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_PROJECT_NAMES = ("ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT")


class Vertex:
    """Asks with the application default credentials of Google's library.

    CLAUDE_CODE_SKIP_VERTEX_AUTH leaves it to a gateway, named by ANTHROPIC_VERTEX_BASE_URL, to add them.
    """

    def __init__(self, endpoint: Endpoint, environment: Mapping[str, str]) -> None:
        self._region = environment.get("CLOUD_ML_REGION", "").strip() or "us-east5"
        named = (environment.get(name, "").strip() for name in _PROJECT_NAMES)
        self._project = next((name for name in named if name), "")
        self._asks = not is_on(environment, "CLAUDE_CODE_SKIP_VERTEX_AUTH")
        self._credentials: Any = None
        self._environment = environment
        self._base = environment.get("ANTHROPIC_VERTEX_BASE_URL", "").strip().rstrip("/")
        self.endpoint = replace(
            endpoint,
            base_url=self._base or _address(self._region),
            api_key=None,
            auth_token=None,
        )

    def check(self) -> None:
        """Raise ApiError if no request could be sent, before anything is."""
        self.endpoint.check_address()
        self.endpoint.check_headers()
        if not self._project and not self._asks:
            raise endpoint_error("Vertex needs a project: set ANTHROPIC_VERTEX_PROJECT_ID")

    async def outgoing(self, request: ModelRequest, *, stream: bool) -> Outgoing:
        """Make a request ready to be sent."""
        endpoint = self.endpoint
        if self._asks:
            endpoint = replace(endpoint, auth_token=await in_thread("Google", self._token))
            if not self._project:
                raise endpoint_error("Vertex needs a project: set ANTHROPIC_VERTEX_PROJECT_ID")
        body = encode_body(request, stream=stream, instead={"anthropic_version": _VERSION, "stream": stream})
        action = "streamRawPredict" if stream else "rawPredict"
        model = quote(request.model.api_name, safe="@.-_")
        region = self._region_of(request.model.canonical)
        place = f"projects/{self._project}/locations/{region}"
        url = f"{self._base or _address(region)}/{place}/publishers/anthropic/models/{model}:{action}"
        return Outgoing(url, endpoint.headers() + request_headers(request, endpoint.betas), body)

    def forget(self) -> bool:
        """Read the credentials anew."""
        had, self._credentials = self._credentials is not None, None
        return had

    def redact(self, text: str) -> str:
        """Take every credential out of a text."""
        token = getattr(self._credentials, "token", None)
        text = text.replace(token, "[redacted]") if token else text
        return self.endpoint.redact(text)

    def _region_of(self, model: str) -> str:
        """Models may be served elsewhere: VERTEX_REGION_CLAUDE_4_5_SONNET or, as newer ones, …_HAIKU_4_5 says where."""
        family, *numbers = model.removeprefix("claude-").upper().split("-")
        names = ["_".join([*numbers, family]), "_".join([family, *numbers])]
        given = (self._environment.get(f"VERTEX_REGION_CLAUDE_{name}", "").strip() for name in names)
        return next((region for region in given if region), self._region)

    def _token(self) -> str:
        if self._credentials is None:
            self._credentials, project = library("google.auth", "vertex").default(scopes=[_SCOPE])
            self._project = self._project or project or ""
        if not self._credentials.valid:
            self._credentials.refresh(library("google.auth.transport.requests", "vertex").Request())
        return str(self._credentials.token)


def _address(region: str) -> str:
    host = "" if region == "global" else f"{region}-"
    return f"https://{host}aiplatform.googleapis.com/v1"
