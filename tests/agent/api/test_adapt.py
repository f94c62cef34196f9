import pytest
from msgspec.structs import replace

from claude_wrapper.agent.api.adapt import adapt, apply_changes
from claude_wrapper.agent.api.catalog import find_model
from claude_wrapper.agent.api.failure import Failure
from claude_wrapper.agent.api.request import ModelRequest
from claude_wrapper.agent.api.tuning import Wishes, tune


def request(model="claude-opus-4-6", **wishes):
    found = find_model(model)
    return ModelRequest(found, [{"role": "user", "content": "Go"}], tune(found, Wishes(**wishes)))


def refused(message, status=400):
    return Failure("status", message, status=status)


@pytest.mark.feature("ENV-12")
@pytest.mark.parametrize(
    ("message", "change"),
    [
        ("output_config.effort: Extra inputs are not permitted", "effort"),
        ("This model does not support the effort parameter.", "effort"),
        ("thinking.adaptive.display: Extra inputs are not permitted", "display"),
        ("cache_control.ttl: unknown field", "cache"),
    ],
)
def test_what_the_api_refuses_is_left_out(message, change):
    adapted, name = adapt(request(), refused(message))
    assert name == change
    assert adapted != request()
    assert adapt(adapted, refused(message)) is None or adapt(adapted, refused(message))[0] != adapted


@pytest.mark.feature("ENV-12")
def test_thinking_is_given_up_step_by_step():
    asked = request()
    steps = []
    while adapted := adapt(asked, refused("adaptive thinking with display is not supported")):
        asked = adapted[0]
        steps.append((adapted[1], asked.tuning.thinking))
    assert steps == [
        ("display", {"type": "adaptive"}),
        ("adaptive", {"type": "enabled", "budget_tokens": 63999}),
        ("thinking", None),
    ]


def test_a_beta_that_is_not_known_is_left_out():
    message = "Unexpected value(s) `effort-2025-11-24` for the `anthropic-beta` header"
    adapted, change = adapt(request(), refused(message))
    assert change == "beta:effort-2025-11-24"
    assert adapted.tuning.betas == ("thinking-display-updates-2026-08-18",)


@pytest.mark.feature("ENV-12")
@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("messages.1.content.0: Invalid `signature` in `thinking` block", 400),
        ("tools.0.custom.effort: Extra inputs are not permitted", 400),
        ("bad thing", 400),
        ("effort", 401),
        ("effort", 500),
        ("prompt is too long: 250000 tokens > 200000 maximum", 400),
    ],
)
def test_a_refusal_of_something_else_changes_nothing(message, status):
    assert adapt(request(), refused(message, status)) is None


def overflow(prompt, output, limit=200_000):
    return refused(f"input length and `max_tokens` exceed context limit: {prompt} + {output} > {limit}, …")


def test_output_that_does_not_fit_beside_the_prompt_is_shortened_for_once():
    adapted, change = adapt(request("claude-sonnet-4-5"), overflow(190_000, 32_000))
    assert change is None
    assert adapted.tuning.max_tokens == 9000
    assert adapted.tuning.thinking == {"type": "enabled", "budget_tokens": 4500, "display": "updates"}


def test_thinking_gives_way_where_there_is_hardly_room():
    adapted, _ = adapt(request("claude-sonnet-4-5"), overflow(197_500, 32_000))
    assert (adapted.tuning.max_tokens, adapted.tuning.thinking) == (1500, {"type": "disabled"})


def test_a_prompt_that_leaves_no_room_is_too_long():
    assert adapt(request("claude-sonnet-4-5"), overflow(199_500, 32_000)) is None
    assert adapt(request("claude-sonnet-4-5"), overflow(100_000, 32_000)) is None


def test_what_was_learned_is_applied_to_later_requests():
    changed = apply_changes(request(), {"effort", "display", "cache", "beta:effort-2025-11-24"})
    plain = request()
    assert changed == replace(
        plain,
        cache=None,
        tuning=replace(plain.tuning, effort=None, thinking={"type": "adaptive"}, betas=()),
    )
    assert apply_changes(changed, {"effort", "display", "cache"}) == changed
    assert apply_changes(plain, set()) == plain
