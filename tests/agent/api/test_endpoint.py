import pytest

from claude_wrapper.agent.api.api_error import ApiError
from claude_wrapper.agent.api.direct import Direct
from claude_wrapper.agent.api.endpoint import DEFAULT_BASE_URL, Endpoint

KEY = "sk-ant-secret-key"


def headers_of(**environment):
    return dict(Endpoint.from_environment(environment).headers())


@pytest.mark.feature("ENV-01")
def test_a_key_and_a_token_go_into_their_headers():
    headers = headers_of(ANTHROPIC_API_KEY=f" {KEY}\n", ANTHROPIC_AUTH_TOKEN="token")
    assert headers["x-api-key"] == KEY
    assert headers["authorization"] == "Bearer token"
    assert headers["anthropic-version"] == "2023-06-01"


@pytest.mark.feature("ENV-02")
def test_the_address_is_the_default_or_that_of_the_environment():
    assert Endpoint.from_environment({}).url == f"{DEFAULT_BASE_URL}/v1/messages?beta=true"
    gateway = Endpoint.from_environment({"ANTHROPIC_BASE_URL": "http://user:pass@gate:8080/proxy/"})
    assert gateway.url == "http://user:pass@gate:8080/proxy/v1/messages?beta=true"
    assert gateway.host == "gate:8080"
    assert gateway.address == ("gate", 8080)
    assert not gateway.is_secure


@pytest.mark.feature("ENV-02")
def test_custom_headers_are_sent_and_replace_ours():
    headers = headers_of(
        ANTHROPIC_API_KEY=KEY, ANTHROPIC_CUSTOM_HEADERS="X-Foo: a:b\r\nnonsense\n: empty\nUser-Agent: mine"
    )
    assert headers["X-Foo"] == "a:b"
    assert headers["User-Agent"] == "mine"
    assert "user-agent" not in headers


@pytest.mark.feature("ENV-02")
def test_betas_of_the_environment_are_read():
    assert Endpoint.from_environment({"ANTHROPIC_BETAS": "a, b,,"}).betas == ("a", "b")


@pytest.mark.feature("ENV-01")
def test_without_credentials_nothing_is_sent():
    with pytest.raises(ApiError, match="Not logged in"):
        Direct(Endpoint.from_environment({})).check()
    Direct(Endpoint.from_environment({"ANTHROPIC_CUSTOM_HEADERS": "Authorization: Basic eA=="})).check()


@pytest.mark.parametrize("url", ["notaurl", "ftp://host", "http://", "https://host:port", "http://[::1"])
def test_an_address_that_is_none_is_refused_before_anything_is_sent(url):
    with pytest.raises(ApiError, match="ANTHROPIC_BASE_URL"):
        Direct(Endpoint(url, api_key=KEY)).check()


@pytest.mark.feature("ENV-01")
@pytest.mark.parametrize("bad", ["\n", "\r", "\0", "\x7f", "\u2028"])
def test_a_key_that_no_header_can_carry_is_refused_without_being_shown(bad):
    with pytest.raises(ApiError, match="API key") as caught:
        Direct(Endpoint(api_key=f"{KEY}{bad}x")).check()
    assert KEY not in f"{caught.value!r} {caught.value.text} {caught.value.__cause__!r}"
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize("name", ["X Foo", "Xé", "X\x01"])
def test_a_header_name_that_is_none_is_refused(name):
    with pytest.raises(ApiError, match="header"):
        Direct(Endpoint(api_key=KEY, custom_headers=((name, "v"),))).check()


def test_no_credential_is_in_the_representation():
    endpoint = Endpoint("http://user:hunter22@h", KEY, "token-secret", (("X-Secret", "custom-secret"),))
    for secret in (KEY, "token-secret", "custom-secret", "hunter22"):
        assert secret not in repr(endpoint)
    assert endpoint.redact(f"{KEY} token-secret custom-secret ok") == "[redacted] [redacted] [redacted] ok"


@pytest.mark.parametrize(
    ("environment", "source"),
    [
        ({"ANTHROPIC_API_KEY": KEY}, "ANTHROPIC_API_KEY"),
        ({"ANTHROPIC_AUTH_TOKEN": "t"}, "none"),
        ({}, "none"),
    ],
)
def test_the_source_of_the_key_is_named(environment, source):
    assert Endpoint.from_environment(environment).key_source == source
