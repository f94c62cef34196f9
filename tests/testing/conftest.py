"""A client of the scripted model that takes no part in what it reads."""

import contextlib
import http.client
import json

import pytest


class Client:
    """One kept connection to a model."""

    def __init__(self, url):
        self.connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=20)

    def send(self, body=None, *, path="/v1/messages", method="POST", headers=None, **fields):
        """Send a request as an agent makes it, and return the reply with its head read."""
        if body is None:
            body = {
                "model": "m",
                "stream": True,
                "tools": [{"name": "Bash"}],
                "messages": [{"role": "user", "content": "Go"}],
                **fields,
            }
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.connection.request(method, path, body=data, headers=headers or {})
        return self.connection.getresponse()

    def text(self, **fields):
        """The text of a streamed reply."""
        return "".join(
            event["delta"].get("text", "")
            for event in events_of(self.send(**fields).read())
            if event["type"] == "content_block_delta"
        )


def events_of(data):
    """The events of a stream that is whole."""
    return [json.loads(part.split(b"\ndata: ", 1)[1]) for part in data.split(b"\n\n") if part]


@pytest.fixture
def client():
    """Makes clients, and closes them."""
    with contextlib.ExitStack() as stack:

        def connect(model):
            made = Client(model.url)
            stack.callback(made.connection.close)
            return made

        yield connect


@pytest.fixture
def decode():
    return events_of
