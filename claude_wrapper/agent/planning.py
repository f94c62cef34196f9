"""Plan mode as the tools see it: whether it is on, where the plan is written, and what comes after it."""

from __future__ import annotations

import secrets
from pathlib import Path

from claude_wrapper.store.paths import config_dir

from .access import Access
from .settings import Settings

__all__ = ["Planning", "plan_file"]


class Planning:
    """Enters and leaves the mode."""

    def __init__(self, access: Access, file: Path) -> None:
        self._access = access
        self.file = file

    @property
    def active(self) -> bool:
        """Whether plan mode is on."""
        return self._access.mode == "plan"

    def enter(self) -> None:
        """Plan from now on."""
        self._access.set_mode("plan")

    def leave(self) -> None:
        """Go back to the mode before; whoever approved the plan may have chosen another already."""
        if self.active:
            self._access.leave_plan()


def plan_file(settings: Settings) -> Path:
    """The file in which this session plans; it need not be there."""
    chosen = settings.values.get("plansDirectory")
    folder = (
        settings.cwd / chosen
        if isinstance(chosen, str) and chosen
        else config_dir(settings.environ) / "plans"
    )
    return folder / f"plan-{secrets.token_hex(4)}.md"
