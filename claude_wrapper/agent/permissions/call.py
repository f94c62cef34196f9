"""The question put to the permission decision, and its answer."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from claude_wrapper.wire.permissions import PermissionUpdateBody

from .rules import SourcedRule

Behavior = Literal["allow", "deny", "ask"]
ReasonType = Literal[
    "rule", "mode", "subcommandResults", "workingDir", "safetyCheck", "classifier", "asyncAgent", "other"
]
PathLike = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call as the model wrote it, and where it would run."""

    tool_name: str
    tool_input: Mapping[str, Any]
    cwd: PathLike
    working_dirs: tuple[PathLike, ...] = ()
    """Folders that count as the user's own work: the current one and those added to it."""
    needs_permission: bool | None = None
    """False for tools that change nothing outside the conversation; None: known by name."""
    requires_interaction: bool = False
    """True for tools that only a person can answer, whatever the rules say."""

    def text(self, field: str) -> str:
        """The input field as text, empty when it is absent or of another type."""
        value = self.tool_input.get(field)
        return value if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to happen with a call, why, and what the host may be told about it."""

    behavior: Behavior
    reason_type: ReasonType | None = None
    reason: str | None = None
    message: str = ""
    """For the model, should the call not run: also when it was to be asked and nobody can answer."""
    suggestions: tuple[PermissionUpdateBody, ...] | None = None
    """Changes that would let such calls through from now on; None: the question offers none at all."""
    blocked_path: str | None = None
    description: str | None = None
    requires_interaction: bool = False
    suppress_always_allow: bool = False
    classifier_approvable: bool | None = None
    checked_by_model: bool = False
    """A model may settle the question in the place of a person."""
    rule: SourcedRule | None = None
    as_tool_error: bool = False
    """The refusal reaches the model as a fault of its input and the host gets no notice of it."""

    def changed(self, **changes: Any) -> Decision:
        """A copy with other field values."""
        return replace(self, **changes)
