"""A hook that is an address: what is posted, and what counts as an answer."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from claude_wrapper.agent.hooks.hook import HttpHook
from claude_wrapper.agent.hooks.http import post

pytestmark = pytest.mark.anyio


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.seen.append(({name.lower(): value for name, value in self.headers.items()}, body))
        if self.path == "/hang":
            self.server.release.wait(100)
        code = {"/500": 500, "/redirect": 302}.get(self.path, 200)
        answer = b'{"systemMessage": "x"}' if code == 200 else b"no"
        self.send_response(code)
        if code == 302:
            self.send_header("location", "/")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


@pytest.fixture
def server():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.seen, server.release = [], threading.Event()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    server.url = f"http://127.0.0.1:{server.server_port}"
    yield server
    server.release.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.feature("HOOK-21")
async def test_the_event_is_posted_with_headers_that_tell_no_more_than_they_may(server):
    hook = HttpHook(
        url=server.url,
        seconds=10,
        headers={"X-Told": "a $GOOD ${MISSING} $SECRET"},
        variables=("GOOD", "MISSING"),
    )
    end = await post(hook, b'{"a":1}', {"GOOD": "b\r\nX-Other: c", "SECRET": "s"})

    headers, body = server.seen[0]
    assert json.loads(body) == {"a": 1}
    assert headers["content-type"] == "application/json"
    assert headers["x-told"] == "a bX-Other: c"
    assert (end.how, end.status, end.text) == ("answered", 200, '{"systemMessage": "x"}')


@pytest.mark.feature("HOOK-21")
@pytest.mark.parametrize(("path", "status"), [("/500", 500), ("/redirect", 302)])
async def test_other_statuses_are_failures_and_nobody_is_sent_elsewhere(server, path, status):
    end = await post(HttpHook(url=server.url + path, seconds=10), b"{}", {})

    assert (end.how, end.status) == ("failed", status)
    assert len(server.seen) == 1


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/x", "nonsense", "http://[bad", "file:///etc/passwd"])
async def test_an_address_that_cannot_be_reached_is_a_failure(url):
    end = await post(HttpHook(url=url, seconds=10), b"{}", {})

    assert end.how == "failed"
    assert url in end.problem


async def test_one_that_hangs_is_left_after_its_time(server):
    assert (await post(HttpHook(url=f"{server.url}/hang", seconds=0.3), b"{}", {})).how == "timeout"
