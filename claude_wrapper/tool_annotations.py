"""Hints about a tool."""

from __future__ import annotations

from typing import Any

__all__ = ["ToolAnnotations"]


class ToolAnnotations:  # noqa: PLW1641  # its hints may be set, so that it has no hash
    """What a tool does to the world, so that the agent can judge a call before it is made.

    The hints are named as in Python or as in the protocol (`read_only_hint`, `readOnlyHint`).
    `maxResultSizeChars` allows results above the agent's usual limit.
    """

    __slots__ = (
        "destructive_hint",
        "idempotent_hint",
        "maxResultSizeChars",
        "open_world_hint",
        "read_only_hint",
        "title",
    )

    def __init__(
        self,
        title: str | None = None,
        *,
        readOnlyHint: bool | None = None,  # noqa: N803  # the protocol's names, public in the official package
        destructiveHint: bool | None = None,  # noqa: N803  # likewise
        idempotentHint: bool | None = None,  # noqa: N803  # likewise
        openWorldHint: bool | None = None,  # noqa: N803  # likewise
        maxResultSizeChars: int | None = None,  # noqa: N803  # likewise
        read_only_hint: bool | None = None,
        destructive_hint: bool | None = None,
        idempotent_hint: bool | None = None,
        open_world_hint: bool | None = None,
    ) -> None:
        self.title = title
        self.read_only_hint = readOnlyHint if read_only_hint is None else read_only_hint
        self.destructive_hint = destructiveHint if destructive_hint is None else destructive_hint
        self.idempotent_hint = idempotentHint if idempotent_hint is None else idempotent_hint
        self.open_world_hint = openWorldHint if open_world_hint is None else open_world_hint
        self.maxResultSizeChars = maxResultSizeChars

    @property
    def readOnlyHint(self) -> bool | None:  # noqa: N802  # likewise
        return self.read_only_hint

    @property
    def destructiveHint(self) -> bool | None:  # noqa: N802  # likewise
        return self.destructive_hint

    @property
    def idempotentHint(self) -> bool | None:  # noqa: N802  # likewise
        return self.idempotent_hint

    @property
    def openWorldHint(self) -> bool | None:  # noqa: N802  # likewise
        return self.open_world_hint

    def model_dump(self, **_options: Any) -> dict[str, Any]:
        """Return what is set, by the protocol's names."""
        values = {
            "title": self.title,
            "readOnlyHint": self.read_only_hint,
            "destructiveHint": self.destructive_hint,
            "idempotentHint": self.idempotent_hint,
            "openWorldHint": self.open_world_hint,
            "maxResultSizeChars": self.maxResultSizeChars,
        }
        return {name: value for name, value in values.items() if value is not None}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ToolAnnotations) and self.model_dump() == other.model_dump()

    def __repr__(self) -> str:
        return f"ToolAnnotations({', '.join(f'{k}={v!r}' for k, v in self.model_dump().items())})"
