import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_wrapper.agent.tools.contract import InputRejected
from claude_wrapper.agent.tools.registry import builtin_tools, validate_input
from claude_wrapper.agent.tools.validation import validated

TOOLS = {tool.name: tool for tool in builtin_tools()}


def rejected(name, tool_input):
    with pytest.raises(InputRejected) as caught:
        validate_input(TOOLS[name], tool_input)
    return caught.value


def issues_of(rejection):
    head, _, listed = rejection.structured.partition(": ")
    assert head == "InputValidationError"
    assert listed.startswith("[\n  {\n    ")
    return json.loads(listed)


@pytest.mark.feature("TOOL-17")
def test_a_missing_and_an_unexpected_parameter_are_told_in_that_order():
    rejection = rejected("Bash", {"cmd": "x"})
    assert rejection.text == (
        "InputValidationError: Bash failed due to the following issues:\n"
        "The required parameter `command` is missing\n"
        "An unexpected parameter `cmd` was provided"
    )
    assert issues_of(rejection) == [
        {
            "expected": "string",
            "code": "invalid_type",
            "path": ["command"],
            "message": "Invalid input: expected string, received undefined",
        },
        {"code": "unrecognized_keys", "keys": ["cmd"], "path": [], "message": 'Unrecognized key: "cmd"'},
    ]


def test_one_issue_is_announced_as_one():
    rejection = rejected("Write", {"file_path": "w.txt"})
    assert rejection.text == (
        "InputValidationError: Write failed due to the following issue:\nThe required parameter `content` is missing"
    )


def test_all_kinds_of_faults_of_one_call_are_told_together():
    tool_input = {
        "file_path": "x",
        "old_string": 1,
        "new_string": None,
        "replace_all": "yes",
        "zz": 1,
        "yy": 2,
    }
    assert rejected("Edit", tool_input).text.splitlines()[1:] == [
        "An unexpected parameter `zz` was provided",
        "An unexpected parameter `yy` was provided",
        "The parameter `old_string` type is expected as `string` but provided as `number`",
        "The parameter `new_string` type is expected as `string` but provided as `null`",
        "The parameter `replace_all` type is expected as `boolean` but provided as `string`",
    ]


@pytest.mark.parametrize(
    ("value", "named"),
    [(["ls"], "array"), ({"a": 1}, "object"), (True, "boolean"), (None, "null"), (1.5, "number")],
)
def test_the_type_that_was_given_is_named(value, named):
    text = rejected("Read", {"file_path": value}).text
    assert text.endswith(f"The parameter `file_path` type is expected as `string` but provided as `{named}`")


def test_a_fraction_is_no_line_number():
    text = rejected("Read", {"file_path": "x", "offset": 1.5}).text
    assert text.endswith("The parameter `offset` type is expected as `int` but provided as `number`")


def test_null_is_not_the_same_as_absent():
    text = rejected("Read", {"file_path": "x", "limit": None}).text
    assert text.endswith("The parameter `limit` type is expected as `number` but provided as `null`")


def test_a_number_beyond_what_hosts_can_hold_is_refused():
    (issue,) = issues_of(rejected("Read", {"file_path": "x", "offset": 1e20}))
    assert (issue["code"], issue["maximum"]) == ("too_big", 9007199254740991)


def test_a_value_outside_a_list_is_told_as_the_list_of_issues_itself():
    rejection = rejected("Grep", {"pattern": "x", "output_mode": "bad"})
    assert rejection.text == rejection.structured
    (issue,) = issues_of(rejection)
    assert issue["values"] == ["content", "files_with_matches", "count"]
    assert issue["message"] == 'Invalid option: expected one of "content"|"files_with_matches"|"count"'


def test_faults_inside_lists_are_told_with_their_place():
    rejection = rejected("TodoWrite", {"todos": [{"content": "a"}]})
    assert rejection.text.splitlines()[1:] == [
        "The required parameter `todos[0].activeForm` is missing",
        'The parameter `todos[0].status` is invalid: Invalid option: expected one of "pending"|"in_progress"|"completed"',
    ]
    assert [issue["path"] for issue in issues_of(rejection)] == [
        ["todos", 0, "status"],
        ["todos", 0, "activeForm"],
    ]


def test_an_empty_text_where_words_are_needed_is_refused():
    todo = {"content": "", "status": "pending", "activeForm": "b"}
    (issue,) = issues_of(rejected("TodoWrite", {"todos": [todo]}))
    assert (issue["code"], issue["path"]) == ("too_small", ["todos", 0, "content"])


def test_an_input_that_is_no_object_is_refused():
    assert "expected as `object` but provided as `array`" in rejected("Read", ["x"]).text


@pytest.mark.parametrize(
    ("name", "tool_input", "repaired"),
    [
        ("Read", {"file_path": "x", "offset": "2"}, {"file_path": "x", "offset": 2}),
        ("Read", {"file_path": "x", "offset": 2.0}, {"file_path": "x", "offset": 2}),
        ("Bash", {"command": "x", "timeout": "5000"}, {"command": "x", "timeout": 5000}),
        ("Bash", {"command": "x", "timeout": "1.5"}, {"command": "x", "timeout": 1.5}),
        (
            "Bash",
            {"command": "x", "run_in_background": "false"},
            {"command": "x", "run_in_background": False},
        ),
    ],
)
def test_quoted_numbers_and_booleans_are_taken_for_what_they_say(name, tool_input, repaired):
    result = validate_input(TOOLS[name], tool_input)
    assert result == repaired
    assert [type(value) for value in result.values()] == [type(value) for value in repaired.values()]


@pytest.mark.parametrize("word", ["nan", "inf", "-inf", "1e999", "abc", ""])
def test_words_that_only_python_takes_for_numbers_are_none(word):
    assert "provided as `string`" in rejected("Bash", {"command": "x", "timeout": word}).text


def test_the_given_input_is_not_changed():
    tool_input = {"file_path": "x", "offset": "2"}
    validate_input(TOOLS["Read"], tool_input)
    assert tool_input == {"file_path": "x", "offset": "2"}


def test_schemas_that_say_things_we_do_not_know_let_values_pass():
    schema = {
        "type": "object",
        "properties": {"a": {"anyOf": [{"type": "string"}]}, "b": {"type": ["string", "null"]}},
    }
    assert validated("mcp__s__t", schema, {"a": 1, "b": None, "c": 2}) == {"a": 1, "b": None, "c": 2}


WORDS = st.sampled_from(["", "a", "5", "-1", "1.5", "true", "pending", "\u00e4"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | WORDS,
    lambda each: st.lists(each, max_size=3) | st.dictionaries(WORDS, each, max_size=3),
    max_leaves=8,
)


@given(
    st.sampled_from(sorted(TOOLS)),
    st.dictionaries(st.sampled_from(["command", "todos", "pattern", "-n", "x"]), JSON),
)
def test_whatever_a_model_sends_is_either_taken_or_rejected_with_reasons(name, tool_input):
    try:
        taken = set(validate_input(TOOLS[name], tool_input))
        reasons = None
    except InputRejected as rejection:
        taken = None
        reasons = issues_of(rejection)
    assert reasons or taken == set(tool_input)
