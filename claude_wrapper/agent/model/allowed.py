"""Which models the settings let a session use, and what is used in place of the others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from claude_wrapper.agent.api.catalog import Model, find_model, load_catalog
from claude_wrapper.agent.api.naming import LONG, is_default
from claude_wrapper.agent.pipes.frames import Frames

__all__ = ["AllowedModels", "Choice", "tell_replaced"]

_NUMBERS = re.compile(r"\d+")


class Choice(msgspec.Struct, frozen=True):
    """A model in answer to a name."""

    model: Model
    wanted: str | None = None
    """The model that was asked for and is not used, as its user called it."""

    @property
    def text(self) -> str:
        """What the user is told of it."""
        return (
            f'The settings do not let the model "{self.wanted}" be used; {self.model.name} takes its place.'
        )


def tell_replaced(frames: Frames, choice: Choice, at: str) -> None:
    """Tell the host that a model is not used: `at` the start, or where it was to be switched to."""
    about = {"requested_model": choice.wanted, "effective_model": choice.model.name, "at": at}
    frames.informational(choice.text, "warning", model_restriction=about)


class AllowedModels:
    """`listed` are names and aliases; None allows every model. The default model is always allowed.

    An alias stands for all models of its family, unless models of the family are listed themselves.
    """

    def __init__(self, listed: Any, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._everything = not isinstance(listed, list)
        names = [_plain(name) for name in listed if isinstance(name, str)] if isinstance(listed, list) else []
        self._aliases = {name for name in names if name in load_catalog().aliases}
        self._models = [name for name in names if name not in self._aliases]

    def choose(self, name: str | None) -> Choice:
        """The model that a name stands for, or the one that takes its place."""
        meant = find_model(name, self._environ)
        if self._everything or name is None or is_default(name):
            return Choice(meant)
        plain = _plain(name)
        own = [
            each
            for each in self._models
            if _family(each) == _family(find_model(plain, self._environ).canonical)
        ]
        if plain in load_catalog().aliases:
            if plain in self._aliases and not own:
                return Choice(meant)
            return self._instead(name, max(own, key=_version, default=None))
        if any(_is_same(each, meant, self._environ) for each in own):
            return Choice(meant)
        if not own and _family(meant.canonical) in self._aliases:
            return Choice(meant)
        return self._instead(name, None)

    def allows(self, name: str) -> bool:
        """Whether a name may be used as it is."""
        return self.choose(name).wanted is None

    def _instead(self, name: str, other: str | None) -> Choice:
        return Choice(find_model(other, self._environ), name)


def _plain(name: str) -> str:
    return LONG.sub("", name.strip()).lower()


def _family(name: str) -> str | None:
    """The alias that a model's name speaks of."""
    return next((alias for alias in load_catalog().aliases if alias in name), None)


def _is_same(listed: str, model: Model, environ: Mapping[str, str]) -> bool:
    return listed == model.api_name.lower() or find_model(listed, environ).canonical == model.canonical


def _version(name: str) -> tuple[int, ...]:
    """By what a newer model is told from an older one; a date says less than a number."""
    return tuple(int(number) for number in _NUMBERS.findall(name) if len(number) < 8)
