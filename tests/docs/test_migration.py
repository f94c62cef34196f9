"""The guide for those who come from the official SDK says what is so, and all of it."""

import re
import runpy
import subprocess
import sys

import pytest

from claude_wrapper import ResultMessage
from claude_wrapper.testing import ScriptedAgent

SHOWN_BY = {
    "the agent": "spawn/test_locate.py::the_bundled_executable_or_else_the_python_code_is_the_default",
    "wrong options": "test_options.py::bad_options_are_refused_by_name_with_what_was_given_and_what_to_give",
    "attributes of one's own": "docs/test_migration.py::a_message_takes_no_attributes_beside_its_fields",
    "a run without a result": "test_oneshot.py::an_agent_that_ends_without_a_result_is_no_success",
    "an agent that does not exit": "test_oneshot.py::an_agent_that_does_not_exit_after_its_result_keeps_nobody_waiting",
    "unknown frames and blocks": "test_oneshot.py::frames_of_unknown_types_are_given_whole",
    "a bad line from the agent": "test_oneshot.py::junk_between_frames_costs_no_message",
    "a very long line": "test_oneshot.py::a_frame_over_the_limit_costs_that_frame",
    "refused control requests": "test_client.py::a_refusal_is_raised_with_its_reason",
    "a rewind that did nothing": "test_client_requests.py::a_rewind_that_does_nothing_raises_its_reason",
    "the agent's stderr": "docs/test_migration.py::what_the_agent_writes_to_stderr_is_not_printed",
    "tool servers in the program": "test_tools_of_the_mcp_package.py::its_tools_resources_and_prompts_are_served",
    "a second reader": "conversation/test_places.py::two_tasks_that_read_do_not_take_messages_from_each_other",
    "leaving a run early": "conversation/test_leaving.py::leaving_the_loop_early_does_likewise",
    "secrets on the command line": "spawn/test_command.py::secrets_of_servers_and_settings_are_in_no_argument",
    "messages that nobody reads": "test_client.py::with_ten_thousand_unread_messages_everything_is_still_answered",
    "an agent that dies at the start": "test_oneshot.py::an_agent_that_dies_before_the_handshake_is_told_at_once",
    "why an agent failed": "test_oneshot.py::an_agent_that_fails_is_told_with_exit_code_and_last_stderr_lines",
    "calls after a failure": "test_client.py::the_first_failure_is_raised_by_every_later_call",
    'a hook with `on_failure="block"` that says nothing': "conversation/test_callbacks.py::a_hook_whose_failure_shall_block_must_say_something",
    "results of background tasks": "test_client.py::the_result_of_a_background_turn_shifts_nothing",
    "`interrupt` and the next prompt": "test_client.py::after_an_interrupt_the_next_response_is_that_of_the_next_prompt",
    "context variables in callbacks": "test_client.py::callbacks_run_in_the_context_of_the_latest_query",
    "processes that the agent started": "test_oneshot.py::children_of_the_agent_end_with_it",
    "large options": "spawn/test_command.py::what_is_large_and_has_no_field_travels_by_a_file",
}
"""The test that shows each difference."""


@pytest.fixture
def guide(root):
    return (root / "docs/migration.md").read_text(encoding="utf-8")


@pytest.fixture
def surface(root):
    """The tables of what only we have."""
    return runpy.run_path(str(root / "tests/surface/test_public_names.py"))


def test_every_difference_has_a_test_that_shows_it(guide, root):
    assert re.findall(r"^\| \*\*(.+?)\*\*", guide, re.MULTILINE) == list(SHOWN_BY)
    for place in SHOWN_BY.values():
        file, name = place.split("::")
        assert f"def test_{name}(" in (root / "tests" / file).read_text(encoding="utf-8"), place


def test_every_name_and_option_that_only_we_have_is_told(guide, surface):
    told = set(re.findall(r"`(\w+)`", guide))
    assert set(surface["OURS"]) - told == set()
    assert surface["OUR_OPTIONS"] - told == set()


def test_its_programs_run(sections, project, program_environment):
    programs = [program for section in sections("docs/migration.md") for program in section.programs]
    assert programs
    for program in programs:
        subprocess.run(
            [sys.executable, "-c", program], cwd=project, env=program_environment, timeout=20, check=True
        )


def test_a_message_takes_no_attributes_beside_its_fields():
    message = ResultMessage("success", 1, 1, False, 1, "s")
    with pytest.raises(AttributeError):
        message.seen = True


def test_what_the_agent_writes_to_stderr_is_not_printed(tmp_path, program_environment):
    program = (
        "import asyncio, sys, claude_wrapper as cw\n"
        "async def main():\n"
        "    async for m in cw.query(prompt='Go', options=cw.ClaudeAgentOptions(cli_path=sys.argv[1])): pass\n"
        "asyncio.run(main())\n"
    )
    with ScriptedAgent(tmp_path) as agent:
        agent.begin().stderr("something for nobody\n").result()
        done = subprocess.run(
            [sys.executable, "-c", program, agent.path],
            env=program_environment,
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        )
    assert done.stdout + done.stderr == ""
