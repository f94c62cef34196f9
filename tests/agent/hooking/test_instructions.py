"""Files with instructions, as hooks and the model hear of them."""

import json

import pytest

from claude_wrapper.testing import ScriptedModel, call, say


def project_with(workspace, recorder):
    (workspace.project / "CLAUDE.md").write_text("The lions are fed at noon.\n@more.md\n")
    (workspace.project / "more.md").write_text("The zebras are fed at one.\n")
    (workspace.project / "sub").mkdir()
    (workspace.project / "sub/CLAUDE.md").write_text("The birds are fed at two.\n")
    (workspace.project / "sub/a.txt").write_text("one\n")
    hook = {"hooks": [{"type": "command", "command": f"cat >> {recorder}; echo >> {recorder}"}]}
    (workspace.project / ".claude").mkdir()
    (workspace.project / ".claude/settings.json").write_text(
        json.dumps({"hooks": {"InstructionsLoaded": [hook]}})
    )


def run(workspace, *argv, env=None):
    replies = [call("Read", file_path=str(workspace.project / "sub/a.txt")), say("Ok.")]
    with ScriptedModel(replies) as model:
        talk = workspace.talk(model, *argv, env=env)
        talk.initialize()
        talk.prompt()
        talk.result()
        return [json.dumps(request.body["messages"]) for request in model.requests]


@pytest.mark.feature("HEVT-19", "MEM-02", "MEM-05")
def test_hooks_hear_of_every_file_and_the_model_reads_it_ahead_of_the_prompt(workspace, tmp_path):
    recorder = tmp_path / "recorded"
    project_with(workspace, recorder)
    first, second = run(workspace)
    assert first.index("lions") < first.index("zebras") < first.index('"go"')
    assert "birds" not in first
    assert "birds" in second
    told = [json.loads(line) for line in recorder.read_text().splitlines() if line]
    assert [(each["load_reason"], each["memory_type"]) for each in told] == [
        ("session_start", "Project"),
        ("include", "Project"),
        ("nested_traversal", "Project"),
    ]
    assert told[1]["parent_file_path"] == str(workspace.project / "CLAUDE.md")
    assert told[2]["trigger_file_path"] == str(workspace.project / "sub/a.txt")
    assert "permission_mode" not in told[0]


@pytest.mark.feature("MEM-08")
@pytest.mark.parametrize(
    ("argv", "env"),
    [(["--bare"], {}), (["--safe-mode"], {}), ([], {"CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1"})],
)
def test_instructions_can_be_left_out(workspace, tmp_path, argv, env):
    project_with(workspace, tmp_path / "recorded")
    told = "".join(run(workspace, *argv, env=env))
    assert "lions" not in told
    assert "birds" not in told
