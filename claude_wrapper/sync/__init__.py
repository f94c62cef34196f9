"""The same names for programs without an event loop: `query` is a plain iterator, clients and agents have plain methods.

    from claude_wrapper.sync import query

    for message in query(prompt="What does this project do?"):
        print(message)

Each run and each connected client has a thread of its own, in which the asynchronous ones do the work;
it ends with them. Permission callbacks, hooks, tools and iterables of prompts may be plain or async:
async ones run in that thread, plain ones each in a further thread, so that one that waits for an
answer at the keyboard holds up nothing else. Type checkers want async callbacks in the options all the
same. Stores of sessions stay async.
"""

from __future__ import annotations

from .blocking_client import ClaudeSDKClient
from .blocking_query import query
from .blocking_warm import AgentPool, WarmAgent, startup

__all__ = ["AgentPool", "ClaudeSDKClient", "WarmAgent", "query", "startup"]
