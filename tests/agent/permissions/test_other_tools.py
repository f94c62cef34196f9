import pytest


@pytest.mark.feature("RULE-16")
@pytest.mark.parametrize(
    ("rule", "allowed"),
    [
        ("mcp__one", {"mcp__one__get_a", "mcp__one__set_a", "mcp__one__get_ro"}),
        ("mcp__one__*", {"mcp__one__get_a", "mcp__one__set_a", "mcp__one__get_ro"}),
        ("mcp__one__get_*", {"mcp__one__get_a", "mcp__one__get_ro"}),
        ("mcp__one__*_a", {"mcp__one__get_a", "mcp__one__set_a"}),
        ("mcp__one__get_a", {"mcp__one__get_a"}),
        ("mcp__two", {"mcp__two__get_a"}),
        ("mcp__*", set()),
        ("mcp__o*", set()),
        ("*", set()),
        ("mcp__one(x)", set()),
        ("mcp__one__get_a()", set()),
        ("mcp__on", set()),
    ],
)
def test_allow_rules_for_mcp_tools(shared, rule, allowed):
    tools = ["mcp__one__get_a", "mcp__one__set_a", "mcp__one__get_ro", "mcp__two__get_a", "mcp__one2__get_a"]
    policy = shared.policy(allow=[rule])
    assert {tool for tool in tools if shared.decide(tool, policy).behavior == "allow"} == allowed


@pytest.mark.feature("RULE-16")
@pytest.mark.parametrize(
    ("rule", "denied"),
    [
        ("mcp__one", {"mcp__one__get_a", "mcp__one__set_a"}),
        ("mcp__*", {"mcp__one__get_a", "mcp__one__set_a", "mcp__two__get_a"}),
        ("*", {"mcp__one__get_a", "mcp__one__set_a", "mcp__two__get_a", "Read"}),
        ("mcp__one__get_*", {"mcp__one__get_a"}),
        ("mcp__one__get_a()", {"mcp__one__get_a"}),
    ],
)
def test_deny_rules_for_tool_names(shared, rule, denied):
    tools = ["mcp__one__get_a", "mcp__one__set_a", "mcp__two__get_a", "Read"]
    policy = shared.policy("bypassPermissions", deny=[rule])
    assert {tool for tool in tools if shared.decide(tool, policy).behavior == "deny"} == denied


@pytest.mark.feature("RULE-15")
@pytest.mark.parametrize(
    ("pattern", "url", "matches"),
    [
        ("example.com", "https://example.com/x", True),
        ("example.com", "http://EXAMPLE.com./x", True),
        ("example.com", "https://example.com:8080/", True),
        ("example.com", "https://user@example.com/", True),
        ("example.com", "https://example.com@evil.com/", False),
        ("example.com", "https://sub.example.com", False),
        ("example.com", "https://example.com.evil.com", False),
        ("example.com", "https://evil.com/example.com", False),
        ("example.com", "https://evil.com?example.com", False),
        ("example.com", "https://evil.com#@example.com", False),
        ("example.com", "https://evil.com\\@example.com", False),
        ("example.com", "https://ex\u0430mple.com", False),
        ("*.example.com", "https://a.example.com", True),
        ("*.example.com", "https://a.b.example.com", True),
        ("*.example.com", "https://example.com", False),
        ("*.example.com", "https://badexample.com", False),
        ("example.*", "https://example.org", True),
        ("example.*", "https://example.evil.com", False),
        ("x.*.com", "https://x.foo.com", True),
        ("x.*.com", "https://x.y.foo.com", False),
        ("*", "https://anything", True),
        ("", "https://anything", False),
        ("example.com", "", False),
        ("example.com", "https://[", False),
    ],
)
def test_hosts_of_fetch_rules(shared, pattern, url, matches):
    policy = shared.policy(allow=[f"WebFetch(domain:{pattern})"])
    assert (shared.decide("WebFetch", policy, url=url, prompt="p").behavior == "allow") is matches


def test_a_denied_host_is_named(shared):
    decision = shared.decide(
        "WebFetch", shared.policy(deny=["WebFetch(domain:bad.com)"]), url="https://bad.com", prompt=""
    )
    assert (decision.behavior, decision.reason_type) == ("deny", "rule")
    assert "bad.com" in decision.message


@pytest.mark.feature("RULE-17")
def test_rules_for_agents_and_skills(shared):
    policy = shared.policy(
        deny=["Agent(Explore)", "Skill(deploy *)"], allow=["Skill(commit)", "Skill(review *)"]
    )
    assert shared.decide("Agent", policy, subagent_type="Explore").behavior == "deny"
    assert shared.decide("Task", policy, subagent_type="Explore").behavior == "deny"
    assert shared.decide("Agent", policy, subagent_type="Plan").behavior == "allow"
    assert shared.decide("Skill", policy, skill="commit").behavior == "allow"
    assert shared.decide("Skill", policy, skill="commit", args="now").behavior == "ask"
    assert shared.decide("Skill", policy, skill="review", args="now").behavior == "allow"
    assert shared.decide("Skill", policy, skill="deploy", args="x").behavior == "deny"
    assert shared.decide("Skill", policy, skill="other", needs_permission=False).behavior == "allow"


@pytest.mark.feature("RULE-18")
@pytest.mark.parametrize(
    ("rule", "fields", "behavior"),
    [
        ("Agent(model:opus)", {"model": "opus"}, "deny"),
        ("Agent(model:op*)", {"model": "opus"}, "deny"),
        ("Agent(model:opus)", {"model": "sonnet"}, "allow"),
        ("Agent(model:*)", {}, "allow"),
        ("Agent(run_in_background:true)", {"run_in_background": True}, "deny"),
        ("Agent(n:3)", {"n": 3}, "deny"),
        ("Agent(n:3)", {"n": [3]}, "allow"),
    ],
)
def test_rules_for_single_inputs(shared, rule, fields, behavior):
    assert (
        shared.decide("Agent", shared.policy(deny=[rule]), subagent_type="x", **fields).behavior == behavior
    )


def test_rules_for_single_inputs_never_allow(shared):
    policy = shared.policy(allow=["mcp__one__get(a:1)", "WebSearch(query:x)"])
    assert shared.decide("WebSearch", policy, query="x").behavior == "ask"


def test_a_refused_tool_is_named(shared):
    decision = shared.decide("WebSearch", shared.policy(deny=["WebSearch"]), query="x")
    assert decision.message == "Permission to use WebSearch has been denied."


def test_search_patterns_that_leave_the_project_are_asked_about(shared):
    for pattern in ("/etc/*", "../../*", "src/../../*", "*/../../x", "~/x/*"):
        assert shared.decide("Glob", pattern=pattern).behavior == "ask", pattern
    for pattern in ("*", "src/**/*.py", "src/../*"):
        assert shared.decide("Glob", pattern=pattern).behavior == "allow", pattern


@pytest.mark.parametrize("fields", [{}, {"command": 5}, {"command": None}, {"file_path": ["x"]}])
@pytest.mark.parametrize("tool", ["Bash", "Read", "Write", "WebFetch", "Agent", "mcp__a__b", "Unknown"])
def test_odd_inputs_raise_nothing(shared, tool, fields):
    shared.decide(tool, shared.policy(allow=["Bash(ls:*)"], deny=["Read(x)", "WebFetch(domain:x)"]), **fields)
