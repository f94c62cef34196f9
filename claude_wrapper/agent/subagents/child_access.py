"""What a subagent may do: what its session may, in a mode of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from claude_wrapper.agent.config.access import Access
from claude_wrapper.agent.permissions.inherit import mode_of_subagent
from claude_wrapper.agent.permissions.policy import Policy
from claude_wrapper.wire.permissions import PermissionMode

__all__ = ["ChildAccess"]


class ChildAccess(Access):
    """The session's state of permission; rules that change there change here."""

    def __init__(self, parent: Access, wanted: str | None, *, asks_nobody: bool = False) -> None:
        self._parent = parent
        self._asks_nobody = asks_nobody
        self._wanted = wanted

    @property
    def mode(self) -> PermissionMode:
        """The mode in force."""
        if self._asks_nobody:
            return "dontAsk"
        policy = self._parent.policy
        return mode_of_subagent(self._parent.mode, self._wanted, bypass_available=policy.bypass_available)

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        policy, mode = self._parent.policy, self.mode
        return policy if policy.mode == mode else policy.changed(mode=mode)

    def directories(self, cwd: Path) -> list[Path]:
        """The folders that the session works in."""
        return self._parent.directories(cwd)

    async def apply(self, raw: Sequence[dict[str, Any]]) -> None:
        """Apply the updates of an answer to the session."""
        await self._parent.apply(raw)
