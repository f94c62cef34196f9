import pytest

from claude_wrapper.agent.api.catalog import find_model, load_catalog
from claude_wrapper.agent.api.cost import Ledger, cost_of
from claude_wrapper.agent.api.fold import Reply
from claude_wrapper.agent.api.usage import Usage, read_usage
from claude_wrapper.agent.model.meter import Meter

SONNET = "claude-sonnet-4-5"
HAIKU = "claude-haiku-5-5"
MILLION = 1_000_000


def reply(message_id, **usage):
    return Reply(head={"id": message_id}, usage=read_usage(usage), complete=True)


# What an agent of the field reported for these usages.
@pytest.mark.feature("COST-01")
@pytest.mark.parametrize(
    ("model", "usage", "dollars"),
    [
        (SONNET, {"input_tokens": 100, "output_tokens": 20}, 0.0006000000000000001),
        ("claude-opus-5-5", {"input_tokens": 10, "output_tokens": 20}, 0.00044),
        (
            SONNET,
            {
                "input_tokens": MILLION,
                "output_tokens": MILLION,
                "cache_read_input_tokens": MILLION,
                "cache_creation_input_tokens": MILLION,
            },
            22.05,
        ),
        (
            SONNET,
            {
                "cache_creation_input_tokens": MILLION,
                "cache_creation": {
                    "ephemeral_5m_input_tokens": 400_000,
                    "ephemeral_1h_input_tokens": 600_000,
                },
            },
            5.1,
        ),
        (SONNET, {"server_tool_use": {"web_search_requests": 3, "web_fetch_requests": 2}}, 0.03),
        (SONNET, {"input_tokens": 250_000, "output_tokens": 10}, 0.75015),
        (
            SONNET,
            {
                "input_tokens": 37,
                "output_tokens": 113,
                "cache_read_input_tokens": 11,
                "cache_creation_input_tokens": 7,
            },
            0.0018355499999999998,
        ),
        (HAIKU, {"input_tokens": 100_000, "output_tokens": 1000}, 0.010500000000000002),
        (HAIKU, {"input_tokens": 100_001, "output_tokens": 1000}, 0.052500500000000005),
        (
            HAIKU,
            {"input_tokens": 50_000, "output_tokens": 1000, "cache_read_input_tokens": 60_000},
            0.0305,
        ),
        (HAIKU, {"input_tokens": 10, "cache_read_input_tokens": 90_000}, 0.000901),
        (HAIKU, {"input_tokens": 10, "cache_creation_input_tokens": 90_000}, 0.011250999999999999),
        (
            HAIKU,
            {
                "input_tokens": 10,
                "cache_creation_input_tokens": 90_000,
                "cache_creation": {"ephemeral_1h_input_tokens": 90_000},
            },
            0.018001,
        ),
        ("claude-unknown-9", {"input_tokens": 10, "output_tokens": 20}, 0.00044),
    ],
)
def test_the_price_of_a_usage_is_that_of_the_field_to_the_last_digit(model, usage, dollars):
    assert cost_of(read_usage(usage), find_model(model)) == dollars


def test_the_totals_of_a_turn_whose_stream_was_cut_twice_are_those_of_the_field():
    ledger = Ledger()
    model = find_model(SONNET)
    for _ in range(2):
        ledger.enter_usage(Usage(input_tokens=100, output_tokens=3), model)
    ledger.enter(reply("msg_3", input_tokens=100, output_tokens=20), model)
    assert ledger.total_cost_usd == 0.0012900000000000001
    assert ledger.models[SONNET].usage.output_tokens == 26


@pytest.mark.feature("COST-05")
def test_the_totals_of_a_model_have_the_fields_and_figures_of_the_field():
    ledger = Ledger()
    ledger.enter(reply("msg_1", input_tokens=100, output_tokens=20), find_model(SONNET))
    assert ledger.to_wire() == {
        SONNET: {
            "inputTokens": 100,
            "outputTokens": 20,
            "cacheReadInputTokens": 0,
            "cacheCreationInputTokens": 0,
            "webSearchRequests": 0,
            "costUSD": 0.0006000000000000001,
            "contextWindow": 200000,
            "maxOutputTokens": 32000,
            "thinkingTokens": 0,
            "cacheCreationEphemeral5mInputTokens": 0,
            "cacheCreationEphemeral1hInputTokens": 0,
            "canonicalModel": SONNET,
            "provider": "firstParty",
            "costBasis": "list",
        }
    }


def test_a_reply_is_counted_once_however_often_it_is_entered_and_others_of_its_id_are_counted_too():
    meter, model = Meter(), find_model(SONNET)
    first = reply("msg_1", input_tokens=100, output_tokens=20)
    meter.enter(first, model)
    once = meter.total_cost_usd
    meter.enter(first, model)
    assert meter.total_cost_usd == once > 0
    meter.enter(Reply(), model)
    meter.enter(reply("msg_1", input_tokens=100, output_tokens=20), model)
    assert meter.total_cost_usd == 2 * once
    assert meter.model_usage()[SONNET]["inputTokens"] == 200


def test_each_model_has_totals_of_its_own():
    ledger = Ledger()
    ledger.enter(reply("msg_1", input_tokens=1), find_model(SONNET))
    ledger.enter(reply("msg_2", input_tokens=1), find_model("opus"))
    assert list(ledger.to_wire()) == [SONNET, "claude-opus-5-5"]


def test_a_model_that_is_not_listed_says_that_its_price_is_a_guess():
    ledger = Ledger()
    ledger.enter(reply("msg_1", input_tokens=1), find_model("gpt-12"))
    assert ledger.to_wire()["gpt-12"]["costBasis"] == "unknown"


@pytest.mark.feature("ENV-10")
@pytest.mark.parametrize(
    ("given", "api_name", "canonical", "window"),
    [
        ("sonnet", "claude-sonnet-5-5", "claude-sonnet-5-5", 1_000_000),
        ("sonnet[1m]", "claude-sonnet-5-5", "claude-sonnet-5-5", 1_000_000),
        (" Opus", "claude-opus-5-5", "claude-opus-5-5", 1_000_000),
        ("haiku", "claude-haiku-5-5", "claude-haiku-5-5", 1_000_000),
        ("fable", "claude-fable-5-2", "claude-fable-5-2", 1_000_000),
        ("best", "claude-opus-5-5", "claude-opus-5-5", 1_000_000),
        ("opusplan", "claude-sonnet-5-5", "claude-sonnet-5-5", 1_000_000),
        (None, "claude-opus-5-5", "claude-opus-5-5", 1_000_000),
        ("", "claude-opus-5-5", "claude-opus-5-5", 1_000_000),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5-20250929", SONNET, 200_000),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5@20250929", SONNET, 200_000),
        ("us.anthropic.claude-sonnet-4-5-v1:0", "us.anthropic.claude-sonnet-4-5-v1:0", SONNET, 200_000),
        (
            "eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
            SONNET,
            200_000,
        ),
        ("claude-3-5-haiku-latest", "claude-3-5-haiku-latest", "claude-3-5-haiku", 200_000),
        ("claude-sonnet-4-20250514", "claude-sonnet-4-20250514", "claude-sonnet-4-0", 200_000),
        ("claude-opus-4-1", "claude-opus-5-5", "claude-opus-5-5", 1_000_000),
        ("claude-opus-4", "claude-opus-4", "claude-opus-4-0", 200_000),
        ("claude-opus-4-20250514", "claude-opus-5-5", "claude-opus-5-5", 1_000_000),
        ("claude-sonnet-4-5[1m]", SONNET, SONNET, 1_000_000),
        ("nosuch-model", "nosuch-model", "nosuch-model", 1_000_000),
    ],
)
def test_a_model_is_found_by_all_its_names(given, api_name, canonical, window):
    model = find_model(given)
    assert (model.api_name, model.canonical, model.context_window) == (api_name, canonical, window)


def test_totals_of_a_widened_model_are_kept_apart():
    model = find_model("claude-sonnet-4-5[1m]")
    assert model.name == "claude-sonnet-4-5[1m]"
    assert model.needs_long_window


@pytest.mark.feature("ENV-10")
def test_the_environment_can_say_what_an_alias_stands_for():
    environment = {"ANTHROPIC_DEFAULT_SONNET_MODEL": "claude-sonnet-4-5"}
    assert find_model("sonnet", environment).api_name == SONNET
    assert find_model("opus", environment).api_name == "claude-opus-5-5"
    assert find_model("claude-sonnet-5", environment).api_name == "claude-sonnet-5"


@pytest.mark.feature("ENV-10")
@pytest.mark.parametrize(
    ("given", "environment", "name", "provider"),
    [
        (None, {"ANTHROPIC_DEFAULT_OPUS_MODEL": "my-opus"}, "my-opus[1m]", "firstParty"),
        (None, {"ANTHROPIC_DEFAULT_OPUS_MODEL": "claude-opus-4-6"}, "claude-opus-4-6[1m]", "firstParty"),
        (None, {"ANTHROPIC_DEFAULT_OPUS_MODEL": "claude-opus-4-5"}, "claude-opus-4-5", "firstParty"),
        (None, {"ANTHROPIC_DEFAULT_OPUS_MODEL": "haiku"}, "claude-haiku-5-5", "firstParty"),
        ("opus", {"ANTHROPIC_DEFAULT_OPUS_MODEL": "my-opus"}, "my-opus", "firstParty"),
        ("best", {"ANTHROPIC_DEFAULT_OPUS_MODEL": "my-opus"}, "my-opus", "firstParty"),
        ("opusplan", {"ANTHROPIC_DEFAULT_SONNET_MODEL": "my-sonnet"}, "my-sonnet", "firstParty"),
        ("sonnet[1m]", {"ANTHROPIC_DEFAULT_SONNET_MODEL": "my-sonnet"}, "my-sonnet[1m]", "firstParty"),
        ("haiku", {"CLAUDE_CODE_USE_VERTEX": "1"}, "claude-haiku-4-5@20251001", "vertex"),
        ("sonnet", {"CLAUDE_CODE_USE_VERTEX": "1"}, "claude-sonnet-5-5", "vertex"),
        (None, {"CLAUDE_CODE_USE_FOUNDRY": "1"}, "claude-sonnet-5-5", "foundry"),
        ("haiku", {"CLAUDE_CODE_USE_FOUNDRY": "1"}, "claude-haiku-4-5", "foundry"),
        (None, {"CLAUDE_CODE_USE_BEDROCK": "1"}, "us.anthropic.claude-opus-5-5", "bedrock"),
        (
            "haiku",
            {"CLAUDE_CODE_USE_BEDROCK": "1", "AWS_REGION": "eu-west-1"},
            "eu.anthropic.claude-haiku-4-5-20251001-v1:0",
            "bedrock",
        ),
        (
            "sonnet[1m]",
            {"CLAUDE_CODE_USE_BEDROCK": "1", "AWS_REGION": "ap-southeast-2"},
            "apac.anthropic.claude-sonnet-4-5-20250929-v1:0[1m]",
            "bedrock",
        ),
        (
            "opus",
            {"CLAUDE_CODE_USE_BEDROCK": "1", "AWS_REGION": "us-gov-west-1"},
            "us-gov.anthropic.claude-opus-5-5",
            "bedrock",
        ),
        (
            "opus",
            {"CLAUDE_CODE_USE_BEDROCK": "1", "AWS_REGION": "sa-east-1"},
            "global.anthropic.claude-opus-5-5",
            "bedrock",
        ),
        ("haiku", {"CLAUDE_CODE_USE_BEDROCK": "1", "ANTHROPIC_DEFAULT_HAIKU_MODEL": "m"}, "m", "bedrock"),
    ],
)
def test_an_alias_stands_for_what_the_environment_and_the_provider_say(given, environment, name, provider):
    model = find_model(given, environment)
    ledger = Ledger()
    ledger.enter(reply("msg_1", input_tokens=1), model)
    assert {key: total["provider"] for key, total in ledger.to_wire().items()} == {name: provider}


@pytest.mark.feature("COST-01")
@pytest.mark.parametrize(
    ("best", "dollars"), [("", 4.0), ("my-opus", 5.0), ("claude-sonnet-4-5", 3.0), ("claude-opus-4-5", 5.0)]
)
def test_what_nobody_knows_costs_as_much_as_the_best_model(best, dollars):
    model = find_model("nosuch-model", {"ANTHROPIC_DEFAULT_OPUS_MODEL": best})
    assert cost_of(read_usage({"input_tokens": MILLION}), model) == dollars
    assert model.cost_basis == "unknown"


# Dollars for a million tokens of each kind, context window and most output, as an agent of the field reports them.
@pytest.mark.feature("COST-01", "COST-05")
@pytest.mark.parametrize(
    ("model", "prices", "window", "output"),
    [
        ("claude-opus-5-5", [4, 20, 0.2, 5, 8], 1_000_000, 128_000),
        ("claude-opus-5", [5, 25, 0.5, 6.25, 10], 1_000_000, 64_000),
        ("claude-opus-4-8", [5, 25, 0.5, 6.25, 10], 1_000_000, 64_000),
        ("claude-opus-4-7", [5, 25, 0.5, 6.25, 10], 1_000_000, 64_000),
        ("claude-opus-4-6", [5, 25, 0.5, 6.25, 10], 200_000, 64_000),
        ("claude-opus-4-5", [5, 25, 0.5, 6.25, 10], 200_000, 32_000),
        ("claude-sonnet-5-5", [2, 10, 0.1, 2.5, 4], 1_000_000, 128_000),
        ("claude-sonnet-5", [2, 10, 0.2, 2.5, 4], 1_000_000, 64_000),
        ("claude-sonnet-4-6", [3, 15, 0.3, 3.75, 6], 200_000, 32_000),
        ("claude-sonnet-4-5", [3, 15, 0.3, 3.75, 6], 200_000, 32_000),
        ("claude-sonnet-4-0", [3, 15, 0.3, 3.75, 6], 200_000, 32_000),
        ("claude-haiku-5-5", [0.5, 2.5, 0.05, 0.625, 1], 1_000_000, 128_000),
        ("claude-haiku-4-5", [1, 5, 0.1, 1.25, 2], 200_000, 32_000),
        ("claude-3-5-haiku", [0.8, 4, 0.08, 1, 1.6], 200_000, 8_192),
        ("claude-fable-5-2", [8, 40, 0.2, 10, 16], 1_000_000, 128_000),
        ("claude-fable-5-1", [10, 50, 0.25, 12.5, 20], 1_000_000, 64_000),
        ("claude-fable-5", [10, 50, 1, 12.5, 20], 1_000_000, 64_000),
        ("claude-mythos-5", [10, 50, 1, 12.5, 20], 1_000_000, 64_000),
        ("claude-unknown-9", [4, 20, 0.2, 5, 8], 1_000_000, 32_000),
    ],
)
def test_every_listed_model_has_the_prices_and_limits_of_the_field(model, prices, window, output):
    found = find_model(model)
    kinds = [
        {"input_tokens": MILLION},
        {"output_tokens": MILLION, "input_tokens": 200_000},
        {"cache_read_input_tokens": MILLION},
        {"cache_creation_input_tokens": MILLION},
        {
            "cache_creation_input_tokens": MILLION,
            "cache_creation": {"ephemeral_1h_input_tokens": MILLION},
        },
    ]
    priced = [cost_of(read_usage(usage), found) for usage in kinds]
    priced[1] -= cost_of(read_usage({"input_tokens": 200_000}), found)
    assert priced == pytest.approx(prices)
    assert (found.context_window, found.facts.max_output) == (window, output)


def test_every_listed_model_is_among_those_that_were_measured():
    marks = test_every_listed_model_has_the_prices_and_limits_of_the_field.pytestmark
    measured = {row[0] for mark in marks if mark.name == "parametrize" for row in mark.args[1]}
    unmeasured = {"claude-3-7-sonnet", "claude-3-5-sonnet", "claude-opus-4-0"}
    unmeasured |= {name for name, facts in load_catalog().models.items() if not facts.priced}
    assert set(load_catalog().models) == measured - {"claude-unknown-9"} | unmeasured


@pytest.mark.feature("COST-01")
@pytest.mark.parametrize("tier", ["standard", "priority", "batch", None])
def test_tiers_are_priced_alike(tier):
    usage = read_usage({"input_tokens": MILLION, "service_tier": tier})
    assert cost_of(usage, find_model(SONNET)) == 3.0


ALL_KINDS = {
    "input_tokens": MILLION,
    "output_tokens": 100_000,
    "cache_read_input_tokens": MILLION,
    "cache_creation_input_tokens": 2 * MILLION,
    "cache_creation": {"ephemeral_5m_input_tokens": MILLION, "ephemeral_1h_input_tokens": MILLION},
    "server_tool_use": {"web_search_requests": 10},
}


# What an agent of the field reported for them.
@pytest.mark.feature("COST-01")
@pytest.mark.parametrize(
    ("model", "where_and_how", "dollars"),
    [
        ("claude-opus-5-5", {"speed": "fast"}, 38.5),
        ("claude-opus-5", {"speed": "fast"}, 48.6),
        ("claude-opus-4-8", {"speed": "fast"}, 48.6),
        ("claude-opus-4-7", {"speed": "fast"}, 145.6),
        ("claude-opus-4-6", {"speed": "fast"}, 145.6),
        ("claude-opus-4-5", {"speed": "fast"}, 24.35),
        ("claude-fable-5-2", {"speed": "fast"}, 76.5),
        ("claude-fable-5", {"speed": "fast"}, 48.6),
        ("claude-sonnet-5-5", {"speed": "fast"}, 9.7),
        ("claude-haiku-5-5", {"speed": "fast"}, 2.525),
        ("nosuch-model", {"speed": "fast"}, 19.3),
        ("claude-opus-4-6", {"inference_geo": "us"}, 26.775),
        ("claude-haiku-4-5", {"inference_geo": "us"}, 5.435),
        ("claude-3-5-haiku", {"inference_geo": "us"}, 4.368),
        ("nosuch-model", {"inference_geo": "us"}, 21.22),
        ("claude-opus-5-5", {"inference_geo": "us", "speed": "fast"}, 42.34),
        (SONNET, {"inference_geo": "eu"}, 14.65),
        (SONNET, {"inference_geo": "global"}, 14.65),
    ],
)
def test_speed_and_geography_have_their_price_and_searches_stay_the_same(model, where_and_how, dollars):
    usage = read_usage({**ALL_KINDS, **where_and_how})
    assert cost_of(usage, find_model(model)) == pytest.approx(dollars, rel=1e-12)


def test_every_name_in_the_catalog_leads_to_a_listed_model():
    catalog = load_catalog()
    for name in [*catalog.aliases, *catalog.successors, *catalog.models]:
        model = find_model(name)
        assert model.known == model.facts.priced, name
    for model in catalog.models.values():
        assert model.max_output <= model.max_output_limit <= model.context_window
        assert model.effort is None or model.effort in model.efforts


@pytest.mark.parametrize(
    ("told", "counted"),
    [(100.0, 100), (99.6, 100), (float("inf"), 0), (float("nan"), 0), (True, 0), (-3.5, 0)],
)
def test_counts_that_come_as_fractions_are_counted(told, counted):
    assert read_usage({"input_tokens": told}).input_tokens == counted


def test_usages_add_up_and_show_every_key():
    total = read_usage({"input_tokens": 1, "cache_creation": {"ephemeral_5m_input_tokens": 4}}) + read_usage(
        {"output_tokens": 2, "service_tier": "priority", "cache_creation": {"ephemeral_5m_input_tokens": 1}}
    )
    assert total.to_result() == {
        "input_tokens": 1,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 2,
        "output_tokens_details": {"thinking_tokens": 0},
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        "service_tier": "priority",
        "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 5},
        "inference_geo": "",
        "iterations": [],
        "speed": "standard",
        "fallback_credit": None,
    }


@pytest.mark.parametrize("raw", [None, [], "x", {"input_tokens": True}, {"cache_creation": "x"}])
def test_a_misshapen_usage_counts_as_nothing(raw):
    assert read_usage(raw) == Usage()
