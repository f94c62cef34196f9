"""Why a part of a shell line may not run without being asked about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .shell_line import Command

Offer = Literal["rule", "own rule", "read", "change", "redirect", "mode", "none", "nothing"]
"""What the host may answer with: a rule for the command (`own rule`: only beside other parts), to read or to change
in a folder, the folder of a redirect, another mode; `none` of them, and `nothing` for the line as a whole."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What stands in the way of one part."""

    offer: Offer
    part: int = 0
    command: Command | None = None
    path: str | None = None
    folder: str = ""
    """What would have to be opened to changes."""
    program: str = "redirection"
    reason: str | None = None
    """Why the path is not to be trusted; None: it lies where it may not be touched unasked."""
