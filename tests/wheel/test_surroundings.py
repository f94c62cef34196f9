"""The executable by itself, in surroundings that lack what most have."""

import json
import os
import shutil
import ssl
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from claude_wrapper.testing import call, say

root = pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root may do this")
NOBODY = ["setpriv", "--reuid", "65533", "--regid", "65533", "--clear-groups"]
REFUSED = '"api_error_status":401'
SYSTEM = "/usr/bin:/bin:/usr/sbin:/sbin"


def result_of(done):
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)["result"]


def test_a_home_that_does_not_exist_does_no_harm(ask, tmp_path):
    done, _ = ask(say("done"), env={"HOME": str(tmp_path / "nowhere" / "home")})
    assert result_of(done) == "done"


def test_a_home_that_cannot_be_written_does_no_harm(ask):
    done, _ = ask(say("done"), env={"HOME": "/proc"})
    assert result_of(done) == "done"


@root
def test_an_ordinary_user_without_a_name_or_a_home_can_run_it(ask):
    """The folder of the installation belongs to somebody else, who alone may write there."""
    done, model = ask(
        call("Bash", command="id -u"),
        say("done"),
        before=NOBODY,
        flags=["--allowedTools", "Bash"],
        env={"HOME": None, "PATH": SYSTEM},
    )
    assert result_of(done) == "done"
    assert "65533" in str(model.logged()[-1]["body"]["messages"][-1])


@root
def test_a_read_only_installation_works(ask, installed):
    folder = str(installed.folder)
    script = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && ! touch "$0/probe" 2>/dev/null && exec "$@"'
    done, _ = ask(
        say("done"), before=["unshare", "--mount", "sh", "-c", script, folder], env={"PATH": SYSTEM}
    )
    assert result_of(done) == "done"
    assert not (installed.folder / "probe").exists()


@pytest.fixture
def almost_nothing(installed, tmp_path):
    """A root folder with the agent, the C library and empty folders; no shell, no Python, no other library."""
    place = tmp_path / "root"
    shutil.copytree(installed.agent.parent, place / "opt" / "agent")
    for name in ("proc", "dev", "tmp", "project"):
        (place / name).mkdir()
    for library in ("libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1"):
        for found in Path("/lib").glob(f"*-linux-gnu/{library}"):
            target = place / found.relative_to("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(found, target)
    for loader in (*Path("/lib64").glob("ld-linux*"), *Path("/lib").glob("ld-linux*")):
        target = place / loader.relative_to("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(loader, target)
        target.chmod(0o755)
    return place


@root
def test_a_root_folder_with_almost_nothing_in_it_is_enough(ask, almost_nothing):
    """As in the smallest containers: no shell, no users, no home; /proc and /dev are there."""
    script = 'mount -t proc proc "$0/proc" && mount --bind /dev "$0/dev" && exec chroot "$0" "$@"'
    done, model = ask(
        call("Write", file_path="/project/note.txt", content="alpha"),
        call("Grep", pattern="alpha", path="/project", output_mode="content"),
        call("Bash", command="true"),
        say("done"),
        agent="/opt/agent/claude-agent",
        before=["unshare", "--mount", "sh", "-c", script, str(almost_nothing)],
        flags=["--allowedTools", "Write,Grep,Bash"],
        env={"PATH": SYSTEM, "HOME": None},
    )
    assert result_of(done) == "done"
    results = [row["body"]["messages"][-1]["content"] for row in model.logged()[1:]]
    assert (almost_nothing / "project" / "note.txt").read_text() == "alpha"
    assert "alpha" in str(results[1])
    # There is no shell: that is told to the model, and the run goes on.
    assert "is_error': True" in str(results[2])


class _Refusing(BaseHTTPRequestHandler):
    def do_POST(self):
        body = b'{"type":"error","error":{"type":"authentication_error","message":"this key is wrong"}}'
        self.send_response(401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_HEAD(self):
        self.do_POST()

    def log_message(self, *_):
        pass


@contextmanager
def secure_server(folder):
    """A server on 127.0.0.1 with a certificate that nobody has signed but itself."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", key, "-out", certificate]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject, *files],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Refusing)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"https://127.0.0.1:{server.server_port}", certificate
    finally:
        server.shutdown()
        thread.join(40)
        server.server_close()


def test_certificates_of_the_variable_are_trusted_and_unknown_ones_are_not(ask, tmp_path):
    with secure_server(tmp_path) as (url, certificate):
        env = {"ANTHROPIC_BASE_URL": url, "PATH": SYSTEM, "CLAUDE_CODE_MAX_RETRIES": "0"}
        trusted, _ = ask(say("unused"), env={**env, "SSL_CERT_FILE": str(certificate)})
        assert REFUSED in trusted.stdout
        unknown, _ = ask(say("unused"), env=env)
        assert REFUSED not in unknown.stdout
        assert "certificate" in unknown.stdout.lower()


@root
def test_certificates_of_the_system_are_trusted(ask, tmp_path):
    """Those of whatever system the agent runs on, not those of the one that it was built on."""
    with secure_server(tmp_path) as (url, certificate):
        script = 'mount -t tmpfs none /usr/lib/ssl && mount -t tmpfs none /etc/ssl && cp "$0" /etc/ssl/cert.pem && exec "$@"'
        done, _ = ask(
            say("unused"),
            before=["unshare", "--mount", "sh", "-c", script, str(certificate)],
            env={"ANTHROPIC_BASE_URL": url, "PATH": SYSTEM, "CLAUDE_CODE_MAX_RETRIES": "0"},
        )
        assert REFUSED in done.stdout, done.stdout + done.stderr
