import subprocess
import sys
import time

import pytest

SCRIPT = """
import sys
from claude_wrapper.agent.permissions.call import Call
from claude_wrapper.agent.permissions.decide import decide
from claude_wrapper.agent.permissions.policy import Policy
policy, _ = Policy(original_cwd="/tmp", home="/root").with_rules(["Bash(ls:*)"], "allow", "cliArg")
decide(Call("Read", {"file_path": "/tmp/x"}, "/tmp"), policy)
decide(Call("mcp__a__b", {}, "/tmp"), policy)
before = "tree_sitter" in sys.modules
decide(Call("Bash", {"command": "ls"}, "/tmp"), policy)
print(before, "tree_sitter" in sys.modules)
"""


def test_the_parser_is_loaded_with_the_first_command_only():
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=50, check=True
    )
    assert result.stdout.split() == ["False", "True"]


def seconds(place, command, policy) -> float:
    """The least processor time of some runs, each with another text, so that nothing is remembered."""
    times = []
    for number in range(30):
        start = time.process_time()
        place.bash(f"{command} {number}", policy)
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.parametrize(
    "command", ["ls -la src", "git status && npm run build 2>&1 | tail -n", "touch a", "cat src/f"]
)
def test_many_rules_cost_little(shared, command):
    def policy(count):
        rules = [f"Bash(tool{number}:*)" for number in range(count)]
        return shared.policy(allow=["Bash(npm run:*)", *rules], deny=["Bash(rm:*)", "Read(.env)"])

    seconds(shared, command, policy(0))
    assert seconds(shared, command, policy(100)) < 10 * seconds(shared, command, policy(0))


def test_the_cost_grows_with_the_length_of_the_line_and_no_faster(shared):
    policy = shared.policy(allow=["Bash(npm run:*)"], deny=["Bash(rm:*)"])
    seconds(shared, "echo a", policy)
    short, long = (seconds(shared, " && ".join(["echo a b"] * parts), policy) for parts in (20, 200))
    assert long < 40 * short
