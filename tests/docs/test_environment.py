"""How the scripts set themselves up: once, and again when something has changed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent.parent.parent / "scripts"

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a stand-in for an environment is made with links")


@pytest.fixture
def environment(tmp_path):
    """An environment that stands for one that is set up: its programs are those that run this test."""
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    for program in ("python", "claude-wrapper"):
        # A script, not a link: Python finds its environment by the folder that it is started from.
        stand_in = tmp_path / "venv" / "bin" / program
        stand_in.write_text(f'#!/bin/sh\nexec "{Path(sys.executable).parent / program}" "$@"\n')
        stand_in.chmod(0o755)
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "TMPDIR": str(tmp_path),
        "CLAUDE_WRAPPER_VENV": str(tmp_path / "venv"),
        "PIP_NO_INDEX": "1",
        "PIP_CONFIG_FILE": os.devnull,
    }


def python(environment, code, **how):
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**environment, "PYTHONPATH": str(SCRIPTS), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
        **how,
    )


def stamp(environment, names):
    python(environment, f"import environment as e; e._stamp({names!r}).write_text(e._fingerprint())")


def test_the_demo_starts_at_once_where_everything_is_installed(environment):
    stamp(environment, "dev")
    done = subprocess.run(
        [sys.executable, SCRIPTS / "demo", "--json"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert '"fixed":true' in done.stdout
    assert "Installing" not in done.stdout


@pytest.mark.parametrize(
    ("stamps", "wanted", "is_there"),
    [
        ([], {"agent"}, False),
        (["agent,cli"], {"agent", "cli"}, True),
        (["agent,cli"], {"dev"}, False),
        (["dev"], {"agent", "cli", "dev"}, True),
        (["agent", "cli"], {"agent", "cli"}, True),
    ],
)
def test_what_is_installed_is_known(environment, stamps, wanted, is_there):
    for names in stamps:
        stamp(environment, names)
    done = python(environment, f"import environment as e; print({wanted!r} <= e.installed())")
    assert done.stdout == f"{is_there}\n", done.stderr


def test_other_metadata_makes_it_install_again(environment):
    stamp(environment, "dev")
    (Path(environment["CLAUDE_WRAPPER_VENV"]) / ".installed-dev").write_text("another fingerprint")
    done = python(environment, "import environment as e; print(e.installed())")
    assert done.stdout == "set()\n"


def test_an_environment_without_its_python_is_made_anew(environment):
    stamp(environment, "dev")
    (Path(environment["CLAUDE_WRAPPER_VENV"]) / "bin" / "python").write_text("#!/no/such/python\n")
    done = python(environment, "import environment as e; e.ensure('agent')")
    assert "Making a virtual environment in" in done.stdout


def test_an_installation_that_fails_is_told_and_tried_again(environment):
    venv = Path(environment["CLAUDE_WRAPPER_VENV"])
    (venv / "bin" / "python").write_text(
        "#!/bin/sh\ncase $* in *install*) exit 1;; *'import pip'*) exit 0;; esac; exit 1\n"
    )
    done = python(environment, "import environment as e; e.ensure('agent')")
    assert done.returncode == 1
    assert "The installation failed; see above." in done.stderr
    assert not list(venv.glob(".installed-*"))
