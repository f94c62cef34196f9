"""Keys that a command of the user gives."""

import os

import pytest

from claude_wrapper.agent.api import key_helper
from claude_wrapper.agent.api.api_error import ApiError
from claude_wrapper.agent.api.client import ModelClient
from claude_wrapper.agent.api.providers import key_source

pytestmark = pytest.mark.anyio


@pytest.fixture
def helper(tmp_path):
    """A command that gives another key each time."""
    count = tmp_path / "count"
    return f'echo x >> "{count}"; echo "key-number-$(wc -l < "{count}" | tr -d " ")"'


@pytest.fixture
def client_with(api):
    def make(command, **environment):
        base = {"PATH": os.environ["PATH"], "ANTHROPIC_BASE_URL": api.url}
        return ModelClient.from_environment({**base, **environment}, key_helper=command)

    return make


def keys(api):
    return [(seen.headers.get("x-api-key"), seen.headers.get("authorization")) for seen in api.requests]


@pytest.mark.feature("SET-10")
async def test_the_key_of_the_command_is_sent_both_ways_and_kept(
    api, client_with, helper, new_request, collect
):
    api.say("one")
    api.say("two")
    async with client_with(helper) as client:
        for _ in range(2):
            assert (await collect(client, new_request()))[1] is None
    assert keys(api) == [("key-number-1", "Bearer key-number-1")] * 2


@pytest.mark.feature("SET-10")
async def test_the_command_is_run_again_when_its_time_is_over(api, client_with, helper, new_request, collect):
    api.say("one")
    api.say("two")
    async with client_with(helper, CLAUDE_CODE_API_KEY_HELPER_TTL_MS="0") as client:
        for _ in range(2):
            await collect(client, new_request())
    assert [key for key, _ in keys(api)] == ["key-number-1", "key-number-2"]


@pytest.mark.feature("SET-10")
async def test_the_command_is_run_again_when_its_key_is_refused(
    api, client_with, helper, new_request, collect
):
    api.fail(401, "authentication_error", "key-number-1 is bad")
    api.say("two")
    async with client_with(helper) as client:
        assert (await collect(client, new_request()))[1] is None
    assert [key for key, _ in keys(api)] == ["key-number-1", "key-number-2"]


async def test_a_key_of_the_environment_goes_before(api, client_with, helper, new_request, collect):
    api.say("one")
    async with client_with(helper, ANTHROPIC_API_KEY="sk-of-the-environment") as client:
        await collect(client, new_request())
    assert keys(api) == [("sk-of-the-environment", "Bearer key-number-1")]


@pytest.mark.parametrize(
    ("command", "told"), [("echo no luck >&2; exit 3", "exit code 3: no luck"), ("true", "printed nothing")]
)
async def test_a_command_that_gives_no_key_is_told_and_nothing_is_sent(
    api, client_with, new_request, collect, command, told
):
    async with client_with(command) as client:
        items, error = await collect(client, new_request())
    assert items == []
    assert isinstance(error, ApiError)
    assert told in error.text
    assert error.kind == "authentication_failed"
    assert api.requests == []


async def test_the_key_is_in_no_error_text(api, client_with, new_request, collect):
    api.fail(400, "invalid_request_error", "the key top-secret-key is odd")
    async with client_with("echo top-secret-key") as client:
        _, error = await collect(client, new_request())
    assert "top-secret-key" not in f"{error} {error.text} {error.failure}"


def test_where_the_key_comes_from_is_told():
    assert key_source({}, "helper") == "apiKeyHelper"
    assert key_source({"ANTHROPIC_API_KEY": "k"}, "helper") == "ANTHROPIC_API_KEY"
    assert key_source({}, None) == "none"


@pytest.mark.feature("SET-10")
async def test_a_command_that_takes_too_long_is_ended_with_all_it_has_started(tmp_path, monkeypatch):
    monkeypatch.setattr(key_helper, "_PATIENCE", 0.5)
    started = tmp_path / "started"
    os.mkfifo(started)
    reader = os.open(started, os.O_RDONLY | os.O_NONBLOCK)
    command = f'{{ echo up; sleep 600; }} > "{started}" & wait'
    with pytest.raises(ApiError, match="no answer in time"):
        await key_helper.KeyHelper(command, os.environ).key()
    # The pipe is at its end once nobody is left who could write to it.
    assert os.read(reader, 100) == b"up\n"
    assert os.read(reader, 100) == b""
    os.close(reader)
