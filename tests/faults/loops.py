"""A program that leaves a loop over messages early and closes nothing, as the last thing that it does."""

import asyncio
import sys

import anyio

from claude_wrapper import AgentPool, AssistantMessage, ClaudeAgentOptions, ClaudeSDKClient, query, startup

KEPT = []


async def by_query(options, how):
    return await leave(query(prompt="go", options=options), how)


async def by_query_in_a_task(options, how):
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(by_query, options, how)


async def by_warm_agent(options, how):
    warm = await startup(options)
    return await leave(warm.query("go"), how)


async def by_pool(options, how):
    async with AgentPool(options) as pool:
        return await leave(pool.query("go"), how)


async def by_client(options, how):
    async with ClaudeSDKClient(options) as client:
        await client.query("go")
        return await leave(client.receive_response(), how)


async def leave(messages, how):
    if how == "keep":
        KEPT.append(messages)
    async for message in messages:
        if isinstance(message, AssistantMessage):
            if how == "raise":
                raise LookupError
            if how == "break":
                break
            return message
    await anyio.lowlevel.checkpoint()
    return None


async def main(function, options, how):
    if "trio" not in sys.modules or anyio.get_cancelled_exc_class() is asyncio.CancelledError:
        # A busy machine is no reason to complain.
        asyncio.get_running_loop().slow_callback_duration = 60
    return await function(options, how)


if __name__ == "__main__":
    name, ending, backend, path = sys.argv[1:]
    try:
        anyio.run(main, globals()[name], ClaudeAgentOptions(cli_path=path), ending, backend=backend)
    except Exception as error:  # noqa: BLE001  # it may be the one of the loop, or a group of it
        assert "LookupError" in repr(error), repr(error)  # noqa: PT017
