"""Posts an event to a hook's address."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import anyio
import msgspec

from .hook import HttpHook

if TYPE_CHECKING:
    import httpx2

__all__ = ["HttpEnd", "post"]

_VARIABLE = re.compile(r"\$\{(\w+)\}|\$(\w+)")
_MOST_BYTES = 8 * 1024 * 1024


class HttpEnd(msgspec.Struct, frozen=True):
    """What came back."""

    how: Literal["answered", "failed", "timeout"]
    status: int | None = None
    text: str = ""
    problem: str = ""


async def post(hook: HttpHook, event: bytes, environment: Mapping[str, str]) -> HttpEnd:
    """Post it and wait for the answer; redirects are not followed. Raises nothing."""
    # The library is slow to import, and hardly anybody has such a hook.
    import httpx2  # noqa: PLC0415

    headers = {
        "content-type": "application/json",
        **{name: _filled(value, hook.variables, environment) for name, value in hook.headers.items()},
    }
    try:
        with anyio.fail_after(hook.seconds):
            async with (
                httpx2.AsyncClient(timeout=None) as client,
                client.stream("POST", hook.url, content=event, headers=headers) as response,
            ):
                return await _read(hook, response)
    except TimeoutError:
        return HttpEnd("timeout")
    except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError, ValueError) as error:
        return HttpEnd(
            "failed", problem=f"{hook.url} could not be reached: {str(error) or type(error).__name__}"
        )


async def _read(hook: HttpHook, response: httpx2.Response) -> HttpEnd:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > _MOST_BYTES:
            return HttpEnd("failed", response.status_code, problem=f"{hook.url} sent too much")
    status = int(response.status_code)
    if not 200 <= status < 300:
        return HttpEnd("failed", status, problem=f"HTTP {status} from {hook.url}")
    return HttpEnd("answered", status, body.decode("utf-8", "replace"))


def _filled(value: str, allowed: tuple[str, ...], environment: Mapping[str, str]) -> str:
    """A header with the variables in it filled in; one that may not be told, or is not set, is empty."""

    def fill(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        return environment.get(name, "") if name in allowed else ""

    # A line break in a variable would begin another header.
    return re.sub(r"[\r\n\0]", "", _VARIABLE.sub(fill, value)).strip()
