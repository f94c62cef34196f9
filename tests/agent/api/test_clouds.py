"""Requests to models in clouds, against stand-ins on loopback: addresses, signatures, tokens, streams."""

import asyncio
import base64
import binascii
import json
import struct
import sys

import pytest

from claude_wrapper.agent.api.api_error import ApiError
from claude_wrapper.agent.api.client import ModelClient
from claude_wrapper.agent.api.items import BlockDone, ReplyDone
from claude_wrapper.agent.api.providers import provider_of

pytestmark = pytest.mark.anyio
EVENTS = [
    {"type": "message_start", "message": {"id": "msg_1", "usage": {"input_tokens": 7}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}},
    {"type": "message_stop"},
]
SSE = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in EVENTS).encode()


def frame(payload, **headers):
    """One frame of an AWS event stream, built from its description."""
    head = b""
    for name, value in headers.items():
        wire = b":" + name.replace("_", "-").encode()
        head += bytes([len(wire)]) + wire + b"\x07" + struct.pack(">H", len(value)) + value.encode()
    prelude = struct.pack(">II", len(head) + len(payload) + 16, len(head))
    prelude += struct.pack(">I", binascii.crc32(prelude))
    message = prelude + head + payload
    return message + struct.pack(">I", binascii.crc32(message))


def chunk(event):
    payload = json.dumps({"bytes": base64.b64encode(json.dumps(event).encode()).decode(), "p": "abc"})
    return frame(payload.encode(), message_type="event", event_type="chunk", content_type="application/json")


@pytest.fixture
async def answer_with():
    """A server that gives one answer to everything; `seen` are target, headers and body of the requests."""
    servers = []

    async def start(body, content_type, *, status=200, pieces=1):
        seen = []

        async def serve(reader, writer):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = dict(line.split(": ", 1) for line in head[1:-2])
            headers = {name.lower(): value for name, value in headers.items()}
            raw = await reader.readexactly(int(headers.get("content-length", 0)))
            seen.append((head[0].split()[1], headers, raw))
            start = f"HTTP/1.1 {status} X\r\ncontent-type: {content_type}\r\ncontent-length: {len(body)}\r\n"
            writer.write(start.encode() + b"connection: close\r\n\r\n")
            size = -(-len(body) // pieces)
            for begin in range(0, len(body), size):
                writer.write(body[begin : begin + size])
                await writer.drain()
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        servers.append(server)
        return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", seen

    yield start
    for server in servers:
        server.close()
        await server.wait_closed()


async def replies(environment, request, **more):
    async with ModelClient.from_environment(
        {"CLAUDE_CODE_MAX_RETRIES": "1", **environment}, **more
    ) as client:
        return [item async for item in client.stream(request)]


def text_of(items):
    (block,) = [item.block for item in items if isinstance(item, BlockDone)]
    assert isinstance(items[-1], ReplyDone)
    return block.data["text"]


def aws(url, **more):
    return {
        "CLAUDE_CODE_USE_BEDROCK": "1",
        "ANTHROPIC_BEDROCK_BASE_URL": url,
        "AWS_REGION": "us-west-2",
        "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI",
        **more,
    }


@pytest.mark.feature("ENV-11")
@pytest.mark.parametrize("pieces", [1, 40])
async def test_bedrock_is_asked_with_a_signature_and_answers_in_frames(answer_with, new_request, pieces):
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    stream = b"".join(map(chunk, EVENTS))
    url, seen = await answer_with(stream, "application/vnd.amazon.eventstream", pieces=pieces)
    assert text_of(await replies(aws(url, AWS_SESSION_TOKEN="session"), new_request())) == "Hello"
    ((target, headers, raw),) = seen
    assert target == "/model/us.anthropic.claude-sonnet-4-5/invoke-with-response-stream"
    body = json.loads(raw)
    assert body["anthropic_version"] == "bedrock-2023-05-31"
    assert "interleaved-thinking-2025-05-14" in body["anthropic_beta"]
    assert not body.keys() & {"model", "stream"}
    assert headers["x-amz-security-token"] == "session"
    assert not any("wJalrXUtnFEMI" in value for value in headers.values())
    signed = headers["authorization"].split("SignedHeaders=")[1].split(",")[0].split(";")
    again = AWSRequest(
        method="POST", url=url + target, data=raw, headers={name: headers[name] for name in signed}
    )
    signer = SigV4Auth(Credentials("AKIDEXAMPLE", "wJalrXUtnFEMI", "session"), "bedrock", "us-west-2")
    again.context["timestamp"] = headers["x-amz-date"]
    signature = signer.signature(signer.string_to_sign(again, signer.canonical_request(again)), again)
    assert headers["authorization"].endswith(f"Signature={signature}")


@pytest.mark.feature("ENV-11")
async def test_a_bearer_key_or_a_gateway_takes_the_place_of_the_signature(answer_with, new_request):
    stream = b"".join(map(chunk, EVENTS))
    url, seen = await answer_with(stream, "application/vnd.amazon.eventstream")
    await replies(aws(url, AWS_BEARER_TOKEN_BEDROCK="bearer-key"), new_request())
    await replies(aws(url, CLAUDE_CODE_SKIP_BEDROCK_AUTH="1"), new_request())
    assert [headers.get("authorization") for _, headers, _ in seen] == ["Bearer bearer-key", None]


async def test_the_user_may_name_a_model_as_bedrock_does(answer_with, new_request):
    stream = b"".join(map(chunk, EVENTS))
    url, seen = await answer_with(stream, "application/vnd.amazon.eventstream")
    for name in ("eu.anthropic.claude-sonnet-4-5-20250929-v1:0", "arn:aws:bedrock:us-west-2:1:profile/x"):
        await replies(aws(url), new_request(model=name))
    assert [target for target, _, _ in seen] == [
        "/model/eu.anthropic.claude-sonnet-4-5-20250929-v1:0/invoke-with-response-stream",
        "/model/arn:aws:bedrock:us-west-2:1:profile%2Fx/invoke-with-response-stream",
    ]


@pytest.mark.parametrize("how", ["exception", "broken"])
async def test_trouble_in_the_frames_is_trouble_of_the_reply(answer_with, new_request, how):
    frames = [chunk(EVENTS[0])]
    if how == "exception":
        trouble = b'{"message": "Too many tokens"}'
        frames.append(frame(trouble, message_type="exception", exception_type="throttlingException"))
    else:
        frames.append(chunk(EVENTS[1])[:-4] + b"\0\0\0\0")
    url, seen = await answer_with(b"".join(frames), "application/vnd.amazon.eventstream")
    with pytest.raises(ApiError):
        await replies(aws(url, CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK="1"), new_request())
    assert seen


@pytest.mark.feature("ENV-11")
async def test_vertex_has_the_model_in_the_address(answer_with, new_request):
    url, seen = await answer_with(SSE, "text/event-stream")
    environment = {
        "CLAUDE_CODE_USE_VERTEX": "1",
        "ANTHROPIC_VERTEX_BASE_URL": url,
        "ANTHROPIC_VERTEX_PROJECT_ID": "proj-1",
        "CLOUD_ML_REGION": "europe-west1",
        "CLAUDE_CODE_SKIP_VERTEX_AUTH": "1",
        "ANTHROPIC_API_KEY": "sk-not-for-google",
    }
    request = new_request(model="claude-sonnet-4-5@20250929")
    assert text_of(await replies(environment, request)) == "Hello"
    ((target, headers, raw),) = seen
    assert target == (
        "/projects/proj-1/locations/europe-west1/publishers/anthropic/models/"
        "claude-sonnet-4-5@20250929:streamRawPredict"
    )
    body = json.loads(raw)
    assert (body["anthropic_version"], body["stream"]) == ("vertex-2023-10-16", True)
    assert "model" not in body
    assert "interleaved-thinking-2025-05-14" in headers["anthropic-beta"]
    assert "sk-not-for-google" not in str(headers)


@pytest.mark.feature("ENV-11")
async def test_vertex_is_asked_with_a_token_of_a_service_account(
    answer_with, new_request, tmp_path, monkeypatch
):
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    tokens, asked = await answer_with(
        b'{"access_token": "ya29.token", "expires_in": 3600, "token_type": "Bearer"}', "application/json"
    )
    url, seen = await answer_with(SSE, "text/event-stream")
    account = tmp_path / "account.json"
    account.write_text(
        json.dumps(
            {
                "type": "service_account",
                "project_id": "proj-of-the-key",
                "private_key": key.decode(),
                "client_email": "agent@example.com",
                "token_uri": f"{tokens}/token",
            }
        )
    )
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(account))
    environment = {"CLAUDE_CODE_USE_VERTEX": "1", "ANTHROPIC_VERTEX_BASE_URL": url}
    assert text_of(await replies(environment, new_request())) == "Hello"
    ((target, headers, _),) = seen
    assert target.startswith("/projects/proj-of-the-key/locations/us-east5/")
    assert headers["authorization"] == "Bearer ya29.token"
    assert len(asked) == 1


@pytest.mark.feature("ENV-11")
async def test_foundry_speaks_the_api_itself_with_a_key_of_its_own(answer_with, new_request):
    url, seen = await answer_with(SSE, "text/event-stream")
    environment = {
        "CLAUDE_CODE_USE_FOUNDRY": "1",
        "ANTHROPIC_FOUNDRY_BASE_URL": url,
        "ANTHROPIC_FOUNDRY_API_KEY": "foundry-key",
    }
    assert text_of(await replies(environment, new_request())) == "Hello"
    ((target, headers, raw),) = seen
    assert target == "/v1/messages?beta=true"
    assert headers["x-api-key"] == "foundry-key"
    assert json.loads(raw)["model"] == "claude-sonnet-4-5"


@pytest.mark.feature("ENV-11")
async def test_foundry_is_asked_with_a_token_of_the_machines_identity(answer_with, new_request, monkeypatch):
    tokens, asked = await answer_with(
        b'{"access_token": "ey.token", "expires_on": "4102444800", "resource": "r", "token_type": "Bearer"}',
        "application/json",
    )
    url, seen = await answer_with(SSE, "text/event-stream")
    monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "ManagedIdentityCredential")
    monkeypatch.setenv("IDENTITY_ENDPOINT", f"{tokens}/msi/token")
    monkeypatch.setenv("IDENTITY_HEADER", "secret-of-the-machine")
    environment = {"CLAUDE_CODE_USE_FOUNDRY": "1", "ANTHROPIC_FOUNDRY_BASE_URL": url}
    assert text_of(await replies(environment, new_request())) == "Hello"
    ((_, headers, _),) = seen
    assert headers["authorization"] == "Bearer ey.token"
    assert "x-api-key" not in headers
    ((target, headers, _),) = asked
    assert "cognitiveservices.azure.com" in target
    assert headers["x-identity-header"] == "secret-of-the-machine"


@pytest.mark.parametrize(
    ("model", "variable", "region"),
    [
        ("claude-sonnet-4-5", "VERTEX_REGION_CLAUDE_4_5_SONNET", "europe-west1"),
        ("claude-opus-4-5@20251101", "VERTEX_REGION_CLAUDE_4_5_OPUS", "europe-west1"),
        ("claude-haiku-4-5", "VERTEX_REGION_CLAUDE_HAIKU_4_5", "europe-west1"),
        ("claude-haiku-4-5", "VERTEX_REGION_CLAUDE_4_5_SONNET", "us-east5"),
    ],
)
async def test_a_model_may_be_served_in_another_region(new_request, model, variable, region):
    environment = {
        "CLAUDE_CODE_USE_VERTEX": "1",
        "ANTHROPIC_VERTEX_PROJECT_ID": "p",
        "CLAUDE_CODE_SKIP_VERTEX_AUTH": "1",
        variable: "europe-west1",
    }
    outgoing = await provider_of(environment).outgoing(new_request(model=model), stream=True)
    place = f"https://{region}-aiplatform.googleapis.com/v1/projects/p/locations/{region}/"
    assert outgoing.url.startswith(place)


@pytest.mark.parametrize(
    ("environment", "host"),
    [
        (
            {"CLAUDE_CODE_USE_BEDROCK": "1", "AWS_REGION": "eu-west-1"},
            "bedrock-runtime.eu-west-1.amazonaws.com",
        ),
        ({"CLAUDE_CODE_USE_VERTEX": "1"}, "us-east5-aiplatform.googleapis.com"),
        ({"CLAUDE_CODE_USE_VERTEX": "1", "CLOUD_ML_REGION": "global"}, "aiplatform.googleapis.com"),
        ({"CLAUDE_CODE_USE_FOUNDRY": "1", "ANTHROPIC_FOUNDRY_RESOURCE": "res"}, "res.services.ai.azure.com"),
    ],
)
def test_each_provider_has_its_place(environment, host):
    assert provider_of(environment).endpoint.host == host


@pytest.mark.parametrize(
    ("environment", "package"),
    [
        (aws("http://127.0.0.1:9"), "botocore"),
        ({"CLAUDE_CODE_USE_VERTEX": "1", "ANTHROPIC_VERTEX_PROJECT_ID": "p"}, "google"),
        ({"CLAUDE_CODE_USE_FOUNDRY": "1", "ANTHROPIC_FOUNDRY_RESOURCE": "r"}, "azure"),
    ],
)
async def test_a_missing_library_is_named_with_the_extra_that_brings_it(
    environment, package, new_request, monkeypatch
):
    for module in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ApiError, match=rf"package {package}: install claude-wrapper\["):
        await replies(environment, new_request())


async def test_missing_credentials_are_told_as_such(new_request, monkeypatch, tmp_path):
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    environment = {"CLAUDE_CODE_USE_BEDROCK": "1", "ANTHROPIC_BEDROCK_BASE_URL": "http://127.0.0.1:9"}
    with pytest.raises(ApiError, match="Could not load AWS credentials") as caught:
        await replies(environment, new_request())
    assert caught.value.kind == "cloud_credential_error"
