import pytest

from claude_wrapper.agent.permissions.inherit import mode_of_subagent


@pytest.mark.feature("PERM-20")
@pytest.mark.parametrize(
    ("session", "wanted", "bypass", "mode"),
    [
        ("default", None, False, "default"),
        ("default", "dontAsk", False, "dontAsk"),
        ("plan", "acceptEdits", False, "acceptEdits"),
        ("acceptEdits", "plan", False, "acceptEdits"),
        ("auto", "default", False, "auto"),
        ("bypassPermissions", "plan", True, "bypassPermissions"),
        ("default", "bypassPermissions", False, "default"),
        ("default", "bypassPermissions", True, "bypassPermissions"),
        ("default", "nonsense", True, "default"),
    ],
)
def test_a_subagent_has_the_mode_it_asks_for_unless_the_sessions_settles_everything(
    session, wanted, bypass, mode
):
    assert mode_of_subagent(session, wanted, bypass_available=bypass) == mode
