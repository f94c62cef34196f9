"""An answer whose rule cannot be written down at once, since another program keeps the file locked."""

import fcntl
import json
import os

import pytest

from claude_wrapper.testing import ScriptedModel, call, say


@pytest.mark.feature("PERM-23")
def test_the_host_is_answered_while_a_rule_waits_to_be_written_down(workspace):
    folder = workspace.project / ".claude"
    folder.mkdir()
    rule = {"toolName": "Bash", "ruleContent": "touch *"}
    update = {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "localSettings"}
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with ScriptedModel([call("Bash", command="touch a"), say(".")]) as model:
            talk = workspace.talk(model, "--permission-prompt-tool", "stdio")
            talk.initialize()
            talk.prompt()
            question = talk.wait(type="control_request")
            talk.answer(question, {"behavior": "allow", "updatedInput": {}, "updatedPermissions": [update]})
            assert talk.ask("get_settings")["subtype"] == "success"
            assert talk.tool_results() == []
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            talk.result()
    finally:
        os.close(descriptor)

    written = json.loads((folder / "settings.local.json").read_text())
    assert written["permissions"]["allow"] == ["Bash(touch *)"]
    assert (workspace.project / "a").exists()
