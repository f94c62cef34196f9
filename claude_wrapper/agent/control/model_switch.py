"""The control request that changes the model."""

from __future__ import annotations

import math
import time
from typing import Any

import msgspec

from claude_wrapper.agent.api.catalog import Model
from claude_wrapper.agent.api.request import cache_ttl
from claude_wrapper.agent.hooking.notices import model_switched, switch_refused
from claude_wrapper.agent.ids import new_uuid
from claude_wrapper.agent.model.allowed import tell_replaced
from claude_wrapper.agent.turns.parts import Parts
from claude_wrapper.link.peer import Answer, RequestRefusedError
from claude_wrapper.wire.replies_steer import SetModelReply
from claude_wrapper.wire.requests_steer import SetModel

__all__ = ["ModelSwitch"]

_SECONDS = {"5m": 300.0, "1h": 3600.0}
_MILLION = 1_000_000


class ModelSwitch:
    """Serves it. Every refusal names the model that stays in use."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def refusal(self, text: str, code: str) -> RequestRefusedError:
        """The answer to a request that changes nothing."""
        return RequestRefusedError(text, code, model=self._parts.brief.model.name)

    async def serve(self, request: SetModel) -> Answer:
        """Change the model; raises RequestRefusedError."""
        parts = self._parts
        wanted = request.model if isinstance(request.model, str) else None
        before = parts.brief.model
        if wanted is not None and not wanted.strip():
            raise self.refusal("An empty name is no model", "catalog_unknown")
        choice = parts.brief.choice(wanted)
        if choice.wanted is not None:
            kept = msgspec.structs.replace(choice, model=before)
            tell_replaced(parts.frames, kept, "switch")
            raise self.refusal(kept.text, "restricted_by_org")
        if choice.model == before:
            return Answer(SetModelReply(model=before.name))
        old, new = before.name, choice.model.name
        facts = self._facts(choice.model)
        refused = await switch_refused(parts.hooks, old, new, wanted, facts)
        if refused is not None:
            raise self.refusal(f"Model switch blocked by a PreModelSwitch hook: {refused}", "blocked_by_hook")
        model = parts.brief.use_model(wanted)
        if len(parts.session.history) and model.canonical != before.canonical:
            self._write_down(wanted, model.name)

        done = parts.hooks.expect()

        async def tell() -> None:
            try:
                await model_switched(parts.hooks, old, model.name, wanted, facts)
            finally:
                done()

        return Answer(SetModelReply(model=model.name), then=tell)

    def _facts(self, model: Model) -> dict[str, Any]:
        """What a switch may cost: the new model has to be given the whole conversation."""
        parts = self._parts
        tokens = parts.compactor.used() if len(parts.session.history) else 0
        ttl = cache_ttl(parts.brief.model, parts.settings.environ)
        asked = parts.session.recent.counted_at
        price = model.facts.price
        written = price.cache_write_1h if ttl == "1h" else price.cache_write_5m
        return {
            "context_tokens": tokens,
            "prompt_cache_warm": bool(asked and ttl and time.monotonic() - asked < _SECONDS[ttl]),
            "cache_ttl": ttl,
            "estimated_cache_write_usd": math.floor(tokens * written * 10_000 / _MILLION + 0.5) / 10_000,
            "pricing": "catalog" if model.known else "default",
        }

    def _write_down(self, wanted: str | None, name: str) -> None:
        parts = self._parts
        text = f"<local-command-stdout>Set model to `{name}`</local-command-stdout>"
        uuid = new_uuid()
        # Kept as if it had been typed, so that readers of the transcript see where the model changed.
        args = f"<command-args>{wanted or 'default'}</command-args>"
        command = f"<command-name>/model</command-name>\n<command-message>model</command-message>\n{args}"
        parts.session.add_beside(new_uuid(), command)
        parts.session.add_beside(uuid, text)
        parts.frames.user(uuid, text, is_replay=True)
