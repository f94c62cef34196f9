"""What counts as a secret in a trace, and what does not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_wrapper.conversation.masking import MASK, Mask

SECRET_TEXTS = [
    "sk-ant-api03-abcDEF_123-456789",
    "sk-proj-abcdefghijklmnop",
    "ghp_0123456789abcdefghijklmnopqrstuvwxyz",
    "github_pat_11ABCDEFG0123456789_abc",
    "glpat-0123456789abcdefghij",
    "xoxb-1234567890-abcdefghij",
    "AKIAIOSFODNN7EXAMPLE",
    "AIzaSyA-0123456789abcdefghijklmnopqrstu",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF-_123",
    "Bearer abcdefgh12345678",
    "Basic dXNlcjpwYXNzd29yZA==",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE KEY-----",
]


@pytest.mark.parametrize("secret", SECRET_TEXTS)
def test_what_looks_like_a_key_is_masked_wherever_it_stands(secret):
    masked = Mask().text(f"before {secret} after")

    assert secret not in masked
    assert masked.startswith("before ")
    assert masked.endswith(" after")


@pytest.mark.parametrize(
    ("text", "secret", "rest"),
    [
        ("export ANTHROPIC_API_KEY=hunter2hunter2", "hunter2hunter2", "export ANTHROPIC_API_KEY="),
        ('{"password": "tr0ub4dor"}', "tr0ub4dor", '"password": "'),
        ("db_password: 'correct-horse'", "correct-horse", "db_password: '"),
        ("https://user:geheim@example.org/x", "geheim", "@example.org/x"),
        ("curl -d token=abcd1234&x=1", "abcd1234", "&x=1"),
    ],
)
def test_what_is_set_to_a_name_of_a_secret_is_masked_and_the_name_stays(text, secret, rest):
    masked = Mask().text(text)

    assert secret not in masked
    assert rest in masked


HARMLESS = [
    "The token count is high.",
    "max_tokens: 100",
    "sk-8",
    "a secret is a thing that nobody tells",
    "keyboard: qwerty",
    "https://example.org/a:b@c",
    "Base64 is no basic thing",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays(text):
    assert Mask().text(text) == text


def test_fields_with_names_of_secrets_are_masked_and_numbers_are_not():
    frame = {
        "api_key": "abc",
        "apiKey": "abc",
        "accessToken": "abc",
        "Authorization": "x",
        "client_secret": {"a": "b", "n": 1},
        "usage": {"input_tokens": 5, "max_thinking_tokens": 7},
        "estimated_tokens": 5,
        "text": "hello",
    }
    assert Mask().value(frame) == {
        "api_key": MASK,
        "apiKey": MASK,
        "accessToken": MASK,
        "Authorization": MASK,
        "client_secret": {"a": MASK, "n": 1},
        "usage": {"input_tokens": 5, "max_thinking_tokens": 7},
        "estimated_tokens": 5,
        "text": "hello",
    }


def test_all_values_of_environments_and_headers_are_masked():
    servers = {"mcpServers": {"s": {"command": "x", "env": {"A": "b"}, "headers": {"X-Y": "z"}}}}

    assert Mask().value(servers) == {
        "mcpServers": {"s": {"command": "x", "env": {"A": MASK}, "headers": {"X-Y": MASK}}}
    }


def test_the_values_of_secret_variables_are_masked_wherever_they_turn_up():
    mask = Mask(
        [{"MY_API_KEY": "plain words", "HOME": "/home/user", "SHORT_TOKEN": "abc"}, {"DB_PASSWORD": "word"}]
    )

    assert mask.text("it says plain words in /home/user, abc and word") == (
        f"it says {MASK} in /home/user, abc and word"
    )


def test_of_two_secrets_that_begin_alike_the_longer_one_is_masked_whole():
    assert Mask([{"A_TOKEN": "secret-1", "B_TOKEN": "secret-12"}]).text("secret-12") == MASK


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=20,
)


@given(json_values)
def test_any_value_keeps_its_shape(value):
    masked = Mask().value(value)
    json.dumps(masked)
    assert shape(masked) == shape(value)


def shape(value):
    if isinstance(value, dict):
        # Names that hold a secret themselves may become one.
        return sorted(repr(shape(item)) for item in value.values())
    if isinstance(value, list):
        return [shape(item) for item in value]
    return type(value).__name__


@given(st.text(max_size=200), st.sampled_from(SECRET_TEXTS), st.text(max_size=200))
def test_masking_is_done_once_and_for_all(before, secret, after):
    masked = Mask().text(f"{before} {secret} {after}")
    assert secret not in masked
    assert Mask().text(masked) == masked
