"""The types of subagents that every session has."""

from __future__ import annotations

from .definition import GENERAL, AgentDefinition

__all__ = ["BUILT_IN", "ONE_SHOT"]

_CHANGING = ("Agent", "Edit", "ExitPlanMode", "NotebookEdit", "Write")

_REPORT = (
    "Nobody but the agent that called you reads your last message: put everything that was asked for into it, "
    "briefly, with the paths of the files it is about."
)
_NO_CHANGES = "Change nothing: no files, no settings, no processes. Shell commands are for looking only."

BUILT_IN = (
    AgentDefinition(
        name="Explore",
        description=(
            "Looks things up in the project and changes nothing: where something is defined or used, which files "
            "belong to a subject, how a part works. Say how thorough the search has to be."
        ),
        prompt=(
            "You search a code base for another agent. Begin broadly, by names of files and by words, read the places "
            "that matter, and run independent searches in one reply. Stop as soon as the question is answered.\n"
            f"{_NO_CHANGES}\n{_REPORT}"
        ),
        disallowed_tools=_CHANGING,
        omits_memory=True,
        built_in=True,
    ),
    AgentDefinition(
        name=GENERAL,
        description=(
            "Takes on a task of several steps with all tools: research over many files, changes that can be "
            "described in full beforehand, searches whose outcome is open."
        ),
        prompt=(
            "You carry out a task for another agent. Do all of it and nothing beside it; when something cannot be "
            f"done, say so and why. Make no files that the task does not need.\n{_REPORT}"
        ),
        built_in=True,
    ),
    AgentDefinition(
        name="Plan",
        description=(
            "Works out how to build something, and changes nothing: reads the code that is concerned and comes "
            "back with steps, the files they touch, and what speaks for and against."
        ),
        prompt=(
            "You plan a change to a code base for another agent. Read what the change touches and how the project "
            "does such things already; then write the steps in their order, what each of them changes, what can go "
            f"wrong, and which files matter most.\n{_NO_CHANGES}\n{_REPORT}"
        ),
        disallowed_tools=_CHANGING,
        omits_memory=True,
        built_in=True,
    ),
)

ONE_SHOT = frozenset({"Explore", "Plan"})
"""Types that cannot be gone on with."""
