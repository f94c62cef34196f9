"""What the model is asked with on behalf of a subagent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from claude_wrapper.agent.api.request import ModelRequest
from claude_wrapper.agent.api.tuning import Wishes
from claude_wrapper.agent.context.system_prompt import environment_note
from claude_wrapper.agent.model.brief import Brief
from claude_wrapper.agent.sessions.history import History
from claude_wrapper.agent.start.settings import ModelSettings, Settings

from .errand import Errand

__all__ = ["ChildBrief", "settings_for"]


class ChildBrief(Brief):
    """Makes a subagent's requests: they name it, and what nobody sees of its thinking is not asked for."""

    def __init__(self, settings: Settings, errand: Errand) -> None:
        super().__init__(settings)
        self._errand = errand

    def request(self, history: History, tools: Sequence[Mapping[str, Any]], session_id: str) -> ModelRequest:
        """The request for the next reply."""
        request = super().request(history, tools, session_id)
        if self._errand.checks:
            return request
        return msgspec.structs.replace(
            request,
            agent_id=self._errand.id,
            parent_agent_id=self._errand.parent_id,
        )


def settings_for(errand: Errand, settings: Settings, brief: Brief, *, shown: bool) -> Settings:
    """The settings that a subagent works by; `brief` is its caller's. `shown`: somebody sees what it thinks."""
    definition = errand.definition
    forced = settings.environ.get("CLAUDE_CODE_SUBAGENT_MODEL", "").strip()
    wanted = errand.model or forced or definition.model or "inherit"
    name = brief.model.name if wanted.lower() == "inherit" else brief.choice(wanted).model.name
    wishes = msgspec.structs.replace(
        brief.wishes,
        display=brief.wishes.display if shown else "omitted",
        effort=definition.effort or brief.wishes.effort,
    )
    if errand.checks:
        wishes = Wishes(thinking="disabled", unasked=True)
    given = settings.model
    return replace(
        settings,
        model=ModelSettings(name, given.fallbacks, wishes, given.betas),
        system_prompt=f"{definition.prompt}\n\n{environment_note(settings.cwd, name)}",
        append_system_prompt=settings.append_subagent_prompt,
        max_turns=definition.max_turns,
        partial_messages=False,
        replay_prompts=False,
        json_schema=None,
    )
