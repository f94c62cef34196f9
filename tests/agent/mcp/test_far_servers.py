"""MCP servers behind a URL."""

import json
import socket
import threading

import pytest

from claude_wrapper.testing import ScriptedModel, call, say


@pytest.fixture
def run(workspace):
    """Run the agent with one server; gives the frames, and its stderr."""

    def go(config, *argv, script=None, env=None):
        servers = [] if config is None else [f"--mcp-config={json.dumps({'mcpServers': {'far': config}})}"]
        with ScriptedModel(script or [call("mcp__far__do"), say("done")]) as model:
            code, out, err = workspace.run(
                model,
                "-p",
                "--output-format=stream-json",
                "--verbose",
                "--allowedTools=mcp__far",
                *servers,
                *argv,
                "--",
                "go",
                env=env,
            )
        assert code == 0, err
        return [json.loads(line) for line in out.splitlines()], err

    return go


def init_of(frames):
    return next(frame for frame in frames if frame.get("subtype") == "init")


def status(frames):
    [server] = init_of(frames)["mcp_servers"]
    return server["status"]


@pytest.mark.feature("MCP-01")
@pytest.mark.parametrize(
    ("way", "kind"), [("", "http"), ("events", "http"), ("", "streamable-http"), ("moved", "http")]
)
def test_a_server_is_greeted_and_called_in_its_session(run, far, way, kind):
    far.way = way

    frames, _ = run({"type": kind, "url": f"{far.url}/mcp", "headers": {"X-Key": "k1"}})

    assert status(frames) == "connected"
    assert "did it far away" in json.dumps(frames)
    assert all(headers["x-key"] == "k1" for _, _, headers, _ in far.seen)
    first, *later = [
        headers
        for method, path, headers, _ in far.seen
        if method == "POST" and path == ("/mcp/" if way == "moved" else "/mcp")
    ]
    assert "mcp-session-id" not in first
    for headers in later:
        assert (headers["mcp-session-id"], headers["mcp-protocol-version"]) == ("s1", "2025-11-25")


@pytest.mark.feature("MCP-01")
def test_a_server_of_the_older_transport_is_called(run, far):
    frames, _ = run({"type": "sse", "url": f"{far.url}/sse", "headers": {"X-Key": "k1"}})

    assert status(frames) == "connected"
    assert "did it far away" in json.dumps(frames)
    assert {(method, path) for method, path, _, _ in far.seen} == {("GET", "/sse"), ("POST", "/messages")}
    assert all(headers["x-key"] == "k1" for _, _, headers, _ in far.seen)


@pytest.mark.feature("MCP-05")
@pytest.mark.parametrize(
    ("way", "headers", "told"),
    [
        (401, {}, "needs-auth"),
        (403, {}, "needs-auth"),
        (401, {"Authorization": "Bearer x"}, "failed"),
        (500, {}, "failed"),
        (404, {}, "failed"),
        ("page", {}, "failed"),
        ("astray", {}, "failed"),
    ],
)
def test_a_server_that_cannot_be_used_is_told_and_the_run_goes_on(run, far, way, headers, told):
    far.way = way

    frames, _ = run({"type": "http", "url": f"{far.url}/mcp", "headers": headers}, script=[say("hi")])

    assert status(frames) == told
    assert frames[-1]["is_error"] is False


@pytest.mark.parametrize("kind", ["sse", "ws", "http"])
def test_where_nothing_listens_or_another_server_is_meant_nothing_is_sent(run, far, kind):
    far.way = "astray"
    path = "sse" if kind == "sse" else "mcp"

    frames, _ = run({"type": kind, "url": f"{far.url}/{path}"}, script=[say("hi")])

    assert status(frames) == "failed"
    assert len(far.seen) == (0 if kind == "ws" else 1)


@pytest.mark.feature("MCP-10")
def test_a_server_that_forgot_the_session_is_greeted_anew(run, far):
    far.way = "forgetful"

    frames, _ = run({"type": "http", "url": f"{far.url}/mcp"})

    assert "did it far away" in json.dumps(frames)
    asked = [message["method"] for _, _, _, message in far.seen if message is not None]
    assert asked.count("initialize") == 2
    assert asked.count("tools/call") == 2


@pytest.mark.feature("MCP-03")
def test_address_and_headers_are_filled_in(run, far):
    config = {"type": "http", "url": "${FAR_URL}/mcp", "headers": {"X-Key": "${FAR_KEY:-none}"}}

    frames, _ = run(config, env={"FAR_URL": far.url})

    assert status(frames) == "connected"
    assert far.seen[0][2]["x-key"] == "none"


HELPER = 'echo "{\\"X-Made\\": \\"$CLAUDE_CODE_MCP_SERVER_NAME $CLAUDE_CODE_MCP_SERVER_URL\\"}"'


@pytest.mark.feature("MCP-11")
def test_a_command_gives_headers(run, far):
    frames, _ = run({"type": "http", "url": f"{far.url}/mcp", "headersHelper": HELPER})

    assert status(frames) == "connected"
    assert {headers["x-made"] for _, _, headers, _ in far.seen} == {f"far {far.url}/mcp"}


@pytest.mark.feature("MCP-11")
def test_a_command_is_asked_once_more_when_the_server_refuses(run, far, tmp_path):
    far.way = 401
    runs = tmp_path / "runs"

    frames, _ = run(
        {"type": "http", "url": f"{far.url}/mcp", "headersHelper": f"echo x >> {runs}; echo '{{}}'"},
        script=[say("hi")],
    )

    assert status(frames) == "needs-auth"
    assert len(runs.read_text().split()) == 2


@pytest.mark.feature("MCP-11")
@pytest.mark.parametrize("trusted", [False, True])
def test_a_folder_that_nobody_trusts_runs_no_command_for_headers(run, far, workspace, trusted):
    shared = {"far": {"type": "http", "url": f"{far.url}/mcp", "headersHelper": HELPER}}
    (workspace.project / ".mcp.json").write_text(json.dumps({"mcpServers": shared}))
    state = {"projects": {str(workspace.project): {"hasTrustDialogAccepted": trusted}}}
    (workspace.home / ".claude.json").write_text(json.dumps(state))

    frames, err = run(None)

    assert status(frames) == "connected"
    assert all(("x-made" in headers) == trusted for _, _, headers, _ in far.seen)
    assert ("headersHelper not run" in err) != trusted


def test_a_header_is_in_no_log(run, far, tmp_path):
    log = tmp_path / "log.txt"

    run(
        {"type": "http", "url": f"{far.url}/mcp", "headers": {"Authorization": "Bearer very-secret"}},
        f"--debug-file={log}",
    )

    assert far.seen[0][2]["authorization"] == "Bearer very-secret"
    assert "very-secret" not in log.read_text()


@pytest.mark.feature("MCP-01")
def test_a_server_of_the_mcp_package_is_used_over_http(run):
    uvicorn = pytest.importorskip("uvicorn")
    try:
        from mcp.server.mcpserver import MCPServer
    except ImportError:
        from mcp.server.fastmcp import FastMCP as MCPServer
    mcp = MCPServer("real")

    @mcp.tool()
    def do(x: int = 1) -> str:
        return f"really {x}"

    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(mcp.streamable_http_app(), log_level="critical", lifespan="on"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        frames, _ = run(
            {"type": "http", "url": f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"},
            script=[call("mcp__far__do", x=7), say("done")],
        )
    finally:
        server.should_exit = True
        thread.join(30)
        listening.close()

    assert status(frames) == "connected"
    assert "really 7" in json.dumps(frames)


@pytest.mark.feature("MCP-10")
def test_what_a_server_says_by_itself_is_heard_and_a_stream_that_ends_is_opened_again(
    workspace, far, eventually
):
    far.way = "speaks"
    config = json.dumps({"mcpServers": {"far": {"type": "http", "url": f"{far.url}/mcp"}}})

    def asked(what):
        return [each for each in far.seen if what in (each[0], (each[3] or {}).get("method"))]

    with ScriptedModel([say("one"), say("two")]) as model:
        talk = workspace.talk(model, "--mcp-config", config)
        talk.initialize()
        talk.prompt()
        talk.result()
        eventually(lambda: len(asked("GET")) >= 2 and len(asked("tools/list")) >= 3)
        talk.ask("mcp_status")
        talk.prompt()
        talk.result()

    assert "mcp__far__more" in talk.of("system", "init")[1]["tools"]


@pytest.mark.feature("MCP-10")
def test_a_stream_of_the_older_transport_that_ends_is_opened_again_by_the_next_call(
    workspace, far, eventually
):
    config = json.dumps({"mcpServers": {"far": {"type": "sse", "url": f"{far.url}/sse"}}})
    with ScriptedModel([call("mcp__far__do"), say("done")]) as model:
        talk = workspace.talk(model, "--mcp-config", config, "--allowedTools=mcp__far")
        talk.initialize()
        talk.prompt()
        talk.result()
        before = far.closed
        far.replies.put(None)
        eventually(lambda: far.closed > before)
        talk.ask("mcp_status")
        talk.prompt()
        talk.result()

    assert [each["content"][0]["text"] for each in talk.tool_results()] == ["did it far away"] * 2
    assert [path for method, path, _, _ in far.seen if method == "GET"] == ["/sse", "/sse"]
