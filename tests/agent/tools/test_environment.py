import pytest

from claude_wrapper.agent.tools.environment import child_environment, without_secrets


@pytest.mark.feature("TOOL-09")
@pytest.mark.parametrize(
    "name",
    [
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "AWS_BEARER_TOKEN_BEDROCK",
        "OTEL_EXPORTER_X",
    ],
)
def test_keys_of_the_models_api_and_of_telemetry_never_pass(name):
    assert without_secrets({name: "x", "PATH": "/bin"}) == {"PATH": "/bin"}


@pytest.mark.feature("TOOL-09")
@pytest.mark.parametrize(
    "name", ["AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "OPENAI_API_KEY", "DB_PASSWORD", "SECRET_KEY"]
)
def test_other_credentials_pass_unless_the_user_wants_them_scrubbed(name):
    assert without_secrets({name: "x"}) == {name: "x"}
    assert name not in without_secrets({name: "x", "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB": "1"})


def test_settings_that_only_sound_secret_pass():
    names = {"PASSWORD_STORE_DIR": "x", "SECRETARY": "x", "ANTHROPIC_BASE_URL": "x", "ANTHROPIC_MODEL": "x"}
    assert without_secrets({**names, "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB": "1"}).keys() >= names.keys()


def test_the_given_environment_is_not_changed():
    environment = {"ANTHROPIC_API_KEY": "x"}
    assert child_environment(environment, "s")["CLAUDECODE"] == "1"
    assert environment == {"ANTHROPIC_API_KEY": "x"}


def test_what_a_frozen_agent_needs_for_itself_is_taken_back(monkeypatch):
    frozen = {
        "LD_LIBRARY_PATH": "/bundle",
        "LD_LIBRARY_PATH_ORIG": "/mine",
        "_PYI_ARCHIVE_FILE": "x",
        "_MEIPASS2": "x",
    }
    environment = child_environment(frozen, "s")
    assert environment["LD_LIBRARY_PATH"] == "/mine"
    assert not {"LD_LIBRARY_PATH_ORIG", "_PYI_ARCHIVE_FILE", "_MEIPASS2"} & environment.keys()
    assert child_environment({"LD_LIBRARY_PATH": "/mine"}, "s")["LD_LIBRARY_PATH"] == "/mine"
    monkeypatch.setattr("sys.frozen", True, raising=False)
    assert "LD_LIBRARY_PATH" not in child_environment({"LD_LIBRARY_PATH": "/bundle"}, "s")
