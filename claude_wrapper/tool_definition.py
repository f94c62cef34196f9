"""A tool as its author writes it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from .tool_annotations import ToolAnnotations

__all__ = ["SdkMcpTool"]

T = TypeVar("T")


@dataclass
class SdkMcpTool(Generic[T]):
    """A tool: what the model is told about it, and the function that it calls."""

    name: str
    description: str
    input_schema: type[T] | dict[str, Any]
    handler: Callable[[T], Awaitable[dict[str, Any]]]
    annotations: ToolAnnotations | None = None
