import asyncio
import socket
import ssl
import subprocess
import sys
import textwrap
from pathlib import Path

import anyio
import pytest

from claude_wrapper.agent.api.items import RawEvent, RetryNotice

pytestmark = pytest.mark.anyio

CERTIFICATE = Path(__file__).parent / "tls" / "server.pem"


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
async def tls_api(new_api):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE, CERTIFICATE.with_suffix(".key"))
    api = await new_api(context)
    api.say("secure")
    return api


@pytest.fixture
async def mail_server():
    async def talk(reader, writer):
        await reader.read(1)
        writer.write(b"220 mail ready\r\n")
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    server.close()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


async def test_one_connection_serves_one_reply_after_the_other(api, client, new_request, collect):
    api.say("x")
    for _ in range(3):
        await collect(client, new_request())
    assert [request.connection for request in api.requests] == [1, 1, 1]


async def test_a_connection_that_the_server_closed_is_replaced_without_a_word(
    api, client, new_request, collect, kinds
):
    api.say("x", framing="close")
    await collect(client, new_request())
    items, error = await collect(client, new_request())
    assert error is None
    assert kinds(items) == ["BlockDone", "ReplyDone"]
    assert api.connections == 2


async def test_warming_up_opens_the_connection_and_sends_nothing(api, client, new_request, collect):
    api.say("x")
    await client.warm()
    with anyio.fail_after(40):
        while not api.connections:
            await anyio.lowlevel.checkpoint()
    assert api.requests == []
    await collect(client, new_request())
    assert [request.connection for request in api.requests] == [1]
    assert api.connections == 1


@pytest.mark.parametrize("warm_first", [True, False])
async def test_warming_up_beside_the_first_request_opens_no_second_connection(
    api, client, new_request, collect, warm_first
):
    api.say("x")

    async def ask():
        await collect(client, new_request())

    async with anyio.create_task_group() as group:
        for start in [client.warm, ask] if warm_first else [ask, client.warm]:
            group.start_soon(start)
    assert len(api.requests) == 1
    assert api.connections == 1


async def test_a_prepared_connection_that_the_server_closed_is_not_used(
    new_api, new_client, new_request, collect, kinds
):
    api = await new_api()
    client = new_client(url=api.url)
    await client.warm()
    with anyio.fail_after(40):
        while not api.connections:
            await anyio.lowlevel.checkpoint()
        api.drop_connections()
        while api.open_connections:
            await anyio.lowlevel.checkpoint()
    api.say("x")
    items, error = await collect(client, new_request())
    assert error is None
    assert kinds(items) == ["BlockDone", "ReplyDone"]
    assert api.connections == 2


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:{port}", "https://127.0.0.1:{port}", "http://host.invalid"]
)
async def test_warming_up_against_nothing_is_no_error(new_client, url):
    client = new_client(url=url.format(port=free_port()))
    with anyio.fail_after(40):
        await client.warm()


async def test_a_prepared_connection_that_nobody_uses_is_closed_with_the_client(api, client):
    await client.warm()
    with anyio.fail_after(40):
        while not api.open_connections:
            await anyio.lowlevel.checkpoint()
        await client.aclose()
        while api.open_connections:
            await anyio.lowlevel.checkpoint()


@pytest.mark.feature("ENV-03")
async def test_a_server_that_is_not_there_is_tried_again_and_then_reported(new_client, new_request, collect):
    items, error = await collect(new_client(url=f"http://127.0.0.1:{free_port()}", retries=1), new_request())
    assert [(type(item), item.status, item.kind) for item in items] == [(RetryNotice, None, "unknown")]
    assert (error.failure.cause, error.kind, error.api_error, error.status) == (
        "refused",
        "server_error",
        "connection_failed",
        None,
    )


async def test_a_host_that_does_not_exist_is_reported(new_client, new_request, collect):
    _, error = await collect(new_client(url="http://host.invalid:9", retries=0), new_request())
    assert error.failure.cause == "unreachable"
    assert "host.invalid" in error.text


@pytest.mark.parametrize("reset", [True, False])
async def test_a_connection_that_breaks_before_the_reply_is_reported(
    api, new_client, new_request, collect, reset
):
    api.hang_up(reset=reset)
    items, error = await collect(new_client(retries=1), new_request())
    assert len(items) == 1
    assert (error.failure.cause, error.api_error) == ("dropped", "connection_failed")


@pytest.mark.parametrize(("scheme", "cause"), [("http", "dropped"), ("https", "tls")])
async def test_a_server_that_speaks_something_else_is_reported(
    mail_server, new_client, new_request, collect, scheme, cause
):
    client = new_client(url=f"{scheme}://127.0.0.1:{mail_server}", retries=0)
    _, error = await collect(client, new_request())
    assert error.failure.cause == cause


async def test_a_reply_that_does_not_begin_in_time_is_given_up(api, new_client, new_request, collect):
    held = api.say_nothing()
    api.say("x")
    items, error = await collect(new_client(begin=0.2), new_request())
    assert error is None
    assert isinstance(items[0], RetryNotice)
    with anyio.fail_after(40):
        await held.client_left.wait()


async def test_a_certificate_that_is_not_trusted_ends_the_request_at_once(
    tls_api, new_client, new_request, collect
):
    client = new_client(url=f"https://127.0.0.1:{tls_api.port}")
    items, error = await collect(client, new_request())
    assert items == []
    assert (error.failure.cause, error.kind, error.api_error) == ("tls", "server_error", "tls_untrusted_ca")
    assert tls_api.requests == []


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"])
@pytest.mark.parametrize("warm", [True, False])
async def test_a_certificate_that_the_environment_trusts_is_accepted(
    tls_api, new_client, new_request, collect, monkeypatch, variable, warm
):
    monkeypatch.setenv(variable, str(CERTIFICATE))
    client = new_client(url=f"https://127.0.0.1:{tls_api.port}")
    if warm:
        await client.warm()
    for _ in range(2):
        items, error = await collect(client, new_request())
        assert error is None
        assert items[-1].reply.content == [{"type": "text", "text": "secure"}]
    assert tls_api.connections == 1


@pytest.mark.feature("ENV-11")
async def test_requests_go_through_the_proxy_of_the_environment(
    new_api, new_client, new_request, collect, monkeypatch
):
    proxy = await new_api()
    proxy.say("through the proxy")
    monkeypatch.setenv("HTTP_PROXY", proxy.url)
    client = new_client(url="http://models.test/base")
    await client.warm()
    items, error = await collect(client, new_request())
    assert error is None
    assert proxy.requests[0].target == "http://models.test/base/v1/messages?beta=true"
    assert items[-1].reply.content == [{"type": "text", "text": "through the proxy"}]


@pytest.mark.feature("ENV-11")
async def test_hosts_that_need_no_proxy_are_asked_directly(
    api, new_api, new_client, new_request, collect, monkeypatch
):
    proxy = await new_api()
    api.say("direct")
    monkeypatch.setenv("HTTP_PROXY", proxy.url)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    _, error = await collect(new_client(), new_request())
    assert error is None
    assert proxy.connections == 0
    assert len(api.requests) == 1


async def test_a_proxy_that_is_not_there_is_reported(new_client, new_request, collect, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
    _, error = await collect(new_client(url="http://models.test", retries=0), new_request())
    assert error.failure.cause == "refused"


async def test_a_failure_that_goes_on_for_ever_is_read_only_so_far(
    api, new_client, new_request, collect, gate
):
    held = gate()
    api.add(b"x" * 300_000, held, status=404)
    _, error = await collect(new_client(), new_request())
    assert error.status == 404
    with anyio.fail_after(40):
        await held.client_left.wait()


async def test_leaving_a_stream_closes_its_connection(api, client, new_request, gate):
    held = gate()
    api.add(api.start_event(), held)
    async with client.stream(new_request()) as stream:
        async for _ in stream:
            break
    with anyio.fail_after(40):
        await held.client_left.wait()


async def test_cancelling_while_waiting_for_the_reply_closes_the_connection(api, client, new_request):
    held = api.say_nothing()
    async with anyio.create_task_group() as group:
        group.start_soon(drain, client.stream(new_request()))
        await held.reached.wait()
        group.cancel_scope.cancel()
    with anyio.fail_after(40):
        await held.client_left.wait()


async def test_cancelling_in_the_middle_of_a_reply_closes_the_connection_and_keeps_what_came(
    api, client, new_request, gate
):
    held = gate()
    api.add(api.start_event(), api.open_text(0, "word0 word1"), held)
    stream = client.stream(new_request())
    arrived = anyio.Event()

    async def read():
        async with stream:
            async for item in stream:
                if isinstance(item, RawEvent) and item.text:
                    arrived.set()

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        await arrived.wait()
        group.cancel_scope.cancel()
    with anyio.fail_after(40):
        await held.client_left.wait()
    assert [block.data["text"] for block in stream.reply.open_blocks] == ["word0 word1"]
    assert stream.reply.spent.output_tokens == 3


async def test_cancelling_the_reader_elsewhere_closes_the_connection_too(api, client, new_request, gate):
    held = gate()
    api.add(api.start_event(), held)
    busy = anyio.Event()

    async def read():
        async with client.stream(new_request()) as stream:
            async for _ in stream:
                busy.set()
                await anyio.sleep_forever()

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        await busy.wait()
        group.cancel_scope.cancel()
    with anyio.fail_after(40):
        await held.client_left.wait()


async def test_cancelling_between_two_tries_ends_the_waiting(api, client, new_request):
    api.fail(529, "overloaded_error", retry_after="50")
    waiting = anyio.Event()

    async def read():
        async with client.stream(new_request()) as stream:
            async for _ in stream:
                waiting.set()

    with anyio.fail_after(40):
        async with anyio.create_task_group() as group:
            group.start_soon(read)
            await waiting.wait()
            group.cancel_scope.cancel()
    assert len(api.requests) == 1


async def test_the_client_works_on_after_a_cancelled_reply(api, client, new_request, collect, gate):
    held = gate()
    api.add(api.start_event(), held)
    api.say("next")
    async with client.stream(new_request()) as stream:
        async for _ in stream:
            break
    items, error = await collect(client, new_request())
    assert error is None
    assert items[-1].reply.content == [{"type": "text", "text": "next"}]


async def drain(stream):
    async with stream:
        async for _ in stream:
            pass


def run_fresh(program, *arguments):
    """Run a program in an interpreter of its own; it prints what is to be known."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *arguments],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_the_http_library_is_not_imported_before_it_is_used():
    program = """
        import sys
        import claude_wrapper.agent.api.client
        print(*(name for name in ("httpx2", "httpcore2", "h11", "truststore") if name in sys.modules), "end")
    """
    assert run_fresh(program) == ["end"]


async def test_certificates_are_not_read_for_a_connection_without_tls(api):
    api.say("plain")
    program = """
        import ssl, sys, anyio
        from claude_wrapper.agent.api.catalog import find_model
        from claude_wrapper.agent.api.client import ModelClient
        from claude_wrapper.agent.api.endpoint import Endpoint
        from claude_wrapper.agent.api.request import ModelRequest
        from claude_wrapper.agent.api.tuning import tune

        reads = []
        original = ssl.SSLContext.load_verify_locations
        ssl.SSLContext.load_verify_locations = lambda *a, **k: (reads.append(1), original(*a, **k))

        async def main():
            model = find_model("sonnet")
            async with ModelClient(Endpoint(sys.argv[1], api_key="key")) as client:
                await client.warm()
                async with client.stream(ModelRequest(model, [], tune(model))) as stream:
                    async for item in stream:
                        pass
                print(item.reply.content[0]["text"], len(reads))

        anyio.run(main)
    """
    assert await anyio.to_thread.run_sync(run_fresh, program, api.url) == ["plain", "0"]


def test_a_missing_http_library_is_an_error_of_the_request():
    program = """
        import sys, anyio
        from claude_wrapper.agent.api.api_error import ApiError
        from claude_wrapper.agent.api.catalog import find_model
        from claude_wrapper.agent.api.client import ModelClient
        from claude_wrapper.agent.api.endpoint import Endpoint
        from claude_wrapper.agent.api.request import ModelRequest
        from claude_wrapper.agent.api.tuning import tune

        sys.modules["httpx2"] = None

        async def main():
            model = find_model("sonnet")
            async with ModelClient(Endpoint("http://127.0.0.1:9", api_key="key")) as client:
                await client.warm()
                try:
                    async for item in client.stream(ModelRequest(model, [], tune(model))):
                        pass
                except ApiError as error:
                    print(error.text)

        anyio.run(main)
    """
    assert " ".join(run_fresh(program)) == "API Error: the Python package httpx2 is not installed"
