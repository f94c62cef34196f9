"""What bash really does with a line, held against what was decided on it."""

import pytest

from claude_wrapper.agent.permissions.call import Call
from claude_wrapper.agent.permissions.decide import decide
from claude_wrapper.agent.permissions.policy import Policy

ALLOWED = ["Bash(frob:*)", "Bash(npm run:*)", "Bash(make all)", "Bash(make -C sub)"]
KEPT = ["Read(./.env)", "Edit(./kept.txt)", "Edit(./kept/**)"]
TABLES = (
    "chaining",
    "differentials",
    "documents",
    "environment",
    "evaluation",
    "expansion",
    "files",
    "interpreters",
    "quoting",
    "runners",
    "substitution",
)
GRANTED = {"frob", "npm"}
MOST_FALSE_ASKS = 0.2
"""Of harmless lines; nearly all of these are lines that Claude Code asks about as well."""


def policy(arena, mode="default", allow=(), deny=()) -> Policy:
    plain = Policy(mode=mode, original_cwd=str(arena.project), home=str(arena.home))
    with_allow, _ = plain.with_rules(allow, "allow", "cliArg")
    return with_allow.with_rules(deny, "deny", "cliArg")[0]


def decided(arena, line, rules: Policy) -> str:
    arena.reset()
    call = Call("Bash", {"command": line.text}, arena.project, (arena.project,))
    return decide(call, rules).behavior


def breaches(arena, lines, rules: Policy, harm) -> dict[str, object]:
    """Lines that were allowed, and what they did all the same."""
    found = {}
    for line in lines:
        if decided(arena, line, rules) == "allow":
            done = harm(arena.run(line.text))
            if done:
                found[line.text] = done
    return found


def kept_files(ran) -> set[str]:
    return {name for name in ran.changed if name.startswith("project/kept")}


@pytest.mark.feature("RULE-03", "RULE-04", "RULE-05", "RULE-06", "RULE-07", "RULE-08")
@pytest.mark.parametrize("table", TABLES)
def test_no_line_runs_a_program_that_no_rule_allows_or_changes_a_file(arena, tables, table):
    rules = policy(arena, allow=ALLOWED)
    assert not breaches(arena, tables[table], rules, lambda ran: ran.programs - GRANTED or ran.changed)


@pytest.mark.feature("PERM-11", "RULE-08", "RULE-13", "RULE-14")
@pytest.mark.parametrize("table", TABLES)
def test_where_edits_are_accepted_no_line_reaches_what_is_refused_or_lies_outside(
    arena, tables, table, secrets
):
    def harm(ran):
        outside = {name for name in ran.changed if not name.startswith("project/")}
        return ran.programs - GRANTED or secrets(ran) or kept_files(ran) or outside

    rules = policy(arena, "acceptEdits", ALLOWED, KEPT)
    assert not breaches(arena, tables[table], rules, harm)


@pytest.mark.feature("PERM-04", "RULE-04", "RULE-05", "RULE-06")
@pytest.mark.parametrize("table", [table for table in TABLES if table != "files"])
def test_where_all_but_one_program_is_allowed_no_line_runs_that_one(arena, tables, table):
    rules = policy(arena, allow=["Bash"], deny=["Bash(curl:*)"])
    lines = [line for line in tables[table] if not line.beyond]
    assert not breaches(arena, lines, rules, lambda ran: ran.programs & {"curl"})


@pytest.mark.feature("RULE-08", "RULE-13", "RULE-14")
def test_where_all_but_some_files_is_allowed_no_line_reaches_those(arena, tables, secrets):
    rules = policy(arena, allow=["Bash"], deny=KEPT)
    lines = [line for line in tables["files"] if not line.beyond]
    assert not breaches(arena, lines, rules, lambda ran: secrets(ran, outside=False) or kept_files(ran))


def test_few_harmless_lines_are_asked_about(arena, tables, record_property):
    harmless = [line for lines in tables.values() for line in lines if not line.attack]
    rules = policy(arena, allow=[*ALLOWED, "Bash(echo:*)"], deny=KEPT)
    asked = [line.text for line in harmless if decided(arena, line, rules) != "allow"]
    record_property("share of false asks", len(asked) / len(harmless))
    assert len(asked) <= MOST_FALSE_ASKS * len(harmless), asked


def test_the_attacks_are_real_ones(arena, tables, secrets):
    """Some of each table, run without asking anybody: most get done what they try."""
    sample = [line for lines in tables.values() for line in [one for one in lines if one.attack][::25]]
    done = [line for line in sample if _does_harm(arena.run(line.text), secrets)]
    assert len(done) > 0.6 * len(sample)


def _does_harm(ran, secrets) -> bool:
    return bool(ran.programs - GRANTED or ran.changed or secrets(ran))


def test_there_are_many_attacks_of_every_kind(tables):
    assert set(tables) == set(TABLES)
    attacks = {line.text for lines in tables.values() for line in lines if line.attack}
    assert len(attacks) > 1500
