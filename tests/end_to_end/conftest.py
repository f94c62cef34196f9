import pytest

from claude_wrapper import ClaudeAgentOptions


@pytest.fixture
def options(agent):
    """Options for the scripted agent; its steps may still be added when they are made."""
    return lambda **more: ClaudeAgentOptions(cli_path=agent.path, **more)


@pytest.fixture
def own(tmp_path):
    """Options for our own agent, alone with a scripted model and a folder."""
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()

    def own(model, env=None, **more):
        variables = {**model.environment(), "HOME": str(home), "CLAUDE_CONFIG_DIR": str(home), **(env or {})}
        return ClaudeAgentOptions(env=variables, cwd=project, **{"setting_sources": [], **more})

    own.home, own.project = home, project
    return own
