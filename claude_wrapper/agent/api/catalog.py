"""The models that are known: their names, prices, limits and abilities, read from a data file."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Literal

import msgspec

from .naming import LONG, ProviderName, is_default, meant, provider_name
from .switches import is_on

__all__ = ["Catalog", "Model", "Price", "SmallPrompt", "find_model", "load_catalog", "widened"]

LONG_WINDOW = 1_000_000
LONG_WINDOW_BETA = "context-1m-2025-08-07"
_USUAL_WINDOW = 200_000
_NO_LONG_WINDOW = "CLAUDE_CODE_DISABLE_1M_CONTEXT"

# What providers put around a model's name: `us.anthropic.` before, a date and a revision behind.
_BEFORE = re.compile(r"^.*?(?=claude-)")
_BEHIND = re.compile(r"(?:[-@]20\d{6}|-latest)?(?:[-@]v\d+(?::\d+)?|@default)?$")


class Price(msgspec.Struct, frozen=True):
    """US dollars per million tokens."""

    input: float
    output: float
    cache_read: float
    cache_write_5m: float
    cache_write_1h: float


class SmallPrompt(msgspec.Struct, frozen=True):
    """The price of requests whose prompt has no more than `up_to` tokens."""

    up_to: int
    price: Price


class ModelFacts(msgspec.Struct, frozen=True):
    """What the data file says about one model.

    `thinking`: how it is asked for (`adaptive`, or `budget` of tokens, or there is `none`);
    `thinking_off`: what declining it takes (`disabled` is said, it is left out by `omit`, or it
    `never` stops). `efforts` are the levels the model takes, `effort` the one it is given. One that
    `widens` is asked for with its long window where it takes the default model's place. Replies at the speed
    `fast` cost `fast_factor` times as much. `takes_budget`: one that is `adaptive` can be given a budget, too.
    What one costs that is not `priced` is as little known as the price of an unlisted model.
    """

    context_window: int
    max_output: int
    max_output_limit: int
    price: Price
    thinking: Literal["adaptive", "budget", "none"]
    thinking_off: Literal["disabled", "omit", "never"]
    efforts: list[str]
    effort: str | None = None
    small_prompt: SmallPrompt | None = None
    widens: bool = False
    fast_factor: float = 1
    takes_budget: bool = False
    priced: bool = True


class Catalog(msgspec.Struct, frozen=True):
    """The data file. `measured` is the day of its figures.

    `clouds` are the aliases that stand for another model at a provider. `unknown` is a model like
    the newest; `unknown_price` is what it costs where the best model is one that is not listed either. Replies made in a geography cost so many times as much.
    """

    measured: str
    web_search_request: float
    geography_factors: dict[str, float]
    aliases: dict[str, str]
    clouds: dict[str, dict[str, str]]
    successors: dict[str, str]
    unknown: ModelFacts
    unknown_price: Price
    models: dict[str, ModelFacts]


class Model(msgspec.Struct, frozen=True):
    """One model as it was asked for.

    `name` is what totals are kept under, `api_name` what requests say, `canonical` the name
    without dates and providers. A model that the catalog does not list has `known` false: its
    limits and prices are those of its newest kin, and so a guess.
    """

    name: str
    api_name: str
    canonical: str
    known: bool
    facts: ModelFacts
    context_window: int
    needs_long_window: bool
    provider: ProviderName = "firstParty"

    @property
    def cost_basis(self) -> str:
        """How far the price can be trusted: `list` for a listed model, else `unknown`."""
        return "list" if self.known else "unknown"

    @property
    def takes_auto(self) -> bool:
        """Whether the mode in which a model checks calls is open to sessions with this one."""
        return self.facts.thinking == "adaptive"


@lru_cache(maxsize=1)
def load_catalog() -> Catalog:
    """Read the data file."""
    return msgspec.json.decode(Path(__file__).with_name("models.json").read_bytes(), type=Catalog)


def find_model(name: str | None, environment: Mapping[str, str] | None = None) -> Model:
    """Look up a model by alias or name; None, or an empty name, is the default model.

    `environment` names the provider, and may replace what an alias stands for
    (ANTHROPIC_DEFAULT_SONNET_MODEL, …). Models that are no longer served become their successors.
    """
    catalog, environment = load_catalog(), environment or {}
    provider = provider_name(environment)
    model = _described(meant(name, catalog.aliases, catalog.clouds, environment), provider)
    if is_default(name) and model.facts.widens and not model.needs_long_window:
        model = _described(f"{model.api_name}[1m]", provider)
    if not model.known:
        price = _price_of_unknown(meant("opus", catalog.aliases, catalog.clouds, environment))
        model = msgspec.structs.replace(model, facts=msgspec.structs.replace(model.facts, price=price))
    if is_on(environment, _NO_LONG_WINDOW) and model.context_window > _USUAL_WINDOW:
        model = msgspec.structs.replace(model, context_window=_USUAL_WINDOW, needs_long_window=False)
    window = _window_by_user(environment)
    if window is not None and (not model.known or is_on(environment, "DISABLE_COMPACT")):
        model = msgspec.structs.replace(model, context_window=window)
    return model


def widened(model: Model, betas: Collection[str], environment: Mapping[str, str]) -> Model:
    """The model with the window that betas of the user's open."""
    if LONG_WINDOW_BETA not in betas or is_on(environment, _NO_LONG_WINDOW):
        return model
    if not model.facts.widens or model.context_window >= LONG_WINDOW:
        return model
    return msgspec.structs.replace(model, context_window=LONG_WINDOW)


def _window_by_user(environment: Mapping[str, str]) -> int | None:
    """How much fits, as the user says: of models nobody knows, and where nothing is compacted by it."""
    text = environment.get("CLAUDE_CODE_MAX_CONTEXT_TOKENS", "").strip()
    return int(text) if text.isdecimal() and int(text) else None


def _price_of_unknown(best: str) -> Price:
    """What nobody knows is taken to cost as much as the best model."""
    catalog = load_catalog()
    facts = catalog.models.get(_canonical(LONG.sub("", best), catalog))
    return catalog.unknown_price if facts is None else facts.price


@lru_cache(maxsize=64)
def _described(given: str, provider: ProviderName) -> Model:
    catalog = load_catalog()
    long = bool(LONG.search(given))
    api_name = LONG.sub("", given)
    canonical = _canonical(api_name, catalog)
    # A name without minor number and date is taken at its word.
    bare = canonical not in catalog.successors or f"{api_name.lower()}-0" == canonical
    successor = None if bare else catalog.successors[canonical]
    if successor is not None:
        api_name = canonical = successor
    facts = catalog.models.get(canonical)
    known = facts is not None and facts.priced
    facts = facts or catalog.unknown
    needs_long_window = long and (not known or facts.context_window < LONG_WINDOW)
    name = f"{api_name}[1m]" if needs_long_window else api_name
    return Model(
        name=name,
        api_name=api_name,
        canonical=f"{canonical}[1m]" if needs_long_window and not known else canonical,
        known=known,
        facts=facts,
        context_window=LONG_WINDOW if needs_long_window else facts.context_window,
        needs_long_window=needs_long_window,
        provider=provider,
    )


def _canonical(name: str, catalog: Catalog) -> str:
    plain = _plain(name)
    # The first models of a generation are named without their minor number.
    first = f"{plain}-0"
    return first if plain not in catalog.models and first in catalog.models else plain


def _plain(name: str) -> str:
    """A model's name without dates and providers."""
    return _BEHIND.sub("", _BEFORE.sub("", name.lower(), count=1), count=1)
