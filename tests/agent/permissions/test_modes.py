import pytest


def calls(place):
    """What is asked for, with the tool and the input of each."""
    return {
        "edit inside": ("Edit", {"file_path": str(place.project / "a")}),
        "write inside": ("Write", {"file_path": str(place.project / "new"), "content": ""}),
        "notebook inside": ("NotebookEdit", {"notebook_path": str(place.project / "n.ipynb")}),
        "write outside": ("Write", {"file_path": str(place.outside / "new"), "content": ""}),
        "write protected": ("Write", {"file_path": str(place.project / ".git/config"), "content": ""}),
        "read inside": ("Read", {"file_path": str(place.project / "a")}),
        "search inside": ("Grep", {"pattern": "x"}),
        "read outside": ("Read", {"file_path": "/etc/hosts"}),
        "search outside": ("Glob", {"pattern": "*", "path": "/etc"}),
        "show": ("Bash", {"command": "git status && ls -la | head"}),
        "show outside": ("Bash", {"command": "cat /etc/hosts"}),
        "make a file": ("Bash", {"command": "touch q"}),
        "make a file outside": ("Bash", {"command": "touch ../q"}),
        "redirect": ("Bash", {"command": "echo a > b"}),
        "redirect outside": ("Bash", {"command": "echo a > ../b"}),
        "redirect protected": ("Bash", {"command": "echo a > .git/config"}),
        "run": ("Bash", {"command": "npm i"}),
        "critical": ("Bash", {"command": "rm -rf /"}),
        "fetch": ("WebFetch", {"url": "https://example.com/x", "prompt": "p"}),
        "search the web": ("WebSearch", {"query": "x"}),
        "mcp": ("mcp__one__get", {}),
        "note": ("TodoWrite", {"todos": []}),
        "agent": ("Agent", {"description": "d", "prompt": "p"}),
        "question": ("AskUserQuestion", {"questions": []}),
        "plan": ("ExitPlanMode", {"plan": "p"}),
    }


FREE = {"read inside", "search inside", "show", "note", "agent"}
EDITS = {"edit inside", "write inside", "notebook inside", "make a file", "redirect"}
STOPS_BYPASS = {"critical", "question", "plan"}


@pytest.mark.feature("PERM-10", "PERM-11", "PERM-12", "PERM-13", "PERM-14")
@pytest.mark.parametrize(
    ("mode", "runs", "otherwise"),
    [
        ("default", FREE, "ask"),
        ("plan", FREE, "ask"),
        ("auto", FREE | EDITS, "ask"),
        ("acceptEdits", FREE | EDITS, "ask"),
        ("dontAsk", FREE, "deny"),
        ("bypassPermissions", None, "ask"),
    ],
)
def test_what_runs_in_which_mode(shared, mode, runs, otherwise):
    every = calls(shared)
    wanted = set(every) - STOPS_BYPASS if runs is None else runs
    found = {
        name: shared.decide(tool, shared.policy(mode), **fields) for name, (tool, fields) in every.items()
    }
    assert {name for name, decision in found.items() if decision.behavior == "allow"} == wanted
    assert {decision.behavior for name, decision in found.items() if name not in wanted} == {otherwise}


@pytest.mark.feature("PERM-12")
def test_plan_mode_asks_about_edits_that_rules_allow_and_runs_commands_that_they_allow(shared):
    policy = shared.policy("plan", allow=["Edit", "Write", "Bash", "Edit(src/**)"])
    for name, behavior in [
        ("edit inside", "ask"),
        ("write inside", "ask"),
        ("make a file", "allow"),
        ("redirect", "allow"),
    ]:
        tool, fields = calls(shared)[name]
        assert shared.decide(tool, policy, **fields).behavior == behavior
    assert shared.bash("touch x", shared.policy("plan")).behavior == "ask"
    asked = shared.decide("Write", policy, file_path=str(shared.project / "new"), content="")
    assert (asked.reason_type, asked.reason, asked.suggestions) == ("mode", None, None)
    assert asked.message == f"Cannot write to {shared.project}/new while in plan mode."
    assert shared.bash("npm i", policy).behavior == "allow"


@pytest.mark.feature("PERM-13")
def test_dont_ask_runs_what_rules_allow_and_turns_questions_into_refusals(shared):
    policy = shared.policy(
        "dontAsk", allow=["Write", "Bash(npm run:*)", "Bash(git push:*)"], ask=["Bash(git push:*)"]
    )
    assert (
        shared.decide("Write", policy, file_path=str(shared.project / "new"), content="").behavior == "allow"
    )
    assert shared.bash("npm run x && ls", policy).behavior == "allow"
    for command in ("npm run x; curl x", "git push", "rm -rf /"):
        refused = shared.bash(command, policy)
        assert (refused.behavior, refused.reason_type, refused.reason) == ("deny", "mode", None)
        assert refused.message.startswith(
            "Permission to use Bash has been denied because Claude Code is running in don't ask mode"
        )
    assert shared.decide("AskUserQuestion", policy, questions=[]).behavior == "deny"


@pytest.mark.feature("PERM-01", "PERM-04", "PERM-06")
@pytest.mark.parametrize("mode", ["default", "acceptEdits", "bypassPermissions", "plan", "dontAsk"])
def test_deny_comes_before_ask_and_ask_before_everything_else(shared, mode):
    rules = {"allow": ["Bash", "Bash(npm i)"], "ask": ["Bash(npm:*)"], "deny": ["Bash(npm i)"]}
    assert shared.bash("npm i", shared.policy(mode, **rules)).behavior == "deny"
    asked = shared.bash("npm i", shared.policy(mode, **(rules | {"deny": []})))
    assert asked.behavior == ("deny" if mode == "dontAsk" else "ask")
    assert shared.bash("npm i", shared.policy(mode, allow=["Bash"])).behavior == "allow"


@pytest.mark.feature("PERM-04")
@pytest.mark.parametrize(
    "sources", [("userSettings", "projectSettings"), ("projectSettings", "userSettings")]
)
def test_a_deny_of_any_source_beats_a_narrower_allow_of_another(shared, sources):
    policy, _ = shared.policy().with_rules(["Bash(aws s3 ls)"], "allow", sources[0])
    policy, _ = policy.with_rules(["Bash(aws *)"], "deny", sources[1])
    assert shared.bash("aws s3 ls", policy).behavior == "deny"


@pytest.mark.feature("PERM-07", "PERM-14")
def test_tools_that_only_a_person_answers_are_always_asked_about(shared):
    for mode in ("default", "bypassPermissions", "acceptEdits"):
        policy = shared.policy(mode, allow=["AskUserQuestion", "mcp__one"])
        built_in = shared.decide("AskUserQuestion", policy, questions=[])
        assert (built_in.behavior, built_in.requires_interaction, built_in.suggestions) == ("ask", True, None)
        other = shared.decide("mcp__one__form", policy, requires_interaction=True)
        assert (other.behavior, other.suppress_always_allow) == ("ask", True)
    assert shared.decide("AskUserQuestion", shared.policy(deny=["AskUserQuestion"])).behavior == "deny"


@pytest.mark.feature("PERM-08")
@pytest.mark.parametrize("mode", ["default", "acceptEdits", "plan", "bypassPermissions"])
@pytest.mark.parametrize(
    "command",
    [
        "rm -rf /",
        "rm -rf //",
        "rm -rf -- /",
        "rm -rf /*",
        "rm -rf ~",
        "rm -rf ~/",
        "rm -rf ~/*",
        "rm -rf $HOME",
        'rm -rf "${{HOME}}"/',
        "rm -rf .",
        "rm -rf ./",
        "rm -rf ./*",
        "rm *",
        "rm -rf ..",
        "rm -rf ../..",
        "rm -rf /usr",
        "rm -rf /etc/",
        "rm -rf /usr/*",
        "rm -rf /usr/../",
        "rm -rf {project}",
        "rm -rf {project}/*",
        "rm -rf {project}/..",
        "rm -rf $PWD",
        "rm -rf $(pwd)",
        "rm -rf `pwd`",
        'rm -rf "$X"/*',
        "rm -rf $X/",
        "rm -rf ${{X}}/*",
        "rmdir /tmp",
        "/bin/rm -rf /",
        "sudo rm -rf /",
        "env rm -rf /",
        "xargs rm -rf /",
        "bash -c 'rm -rf /'",
        "ls && rm -rf /",
        "true && rm > x -rf /",
        "echo $(rm -rf ~)",
        "echo `rm -rf ~`",
        "cat <(rm -rf ~)",
        "cd / && rm -rf *",
        "cd src && rm -rf ..",
    ],
)
def test_no_rule_and_no_mode_approves_removing_what_everything_stands_on(shared, mode, command):
    command = command.format(project=shared.project)
    policy = shared.policy(mode, allow=["Bash", "Bash(rm:*)", f"Bash({command})"])
    decision = shared.bash(command, policy)
    assert (decision.behavior, decision.reason_type) == ("ask", "safetyCheck")
    assert (decision.suggestions, decision.suppress_always_allow) == ((), True)
    assert shared.bash(command, shared.policy("dontAsk", allow=["Bash"])).behavior == "deny"


@pytest.mark.parametrize("command", ["rm -rf src", "rm src/f", "rm -rf build/ dist", "rm -- a"])
def test_other_removals_are_a_matter_of_rules(shared, command):
    assert shared.bash(command, shared.policy(allow=["Bash(rm:*)"])).behavior == "allow"


@pytest.mark.feature("PERM-09")
@pytest.mark.parametrize(
    "path",
    [
        ".git/config",
        ".git/hooks/pre-commit",
        "src/.git/x",
        ".GIT/config",
        ".vscode/settings.json",
        ".idea/x",
        ".husky/pre-commit",
        ".cargo/config.toml",
        ".devcontainer/x",
        ".config/git/config",
        ".claude/settings.json",
        ".claude/commands/x.md",
        ".claude",
        ".gitconfig",
        ".gitmodules",
        ".bashrc",
        "src/.zshrc",
        ".profile",
        ".envrc",
        ".npmrc",
        ".yarnrc.yml",
        ".pnp.cjs",
        "bunfig.toml",
        ".pre-commit-config.yaml",
        "gradle-wrapper.properties",
        ".mcp.json",
        ".claude.json",
        "pyrightconfig.json",
    ],
)
def test_files_that_steer_other_tools_are_never_changed_unasked_but_by_bypass(shared, path):
    rules = {"allow": ["Write", "Edit", "Bash", f"Edit(/{shared.project}/**)", "Edit(**)"]}
    target = str(shared.project / path)
    for mode in ("default", "acceptEdits", "plan"):
        policy = shared.policy(mode, **rules)
        for decision in (
            shared.decide("Write", policy, file_path=target, content=""),
            shared.bash(f"touch {path}", policy),
            shared.bash(f"echo x >> {path}", policy),
            shared.bash(f"sudo cp a {path}", policy),
        ):
            assert (decision.behavior, decision.reason_type) == ("ask", "safetyCheck")
            assert decision.classifier_approvable is True
    bypass = shared.policy("bypassPermissions")
    assert shared.decide("Write", bypass, file_path=target, content="").behavior == "allow"


@pytest.mark.parametrize("path", [".claude/worktrees/w/f", "git/config", "a.git", ".gitignore", "claude/x"])
def test_files_of_like_names_are_ordinary(shared, path):
    policy = shared.policy("acceptEdits")
    assert (
        shared.decide("Write", policy, file_path=str(shared.project / path), content="").behavior == "allow"
    )


@pytest.mark.feature("PERM-11")
@pytest.mark.parametrize(
    ("command", "behavior"),
    [
        ("mkdir -p x/y/z", "allow"),
        ("mkdir -m 700 x", "allow"),
        ("touch x y", "allow"),
        ("rm -f a", "allow"),
        ("rm -rf src", "allow"),
        ("rmdir src", "allow"),
        ("mv a c", "allow"),
        ("cp a c", "allow"),
        ("cp -r src dst", "ask"),
        ("sed -i s/a/b/ a", "allow"),
        ("sed -i 's|a|b|g' a", "ask"),
        ("LANG=C touch x", "ask"),
        ("timeout 5 touch x", "ask"),
        ("touch x && mkdir y; echo a > z", "allow"),
        ("touch 'a b'", "allow"),
        ("touch -- -x", "ask"),
        ("touch ../x", "ask"),
        ("touch {outside}/x", "ask"),
        ("touch ~/x", "ask"),
        ("touch $X", "ask"),
        ("touch *", "ask"),
        ("rm *.py", "ask"),
        ("mkdir -p ../x", "ask"),
        ("cp a ../b", "ask"),
        ("cp /etc/hosts b", "ask"),
        ("cp -t .. a", "ask"),
        ("cp --target-directory=.. a", "ask"),
        ("cp -s a b", "ask"),
        ("mv a {outside}", "ask"),
        ("mv -t {outside} a", "ask"),
        ("touch -r /etc/hosts a", "ask"),
        ("rmdir -p a/b", "ask"),
        ("sed -i s/a/b/e a", "ask"),
        ("sed -i 's/a/b/w x' a", "ask"),
        ("sed -i 's/a/b/;w x' a", "ask"),
        ("sed -i '1e ls' a", "ask"),
        ("sed -i/../x s/a/b/ a", "ask"),
        ("sed -i -f x a", "ask"),
        ("FOO=1 touch x", "ask"),
        ("PATH=x touch x", "ask"),
        ("env touch x", "ask"),
        ("xargs touch", "ask"),
        ("tee a", "ask"),
        ("ln -s a b", "ask"),
        ("chmod +x a", "ask"),
        ("touch x && npm i", "ask"),
        ("cd src && touch x", "ask"),
        ("cd src && echo a > x", "ask"),
        ("echo $(touch x)", "ask"),
        ("npm i > x", "ask"),
        ("./touch x", "ask"),
    ],
)
def test_accept_edits_covers_simple_file_commands_in_the_working_folders(shared, command, behavior):
    command = command.format(outside=shared.outside)
    assert shared.bash(command, shared.policy("acceptEdits")).behavior == behavior


def test_accept_edits_does_not_write_through_links(place):
    (place.project / "link").symlink_to(place.outside / "target")
    (place.project / "dir").symlink_to(place.outside)
    (place.project / "src" / "b").symlink_to(place.outside / "target")
    policy = place.policy("acceptEdits")
    for command in (
        "touch link",
        "echo a > link",
        "cp a link",
        "cp a dir",
        "mkdir dir/x",
        "cp b src",
        "touch dir/../x",
    ):
        assert place.bash(command, policy).behavior == "ask", command


@pytest.mark.feature("PERM-34")
def test_added_folders_count_as_the_project_does(shared):
    from claude_wrapper.agent.permissions.policy import AddedDirectory

    policy = shared.policy("acceptEdits", directories=(AddedDirectory(str(shared.outside)),))
    assert shared.decide("Read", policy, file_path=str(shared.outside / "secret")).behavior == "allow"
    assert (
        shared.decide("Write", policy, file_path=str(shared.outside / "new"), content="").behavior == "allow"
    )
    assert shared.bash(f"cat {shared.outside}/secret", policy).behavior == "allow"
    assert shared.bash(f"rm -rf {shared.outside}", policy).reason_type == "safetyCheck"
