"""Plain functions as the async callbacks that a conversation calls: each call runs in a thread of its own."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Mapping
from typing import Any

from anyio import to_thread

from claude_wrapper.hook_matchers import HookMatcher
from claude_wrapper.options import ClaudeAgentOptions
from claude_wrapper.tool_server import SdkMcpServer

__all__ = ["Abort", "Prompts", "async_options", "async_prompts", "async_servers"]

Prompts = str | Iterable[dict[str, Any]] | AsyncIterable[dict[str, Any]]
"""What may be sent: a text, or the `user` frames of an iterable."""

Abort = Callable[[BaseException], None]
"""Hands what must end the program, such as SystemExit, to the thread that waits for the conversation."""

_END: Any = object()


def async_options(options: ClaudeAgentOptions, abort: Abort) -> ClaudeAgentOptions:
    """Return the options with every plain callback made async. What has a wrong shape stays as it is."""
    changed: dict[str, Any] = {}
    if callable(options.can_use_tool):
        changed["can_use_tool"] = _async(options.can_use_tool, abort)
    hooks: Any = options.hooks
    servers: Any = options.mcp_servers
    if isinstance(hooks, Mapping):
        changed["hooks"] = {event: _matchers(given, abort) for event, given in hooks.items()}
    if isinstance(servers, Mapping):
        changed["mcp_servers"] = async_servers(servers, abort)
    return dataclasses.replace(options, **changed)


def async_servers(servers: Mapping[str, Any], abort: Abort) -> dict[str, Any]:
    """Return tool servers with every plain function of those in this program made async."""
    return {name: _server(given, abort) for name, given in servers.items()}


def async_prompts(prompt: str | Iterable[Any] | AsyncIterable[Any], abort: Abort) -> str | AsyncIterable[Any]:
    """Return prompts as an async iterable; a plain one may take its time for the next."""
    if isinstance(prompt, str | AsyncIterable) or not isinstance(prompt, Iterable):
        return prompt
    return _iterated(prompt, abort)


async def _iterated(prompts: Iterable[Any], abort: Abort) -> AsyncIterator[Any]:
    iterator = iter(prompts)
    take = _async(lambda: next(iterator, _END), abort)
    while (prompt := await take()) is not _END:
        yield prompt


def _matchers(given: Any, abort: Abort) -> Any:
    if not isinstance(given, list | tuple):
        return given
    return [_matcher(matcher, abort) for matcher in given]


def _matcher(matcher: Any, abort: Abort) -> Any:
    given: Any = matcher.hooks if isinstance(matcher, HookMatcher) else None
    if not isinstance(given, list | tuple):
        return matcher
    hooks: Any = [_async(hook, abort) if callable(hook) else hook for hook in given]
    return dataclasses.replace(matcher, hooks=hooks)


def _server(config: Any, abort: Abort) -> Any:
    instance = config.get("instance") if isinstance(config, Mapping) else None
    if not isinstance(instance, SdkMcpServer):
        return config
    return {**config, "instance": instance.with_handlers(lambda handler: _async(handler, abort))}


def _async(function: Callable[..., Any], abort: Abort) -> Callable[..., Awaitable[Any]]:
    is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)

    @functools.wraps(function, updated=())
    async def call(*args: Any) -> Any:
        try:
            if is_async:
                return await function(*args)
            result = await to_thread.run_sync(function, *args, abandon_on_cancel=True)
            return await result if inspect.isawaitable(result) else result
        except (SystemExit, KeyboardInterrupt) as error:
            # In the event loop it would end the loop, and the program would never hear of it.
            abort(error)
            raise RuntimeError(f"The callback ended the program: {type(error).__name__}") from error

    return call
