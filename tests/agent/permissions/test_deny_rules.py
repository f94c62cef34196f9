"""Deny and ask rules reach every command of a line, however it is wrapped up."""

import pytest

REACHED = [
    "rm x",
    "rm",
    "  rm x",
    "rm\tx",
    "ls; rm x",
    "ls && rm x",
    "ls || rm x",
    "ls | rm x",
    "ls & rm x",
    "ls\nrm x",
    "rm x &",
    "! rm x",
    "! ! rm x",
    "'rm' x",
    '"rm" x',
    "r\\m x",
    "r''m x",
    "r\\\nm x",
    "\\rm x",
    "/bin/rm x",
    "./rm x",
    "RM x",
    "$'rm' x",
    "$'\\x72m' x",
    '$"rm" x',
    "{rm,-rf,x}",
    "FOO=1 rm x",
    "FOO=$(ls) rm x",
    "LANG=C rm x",
    "X=rm; $X a",
    "X='rm -rf'; $X a",
    "X=rm; ${X} a",
    "echo $(rm x)",
    "echo `rm x`",
    'echo "$(rm x)"',
    "echo ${X:-$(rm x)}",
    "cat <(rm x)",
    "ls > $(rm x)",
    "A=$(rm x)",
    "(rm x)",
    "{ rm x; }",
    "time { rm x; }",
    "if true; then rm x; fi",
    "if rm x; then ls; fi",
    "while true; do rm x; done",
    "for i in a; do rm $i; done",
    "case a in a) rm x;; esac",
    "f() { rm x; }; f",
    "[[ $(rm x) ]]",
    "cat <<EOF\n$(rm x)\nEOF",
    "timeout 5 rm x",
    "timeout -s KILL 5 rm x",
    "time -p rm x",
    "nice -n 5 rm x",
    "nohup rm x",
    "stdbuf -oL rm x",
    "command rm x",
    "command -p rm x",
    "exec rm x",
    "builtin rm x",
    "env rm x",
    "env -i A=1 rm x",
    "env -S 'rm x'",
    "/usr/bin/env rm x",
    "sudo rm x",
    "sudo -u root -- rm x",
    "doas rm x",
    "su -c 'rm x'",
    "xargs rm",
    "xargs -n1 rm",
    "ls | xargs -I{} rm {}",
    "find . -exec rm {} \\;",
    "find . -name a -execdir rm {} +",
    "fd -x rm",
    "bash -c 'rm x'",
    "bash -ec 'ls; rm x'",
    "sh -c \"bash -c 'rm x'\"",
    "bash <<< 'rm x'",
    "bash <<'EOF'\nrm x\nEOF",
    "echo rm x | sh",
    "eval rm x",
    "eval 'ls; rm x'",
    "trap 'rm x' EXIT",
    "alias ls='rm x'; ls",
    "watch rm x",
    "watch -n 1 'ls; rm x'",
    "setsid rm x",
    "flock l rm x",
    "flock l -c 'rm x'",
    "strace -f rm x",
    "busybox rm x",
    "parallel rm ::: a",
    "coproc rm x",
    "script -c 'rm x' f",
    "timeout 5 env nice sudo rm x",
    "rm x > y",
    "> y rm x",
    "ls; rm 'x",
    "ls (; rm x",
    "echo " + "a" * 12_000 + "; rm x",
]
NOT_REACHED = [
    "ls",
    "rmdir x",
    "echo rm x",
    "echo 'rm x'",
    "cat <<'EOF'\nrm x\nEOF",
    "echo a > rm",
    "grep rm a",
    "./x rm",
]


@pytest.mark.feature("PERM-04", "RULE-04", "RULE-05", "RULE-06")
@pytest.mark.parametrize("line", REACHED, ids=repr)
@pytest.mark.parametrize("rule", ["Bash(rm:*)", "Bash(rm *)"])
def test_a_deny_rule_reaches(shared, line, rule):
    decision = shared.bash(line, shared.policy("bypassPermissions", allow=["Bash"], deny=[rule]))
    assert decision.behavior == "deny"
    assert decision.message == f"Permission to use Bash with command {line} has been denied."


@pytest.mark.feature("PERM-06")
@pytest.mark.parametrize("line", REACHED, ids=repr)
def test_an_ask_rule_reaches(shared, line):
    decision = shared.bash(line, shared.policy("bypassPermissions", allow=["Bash"], ask=["Bash(rm:*)"]))
    assert (decision.behavior, decision.reason_type, decision.suggestions) == ("ask", "rule", ())


@pytest.mark.parametrize("line", NOT_REACHED, ids=repr)
def test_a_deny_rule_leaves_other_lines_alone(shared, line):
    assert shared.bash(line, shared.policy(allow=["Bash"], deny=["Bash(rm:*)"])).behavior == "allow"


@pytest.mark.parametrize(
    "line", ["git push", "git -C x push", "git -c a=b push origin", "git --no-pager push"]
)
def test_options_before_a_git_command_do_not_hide_it(shared, line):
    assert shared.bash(line, shared.policy(allow=["Bash"], deny=["Bash(git push:*)"])).behavior == "deny"


def test_a_line_that_cannot_be_read_is_asked_about_where_some_commands_are_denied(shared):
    assert shared.bash("if", shared.policy(allow=["Bash"], deny=["Bash(rm:*)"])).behavior == "ask"
    assert shared.bash("if", shared.policy(allow=["Bash"])).behavior == "allow"


@pytest.mark.parametrize("line", ["rm x", "echo $(rm x)"])
def test_refusals_of_single_commands_give_the_parts_as_the_reason_unless_the_line_is_unclear(shared, line):
    decision = shared.bash(line, shared.policy(deny=["Bash(rm:*)"]))
    assert decision.reason_type == ("rule" if "$" in line else "subcommandResults")


@pytest.mark.feature("RULE-18")
def test_rules_on_other_inputs_of_bash(shared):
    policy = shared.policy(allow=["Bash"], deny=["Bash(run_in_background:true)"])
    assert shared.bash("ls", policy, run_in_background=True).behavior == "deny"
    assert shared.bash("ls", policy, run_in_background=False).behavior == "allow"
    assert shared.bash("ls", policy).behavior == "allow"


@pytest.mark.feature("RULE-13")
@pytest.mark.parametrize(
    "line",
    [
        "cat .env",
        "cat ./.env",
        "cat src/../.env",
        'cat ".env"',
        "head -n 1 .env",
        "grep x .env",
        "grep x < .env",
        "cd src && cat ../.env",
        "sed -n 1p .env",
        "less .env",
        "cp .env a",
        "git diff .env",
        "sudo cat .env",
        "echo $(cat .env)",
        "bash -c 'cat .env'",
        "cat ~/../../work/project/.env",
        "dd if=.env of=x",
        "grep -f.env a",
    ],
)
def test_a_read_deny_covers_shell_commands_that_read_files(shared, line):
    assert shared.bash(line, shared.policy("bypassPermissions", deny=["Read(.env)"])).behavior == "deny"


@pytest.mark.feature("RULE-08", "RULE-13")
@pytest.mark.parametrize(
    "line",
    [
        "touch src/x",
        "echo a > src/x",
        "cd src && touch x",
        "rm src/f",
        "cp a src/x",
        "cp -t src a",
        "mv a src",
        "tee src/x",
        "sed -i s/a/b/ src/f",
        "ls | tee -a src/x",
        "FOO=1 touch src/x",
        "cat a >> src/x",
    ],
)
def test_an_edit_deny_covers_shell_commands_that_write_files(shared, line):
    assert shared.bash(line, shared.policy("bypassPermissions", deny=["Edit(src/**)"])).behavior == "deny"


def test_a_pattern_of_the_shell_is_denied_for_what_it_matches_and_else_asked_about_where_some_files_are_denied(
    shared,
):
    assert shared.bash("cat .e*").behavior == "allow"
    assert shared.bash("cat .e*", shared.policy(deny=["Read(.env)"])).behavior == "deny"
    assert shared.bash("cat s*/f", shared.policy(deny=["Read(.env)"])).behavior == "ask"
    assert shared.bash("cat s*/f", shared.policy(allow=["Bash"], deny=["Read(.env)"])).behavior == "allow"
