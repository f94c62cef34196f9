import subprocess
import sys

import pytest

from claude_wrapper import testing


def loaded_by(statement):
    program = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=20, check=True
    )
    return set(done.stdout.split())


@pytest.mark.parametrize("name", testing.__all__)
def test_every_public_name_loads_and_says_what_it_is(name):
    assert getattr(testing, name).__doc__
    assert name in dir(testing)


def test_importing_the_kit_loads_nothing_of_weight():
    loaded = loaded_by("import claude_wrapper.testing")
    assert not loaded & {"anyio", "msgspec", "asyncio", "json", "http.client", "subprocess", "trio"}
    assert [name for name in loaded if name.startswith("claude_wrapper.testing.")] == []


def test_a_scripted_agent_needs_no_server_and_no_event_loop():
    loaded = loaded_by("from claude_wrapper.testing import ScriptedAgent")
    assert not loaded & {"anyio", "asyncio", "claude_wrapper.testing.model_server"}


def test_the_library_does_not_load_the_kit():
    loaded = loaded_by("import claude_wrapper")
    assert not [name for name in loaded if name.startswith("claude_wrapper.testing")]


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = testing.no_such_thing
