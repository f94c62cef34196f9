import pytest

from claude_wrapper.agent.api.catalog import find_model
from claude_wrapper.agent.api.tuning import Wishes, tune


def fields(model, **wishes):
    tuning = tune(find_model(model), Wishes(**wishes))
    thinking = tuning.thinking or {}
    return tuning.max_tokens, thinking.get("type"), thinking.get("budget_tokens"), tuning.effort


# What an agent of the field sends for these models without being asked for anything.
@pytest.mark.feature("ENV-09", "LOOP-25")
@pytest.mark.parametrize(
    ("model", "sent"),
    [
        ("claude-opus-5-5", (128000, "adaptive", None, "medium")),
        ("claude-opus-5", (64000, "adaptive", None, "high")),
        ("claude-opus-4-7", (64000, "adaptive", None, "xhigh")),
        ("claude-opus-4-6", (64000, "adaptive", None, "high")),
        ("claude-opus-4-5", (32000, "enabled", 31999, "high")),
        ("claude-sonnet-4-6", (32000, "adaptive", None, "high")),
        ("claude-sonnet-4-5", (32000, "enabled", 31999, None)),
        ("claude-haiku-4-5", (32000, "enabled", 31999, None)),
        ("claude-3-5-haiku", (8192, None, None, None)),
        ("claude-unknown-9", (32000, "adaptive", None, "high")),
    ],
)
def test_a_model_is_asked_in_the_way_it_understands(model, sent):
    assert fields(model) == sent


@pytest.mark.feature("LOOP-25")
@pytest.mark.parametrize(
    ("model", "wished", "sent"),
    [
        ("claude-opus-5-5", "max", "max"),
        ("claude-opus-5-5", "xhigh", "xhigh"),
        ("claude-opus-4-6", "xhigh", "high"),
        ("claude-opus-4-6", "max", "max"),
        ("claude-opus-4-5", "max", "high"),
        ("claude-opus-4-5", "low", "low"),
        ("claude-sonnet-4-5", "high", None),
        ("claude-opus-5-5", "enormous", "medium"),
    ],
)
def test_effort_is_lowered_to_what_the_model_takes(model, wished, sent):
    assert fields(model, effort=wished)[3] == sent


@pytest.mark.feature("ENV-09")
@pytest.mark.parametrize(
    ("model", "thinking"),
    [
        ("claude-sonnet-4-5", {"type": "disabled"}),
        ("claude-opus-5", {"type": "disabled"}),
        ("claude-mythos-5", None),
        ("claude-unknown-9", None),
        ("claude-3-5-haiku", None),
        ("claude-opus-5-5", {"type": "adaptive", "display": "updates"}),
    ],
)
@pytest.mark.parametrize("wishes", [{"thinking": "disabled"}, {"thinking": "enabled", "thinking_tokens": 0}])
def test_thinking_is_declined_where_a_model_can_do_without(model, thinking, wishes):
    assert tune(find_model(model), Wishes(**wishes)).thinking == thinking


@pytest.mark.parametrize(
    ("model", "wished", "sent"),
    [
        ("claude-sonnet-4-5", 5000, (5000, "enabled", 4999, None)),
        ("claude-sonnet-4-5", 1_000_000, (64000, "enabled", 63999, None)),
        ("claude-sonnet-4-5", 1000, (1000, "disabled", None, None)),
        ("claude-3-5-haiku", 1_000_000, (8192, None, None, None)),
    ],
)
def test_the_output_limit_is_kept_and_thinking_fits_into_it(model, wished, sent):
    assert fields(model, max_output_tokens=wished) == sent


def test_a_budget_for_thinking_is_only_for_models_that_take_one():
    assert fields("claude-sonnet-4-5", thinking="enabled", thinking_tokens=5000)[1:3] == ("enabled", 5000)
    assert fields("claude-opus-5-5", thinking="enabled", thinking_tokens=5000)[1:3] == ("adaptive", None)


@pytest.mark.feature("LOOP-26")
@pytest.mark.parametrize("model", ["claude-opus-5-5", "claude-sonnet-4-5"])
def test_the_display_of_thinking_is_sent(model):
    assert tune(find_model(model), Wishes(display="omitted")).thinking["display"] == "omitted"


def test_only_the_betas_that_are_needed_are_named():
    def betas(model, **wishes):
        return tune(find_model(model), Wishes(**wishes)).betas

    assert betas("claude-3-5-haiku") == ()
    assert betas("claude-sonnet-4-5") == (
        "interleaved-thinking-2025-05-14",
        "thinking-display-updates-2026-08-18",
    )
    assert betas("claude-sonnet-4-5", interleaved=False, display="omitted") == ()
    assert betas("claude-sonnet-4-5[1m]", thinking="disabled") == ("context-1m-2025-08-07",)
    assert betas("sonnet[1m]", display="omitted") == ("effort-2025-11-24",)
    assert betas("claude-3-5-haiku", task_budget=9) == ("task-budgets-2026-03-13",)
    assert "thinking-display-updates-2026-08-18" in betas("opus", display="updates")


@pytest.mark.feature("ENV-09", "LOOP-25")
@pytest.mark.parametrize(
    ("environment", "wishes", "combined"),
    [
        ({}, Wishes(effort="low"), Wishes(effort="low")),
        ({"CLAUDE_CODE_EFFORT_LEVEL": "HIGH"}, Wishes(effort="low"), Wishes(effort="high")),
        ({"MAX_THINKING_TOKENS": "0"}, Wishes(), Wishes(thinking="disabled")),
        ({"MAX_THINKING_TOKENS": "0"}, Wishes(thinking="adaptive"), Wishes(thinking="adaptive")),
        (
            {"MAX_THINKING_TOKENS": "2000"},
            Wishes(),
            Wishes(thinking="enabled", thinking_tokens=2000),
        ),
        ({"MAX_THINKING_TOKENS": " "}, Wishes(), Wishes()),
        ({"MAX_THINKING_TOKENS": "x"}, Wishes(), Wishes(thinking="disabled")),
        ({"MAX_THINKING_TOKENS": "-1"}, Wishes(), Wishes(thinking="disabled")),
        ({"MAX_THINKING_TOKENS": "1.5e4 or so"}, Wishes(), Wishes(thinking="enabled", thinking_tokens=15000)),
        ({"CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS": "1"}, Wishes(), Wishes(experiments=False)),
        ({"CLAUDE_CODE_DISABLE_ADAPTIVE_THINKING": "1"}, Wishes(), Wishes(adaptive=False)),
        (
            {"CLAUDE_CODE_DISABLE_THINKING": "1"},
            Wishes(thinking="enabled", thinking_tokens=9),
            Wishes(thinking="disabled", silent=True),
        ),
        ({"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "500"}, Wishes(), Wishes(max_output_tokens=500)),
        ({"DISABLE_INTERLEAVED_THINKING": "1"}, Wishes(), Wishes(interleaved=False)),
    ],
)
def test_wishes_of_the_environment_are_added(environment, wishes, combined):
    assert wishes.with_environment(environment) == combined


def test_effort_and_task_budget_share_one_field():
    tuning = tune(find_model("opus"), Wishes(effort="low", task_budget=10_000))
    assert tuning.output_config == {"effort": "low", "task_budget": {"type": "tokens", "total": 10000}}
    assert tune(find_model("claude-sonnet-4-5")).output_config is None


@pytest.mark.feature("ENV-09")
def test_experiments_of_the_api_can_be_left_out():
    tuned = tune(find_model("claude-opus-4-5"), Wishes(task_budget=9, effort="high", experiments=False))

    assert tuned.thinking == {"type": "enabled", "budget_tokens": 31_999}
    assert tuned.output_config == {"effort": "high"}
    assert tuned.betas == ("interleaved-thinking-2025-05-14", "effort-2025-11-24")


@pytest.mark.feature("ENV-09")
def test_models_that_can_are_given_a_budget_instead_of_thinking_as_long_as_they_like():
    wishes = Wishes(adaptive=False, thinking_tokens=100)

    assert tune(find_model("claude-opus-4-6"), wishes).thinking["budget_tokens"] == 1024
    assert tune(find_model("opus"), wishes).thinking["type"] == "adaptive"
    assert tune(find_model("opus"), Wishes(silent=True)).thinking is None
