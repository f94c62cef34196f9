"""Gives frames to `query` of either library by a transport, and prints what comes out of it.

usage: transport_program.py MODULE < LINES
"""

import asyncio
import dataclasses
import importlib
import json
import sys

RESULT = {
    "type": "result",
    "subtype": "success",
    "duration_ms": 1,
    "duration_api_ms": 1,
    "is_error": False,
    "num_turns": 1,
    "session_id": "s",
    "result": "the end",
}


def transport_of(sdk, frames):
    """A transport that answers the handshake and then gives the frames."""

    class Frames(sdk.Transport):
        def __init__(self):
            self._asked, self._prompted = asyncio.Event(), asyncio.Event()
            self._request_id = ""

        async def connect(self):
            pass

        async def write(self, data):
            frame = json.loads(data)
            if frame["type"] == "control_request":
                self._request_id = frame["request_id"]
                self._asked.set()
            else:
                self._prompted.set()

        async def read_messages(self):
            await self._asked.wait()
            answer = {"subtype": "success", "request_id": self._request_id, "response": {}}
            yield {"type": "control_response", "response": answer}
            await self._prompted.wait()
            for frame in frames:
                yield frame

        async def close(self):
            pass

        def is_ready(self):
            return True

        async def end_input(self):
            pass

    return Frames()


async def messages_of(sdk, frames):
    """What `query` gives: the names of the classes, and their fields."""
    transport = transport_of(sdk, [*frames, RESULT])
    return [
        [type(message).__name__, dataclasses.asdict(message)]
        async for message in sdk.query(prompt="go", transport=transport)
    ][:-1]


if __name__ == "__main__":
    module = importlib.import_module(sys.argv[1])
    lines = [json.loads(line) for line in sys.stdin]
    sys.stdout.write(json.dumps([asyncio.run(messages_of(module, [frame])) for frame in lines]))
