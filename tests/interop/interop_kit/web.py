"""A web server on loopback that answers as a scenario says, and keeps what it was asked."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from interop_kit.observation import Row


class Web:
    """`answers` maps a path to `status` (200), `body` (a text or JSON), `type`, and `drop` (no answer at all)."""

    def __init__(self, answers: dict[str, Row]) -> None:
        self.asked: list[Row] = []
        server = self
        lock = threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                body = self.rfile.read(length).decode("utf-8", "replace")
                with lock:
                    server.asked.append(
                        {
                            "method": self.command,
                            "path": self.path,
                            "headers": own(self.headers),
                            "body": read(body),
                        }
                    )
                answer = answers.get(self.path, {"status": 404})
                if answer.get("drop"):
                    self.close_connection = True
                    return
                text = answer.get("body", "")
                data = (text if isinstance(text, str) else json.dumps(text)).encode()
                self.send_response(answer.get("status", 200))
                self.send_header("content-type", answer.get("type", "application/json"))
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST  # noqa: N815  # the name is the base's

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name is the base's
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def own(headers: Any) -> dict[str, str]:
    """The headers that say something: what is sent, and those that a scenario asked for."""
    kept = ("content-type", "authorization")
    return {
        name.lower(): value
        for name, value in headers.items()
        if name.lower() in kept or name.lower().startswith("x-")
    }


def read(body: str) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return body
