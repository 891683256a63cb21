"""An OpenTelemetry collector on loopback that accepts, refuses or delays."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer  # noqa: TID251
from types import TracebackType
from typing import Any


@dataclass
class Export:
    """A request that was posted.

    Attributes:
        headers: The headers, with lower-case names.
    """

    path: str
    headers: dict[str, str]
    text: str

    @property
    def spans(self) -> list[dict[str, Any]]:
        found = json.loads(self.text)["resourceSpans"]
        return [span for it in found for scope in it["scopeSpans"] for span in scope["spans"]]


@dataclass
class TraceCollector:
    """A collector of traces.

    Attributes:
        status: The status of its answers.
        hold: An event to wait for before each answer.
    """

    status: int = 200
    hold: threading.Event | None = None
    exports: list[Export] = field(default_factory=list)

    def __enter__(self) -> TraceCollector:
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                headers = {name.lower(): value for name, value in self.headers.items()}
                collector.exports.append(Export(self.path, headers, body))
                if collector.hold is not None:
                    collector.hold.wait(20)
                self.send_response(collector.status)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_: object) -> None:
                """Print nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.hold is not None:
            self.hold.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def spans(self) -> list[dict[str, Any]]:
        return [span for export in self.exports for span in export.spans]
