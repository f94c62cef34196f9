import copy
import inspect
import pickle

import pytest

from claude_wrapper import errors

SAMPLES = [
    errors.ClaudeSDKError("m"),
    errors.OptionsError("m"),
    errors.SessionStoreError("m"),
    errors.CLIConnectionError("m"),
    errors.CLINotFoundError("m", "/no/agent"),
    errors.AgentStartError("m"),
    errors.ProcessError("m", 3, "last words"),
    errors.AgentExitedError("m", -9, "last words"),
    errors.IncompleteTurnError("m", 0),
    errors.ResultError(
        "m", {"subtype": "error_max_turns", "errors": ["e"], "api_error_status": 529}, 1, "last words"
    ),
    errors.AbortedError("m", {"subtype": "s", "errors": ["e"]}, 1, "last words"),
    errors.ApiError("m", {"subtype": "s", "errors": ["e"]}, 1, "last words"),
    errors.AuthenticationError("m", {"subtype": "s", "errors": ["e"]}, 1, "last words"),
    errors.BudgetExceededError("m", {"subtype": "s", "errors": ["e"]}, 1, "last words"),
    errors.ContextLengthError("m", {"subtype": "s", "errors": ["e"]}, 1, "last words"),
    errors.MaxTurnsError("m", {"subtype": "s", "errors": ["e"]}, 1, "last words"),
    errors.ModelNotFoundError("m", {"subtype": "s", "errors": ["e"]}, 1, "last words"),
    errors.OverloadedError("m", {"subtype": "s", "errors": ["e"]}, 1, "last words"),
    errors.RateLimitError("m", {"subtype": "s", "errors": ["e"]}, 1, "last words"),
    errors.SessionNotFoundError("m", {"subtype": "s", "errors": ["e"]}, 1, "last words"),
    errors.ClientUseError("m"),
    errors.RunTimeoutError("m", "session"),
    errors.IdleTimeoutError("m", "session"),
    errors.NoProgressError("m", "session"),
    errors.ControlError("m", "interrupt"),
    errors.ControlTimeoutError("m", "interrupt"),
    errors.CLIJSONDecodeError("{line", ValueError("no JSON")),
    errors.FrameTooLargeError("{line", ValueError("too long")),
    errors.MessageParseError("m", {"type": "x"}),
    errors.StructuredOutputError("m", '{"a": 1}', ValueError("a is no text")),
]


def test_every_error_has_a_sample():
    classes = {c for _, c in inspect.getmembers(errors, inspect.isclass) if c.__module__ == errors.__name__}
    assert classes == {type(sample) for sample in SAMPLES}


@pytest.mark.parametrize("error", SAMPLES, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize(
    "duplicate", [copy.copy, lambda e: pickle.loads(pickle.dumps(e))], ids=["copy", "pickle"]
)
@pytest.mark.feature("WRAP-08")
def test_an_error_survives_copying_and_pickling_with_all_it_says(error, duplicate):
    twin = duplicate(error)

    assert type(twin) is type(error)
    assert str(twin) == str(error)
    assert {k: repr(v) for k, v in vars(twin).items()} == {k: repr(v) for k, v in vars(error).items()}


def test_a_process_error_says_how_it_ended_and_what_it_wrote():
    assert (
        str(errors.ProcessError("It failed", 3, "no space left"))
        == "It failed (exit code: 3)\nError output: no space left"
    )


def test_a_result_error_repeats_the_fields_of_the_result():
    error = errors.ResultError(
        "m", {"subtype": "s", "result": "r", "terminal_reason": "t", "session_id": "i"}, 1
    )

    assert (error.subtype, error.result, error.terminal_reason, error.session_id) == ("s", "r", "t", "i")
    assert (error.errors, error.api_error_status, error.exit_code) == ([], None, 1)


@pytest.mark.parametrize(
    ("finer", "clause"),
    [
        (errors.CLINotFoundError, errors.CLIConnectionError),
        (errors.AgentStartError, errors.CLIConnectionError),
        (errors.AgentExitedError, errors.CLIConnectionError),
        (errors.AgentExitedError, errors.ProcessError),
        (errors.ResultError, errors.ProcessError),
        (errors.IncompleteTurnError, errors.ProcessError),
        (errors.ControlTimeoutError, TimeoutError),
        (errors.FrameTooLargeError, errors.CLIJSONDecodeError),
        (errors.OptionsError, ValueError),
    ],
)
def test_existing_except_clauses_catch_the_finer_errors(finer, clause):
    assert issubclass(finer, clause)
    assert issubclass(finer, errors.ClaudeSDKError)
