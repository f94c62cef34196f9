import pytest

from claude_wrapper.agent.permissions.rules import Rule
from claude_wrapper.agent.permissions.updates import apply_updates
from claude_wrapper.wire.permissions import PermissionUpdateBody, RuleBody


def rules_update(kind="addRules", *texts, behavior="allow", destination="session"):
    rules = [RuleBody("Bash", text) for text in texts]
    return PermissionUpdateBody(kind, rules=rules, behavior=behavior, destination=destination)


def held(policy, behavior="allow"):
    return [(str(rule.rule), rule.source) for rule in policy.of(behavior)]


@pytest.mark.feature("PERM-23")
def test_rules_are_added_replaced_and_removed_within_their_destination(shared):
    start = shared.policy(allow=["Bash(ls)"], source="localSettings")
    added, _ = apply_updates(start, [rules_update("addRules", "npm run:*", "npm run:*", "a")])
    assert held(added) == [
        ("Bash(ls)", "localSettings"),
        ("Bash(npm run:*)", "session"),
        ("Bash(a)", "session"),
    ]
    replaced, _ = apply_updates(added, [rules_update("replaceRules", "b")])
    assert held(replaced) == [("Bash(ls)", "localSettings"), ("Bash(b)", "session")]
    removed, _ = apply_updates(replaced, [rules_update("removeRules", "b", "ls")])
    assert held(removed) == [("Bash(ls)", "localSettings")]
    assert held(start) == [("Bash(ls)", "localSettings")]


def test_each_behavior_is_changed_on_its_own(shared):
    start = shared.policy(allow=["Bash(a)"], deny=["Bash(a)"], source="session")
    changed, _ = apply_updates(start, [rules_update("removeRules", "a", behavior="deny")])
    assert (held(changed), held(changed, "deny")) == ([("Bash(a)", "session")], [])


def test_a_rule_without_content_is_the_whole_tool(shared):
    update = PermissionUpdateBody(
        "addRules", rules=[RuleBody("mcp__calc__add")], behavior="allow", destination="session"
    )
    policy, problems = apply_updates(shared.policy(), [update])
    assert problems == []
    assert [rule.rule for rule in policy.of("allow")] == [Rule("mcp__calc__add")]
    assert shared.decide("mcp__calc__add", policy).behavior == "allow"


def test_parentheses_in_a_rule_survive(shared):
    policy, _ = apply_updates(shared.policy(), [rules_update("addRules", "echo $(a) )")])
    assert shared.bash("echo $(a) )", policy).behavior == "allow"


@pytest.mark.feature("PERM-18", "PERM-23")
def test_the_mode_takes_effect_for_the_next_call(shared):
    update = PermissionUpdateBody("setMode", mode="acceptEdits", destination="session")
    policy, _ = apply_updates(shared.policy(), [update])
    assert shared.bash("touch x", policy).behavior == "allow"


@pytest.mark.feature("PERM-18")
def test_bypass_is_entered_only_where_it_was_made_available(shared):
    update = PermissionUpdateBody("setMode", mode="bypassPermissions", destination="session")
    kept, problems = apply_updates(shared.policy(), [update])
    assert kept.mode == "default"
    assert len(problems) == 1
    entered, _ = apply_updates(shared.policy(bypass_available=True), [update])
    assert entered.mode == "bypassPermissions"


@pytest.mark.feature("PERM-23", "PERM-34")
def test_folders_are_added_and_removed(shared):
    add = PermissionUpdateBody(
        "addDirectories", directories=[str(shared.outside), "../x"], destination="session"
    )
    policy, _ = apply_updates(shared.policy(), [add, add])
    expected = [str(shared.outside), str(shared.project.parent / "x")]
    assert [folder.path for folder in policy.directories] == expected
    assert shared.decide("Read", policy, file_path=str(shared.outside / "secret")).behavior == "allow"
    gone = PermissionUpdateBody("removeDirectories", directories=[str(shared.outside)], destination="session")
    policy, _ = apply_updates(policy, [gone])
    assert shared.decide("Read", policy, file_path=str(shared.outside / "secret")).behavior == "ask"


@pytest.mark.parametrize(
    "bad",
    [
        PermissionUpdateBody("nonsense", destination="session"),
        PermissionUpdateBody("addRules", behavior="allow", destination="session"),
        PermissionUpdateBody("addRules", rules=[RuleBody("Bash")], destination="session"),
        PermissionUpdateBody("addRules", rules=[RuleBody("Bash")], behavior="maybe", destination="session"),
        PermissionUpdateBody("addRules", rules=[RuleBody("Bash")], behavior="allow", destination="nowhere"),
        PermissionUpdateBody("setMode", destination="session"),
        PermissionUpdateBody("setMode", mode="yolo", destination="session"),
        PermissionUpdateBody("addDirectories", destination="session"),
    ],
)
def test_one_malformed_update_undoes_all_of_them(shared, bad):
    start = shared.policy()
    policy, problems = apply_updates(start, [rules_update("addRules", "a"), bad])
    assert policy is start
    assert len(problems) == 1


def test_a_rule_that_has_no_effect_is_told_and_the_others_hold(shared):
    update = PermissionUpdateBody(
        "addRules", rules=[RuleBody("mcp__*"), RuleBody("Read")], behavior="allow", destination="session"
    )
    policy, problems = apply_updates(shared.policy(), [update])
    assert held(policy) == [("Read", "session")]
    assert problems[0].startswith("mcp__*: ")


@pytest.mark.feature("PERM-21", "PERM-23")
@pytest.mark.parametrize(
    "command", ["touch x1", "npm run build", "cat /etc/hosts", "touch a && npm i", "echo a > x"]
)
def test_applying_what_was_suggested_lets_the_call_run_and_others_of_its_kind(shared, command):
    asked = shared.bash(command)
    policy, problems = apply_updates(shared.policy(), asked.suggestions)
    assert problems == []
    if ">" not in command:
        assert shared.bash(command, policy).behavior == "allow"
    assert shared.bash("curl x", policy).behavior == "ask"
