"""What a run may use up: turns for each prompt, money for all of them."""

from __future__ import annotations

from decimal import Decimal

from claude_wrapper.agent.model.meter import Meter
from claude_wrapper.agent.start.settings import Settings

from .turn import Ending, Turn

__all__ = ["Limits"]


class Limits:
    """Says whether a limit ends a turn."""

    def __init__(self, settings: Settings, meter: Meter) -> None:
        self._turns = settings.max_turns
        self._budget = settings.max_budget_usd
        self._meter = meter

    def turns_left(self, turn: Turn) -> bool:
        """Whether the model may be asked once more."""
        return self._turns is None or turn.requests < self._turns

    def before_request(self, turn: Turn) -> Ending | None:
        """What forbids to ask the model once more."""
        if self._turns is not None and not self.turns_left(turn):
            return Ending(
                "error_max_turns",
                "max_turns",
                is_error=True,
                errors=[f"Reached maximum number of turns ({self._turns})"],
                num_turns=self._turns + 1,
            )
        return self.over_budget()

    def over_budget(self) -> Ending | None:
        """Whether the money is spent."""
        if self._budget is None or self._meter.spent_here_usd < self._budget:
            return None
        return Ending(
            "error_max_budget_usd",
            "budget_exhausted",
            is_error=True,
            errors=[f"Reached maximum budget (${_plain(self._budget)})"],
        )


def _plain(number: float) -> str:
    """A number as people write it, whatever its size."""
    text = f"{Decimal(repr(number)):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
