"""The client of the Messages API: replies of the model, tried again where that helps."""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from types import TracebackType
from typing import TYPE_CHECKING

import anyio
from msgspec.structs import replace

from .adapt import Change, adapt, apply_changes
from .api_error import ReplyCutError, error_of
from .attempt import attempt
from .direct import Direct
from .endpoint import Endpoint
from .failure import FailedTryError, Failure
from .fold import Reply, ReplyFold
from .items import ModelSwitch, ReplyAbandoned, RetryNotice, StreamItem
from .outgoing import Provider
from .providers import provider_of
from .request import ModelRequest
from .retry import GiveUp, Retry, RetryPolicy, RetryState, Switch, decide
from .transport import Timeouts, Transport

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ModelClient", "ReplyStream", "StandIn"]

_MOST_ADAPTATIONS = 8

StandIn = Callable[[ModelRequest], ModelRequest | None]
"""Gives the same request for the model that may answer in the place of the request's own."""


class ModelClient:
    """Asks the model, over connections that it keeps.

    Several replies may be on their way at once. `warm()` may run beside anything else; without
    it the first request does its work. `learned` is what each model has refused: later requests
    to it go without.
    """

    def __init__(
        self,
        provider: Provider | Endpoint,
        policy: RetryPolicy | None = None,
        timeouts: Timeouts | None = None,
    ) -> None:
        self.provider = Direct(provider) if isinstance(provider, Endpoint) else provider
        self.endpoint = self.provider.endpoint
        self.policy = policy or RetryPolicy()
        self.transport = Transport(self.endpoint, timeouts or Timeouts())
        self.learned: dict[str, set[Change]] = {}

    @staticmethod
    def from_environment(
        environment: Mapping[str, str], *, user_agent: str = "claude-wrapper", key_helper: str | None = None
    ) -> ModelClient:
        """A client for the provider, key, retries and timeouts that the environment names.

        `key_helper` is a shell command whose output is the key.
        """
        return ModelClient(
            provider_of(environment, user_agent=user_agent, key_helper=key_helper),
            RetryPolicy.from_environment(environment),
            Timeouts.from_environment(environment),
        )

    def use_key_helper(self, command: str | None) -> None:
        """Run another command for the key; of no effect where no command gave it before."""
        if command is not None and isinstance(self.provider, Direct):
            self.provider.use_helper(command)

    async def warm(self) -> None:
        """Load what the first request needs and open its connection, without sending anything."""
        await self.transport.warm()

    def stream(self, request: ModelRequest, stand_in: StandIn | None = None) -> ReplyStream:
        """Ask for a reply. Nothing is sent before the stream is iterated."""
        return ReplyStream(self, request, stand_in)

    async def aclose(self) -> None:
        """Close all connections."""
        await self.transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class ReplyStream:
    """One reply on its way: an async iterator of items, to be closed if it is left early.

    Raises ApiError when no reply can be had, ReplyCutError when one broke off after blocks of it
    were given out. `async with` closes the stream, and so the connection, however the iteration
    ends; one who was interrupted finds in `reply` what had come.
    """

    def __init__(self, client: ModelClient, request: ModelRequest, stand_in: StandIn | None) -> None:
        self._client = client
        self._request = request
        self._stand_in = stand_in
        self._state = self._fresh_state()
        self._adaptations = 0
        self._renewed = False
        self._fold = ReplyFold()
        self._items = self._run()

    @property
    def reply(self) -> Reply:
        """The reply of the current try, as far as it has come."""
        return self._fold.reply

    def __aiter__(self) -> AsyncIterator[StreamItem]:
        return self._items

    async def aclose(self) -> None:
        """Stop, and close the connection."""
        await self._items.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _run(self) -> AsyncGenerator[StreamItem, None]:
        self._client.provider.check()
        self._request = apply_changes(self._request, self._learned)
        while True:
            self._fold = ReplyFold()
            try:
                async with aclosing(self._attempt()) as items:
                    async for item in items:
                        yield item
                return
            except FailedTryError as error:
                failure = self._redacted(error.failure)
                if self._fold.has_blocks:
                    raise ReplyCutError(failure, self._fold.reply, self._client.policy.max_retries) from error
            if self._fold.started:
                yield ReplyAbandoned(self._fold.reply, billed=failure.cause != "error_event")
            if self._renew(failure) or self._adapt(failure):
                continue
            step = self._next_try(failure)
            if isinstance(step, ModelSwitch):
                yield step
            elif step is not None:
                if step.attempt:
                    yield step
                await anyio.sleep(step.delay)

    async def _attempt(self) -> AsyncGenerator[StreamItem, None]:
        outgoing = await self._client.provider.outgoing(self._request, stream=self._state.streaming)
        async with aclosing(attempt(self._client.transport, outgoing, self._fold)) as items:
            async for item in items:
                yield item

    def _renew(self, failure: Failure) -> bool:
        """Use other credentials, once. Whether there may be others."""
        if failure.status not in {401, 403} or self._renewed:
            return False
        self._renewed = self._client.provider.forget()
        return self._renewed

    def _adapt(self, failure: Failure) -> bool:
        """Give up what the API refused. Whether there was something to give up."""
        adapted = adapt(self._request, failure) if self._adaptations < _MOST_ADAPTATIONS else None
        if adapted is None:
            return False
        self._adaptations += 1
        self._request, change = adapted
        if change is not None:
            self._learned.add(change)
        return True

    def _next_try(self, failure: Failure) -> RetryNotice | ModelSwitch | None:
        """Prepare the next try, with what is to be said of it, if anything; raises ApiError if there is none."""
        policy = self._client.policy
        self._state.block_begun = bool(self._fold.reply.open_blocks)
        verdict = decide(failure, self._state, policy, random.random)
        if isinstance(verdict, GiveUp):
            endpoint = self._client.endpoint
            raise error_of(
                failure,
                host=endpoint.host,
                model=self._request.model.api_name,
                uses_key=endpoint.api_key is not None,
            )
        if isinstance(verdict, Switch):
            return self._switch(verdict.trigger)
        if isinstance(verdict, Retry):
            return RetryNotice(
                verdict.attempt, policy.max_retries, verdict.delay, failure.status, failure.retry_kind
            )
        return None

    def _switch(self, trigger: str) -> ModelSwitch:
        request = self._stand_in(self._request) if self._stand_in is not None else None
        assert request is not None, "only a request that has a stand-in is switched"
        original = self._request.model
        self._request = request
        self._request = apply_changes(request, self._learned)
        self._state, self._adaptations = self._fresh_state(), 0
        return ModelSwitch(trigger, original, request.model)

    def _fresh_state(self) -> RetryState:
        stand_in = self._stand_in
        return RetryState(can_switch=stand_in is not None and stand_in(self._request) is not None)

    @property
    def _learned(self) -> set[Change]:
        return self._client.learned.setdefault(self._request.model.canonical, set())

    def _redacted(self, failure: Failure) -> Failure:
        return replace(failure, message=self._client.provider.redact(failure.message))
