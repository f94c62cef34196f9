"""A file that a rule refuses has further names: hard links lead to it as well as its own name does."""

import os

import pytest

pytestmark = pytest.mark.feature("RULE-08")


@pytest.fixture
def linked(place):
    secret = place.project / "secrets" / "key"
    secret.parent.mkdir(exist_ok=True)
    secret.write_text("k")
    os.link(secret, place.project / "notes.txt")
    return place


@pytest.mark.parametrize("rule", ["secrets/key", "./secrets/key", "/secrets/key", "secrets/**", "secrets/"])
@pytest.mark.parametrize(
    ("tool", "tool_input"),
    [
        ("Read", {"file_path": "notes.txt"}),
        ("Edit", {"file_path": "notes.txt", "old_string": "k", "new_string": "l"}),
        ("Bash", {"command": "cat notes.txt"}),
        ("Bash", {"command": "cat < notes.txt"}),
    ],
)
def test_a_hard_link_to_a_refused_file_is_refused(linked, rule, tool, tool_input):
    decision = linked.decide(tool, linked.policy(deny=[f"Read({rule})"], allow=[tool]), **tool_input)
    assert decision.behavior == "deny"


def test_an_asking_rule_asks_about_a_hard_link(linked):
    decision = linked.decide(
        "Read", linked.policy(ask=["Read(secrets/key)"], allow=["Read"]), file_path="notes.txt"
    )
    assert decision.behavior == "ask"


def test_other_files_with_several_names_are_free(linked):
    (linked.project / "a2").write_text("a")
    os.link(linked.project / "a2", linked.project / "b2")
    decision = linked.decide("Read", linked.policy(deny=["Read(secrets/**)"]), file_path="b2")
    assert decision.behavior == "allow"


def test_what_an_allowing_rule_names_is_not_widened_by_links(linked):
    decision = linked.decide(
        "Write", linked.policy(allow=["Edit(secrets/key)"]), file_path="notes.txt", content=""
    )
    assert decision.behavior == "ask"
