"""What the model is asked with: which model, how it thinks, and the prompt before the conversation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from claude_wrapper.agent.api.catalog import Model, find_model, widened
from claude_wrapper.agent.api.request import CacheTtl, ModelRequest, cache_ttl
from claude_wrapper.agent.api.tuning import Tuning, Wishes, tune
from claude_wrapper.agent.api.written import WrittenMessages
from claude_wrapper.agent.context.system_prompt import PromptChoice, system_prompt
from claude_wrapper.agent.sessions.history import History
from claude_wrapper.agent.start.settings import Settings
from claude_wrapper.wire.codec import encode

from .allowed import AllowedModels, Choice

__all__ = ["Brief"]

_MOST_FALLBACKS = 3


class Brief:
    """Makes requests. What hosts change during a session is changed here."""

    def __init__(self, settings: Settings) -> None:
        self._environ = settings.environ
        self._cwd: Path = settings.cwd
        self._betas = settings.model.betas
        self._wishes = settings.model.wishes
        self._choice = PromptChoice(
            blocks=None if settings.system_prompt is None else (settings.system_prompt,),
            appended=settings.append_system_prompt,
        )
        self._extra = _extra_body(settings.environ)
        self._system: Sequence[str] | None = None
        self._tuning: Tuning | None = None
        self._written = WrittenMessages()
        self._cache: CacheTtl | None = None
        self.limit(settings.values.get("availableModels"))
        first = self._allowed.choose(settings.model.name)
        self._replaced: Choice | None = (
            None if first.model == find_model(settings.model.name, settings.environ) else first
        )
        self.model: Model = self._wide(first.model)
        fallbacks = filter(self._allowed.allows, settings.model.fallbacks)
        self._fallbacks = [self._wide(find_model(name, settings.environ)) for name in fallbacks]
        self._answering: Model | None = None
        self._history: History | None = None
        self.foreword: Callable[[], str | None] = lambda: None
        """What the model is to know ahead of the conversation."""

    def named(self, name: str | None) -> str:
        """The model that a name stands for; None is the default one."""
        return find_model(name, self._environ).name

    def limit(self, listed: Any) -> None:
        """Let the session change to these models only; None lifts that."""
        self._allowed = AllowedModels(listed, self._environ)

    def choice(self, name: str | None) -> Choice:
        """The model that a name stands for, as far as settings allow it."""
        return self._allowed.choose(name)

    def take_replaced(self) -> Choice | None:
        """What the session began with in place of the model that was asked for; told once."""
        choice, self._replaced = self._replaced, None
        return choice

    def use_model(self, name: str | None) -> Model:
        """Ask another model from now on; None is the default one."""
        self.model = self._wide(self._allowed.choose(name).model)
        self._tuning = None
        return self.model

    def _wide(self, model: Model) -> Model:
        return widened(model, self._betas, self._environ)

    def begin_turn(self) -> None:
        """Ask the first model again."""
        self._answering = None

    def stay_with(self, model: Model) -> None:
        """Ask this model for the rest of the turn."""
        self._answering = model

    @property
    def answering(self) -> Model:
        """The model that answers in this turn."""
        return self._answering or self.model

    def stand_in(self, request: ModelRequest) -> ModelRequest | None:
        """The same request for the model that comes after its own, None if there is none."""
        others = [each for each in self._fallbacks[:_MOST_FALLBACKS] if each != self.model]
        position = others.index(request.model) + 1 if request.model in others else 0
        if position >= len(others):
            return None
        model = others[position]
        messages = request.messages
        if self._history is not None:
            messages = self._history.thoughts.readable(messages, partial(_is_one, model))
        return msgspec.structs.replace(
            request,
            model=model,
            messages=messages,
            tuning=tune(model, self._wishes),
            cache=cache_ttl(model, self._environ),
        )

    def use_thinking(self, tokens: int | None, display: str | None) -> None:
        """Let the model think so many tokens; None leaves it to the model."""
        self._wishes = msgspec.structs.replace(
            self._wishes,
            thinking=None if not tokens else "enabled",
            thinking_tokens=tokens,
            display=None if display == "omitted" else display or self._wishes.display,
        )
        self._tuning = None

    def use_effort(self, effort: str) -> None:
        """Let the model make this much effort."""
        self._wishes = msgspec.structs.replace(self._wishes, effort=effort)
        self._tuning = None

    def use_prompt(self, blocks: Sequence[str] | None, appended: str | None) -> None:
        """Take the prompt that the host brings."""
        self._choice = PromptChoice(
            blocks=self._choice.blocks if blocks is None else tuple(blocks),
            appended=self._choice.appended if appended is None else appended,
        )
        self._system = None

    @property
    def wishes(self) -> Wishes:
        """What is wished of the model now."""
        return self._wishes

    @property
    def tuning(self) -> Tuning:
        """How the model is asked to think."""
        if self._tuning is None:
            self._tuning = tune(self.model, self._wishes)
            self._cache = cache_ttl(self.model, self._environ)
        return self._tuning

    @property
    def system(self) -> Sequence[str]:
        """The system prompt. Once it is made it stays, since the model's cache depends on it."""
        if self._system is None:
            self._system = system_prompt(self._choice, self._cwd, self.model.name)
        return self._system

    def request(self, history: History, tools: Sequence[Mapping[str, Any]], session_id: str) -> ModelRequest:
        """The request for the next reply."""
        model, tuning, cache = self.model, self.tuning, self._cache
        if self._answering is not None:
            model = self._answering
            tuning, cache = tune(model, self._wishes), cache_ttl(model, self._environ)
        self._history = history
        messages = history.thoughts.readable(history.messages, partial(_is_one, model))
        return ModelRequest(
            model=model,
            messages=_after(self.foreword(), messages),
            tuning=tuning,
            system=self.system,
            tools=tools,
            cache=cache,
            user_id=_user_id(session_id),
            session_id=session_id,
            betas=self._betas,
            extra=self._extra,
            written=self._written,
        )


def _is_one(model: Model, name: str) -> bool:
    """Whether the name is one of the model's."""
    return find_model(name).canonical == model.canonical


def _after(foreword: str | None, messages: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """The messages with a text ahead of the first one's own."""
    if foreword is None or not messages or messages[0]["role"] != "user":
        return messages
    block = {"type": "text", "text": foreword}
    return [{**messages[0], "content": [block, *messages[0]["content"]]}, *messages[1:]]


def _user_id(session_id: str) -> str:
    """Who asks, as far as the provider is told to tell users apart: a session, no person and no machine."""
    import hashlib  # noqa: PLC0415  # loads a large library, which the start has no use for yet

    device = hashlib.sha256(session_id.encode()).hexdigest()
    return encode({"device_id": device, "account_uuid": "", "session_id": session_id}).decode()


def _extra_body(environ: Mapping[str, str]) -> Mapping[str, Any]:
    """Fields that the user wants in every request; what is no JSON object is left out."""
    text = environ.get("CLAUDE_CODE_EXTRA_BODY", "")
    if not text:
        return {}
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.DecodeError:
        return {}
