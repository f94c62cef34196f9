"""What holds for any call and any rules: fewer allow rules never let more run, more deny rules never either."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claude_wrapper.agent.permissions.command_patterns import command_pattern
from claude_wrapper.agent.permissions.rules import Rule, RuleProblem, parse_rule, split_rules

PROGRAMS = [
    "npm run a",
    "npm test",
    "echo a",
    "curl x",
    "rm x",
    "rm -rf /",
    "cat a",
    "cat /etc/hosts",
    "touch x",
    "cd src",
]
GLUE = [" && ", "; ", " | ", "\n", " || ", " & "]
WRAPPERS = [
    "{}",
    "timeout 5 {}",
    "FOO=1 {}",
    "LANG=C {}",
    "sudo {}",
    "echo $({})",
    "({})",
    "bash -c '{}'",
    "{} > b",
    "! {}",
]
RULES = [
    *[
        "Bash",
        "Bash(npm run:*)",
        "Bash(npm *)",
        "Bash(echo:*)",
        "Bash(* a)",
        "Bash(curl x)",
        "Bash(rm:*)",
        "Bash(c*)",
    ],
    *[
        "Read",
        "Edit",
        "Write",
        "Read(src/**)",
        "Edit(src/**)",
        "Read(//etc/**)",
        "Edit(*)",
        "Write(x)",
        "mcp__a",
        "*",
    ],
    *[
        "mcp__a__get",
        "mcp__*",
        "WebFetch(domain:*)",
        "WebFetch",
        "Bash(touch x)",
        "Bash(sudo:*)",
        "Edit(//**)",
    ],
]
MODES = ["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"]
BEHAVIORS = ["allow", "ask", "deny"]

parts = st.builds(str.format, st.sampled_from(WRAPPERS), st.sampled_from(PROGRAMS))
lines = st.lists(st.tuples(parts, st.sampled_from(GLUE)), min_size=1, max_size=4).map(
    lambda pairs: "".join(part + glue for part, glue in pairs[:-1]) + pairs[-1][0]
)
paths = st.sampled_from(["a", "src/f", "src/new", ".git/x", "/etc/hosts", "../x", "~/x", ".env"])
calls = st.one_of(
    lines.map(lambda line: ("Bash", {"command": line})),
    st.tuples(st.sampled_from(["Read", "Write", "Edit"]), paths.map(lambda path: {"file_path": path})),
    st.sampled_from(
        [("mcp__a__get", {}), ("mcp__b__get", {}), ("WebFetch", {"url": "https://x.y", "prompt": ""})]
    ),
)
rule_lists = st.lists(st.sampled_from(RULES), max_size=5)
policies = st.fixed_dictionaries(
    {"mode": st.sampled_from(MODES), "allow": rule_lists, "deny": rule_lists, "ask": rule_lists}
)

bounded = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def strictness(place, call, policy) -> int:
    tool, fields = call
    return BEHAVIORS.index(place.decide(tool, place.policy(**policy), **fields).behavior)


@bounded
@given(call=calls, policy=policies, data=st.data())
def test_taking_an_allow_rule_away_never_lets_more_run(shared, call, policy, data):
    if not policy["allow"]:
        return
    gone = data.draw(st.integers(0, len(policy["allow"]) - 1))
    fewer = policy | {"allow": [rule for at, rule in enumerate(policy["allow"]) if at != gone]}
    assert strictness(shared, call, fewer) >= strictness(shared, call, policy)


@bounded
@given(call=calls, policy=policies, added=st.sampled_from(RULES))
def test_a_further_deny_rule_never_lets_more_run(shared, call, policy, added):
    more = policy | {"deny": [*policy["deny"], added]}
    assert strictness(shared, call, more) >= strictness(shared, call, policy)


@bounded
@given(call=calls, policy=policies, added=st.sampled_from(RULES))
def test_a_further_ask_rule_never_lets_more_run(shared, call, policy, added):
    more = policy | {"ask": [*policy["ask"], added]}
    assert strictness(shared, call, more) >= strictness(shared, call, policy)


@bounded
@given(first=lines, second=lines, policy=policies, glue=st.sampled_from(GLUE[:-1]))
def test_a_line_runs_only_if_each_of_its_parts_would(shared, first, second, policy, glue):
    whole = strictness(shared, ("Bash", {"command": first + glue + second}), policy)
    for part in (first, second):
        assert whole >= strictness(shared, ("Bash", {"command": part}), policy) or "cd " in first


@bounded
@given(text=st.text(max_size=60), policy=policies)
def test_no_text_makes_a_decision_fail(shared, text, policy):
    for tool, field in (("Bash", "command"), ("Read", "file_path"), ("WebFetch", "url"), ("Glob", "pattern")):
        strictness(shared, (tool, {field: text}), policy)


@given(st.text(max_size=40))
def test_no_rule_text_is_an_error(text):
    parsed = parse_rule(text)
    assert isinstance(parsed, Rule | RuleProblem)
    assert all(part.strip() for part in split_rules(text))


@given(
    st.sampled_from(["Bash", "Edit", "mcp__a__b", "WebFetch"]),
    st.text("ab()*\\\\:/ ", min_size=1, max_size=12),
)
def test_a_rule_that_is_written_out_reads_the_same_again(tool, content):
    rule = parse_rule(f"{tool}({content})")
    if isinstance(rule, Rule):
        assert parse_rule(str(rule)) == rule


@given(st.text("ab *", max_size=12), st.text("ab ", max_size=12))
def test_patterns_match_what_their_stars_can_stand_for(content, text):
    pattern = command_pattern(content)
    stripped = content.strip()
    if "*" not in stripped:
        assert pattern.matches(text) is (text == stripped)
    if pattern.matches(text):
        assert all(piece in text for piece in pattern.pieces)
        assert text.startswith(pattern.pieces[0])
