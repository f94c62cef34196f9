"""What the providers in clouds have in common: their libraries, which are loaded on first use, and their errors."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, TypeVar

import anyio.to_thread

from .api_error import ApiError, endpoint_error
from .failure import Failure

__all__ = ["in_thread", "library", "no_credentials"]

T = TypeVar("T")

_PATIENCE = 60.0


def library(name: str, extra: str) -> Any:
    """A module of a provider's library; raises ApiError if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise endpoint_error(
            f"this provider needs the Python package {package}: install claude-wrapper[{extra}]"
        ) from error


def no_credentials(provider: str, error: Exception) -> ApiError:
    """The error of a request that nothing would authenticate."""
    failure = Failure(cause="no_reply", message=type(error).__name__)
    text = f"API Error: Could not load {provider} credentials · {type(error).__name__}: {str(error)[:300]}"
    return ApiError(failure, text, "cloud_credential_error")


async def in_thread(provider: str, work: Callable[[], T]) -> T:
    """Do what may read files and ask servers; whatever goes wrong there is a matter of credentials."""
    try:
        with anyio.fail_after(_PATIENCE):
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
    except ApiError:
        raise
    except Exception as error:
        raise no_credentials(provider, error) from error
