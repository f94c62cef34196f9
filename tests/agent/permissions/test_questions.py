"""What the host is told with a question, as recorded from the field's agent."""

import pytest


@pytest.mark.feature("PERM-21")
@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("npm run build", "npm run *"),
        ("npm test", "npm test *"),
        ("git push origin main", "git push *"),
        ("curl http://x", "curl http://x"),
        ("curl x", "curl x *"),
        ("python x.py", "python x.py"),
        ("python3 -c 'x'", "python3 -c 'x'"),
        ("pytest", "pytest"),
        ("FOO=1 ls", "FOO=1 ls"),
        ("sudo ls", "sudo ls"),
        ("env ls", "env ls"),
        ("bash -c 'ls'", "bash -c 'ls'"),
        ("xargs rm", "xargs rm"),
        ("git -C src status", "git -C src status"),
        ("chmod +x a", "chmod +x a"),
        ("exit 3", "exit 3"),
        ("getconf X", "getconf X"),
    ],
)
def test_a_command_that_nothing_allows_suggests_a_rule(shared, suggested, wire, command, rule):
    decision = shared.bash(command)
    assert (decision.behavior, decision.reason_type, decision.blocked_path) == ("ask", "other", None)
    assert suggested(decision) == [wire.rule(rule)]
    again = shared.policy(allow=[f"Bash({rule})"])
    assert shared.bash(command, again).behavior == "allow"


@pytest.mark.feature("PERM-21")
@pytest.mark.parametrize(
    ("command", "rule", "path"),
    [
        ("touch x", "touch x *", "x"),
        ("mkdir d", "mkdir d *", "d"),
        ("rm -rf build", "rm -rf build", "build"),
        ("cp a c", "cp a *", "a"),
        ("mv a c", "mv a *", "a"),
        ("sed -i s/a/b/ a", "sed -i s/a/b/ a", "a"),
        ("tee x", "tee x *", "x"),
        ("LANG=C touch x", "touch x *", "x"),
        ("FOO=1 touch x", "FOO=1 touch x", "x"),
        ("timeout 5 touch x", "timeout 5 touch x", "x"),
        ("touch src/x", "touch src/x", "src/x"),
        ("touch ../x", "touch ../x", "../x"),
        ("cp a ../x", "cp a *", "../x"),
    ],
)
def test_a_command_that_changes_files_suggests_the_folder_and_the_mode(
    shared, suggested, wire, command, rule, path
):
    decision = shared.bash(command)
    target = (shared.project / path).resolve()
    assert (decision.reason_type, decision.reason, decision.blocked_path) == (None, None, str(target))
    assert suggested(decision) == [wire.rule(rule), wire.folder(target.parent), wire.edits]
    assert str(target) in decision.message


def test_in_accept_edits_the_mode_is_not_suggested_again(shared, suggested, wire):
    decision = shared.bash("touch ../x", shared.policy("acceptEdits"))
    assert suggested(decision) == [wire.rule("touch ../x"), wire.folder(shared.project.parent)]


def test_a_redirect_suggests_the_folder(shared, suggested, wire):
    for command, rule in (("echo hi > out", "echo hi *"), ("npm run build > out", "npm run *")):
        decision = shared.bash(command, shared.policy(allow=["Bash(npm run:*)"]))
        assert decision.blocked_path == str(shared.project / "out")
        assert suggested(decision) == [wire.rule(rule), wire.folder(shared.project)]


def test_reading_elsewhere_suggests_to_read_there(shared, suggested, wire):
    decision = shared.bash("cat /etc/hosts")
    assert (decision.reason_type, decision.blocked_path) == (None, "/etc/hosts")
    reading = wire.rule("//etc/**", tool="Read", destination="session")
    assert suggested(decision) == [wire.rule("cat /etc/hosts"), reading]
    assert suggested(shared.bash("ls /etc"))[1] == reading
    assert (suggested(shared.bash("ls /")), shared.bash("ls /").blocked_path) == ([], "/")


def test_a_compound_command_suggests_a_rule_for_each_part_that_is_not_allowed(shared, suggested, wire):
    decision = shared.bash("ls && curl x; touch a && npm i | head")
    assert (decision.reason_type, decision.reason) == ("subcommandResults", None)
    assert suggested(decision) == [wire.rule("curl x *", "touch a *", "npm i *")]
    assert decision.message.endswith("curl x, touch a, npm i")


def test_a_line_that_cannot_be_checked_suggests_nothing_and_says_why(shared, suggested):
    for command in ("echo $(whoami)", "echo $X", "f() { ls; }", "echo {a,b}", "eval ls", "if"):
        decision = shared.bash(command)
        assert (decision.reason_type, suggested(decision)) == ("other", [])
        assert decision.reason
        assert decision.message


def test_an_exact_rule_allows_even_a_line_that_cannot_be_checked(shared):
    policy = shared.policy(allow=["Bash(echo $(whoami))"])
    assert shared.bash("echo $(whoami)", policy).reason_type == "rule"
    assert shared.bash("echo $(whoami) x", policy).behavior == "ask"


def test_a_suggested_rule_shows_the_pattern_as_it_was_written_and_does_not_let_it_run_unseen(
    shared, suggested
):
    rule = suggested(shared.bash("rm *.py"))[0]["rules"][0]["ruleContent"]
    assert rule == "rm *.py"
    assert shared.bash("rm *.py", shared.policy(allow=[f"Bash({rule})"])).behavior == "ask"


@pytest.mark.feature("PERM-21", "PERM-30")
def test_writing_inside_suggests_the_mode_and_outside_the_folder_too(shared, suggested, wire):
    inside = shared.decide("Write", file_path=str(shared.project / "src/new.txt"), content="")
    assert (inside.reason_type, inside.reason, inside.blocked_path) == (None, None, None)
    assert suggested(inside) == [wire.edits]
    assert inside.description == "src/new.txt"
    path = f"{shared.project}/src/new.txt"
    assert (
        inside.message == f"Claude requested permissions to write to {path}, but you haven't granted it yet."
    )
    outside = shared.decide("Write", file_path=str(shared.outside / "n"), content="")
    assert outside.reason_type == "workingDir"
    assert suggested(outside) == [wire.edits, wire.folder(shared.outside)]
    assert outside.description == str(shared.outside / "n")
    accepting = shared.decide(
        "Write", shared.policy("acceptEdits"), file_path=str(shared.outside / "n"), content=""
    )
    assert suggested(accepting) == [wire.folder(shared.outside)]


def test_reading_outside_suggests_the_folder_for_the_session(shared, suggested, wire):
    decision = shared.decide("Read", file_path="/etc/hostname")
    assert (decision.reason_type, decision.description) == ("workingDir", "/etc/hostname")
    assert suggested(decision) == [wire.rule("//etc/**", tool="Read", destination="session")]
    assert decision.message.startswith("Claude requested permissions to read from /etc/hostname")
    assert shared.decide("Read", file_path=f"{shared.home}/x/y").description == "~/x/y"


@pytest.mark.feature("PERM-09")
def test_a_protected_file_suggests_no_rule(shared, suggested, wire):
    write = shared.decide("Write", file_path=str(shared.project / ".git/c"), content="")
    assert suggested(write) == [wire.edits]
    shell = shared.bash("touch .git/c")
    assert suggested(shell) == [wire.folder(shared.project / ".git"), wire.edits]
    assert shell.blocked_path == str(shared.project / ".git/c")
    assert suggested(shared.bash("echo a > .git/c")) == [wire.folder(shared.project / ".git")]


def test_other_tools_suggest_to_be_allowed_as_a_whole(shared, suggested, wire):
    assert suggested(shared.decide("mcp__calc__add", a=1)) == [wire.rule(None, tool="mcp__calc__add")]
    assert suggested(shared.decide("WebSearch", query="x")) == [wire.rule(None, tool="WebSearch")]
    fetch = shared.decide("WebFetch", url="https://Example.com/x", prompt="p")
    assert suggested(fetch) == [wire.rule("domain:example.com", tool="WebFetch")]
    assert (fetch.reason_type, fetch.description) == (None, "https://Example.com/x")
    assert fetch.message == "Claude requested permissions to use WebFetch, but you haven't granted it yet."


def test_bash_is_described_by_the_models_own_words(shared):
    assert shared.bash("npm i", description="Install").description == "Install"
    assert shared.bash("npm i").description == "npm i"


def test_what_is_allowed_says_by_what(shared):
    policy = shared.policy(allow=["Bash(npm run:*)", "mcp__one"])
    assert shared.bash("ls").reason_type == "subcommandResults"
    assert shared.bash("npm run x", policy).reason_type == "subcommandResults"
    assert shared.bash("ls", shared.policy(allow=["Bash"])).reason_type == "rule"
    assert shared.decide("mcp__one__get", policy).reason_type == "rule"
    assert shared.decide("Read", file_path="a").reason_type == "mode"
    assert shared.decide("TaskCreate", subject="a").reason_type is None
    assert (
        shared.decide("Write", shared.policy("acceptEdits"), file_path="n", content="").reason_type == "mode"
    )
    assert shared.bash("npm i", shared.policy("bypassPermissions")).reason_type == "mode"
