"""Plays a scenario until it is known what it shows: the official programs do not show the same every time, either.

Where a cell differs, everything is played again, twice at most. A cell is right when one of its plays equals one of
the plays of its reference, since whatever the official pair shows is right. What took more than one play is told, so
that nobody takes luck for a proof.
"""

from concurrent.futures import Executor
from dataclasses import dataclass

from interop_kit.matrix import Outcome, compared, outcomes, undeclared
from interop_kit.peers import Peers
from interop_kit.scenario import Scenario

PLAYS = 3


@dataclass
class Verdict:
    """What a scenario shows in the end."""

    outcomes: list[Outcome]
    stale: list[str]
    """Declarations that no play has shown."""
    unsteady: list[str]
    """Cells that did not show the same in each play."""

    @property
    def wrong(self) -> list[str]:
        """Why the scenario fails, line by line; open differences are among them."""
        lines = [f"{outcome.cell.name}: {line}" for outcome in self.outcomes for line in outcome.wrong]
        return lines + [f"declared, but equal: {pattern}" for pattern in self.stale]


def settled(scenario: Scenario, peers: Peers, pool: Executor) -> Verdict:
    """The verdict after as few plays as it takes."""
    plays = [list(outcomes(scenario, peers, pool=pool))]
    verdict = verdict_of(scenario, plays)
    while verdict.wrong and not scenario.open and len(plays) < PLAYS:
        plays.append(list(outcomes(scenario, peers, pool=pool)))
        verdict = verdict_of(scenario, plays)
    return verdict


def verdict_of(scenario: Scenario, plays: list[list[Outcome]]) -> Verdict:
    """The nearest that each cell came to its reference, in any of the plays."""
    nearest, unsteady = [], []
    for shown in zip(*plays, strict=True):
        cell = shown[0].cell
        if cell == cell.reference:
            nearest.append(min(shown, key=lambda outcome: len(outcome.failures)))
            continue
        references = [outcome for play in plays for outcome in play if outcome.cell == cell.reference]
        pairs = [compared(scenario, outcome, reference) for outcome in shown for reference in references]
        nearest.append(best := min(pairs, key=lambda outcome: len(outcome.failures + outcome.differences)))
        if best.word in ("equal", "declared") and best is not pairs[0]:
            unsteady.append(
                f"{cell.name}: {'; '.join(pairs[0].wrong[:3]) or 'not every declared difference'}"
            )
    stale = [undeclared(scenario, play) for play in plays]
    return Verdict(
        nearest, [pattern for pattern in stale[0] if all(pattern in other for other in stale)], unsteady
    )
