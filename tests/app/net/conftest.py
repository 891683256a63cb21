"""Servers on this computer that record their requests: a plain one, one with TLS, and a proxy."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from app.net import Gate
from app.net.values.connections import LoggedConnection, Purpose

PURPOSE: Purpose = "look at a model"
PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@dataclass(frozen=True)
class Came:
    """A request as it reached a server."""

    method: str
    path: str
    headers: Message
    body: bytes


@dataclass(frozen=True)
class Reply:
    """A reply.

    Attributes:
        body: The bytes to send.
        status: The HTTP status.
        headers: Further headers.
        short: Number of bytes to leave out at the end of the body before closing the connection.
    """

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    short: int = 0


class Server(ThreadingHTTPServer):
    """A server that answers each path with the reply set for it, or with that of a function."""

    daemon_threads = True

    def __init__(self, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> None:
        super().__init__((host, 0), _Handler)
        self.came: list[Came] = []
        self.replies: dict[str, Reply | Callable[[], Reply]] = {}
        self.port = self.server_address[1]
        self.scheme = "https" if tls else "http"
        self.url = f"{self.scheme}://{host}:{self.port}"
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_side=True)

    def handle_error(self, request: object, client_address: object) -> None:
        """Stay silent: a client that does not trust this server ends the connection."""


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.came.append(Came(self.command, self.path, self.headers, body))
        reply = self.server.replies.get(self.path, Reply(b"not here", 404))
        if callable(reply):
            reply = reply()
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body[: len(reply.body) - reply.short])

    do_HEAD = do_POST = do_CONNECT = do_GET  # noqa: N815 - the names http.server calls

    def log_message(self, *args: object) -> None:
        """Print nothing on stderr."""


@contextmanager
def served(server: Server) -> Iterator[Server]:
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    with served(Server()) as it:
        yield it


@pytest.fixture
def other() -> Iterator[Server]:
    """Start a second server; its port makes it another place."""
    with served(Server()) as it:
        yield it


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Make a self-signed certificate for localhost and hub.invalid, with its key."""
    pytest.importorskip("cryptography")
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    names = [x509.DNSName(host) for host in ("localhost", "hub.invalid")]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(datetime.now(UTC) - timedelta(days=1))
        .not_valid_after(datetime.now(UTC) + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path / "certificate.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return path


@pytest.fixture
def secure(certificate: Path) -> Iterator[Server]:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    with served(Server(tls=tls)) as it:
        yield it


class Switch:
    """A switch by which a test turns offline mode on and off."""

    on = False

    def __call__(self) -> bool:
        return self.on


@pytest.fixture
def offline() -> Switch:
    return Switch()


@pytest.fixture
def kept() -> list[LoggedConnection]:
    return []


@pytest.fixture
def gate(
    offline: Switch, kept: list[LoggedConnection], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Gate]:
    """Yield a gate that uses no proxy of the machine."""
    for variable in PROXY_VARIABLES:
        monkeypatch.delenv(variable, raising=False)
        monkeypatch.delenv(variable.upper(), raising=False)
    made = Gate(kept.append, offline)
    yield made
    made.close()
