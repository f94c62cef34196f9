"""Calls session functions of the official SDK: a list of calls on stdin, a list of results on stdout."""

import asyncio
import dataclasses
import inspect
import json
import sys

import claude_agent_sdk as sdk


def plain(value):
    if dataclasses.is_dataclass(value):
        return dataclasses.asdict(value)
    return [plain(item) for item in value] if isinstance(value, list) else value


class Store(sdk.InMemorySessionStore):
    """A store that is filled with rows of a key and entries."""

    @classmethod
    async def of(cls, rows):
        store = cls()
        for key, entries in rows:
            await store.append(key, entries)
        return store


async def called(name, arguments):
    if "session_store" in arguments:
        arguments["session_store"] = await Store.of(arguments["session_store"])
    result = getattr(sdk, name)(**arguments)
    return await result if inspect.isawaitable(result) else result


def outcome(name, arguments):
    try:
        return {"result": plain(asyncio.run(called(name, arguments)))}
    except Exception as error:  # noqa: BLE001  # whatever it raises is what is compared
        return {"raise": type(error).__name__}


json.dump([outcome(*call) for call in json.load(sys.stdin)], sys.stdout)
