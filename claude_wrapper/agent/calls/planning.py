"""Plan mode as the tools see it: whether it is on, where the plan is written, and what comes after it."""

from __future__ import annotations

import os
from pathlib import Path

from claude_wrapper.agent.config.access import Access
from claude_wrapper.agent.start.settings import Settings
from claude_wrapper.store.paths import config_dir

__all__ = ["Planning", "plan_file", "plan_reminder"]


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
    return folder / f"plan-{os.urandom(4).hex()}.md"


def plan_reminder(file: str | None) -> str:
    """What the model is told at the beginning of planning."""
    where = f" Write it to {file}, the only file that may change now." if file else ""
    return (
        "Plan mode is on: the user wants a plan before anything is changed. Read and search as you need; change no "
        f"file, setting or system, and commit nothing. When the plan is clear, set it down.{where} Ask the user with "
        "AskUserQuestion where the task leaves a choice that is theirs, and end with ExitPlanMode, which shows them "
        "the plan for approval."
    )
