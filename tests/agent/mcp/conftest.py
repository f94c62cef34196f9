"""Small MCP servers: a program that does what a call asks for, and one behind a URL on loopback."""

import json
import queue
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

PROGRAM = r"""
import json, os, sys
log = open(sys.argv[1], "a")
ways = sys.argv[2:]
def put(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def note(what):
    log.write(json.dumps(what) + "\n")
    log.flush()
def ask(method, params):
    put({"id": "own", "method": method, "params": params})
    while True:
        answer = json.loads(sys.stdin.readline())
        if answer.get("id") == "own":
            return answer.get("result", answer.get("error"))
note({"started": dict(os.environ), "pid": os.getpid()})
if "noisy" in ways:
    sys.stderr.write("x" * 300000)
if "stubborn" in ways:
    import signal
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "junk" in ways:
    print("this is no message", flush=True)
    print('{"half', flush=True)
    print("[1]", flush=True)
tools = [{"name": "do", "description": "d" * 3000 if "long" in ways else "Does", "inputSchema": {"type": "object"}}]
offered = {"tools": {"listChanged": True}}
for kind in ("resources", "prompts"):
    if kind in ways:
        offered[kind] = {}
def text(words):
    return {"content": [{"type": "text", "text": words}]}
def called(x, number):
    if x == "die":
        os._exit(3)
    if x == "fault":
        put({"id": number, "error": {"code": -32000, "message": "it went wrong"}})
        return None
    if x == "hang":
        return None
    if x == "change":
        tools.append({"name": "more", "description": "More", "inputSchema": {"type": "object"}})
        put({"method": "notifications/tools/list_changed"})
    if x == "roots":
        return text(json.dumps(ask("roots/list", {})))
    if x == "ask":
        return text(json.dumps(ask("elicitation/create", {"message": "who?", "requestedSchema": {"type": "object"}})))
    if x == "done":
        put({"method": "notifications/elicitation/complete", "params": {"elicitationId": "e1"}})
    if x.startswith("much"):
        return text(x[-1] * int(x[4:-1]))
    return json.loads(x) if x.startswith("{") else text("did " + x)
for line in sys.stdin:
    message = json.loads(line)
    note(message)
    number, method = message.get("id"), message.get("method")
    if number is None or method is None or "mute" in ways:
        continue
    if method == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": offered,
                  "serverInfo": {"name": "program", "version": "1"}}
        if "words" in ways:
            result["instructions"] = "Do it well."
    elif method == "tools/list":
        result = {"tools": tools}
    elif method == "resources/list":
        result = {"resources": [{"uri": "res://a", "name": "a", "mimeType": "text/plain"}]}
    elif method == "resources/read":
        result = {"contents": [{"uri": message["params"]["uri"], "text": "what a says"}, {"uri": "b", "blob": "AAAA"}]}
    elif method == "prompts/list":
        result = {"prompts": [{"name": "greet you", "arguments": [{"name": "who", "required": True}]}]}
    elif method == "prompts/get":
        who = message["params"]["arguments"]["who"]
        result = {"messages": [{"role": "user", "content": {"type": "text", "text": "Say hello to " + who}}]}
    elif method == "tools/call":
        result = called(message["params"]["arguments"].get("x", ""), number)
        if result is None:
            continue
    else:
        put({"id": number, "error": {"code": -32601, "message": "Method not found"}})
        continue
    put({"id": number, "result": result})
note({"ended": True})
if "stubborn" in ways:
    signal.pause()
"""


class Program:
    """The program, how it is configured, and what it has noted."""

    def __init__(self, folder):
        self.path = folder / "program.py"
        self.path.write_text(PROGRAM)
        self._log = folder / "program.log"

    def config(self, *ways, **more):
        return {"command": sys.executable, "args": [str(self.path), str(self._log), *ways], **more}

    @property
    def noted(self):
        return [json.loads(line) for line in self._log.read_text().splitlines()] if self._log.exists() else []

    def asked(self, method):
        return [each for each in self.noted if each.get("method") == method]

    @property
    def pid(self):
        return next(each["pid"] for each in self.noted if "pid" in each)

    @property
    def starts(self):
        return [each["started"] for each in self.noted if "started" in each]


@pytest.fixture
def program(tmp_path):
    return Program(tmp_path)


def answer(message, tools):
    """What the far server makes of a request."""
    match message["method"]:
        case "initialize":
            version = message["params"]["protocolVersion"]
            info = {"name": "far", "version": "2"}
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in tools]}
        case _:
            return {"content": [{"type": "text", "text": "did it far away"}]}


class Far(BaseHTTPRequestHandler):
    """`server.way` says how it behaves; `server.seen` has method, path, headers and message of each request."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def out(self, status, body=b"", kind="application/json", **headers):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def note(self, message=None):
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.seen.append((self.command, self.path, headers, message))

    def do_GET(self):
        self.note()
        if self.server.way == "speaks":
            self._speak()
            return
        if self.path != "/sse":
            self.out(405)
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        place = "http://127.0.0.1:9/elsewhere" if self.server.way == "astray" else "/messages"
        self.wfile.write(f"event: endpoint\r\ndata: {place}\r\n\r\n".encode())
        self.wfile.flush()
        while (reply := self.server.replies.get()) is not None:
            self.wfile.write(b"data: " + json.dumps(reply).encode() + b"\n\n")
            self.wfile.flush()

    def _speak(self):
        self.server.tools = ["do", "more"]
        changed = b'data: {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}\n\n'
        self.out(200, changed, "text/event-stream")

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.note(message)
        reply = None
        if "id" in message and "method" in message:
            reply = {"jsonrpc": "2.0", "id": message["id"], "result": answer(message, self.server.tools)}
        if self.path == "/messages":
            if reply is not None:
                self.server.replies.put(reply)
            self.out(202)
        elif not self._refuse(message):
            self._reply(message, reply)

    def _refuse(self, message):
        way = self.server.way
        if isinstance(way, int):
            self.out(way, b"no")
        elif way == "forgetful" and message["method"] == "tools/call":
            self.server.way = ""
            self.out(404)
        elif way == "astray":
            self.out(307, location="http://127.0.0.1:9/elsewhere")
        elif way == "moved" and self.path == "/mcp":
            self.out(307, location="/mcp/")
        else:
            return False
        return True

    def _reply(self, message, reply):
        if reply is None:
            self.out(202)
            return
        session = {"mcp_session_id": "s1"} if message["method"] == "initialize" else {}
        body = json.dumps(reply).encode()
        if self.server.way == "events":
            self.out(200, b"event: message\ndata: " + body + b"\n\n", "text/event-stream", **session)
        else:
            self.out(200, body, "text/html" if self.server.way == "page" else "application/json", **session)


class FarServer(ThreadingHTTPServer):
    """Counts the connections that it has closed."""

    closed = 0

    def shutdown_request(self, request):
        super().shutdown_request(request)
        self.closed += 1


@pytest.fixture
def far():
    server = FarServer(("127.0.0.1", 0), Far)
    server.daemon_threads = True
    server.way, server.seen, server.replies, server.tools = "", [], queue.Queue(), ["do"]
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield server
    server.replies.put(None)
    server.shutdown()
    thread.join(30)
    server.server_close()
