import pytest

from claude_wrapper.agent.permissions.applies import speaks_of
from claude_wrapper.agent.permissions.call import Call


@pytest.mark.feature("HOOK-06")
@pytest.mark.parametrize(
    ("rule", "tool", "fields", "spoken_of"),
    [
        ("Bash", "Bash", {"command": "ls"}, True),
        ("Bash(git *)", "Bash", {"command": "git status"}, True),
        ("Bash(git *)", "Bash", {"command": "FOO=1 git status"}, True),
        ("Bash(git *)", "Bash", {"command": "npm test && git push"}, True),
        ("Bash(git *)", "Bash", {"command": "echo $(git log)"}, True),
        ("Bash(git *)", "Bash", {"command": "npm test"}, False),
        ("Bash(git *)", "Bash", {"command": "echo 'unclosed"}, True),
        ("Bash(git *", "Bash", {"command": "npm test"}, True),
        ("Bash(git *)", "Read", {"file_path": "git"}, False),
        ("Edit(*.ts)", "Edit", {"file_path": "src/x.ts"}, True),
        ("Edit(*.ts)", "Write", {"file_path": "src/x.ts"}, True),
        ("Edit(*.ts)", "Edit", {"file_path": "src/x.js"}, False),
        ("mcp__one__*", "mcp__one__get", {}, True),
        ("mcp__one", "mcp__two__get", {}, False),
        ("Task(Explore)", "Agent", {"subagent_type": "Explore"}, True),
    ],
)
def test_a_rule_as_a_condition(shared, rule, tool, fields, spoken_of):
    call = Call(tool, fields, shared.project, (shared.project,))
    assert speaks_of(rule, call, shared.policy("bypassPermissions", deny=["Bash"])) is spoken_of
