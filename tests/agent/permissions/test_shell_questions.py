"""What a host is told about shell lines of several parts, through links, in pipes and behind `cd`."""

import msgspec
import pytest

HERE, OUT = "{project}", "{outside}"


def short(decision):
    """The offers of a question in a few letters: rules, folders, modes."""
    if decision.suggestions is None:
        return None
    found = []
    for update in msgspec.to_builtins(decision.suggestions):
        if update["type"] == "setMode":
            found.append(update["mode"])
        elif update["type"] == "addDirectories":
            found.append("+" + update["directories"][0])
        else:
            rules = [f"{rule['toolName']}({rule['ruleContent']})" for rule in update["rules"]]
            found.append(" & ".join(rules) + ("" if update["destination"] == "localSettings" else " now"))
    return found


def filled_in(place, value):
    if isinstance(value, list):
        return [filled_in(place, item) for item in value]
    return value and value.format(project=place.project, outside=place.outside)


@pytest.fixture
def linked(place):
    (place.project / "out").symlink_to(place.outside)
    (place.project / "file").symlink_to(place.outside / "secret")
    (place.project / "in").symlink_to("a")
    return place


SUB, READ_ETC = "subcommandResults", "Read(//etc/**) now"
CHANGE = [f"+{HERE}", "acceptEdits"]


@pytest.mark.feature("PERM-21", "RULE-04")
@pytest.mark.parametrize(
    ("line", "kind", "path", "offers"),
    [
        # One part in the way: the line's own rule, if files decide, and the part's, if rules do.
        ("ls && factor 6", SUB, None, ["Bash(factor 6)"]),
        ("ls && touch x", None, f"{HERE}/x", ["Bash(ls && touch x)", *CHANGE]),
        ("touch x || ls", None, f"{HERE}/x", ["Bash(touch x *)", *CHANGE]),
        ("ls\ntouch x", None, f"{HERE}/x", ["Bash(ls *)", *CHANGE]),
        ("# why\ntouch x", None, f"{HERE}/x", ["Bash(# why *)", *CHANGE]),
        ("ls; cat /etc/hosts", None, "/etc/hosts", ["Bash(ls; cat *)", READ_ETC]),
        ("echo x > y; ls", None, f"{HERE}/y", ["Bash(echo x *)", f"+{HERE}"]),
        ("for i in 1 2; do touch x; done", None, f"{HERE}/x", ["Bash(for i *)", *CHANGE]),
        ("for i in a b; do factor 6; done", "other", None, ["Bash(factor 6)"]),
        # Several: one rule each, unless one of them is no matter of rules, or there are too many.
        ("factor 6 && cat /etc/hosts", SUB, None, ["Bash(factor 6) & Read(//etc/**)"]),
        ("touch x && mkdir -p y", SUB, None, ["Bash(touch x *) & Bash(mkdir -p y)"]),
        ("factor 6 && touch ../x", SUB, None, None),
        ("factor 6 && echo x > y", SUB, None, None),
        ("factor 6 && rm *.x", SUB, None, None),
        ("; ".join(f"factor {n}" for n in range(1, 6)), SUB, None, "five"),
        ("; ".join(f"factor {n}" for n in range(1, 7)), SUB, None, None),
        # Pipes: each side on its own.
        ("factor 6 | factor 7", SUB, None, ["Bash(factor 6)", "Bash(factor 7)"]),
        ("factor 6 | factor 6", SUB, None, ["Bash(factor 6)"]),
        ("cat /etc/hosts | grep x", SUB, None, ["Bash(cat /etc/hosts | grep x)", READ_ETC]),
        ("ls | tee x", SUB, None, ["Bash(ls | tee x)", *CHANGE]),
        ("ls | echo x > y", None, f"{HERE}/y", ["Bash(ls | echo x > y)", f"+{HERE}"]),
        ("factor 6 | cat > y", SUB, None, None),
        ("ls | sed 1d", SUB, None, None),
        # A change of folder makes it uncertain what is changed.
        ("cd src && touch x", "other", None, ["Bash(cd src *)", "acceptEdits"]),
        ("cd src && echo x > y", "other", None, None),
        ("cd src && git status", "other", None, None),
        ("cd src && ls && cd ..", "other", None, None),
        ("cd src && factor 6", SUB, None, ["Bash(factor 6)"]),
        (f"cd {OUT} && ls", None, OUT, [f"Bash(cd {OUT} && ls)", f"Read(/{OUT}/**) now"]),
        (f"cd {OUT} && factor 6", SUB, None, [f"Read(/{OUT}/**) & Bash(factor 6)"]),
        # What goes on in the background is covered by no rule.
        ("ls &", "safetyCheck", None, None),
        ("factor 6 &", "other", None, None),
        ("factor 6 & ls", SUB, None, None),
        ("cat /etc/hosts &", None, "/etc/hosts", None),
        ("touch x &", None, f"{HERE}/x", ["Bash(touch x *)", *CHANGE]),
        ("(ls)", "other", None, None),
        ("(ls; ls)", "other", None, []),
        # Documents
        ("factor 6 7 8 <<< x", "other", None, ["Bash(factor 6 *)"]),
        ("python3 <<'EOF'\n1\nEOF", "other", None, ["Bash(python3)"]),
        ("cat > y <<'EOF'\nx\nEOF", None, f"{HERE}/y", ["Bash(cat > *)", f"+{HERE}"]),
        ("cat <<'EOF' > y\nx\nEOF", "other", None, []),
        ("cat <<'EOF' | grep x\nx\nEOF", "other", None, []),
        ("cat <<EOF\nx\nEOF", "other", None, []),
        ("git commit -m \"$(cat <<'EOF'\nfix(a): it's b\nEOF\n)\"", "other", None, ["Bash(git commit *)"]),
        # Texts of rules
        ("  cat /etc/hosts  ", None, "/etc/hosts", ["Bash(  cat /etc/hosts  )", READ_ETC]),
        ("factor  6", "other", None, ["Bash(factor  6)"]),
        ("factor 6 # why", "other", None, ["Bash(factor 6)"]),
        ("factor 6 2>&1", "other", None, ["Bash(factor 6)"]),
        ("factor 6 > y", None, f"{HERE}/y", ["Bash(factor 6 > y)", f"+{HERE}"]),
        ("! factor 6", "other", None, ["Bash(factor 6)"]),
        ("factor 'a\nb'", "other", None, None),
        ("factor *", "other", None, ["Bash(factor *)"]),
        ("set -e; ls", SUB, None, ["Bash(set -e)"]),
        # Paths of which the text does not say enough
        ("rm src/*", "other", "src/*", ["Bash(rm src/*)", f"+{HERE}/src", "acceptEdits"]),
        ("touch src/../x", "other", "src/../x", ["Bash(touch src/../x)", *CHANGE]),
        ("cat src/../a", "other", "src/../a", None),
        ("cat '$x'", "other", "$x", None),
        ("grep 'x$' a", "other", None, ["Bash(grep 'x$' a)"]),
        ("git log --grep='$x'", "other", None, ["Bash(git log *)"]),
        ("cp -f a b", "other", None, ["Bash(cp -f a b)", "acceptEdits"]),
        ("ls > *.x", "other", None, None),
        ("ls > ~/y", "other", None, None),
        ("cat /etc/hosts /usr/x", None, "/etc/hosts", None),
        ("sed 1d a", None, f"{HERE}/a", ["Bash(sed 1d a)", *CHANGE]),
        ("sed 1d", "other", None, None),
        ("env touch x", None, f"{HERE}/x", ["Bash(env touch x)", *CHANGE]),
        ("A=1 cat /etc/hosts", None, "/etc/hosts", ["Bash(A=1 cat /etc/hosts)", READ_ETC]),
        # What a question cannot say
        ("find . -delete", "other", None, []),
        ("find . -delete && factor 6", "other", None, []),
        ("setsid factor 6", "other", None, []),
        ("time -p factor 6", "other", None, []),
        ("jq -f x a", "other", None, []),
    ],
)
def test_what_stands_in_the_way_of_a_line_decides_what_the_host_may_answer(shared, line, kind, path, offers):
    decision = shared.bash(filled_in(shared, line))
    assert decision.behavior == "ask"
    assert (decision.reason_type, decision.blocked_path) == (kind, filled_in(shared, path))
    if offers == "five":
        offers = [" & ".join(f"Bash(factor {n})" for n in range(1, 6))]
    assert short(decision) == filled_in(shared, offers)


@pytest.mark.feature("RULE-13", "RULE-14")
@pytest.mark.parametrize(
    ("line", "path", "offers", "classifier"),
    [
        ("touch out/n", f"{OUT}/n", [f"+{OUT}", "acceptEdits"], False),
        ("echo x > out/n", f"{OUT}/n", [f"+{OUT}"], False),
        ("ls && echo x > file", f"{OUT}/secret", [f"+{OUT}"], False),
        ("cp file n", f"{OUT}/secret", [f"+{OUT}", "acceptEdits"], False),
        ("rm file", HERE, CHANGE, True),
        ("rm -rf out", HERE, CHANGE, True),
    ],
)
def test_a_change_through_a_link_that_leads_out_is_asked_about_whatever_rules_and_modes_say(
    linked, line, path, offers, classifier
):
    for policy in (linked.policy(), linked.policy(allow=["Bash"]), linked.policy("acceptEdits")):
        decision = linked.bash(line, policy)
        assert (decision.behavior, decision.reason_type) == ("ask", "safetyCheck")
        assert decision.blocked_path == filled_in(linked, path)
        assert decision.classifier_approvable is classifier
        assert decision.suppress_always_allow is not classifier
    assert short(linked.bash(line)) == filled_in(linked, offers)


@pytest.mark.feature("RULE-14")
def test_a_link_inside_is_an_ordinary_file_and_its_removal_concerns_its_folder(linked):
    assert short(linked.bash("touch in")) == filled_in(linked, ["Bash(touch in *)", *CHANGE])
    assert linked.bash("rm in").blocked_path == str(linked.project)
    assert linked.bash("rm in", linked.policy(allow=["Bash(rm *)"])).behavior == "allow"


@pytest.mark.feature("RULE-04", "PERM-11")
@pytest.mark.parametrize(
    "line",
    [
        "cat /etc/hosts",
        "ls {outside}",
        "head -1 /etc/hosts",
        "touch {outside}/x",
        "rm {outside}/x",
        "nohup touch {outside}/x",
        "env touch {outside}/x",
        "sed -i s/a/b/ {outside}/x",
        "tee {outside}/x",
        "cp a {outside}/x",
        "cd {outside}",
        "rm src/../x",
        "rm *.x",
        "cp -r src dst",
        "cd src && touch x",
        "cat < /etc/hosts",
        "echo x > y",
        "factor 6 &",
    ],
)
def test_rules_on_commands_do_not_decide_where_their_files_may_lie(shared, line):
    line = filled_in(shared, line)
    programs = [
        "cat",
        "ls",
        "head",
        "touch",
        "rm",
        "nohup",
        "env",
        "sed",
        "tee",
        "cp",
        "cd",
        "echo",
        "factor",
    ]
    policy = shared.policy(allow=[*(f"Bash({program}:*)" for program in programs), f"Bash({line})"])
    assert shared.bash(line, policy).behavior == "ask"
    whole = shared.bash(line, shared.policy(allow=["Bash"]))
    assert whole.behavior == "allow"


@pytest.mark.feature("RULE-06")
def test_what_would_run_anyhow_is_asked_about_in_the_background(shared):
    whole, exact = shared.policy(allow=["Bash"]), shared.policy(allow=["Bash(echo $X &)", "Bash(factor:*)"])
    for line, policy in (("ls &", whole), ("ls & ls", whole), ("factor 6 &", exact), ("echo $X &", exact)):
        decision = shared.bash(line, policy)
        assert (decision.behavior, decision.reason_type, decision.suggestions) == ("ask", "safetyCheck", None)
    for line in ("factor 6 &", "ls & wait", "echo $X &", "sleep 1 & echo $! > pid", "sh -c 'ls &'"):
        assert shared.bash(line, whole).behavior == "allow"
    assert shared.bash("ls &", shared.policy("bypassPermissions")).behavior == "allow"


@pytest.mark.feature("RULE-04")
def test_a_rule_on_the_files_lets_the_command_have_them(shared):
    rules = [f"Read(/{shared.outside}/**)", f"Edit(/{shared.outside}/**)", "Bash(touch:*)"]
    policy = shared.policy(allow=rules)
    for line in (f"cat {shared.outside}/secret", f"touch {shared.outside}/x", f"echo x > {shared.outside}/y"):
        assert shared.bash(line, policy).behavior == "allow"


@pytest.mark.feature("PERM-09")
@pytest.mark.parametrize(
    ("line", "kind", "path", "offers"),
    [
        ("ls && touch .git/x", "safetyCheck", f"{HERE}/.git/x", [f"+{HERE}/.git", "acceptEdits"]),
        ("factor 6 && touch .git/x", SUB, None, []),
        ("ls | tee .git/x", SUB, None, [f"+{HERE}/.git", "acceptEdits"]),
        ("cd src && touch .git/x", "other", None, ["Bash(cd src *)", "acceptEdits"]),
        ("echo x >> ~/.bashrc", "safetyCheck", None, None),
    ],
)
def test_a_protected_file_among_other_parts_is_told_with_them(shared, line, kind, path, offers):
    decision = shared.bash(line)
    assert (decision.behavior, decision.reason_type) == ("ask", kind)
    assert decision.blocked_path == filled_in(shared, path)
    assert short(decision) == filled_in(shared, offers)


@pytest.mark.feature("RULE-07")
@pytest.mark.parametrize(
    "line",
    [
        "ls | sed s/a/b/g",
        "ls | sed -E 's/(a)/b/'",
        "echo $((1+1))",
        "cd -",
        "ip addr",
        "ifconfig",
        "echo \"$(cat <<'EOF'\nx\nEOF\n)\"",
    ],
)
def test_what_only_shows_something_runs(shared, line):
    assert shared.bash(line).behavior == "allow"


@pytest.mark.parametrize(
    "line",
    [
        "ls | sed s/a/b/e",
        "ls | sed 's/a/b/w x'",
        "ls | sed 's/a/b/;1d'",
        "nice ls",
        "time ls",
        "timeout -k 1 5 ls",
        "npm -v",
        "python3 -V",
        "sed -n '/x/p' a",
        "echo $((a+1))",
        "echo $(cat <<'EOF'\n/etc/hosts\nEOF\n)",
        "echo \"$(cat <<'EOF'\n) ; rm x\nEOF\n)\"",
        "echo \"$(cat <<'EOF'\nx\nEOF\nrm x\n)\"",
        'echo "$(cat <<EOF\nx\nEOF\n)"',
    ],
)
def test_what_looks_like_it_asks(shared, line):
    assert shared.bash(line).behavior == "ask"


def test_a_long_command_is_cut_in_its_description_and_the_models_own_is_not(shared):
    long = "factor " + "6" * 60
    assert shared.bash(long).description == long[:49] + "…"
    assert shared.bash(long[:50]).description == long[:50]
    assert shared.bash(long, description="d" * 60).description == "d" * 60


@pytest.mark.feature("RULE-14", "PERM-29")
@pytest.mark.parametrize("mode", ["default", "acceptEdits", "bypassPermissions"])
def test_a_file_is_never_written_by_the_name_of_a_link(linked, mode):
    policy = linked.policy(mode, allow=["Edit(./**)"])
    for tool, fields in (("Write", {"content": "x"}), ("Edit", {"old_string": "a", "new_string": "b"})):
        decision = linked.decide(tool, policy, file_path=str(linked.project / "in"), **fields)
        assert (decision.behavior, decision.reason_type) == ("deny", "other")
        assert decision.message.endswith(str(linked.project / "a"))


@pytest.mark.feature("RULE-14")
def test_reading_through_a_link_offers_where_it_is_named_and_where_it_leads(linked):
    file = linked.decide("Read", file_path=str(linked.project / "file"))
    assert short(file) == [f"Read(/{linked.project}/**) now"]
    below = linked.decide("Read", file_path=str(linked.project / "out" / "secret"))
    assert short(below) == [f"Read(/{linked.project}/out/**) now", f"Read(/{linked.outside}/**) now"]
    new = linked.decide("Write", file_path=str(linked.project / "out" / "new"), content="x")
    assert (new.reason_type, new.suppress_always_allow) == ("safetyCheck", True)
    folders = msgspec.to_builtins(new.suggestions)[-1]["directories"]
    assert folders == [str(linked.project / "out"), str(linked.outside)]


def test_a_file_of_a_skill_offers_to_edit_that_skill(shared):
    path = str(shared.project / ".claude" / "skills" / "one" / "SKILL.md")
    assert short(shared.decide("Write", file_path=path, content="x")) == ["Edit(/.claude/skills/one/**) now"]


@pytest.mark.feature("RULE-13")
def test_a_quoted_name_that_looks_like_a_pattern_is_one_file(place):
    for name in ("a1", "a2", "a3", "a[12]"):
        (place.project / name).write_text("x")
    policy = place.policy(deny=["Read(a[12])"])
    assert place.bash("cat 'a[12]'", policy).behavior == "allow"
    for line in (
        "cat a1",
        "cat a[12]",
        "cat 'a[12]' a[12]",
        "sh -c \"cat 'a[12]'\"",
        "eval cat 'a[12]'",
        "cat < 'a[12]'",
    ):
        assert place.bash(line, policy).behavior == "deny"
    assert place.bash("cat a3", policy).behavior == "allow"
