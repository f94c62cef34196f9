import pytest

from claude_wrapper.agent.permissions.command_patterns import command_pattern
from claude_wrapper.agent.permissions.matching import is_removed
from claude_wrapper.agent.permissions.rules import Rule, RuleProblem, parse_rule, parse_rules, split_rules


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Read,Write", ["Read", "Write"]),
        ("Read Write", ["Read", "Write"]),
        (" Read ,, Write\tEdit\n", ["Read", "Write", "Edit"]),
        ("Bash(git log, x:*) Edit", ["Bash(git log, x:*)", "Edit"]),
        ("Bash(echo $(ls a, b)),Read", ["Bash(echo $(ls a, b))", "Read"]),
        ("Bash(a \\( b),Read", ["Bash(a \\( b)", "Read"]),
        ("Bash(a ( b),Bash(rm:*)", ["Bash(a ( b)", "Bash(rm:*)"]),
        ("mcp__a__*,mcp__b", ["mcp__a__*", "mcp__b"]),
        ("", []),
    ],
)
def test_lists_are_split_outside_parentheses(text, parts):
    assert split_rules(text) == parts


@pytest.mark.feature("RULE-01")
@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Read", Rule("Read")),
        (" Read ", Rule("Read")),
        ("Bash(npm run test)", Rule("Bash", "npm run test")),
        ("Bash(npm run:*)", Rule("Bash", "npm run:*")),
        ("Bash", Rule("Bash")),
        ("Bash()", Rule("Bash")),
        ("Bash(*)", Rule("Bash")),
        ("Bash(a(b) c)", Rule("Bash", "a(b) c")),
        ("Bash(a\\)b)", Rule("Bash", "a)b")),
        ("Task(Explore)", Rule("Agent", "Explore")),
        ("mcp__server", Rule("mcp__server")),
        ("mcp__server__*", Rule("mcp__server__*")),
        ("mcp__server__tool", Rule("mcp__server__tool")),
    ],
)
def test_rules_are_read(text, rule):
    assert parse_rule(text) == rule


@pytest.mark.parametrize("text", ["", "(x)", "Bash(a", "Bash(a)b", "Bash(a\\)", "a b", "Bä(x)", ")", "Foo)x"])
def test_a_bad_rule_is_a_problem_and_no_exception(text):
    problem = parse_rule(text)
    assert isinstance(problem, RuleProblem)
    assert problem.problem


@pytest.mark.parametrize(
    "rule", [Rule("Read"), Rule("Bash", "echo $(a) (b"), Rule("Bash", "a)"), Rule("Read", "//a/**")]
)
def test_rules_come_back_from_their_text(rule):
    assert parse_rule(str(rule)) == rule


@pytest.mark.feature("RULE-11", "RULE-16")
@pytest.mark.parametrize(
    "text",
    [
        "*",
        "mcp__*",
        "mcp__o*",
        "B*",
        "mcp__one__get(*)",
        "mcp__one(x)",
        "Write(docs/**)",
        "Glob(x)",
        "Read(!x)",
    ],
)
def test_allow_rules_without_effect_are_left_out_with_a_warning(text):
    rules, problems = parse_rules([text, "Read"], "allow", "userSettings")
    assert [str(rule.rule) for rule in rules] == ["Read"]
    assert [(problem.text, problem.source) for problem in problems] == [(text, "userSettings")]


@pytest.mark.parametrize("text", ["*", "mcp__*", "B*"])
def test_patterns_of_tool_names_may_deny(text):
    rules, problems = parse_rules([text], "deny", "userSettings")
    assert len(rules) == 1
    assert problems == []


@pytest.mark.feature("PERM-05")
@pytest.mark.parametrize(
    ("text", "removed"),
    [("Bash", True), ("Bash(*)", True), ("*", True), ("B*", True), ("Bash(rm:*)", False), ("mcp__*", False)],
)
def test_only_a_bare_deny_takes_the_tool_away(text, removed):
    rules, _ = parse_rules([text], "deny", "cliArg")
    assert is_removed("Bash", rules) is removed


@pytest.mark.feature("RULE-02", "RULE-03")
@pytest.mark.parametrize(
    ("content", "matching", "others"),
    [
        (
            "npm run build",
            ["npm run build"],
            ["npm run build x", "npm run", "xnpm run build", "npm run builds"],
        ),
        (
            "npm run:*",
            ["npm run", "npm run a", "npm run a b", "npm run\ta"],
            ["npm runx", "npm", "npm run-a", "a npm run"],
        ),
        ("npm run *", ["npm run", "npm run a"], ["npm runx"]),
        ("ls *", ["ls", "ls -la"], ["lsof"]),
        ("ls*", ["ls", "ls -la", "lsof"], ["xls"]),
        (
            "git * main",
            ["git push main", "git push origin main", "git  main"],
            ["git push main x", "git main", "git push mains"],
        ),
        ("* install", ["npm install", "x y install"], ["install", "npm install x"]),
        ("* --version", ["node --version"], ["node --version x"]),
        ("git * main *", ["git a main", "git a main b", "git a main main"], ["git a mainb"]),
        ("a*b*c", ["abc", "axbxc", "abbc"], ["ab", "acb", "abcd"]),
        ("a*a", ["aa", "aba"], ["a", "ab"]),
        ("echo a:b", ["echo a:b"], ["echo a", "echo a:bc"]),
        ("a:*:*", ["a:", "a:x", "a:x y"], ["a", "b"]),
        ("rm \\*.py", ["rm *.py"], ["rm a.py", "rm"]),
    ],
)
def test_contents_of_bash_rules(content, matching, others):
    pattern = command_pattern(content)
    assert [text for text in matching if not pattern.matches(text)] == []
    assert [text for text in others if pattern.matches(text)] == []


def test_many_stars_take_no_long_time():
    assert not command_pattern("a*" * 200 + "b").matches("a" * 10_000)


def test_a_problem_in_one_rule_keeps_the_others():
    rules, problems = parse_rules(["Bash(", "Bash(ls)", "("], "deny", "projectSettings")
    assert [str(rule.rule) for rule in rules] == ["Bash(ls)"]
    assert len(problems) == 2
