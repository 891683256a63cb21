"""A loopback HTTP/1.1 server that sends any reply, even a broken one, and leaves nothing behind."""

from __future__ import annotations

import socket  # noqa: TID251  loopback only
import struct
import sys
import threading
from collections.abc import Callable
from http.server import (  # noqa: TID251  loopback only
    BaseHTTPRequestHandler,
    ThreadingHTTPServer,
)
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.hub.messages import Place, Reply, Request

CHUNK = 64 * 1024
HOST = "127.0.0.1"

Respond = Callable[[Request], Reply]


class Loopback:
    """A server that can be stopped, which refuses connections, and started again.

    Attributes:
        errors: The exceptions of its own code, for which its owner fails the test.
    """

    def __init__(self, place: Place, respond: Respond) -> None:
        self.place = place
        self.respond = respond
        self.errors: list[Exception] = []
        self.released = threading.Event()
        self.port = 0
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    def start(self) -> None:
        """Listen, on the same port as before if there was one."""
        self._server = _Server((HOST, self.port), _Handler, self)
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.005,))
        self._thread.start()

    def stop(self) -> None:
        """Refuse new connections, break those that are open, and wait for every thread."""
        server, thread = self._server, self._thread
        if server is None or thread is None:
            return
        self._server = self._thread = None
        server.stopping.set()
        server.shutdown()
        thread.join()
        server.break_connections()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # so that server_close waits for them
    request_queue_size = 32

    def __init__(self, address: tuple[str, int], handler: type, owner: Loopback) -> None:
        self.owner = owner
        self.stopping = threading.Event()
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def close_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().close_request(request)

    def break_connections(self) -> None:
        with self._lock:
            for connection in self._open:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue  # the other side was faster

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Record the exception of a handler; called within its `except`."""
        error = sys.exc_info()[1]
        if isinstance(error, Exception) and not isinstance(error, ConnectionError):
            self.owner.errors.append(error)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        owner = self.server.owner
        address = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = Request(
            self.command,
            unquote(address.path),
            parse_qs(address.query, keep_blank_values=True),
            {name.lower(): value for name, value in self.headers.items()},
            body,
            owner.place,
        )
        self._send(owner.respond(request))

    def _send(self, reply: Reply) -> None:
        silent = reply.stall_after == -1 and not self._wait_for_release()
        if silent or reply.drop_after == -1:
            self._hang_up(reply)
            return
        self._send_headers(reply)
        if self.command != "HEAD" and not self._send_body(reply):
            self._hang_up(reply)

    def _send_headers(self, reply: Reply) -> None:
        self.send_response(reply.status)
        size = str(reply.body.size)
        length = {"Content-Length": size} if reply.sized else {"Connection": "close"}
        for name, value in {**length, **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def _send_body(self, reply: Reply) -> bool:
        """Send the body; return whether all of it was sent."""
        sent = 0
        stops = [stop for stop in (reply.drop_after, reply.stall_after) if stop is not None]
        while sent < reply.body.size:
            if sent == reply.drop_after:
                return False
            if sent == reply.stall_after and not self._wait_for_release():
                return False
            count = min([stop - sent for stop in stops if stop > sent] + [CHUNK])
            if reply.bytes_per_s is not None:
                count = max(min(count, int(reply.bytes_per_s / 20)), 1)
                if self.server.stopping.wait(count / reply.bytes_per_s):
                    return False
            self.wfile.write(reply.body.read(sent, count))
            sent += count
        return True

    def _wait_for_release(self) -> bool:
        """Wait until the rest may be sent; return False if the server is being stopped."""
        while not self.server.stopping.is_set():
            if self.server.owner.released.wait(0.02):
                return True
        return False

    def _hang_up(self, reply: Reply) -> None:
        self.close_connection = True
        if reply.reset:
            # closing at once, without waiting for unsent data, is a reset
            at_once = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
            self.connection.close()

    def log_message(self, *_: object) -> None:
        """Print nothing: the hub keeps the requests, and the terminal is for the tests."""
