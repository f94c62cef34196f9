import time

import pytest


def decide_write(place, path, **rules):
    return place.decide("Write", place.policy(**rules), file_path=str(path), content="")


@pytest.mark.feature("RULE-09", "RULE-10")
@pytest.mark.parametrize(
    ("pattern", "denied", "allowed"),
    [
        ("src/**", {"src/f", "a/src/f", "a/b/src/f"}, {"src/f"}),
        ("./src/**", {"src/f", "a/src/f", "a/b/src/f"}, {"src/f"}),
        ("/src/**", {"src/f"}, {"src/f"}),
        ("src", {"src/f", "a/src/f", "a/b/src/f"}, {"src/f", "a/src/f", "a/b/src/f"}),
        ("src/", {"src/f", "a/src/f", "a/b/src/f"}, {"src/f", "a/src/f", "a/b/src/f"}),
        ("src/*", {"src/f"}, {"src/f"}),
        ("d/e/**", {"d/e/f"}, {"d/e/f"}),
        ("d/e", {"d/e/f"}, {"d/e/f"}),
        ("*.md", {"x.md", "a/x.md"}, {"x.md", "a/x.md"}),
        ("./*.md", {"x.md", "a/x.md"}, {"x.md", "a/x.md"}),
        ("**/src/**", {"src/f", "a/src/f", "a/b/src/f"}, {"src/f", "a/src/f", "a/b/src/f"}),
        ("a/**/f", {"a/src/f", "a/b/src/f", "a/d/e/f"}, {"a/src/f", "a/b/src/f", "a/d/e/f"}),
        ("foo", {"foo/q", "a/foo/q"}, {"foo/q", "a/foo/q"}),
        ("foo/q", {"foo/q"}, {"foo/q"}),
        ("!foo", set(), set()),
        ("[sf]oo", {"foo/q", "a/foo/q"}, {"foo/q", "a/foo/q"}),
        ("f?o", {"foo/q", "a/foo/q"}, {"foo/q", "a/foo/q"}),
        ("SRC/F", {"src/f"}, set()),
        ("src\\/f", {"src/f"}, {"src/f"}),
        ("\\*.md", set(), set()),
        ("x.m\\d", {"x.md", "a/x.md"}, {"x.md", "a/x.md"}),
        ("[", set(), set()),
    ],
)
def test_patterns_are_read_like_those_of_gitignore_files(shared, pattern, denied, allowed):
    names = ["src/f", "a/src/f", "a/b/src/f", "x.md", "a/x.md", "d/e/f", "a/d/e/f", "foo/q", "a/foo/q"]
    paths = {name: shared.project / name for name in names}
    refused = {
        name
        for name, path in paths.items()
        if shared.decide("Read", shared.policy(deny=[f"Read({pattern})"]), file_path=str(path)).behavior
        == "deny"
    }
    granted = {
        name
        for name, path in paths.items()
        if decide_write(shared, path, allow=[f"Edit({pattern})"]).behavior == "allow"
    }
    assert (refused, granted) == (denied, allowed)


@pytest.mark.feature("RULE-09")
def test_anchors_name_the_root_the_home_and_the_folder_of_the_settings(shared):
    outside, home = shared.outside, shared.home
    assert decide_write(shared, outside / "n", allow=[f"Edit(/{outside}/**)"]).behavior == "allow"
    assert decide_write(shared, home / "n" / "x", allow=["Edit(~/n/*)"]).behavior == "allow"
    assert decide_write(shared, "~/n/x", allow=["Edit(~/n/*)"]).behavior == "allow"
    assert decide_write(shared, home / "m", allow=["Edit(~/n/*)"]).behavior == "ask"
    assert decide_write(shared, outside / "n", allow=["Edit(n)"]).behavior == "ask"
    policy = shared.policy(allow=["Edit(/n)"], source="userSettings", roots={"userSettings": str(outside)})
    assert shared.decide("Write", policy, file_path=str(outside / "n"), content="").behavior == "allow"
    assert shared.decide("Write", policy, file_path=str(shared.project / "n"), content="").behavior == "ask"


@pytest.mark.feature("RULE-11", "RULE-12")
def test_edit_rules_govern_every_tool_that_writes_and_grant_reading(shared):
    policy = shared.policy(allow=[f"Edit(/{shared.outside}/**)"], deny=["Edit(src/**)"])
    for tool, field in (("Write", "file_path"), ("Edit", "file_path"), ("NotebookEdit", "notebook_path")):
        assert shared.decide(tool, policy, **{field: str(shared.outside / "x")}).behavior == "allow"
        assert shared.decide(tool, policy, **{field: str(shared.project / "src/x")}).behavior == "deny"
    assert shared.decide("Read", policy, file_path=str(shared.outside / "secret")).reason_type == "rule"
    assert shared.decide("Read", policy, file_path=str(shared.project / "src/f")).behavior == "allow"


@pytest.mark.feature("RULE-12")
def test_a_read_deny_also_keeps_files_from_being_written(shared):
    policy = shared.policy("bypassPermissions", deny=["Read(src/**)"])
    new = str(shared.project / "src" / "new")
    assert shared.decide("Write", policy, file_path=new, content="").behavior == "deny"
    assert shared.decide("Edit", policy, file_path=new).behavior == "deny"
    assert shared.decide("NotebookEdit", policy, notebook_path=new).behavior == "allow"


@pytest.mark.feature("PERM-29")
def test_a_denied_path_is_refused_as_a_fault_of_the_input(shared):
    decision = shared.decide(
        "Read", shared.policy(deny=["Read(.env)"]), file_path=str(shared.project / ".env")
    )
    assert decision.as_tool_error
    assert decision.message == "File is in a directory that is denied by your permission settings."


@pytest.mark.feature("RULE-14")
def test_links_are_followed_before_a_rule_is_applied(place):
    (place.project / "link").symlink_to(place.project / ".env")
    (place.project / "out").symlink_to(place.outside)
    denied = place.decide("Read", place.policy(deny=["Read(.env)"]), file_path=str(place.project / "link"))
    assert (denied.behavior, denied.as_tool_error) == ("deny", False)
    for policy in (place.policy(), place.policy("acceptEdits"), place.policy(allow=["Edit(out/**)"])):
        asked = place.decide("Write", policy, file_path=str(place.project / "out" / "x"), content="")
        assert (asked.behavior, asked.reason_type) == ("ask", "safetyCheck")
        assert asked.blocked_path == str(place.outside / "x")
    both = place.policy(allow=["Edit(out/**)", f"Edit(/{place.outside}/**)"])
    assert (
        place.decide("Write", both, file_path=str(place.project / "out" / "x"), content="").behavior
        == "allow"
    )


@pytest.mark.parametrize(
    "path", ["../../elsewhere/x", "src/../../../elsewhere/x", "{project}/../x", "/x", "src/link/../x"]
)
def test_a_path_out_of_the_working_folders_is_found_however_it_is_written(place, path):
    (place.project / "src" / "link").symlink_to(place.outside / "deep")
    policy = place.policy("acceptEdits")
    assert (
        place.decide("Write", policy, file_path=path.format(project=place.project), content="").behavior
        == "ask"
    )


def test_the_decision_is_made_on_the_links_as_they_are_now(place):
    policy = place.policy("acceptEdits")
    target = place.project / "moving"
    target.mkdir()
    assert place.decide("Write", policy, file_path=str(target / "x"), content="").behavior == "allow"
    target.rmdir()
    target.symlink_to(place.outside)
    assert place.decide("Write", policy, file_path=str(target / "x"), content="").behavior == "ask"


def test_a_project_behind_a_link_is_inside_under_both_its_names(place):
    alias = place.root / "alias"
    alias.symlink_to(place.project)
    assert place.decide("Read", file_path=str(alias / "a")).behavior == "ask"
    policy = place.policy().changed(original_cwd=str(alias))
    assert place.decide("Read", policy, file_path=str(alias / "a")).behavior == "allow"
    assert place.decide("Read", policy, file_path=str(place.project / "a")).behavior == "allow"


@pytest.mark.parametrize("path", ["a\0b", "\ud800", "a" * 5000])
def test_impossible_paths_are_asked_about_or_left_to_the_tool(shared, path):
    assert (
        shared.decide("Write", shared.policy("acceptEdits"), file_path=f"/{path}", content="").behavior
        == "ask"
    )


@pytest.mark.parametrize(
    "pattern", ["**/" * 30 + "x", "*a" * 30 + "b", "**a" * 20 + "b", "**/a/" * 20 + "b", "[a]*" * 30]
)
def test_no_pattern_takes_long(shared, pattern):
    for path in ("a/" * 60 + "c", "a" * 200 + "c"):
        started = time.process_time()
        shared.decide("Read", shared.policy(deny=[f"Read({pattern})"]), file_path=path)
        assert time.process_time() - started < 1
