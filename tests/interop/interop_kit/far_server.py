"""A small MCP server behind a URL, for scenarios with `far`: `/mcp` answers, `/STATUS` refuses with that status."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from interop_kit.observation import Row

VARIABLE = "FAR_URL"


class FarServer:
    """Listens on loopback until it is closed."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def environment(self) -> dict[str, str | None]:
        return {VARIABLE: f"http://127.0.0.1:{self._server.server_address[1]}"}

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Nobody reads it."""

    def do_GET(self) -> None:
        self._send(405 if self.path == "/mcp" else 404)

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path != "/mcp":
            self._send(int(self.path[1:]) if self.path[1:].isdigit() else 404)
        elif "id" in message and "method" in message:
            self._send(200, {"jsonrpc": "2.0", "id": message["id"], **answer(message, self.headers["x-key"])})
        else:
            self._send(202)

    def _send(self, status: int, body: Row | None = None) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def answer(message: Row, key: str | None) -> Row:
    match message["method"]:
        case "initialize":
            version = message["params"]["protocolVersion"]
            info = {"name": "far", "version": "1"}
            return {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}}
        case "tools/list":
            return {"result": {"tools": [{"name": "look", "inputSchema": {"type": "object"}}]}}
        case "tools/call":
            return {"result": {"content": [{"type": "text", "text": f"seen with {key}"}]}}
        case _:
            return {"error": {"code": -32601, "message": "Method not found"}}
