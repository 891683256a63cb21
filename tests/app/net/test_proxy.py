"""The system's proxy: used for other hosts, never for this computer; and errors of proxies."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from app.base.errors import CertificateRefused, ProxyRefused
from app.net import Gate, as_user_error
from app.net.values.connections import LoggedConnection
from tests.app.net.conftest import PURPOSE, Reply, Server, served

HUB = "http://hub.invalid/file"
SECURE_HUB = "https://hub.invalid/file"


class Proxy(Server):
    """A proxy that answers plain requests itself and tunnels to one server on this computer."""

    def __init__(self) -> None:
        super().__init__()
        self.target: tuple[str, int] | None = None
        self.tunnels: list[str] = []

    def finish_request(self, request: object, client_address: object) -> None:
        assert isinstance(request, socket.socket)
        start = request.recv(8, socket.MSG_PEEK)
        if start.startswith(b"CONNECT") and self.target:
            head = b""
            while b"\r\n\r\n" not in head:
                head += request.recv(1)
            self.tunnels.append(head.decode())
            with socket.create_connection(self.target) as behind:
                request.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                _join(request, behind)
        else:
            super().finish_request(request, client_address)


def _join(left: socket.socket, right: socket.socket) -> None:
    def copy(source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            return  # the other side has gone

    back = threading.Thread(target=copy, args=(right, left), daemon=True)
    back.start()
    copy(left, right)
    back.join()


@pytest.fixture
def proxy(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """Run a proxy and set it in the environment, which `gate` has cleared before."""
    made = Proxy()
    with served(made):
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{made.port}")
        monkeypatch.setenv("https_proxy", f"127.0.0.1:{made.port}")
        yield made
        gate.close()


def get(gate: Gate, url: str, headers: dict[str, str] | None = None) -> httpx2.Response:
    with gate.for_purpose(PURPOSE):
        return gate.client.get(url, headers=headers or {})


def test_other_hosts_go_through_the_proxy(
    gate: Gate, proxy: Proxy, kept: list[LoggedConnection]
) -> None:
    proxy.replies[HUB] = Reply(b"by proxy")
    assert get(gate, HUB).text == "by proxy"
    (line,) = kept
    assert (line.host, line.port) == ("hub.invalid", 80)
    assert line.proxy == f"127.0.0.1:{proxy.port}"


def test_this_computer_needs_no_proxy(
    gate: Gate, proxy: Proxy, server: Server, kept: list[LoggedConnection]
) -> None:
    server.replies["/"] = Reply(b"direct")
    assert get(gate, server.url).text == "direct"
    assert get(gate, f"http://localhost:{server.port}").text == "direct"
    assert proxy.came == []
    assert {line.proxy for line in kept} == {None}


def test_no_proxy_is_honoured(gate: Gate, proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def find_nothing(host: str, *_: object, **__: object) -> list[object]:
        asked.append(host)
        raise socket.gaierror(socket.EAI_NONAME, "no such name")

    monkeypatch.setattr(socket, "getaddrinfo", find_nothing)
    monkeypatch.setenv("no_proxy", "other.invalid, hub.invalid")
    with pytest.raises(httpx2.ConnectError):
        get(gate, HUB)
    assert asked == ["hub.invalid"], "it went to the host itself"
    assert proxy.came == []


def test_a_change_of_proxy_holds_from_the_next_request(
    gate: Gate, proxy: Proxy, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy.replies[HUB] = Reply(b"first")
    server.replies[HUB] = Reply(b"second")
    assert get(gate, HUB).text == "first"
    monkeypatch.setenv("http_proxy", server.url)
    assert get(gate, HUB).text == "second"


def test_the_name_and_password_of_a_proxy_are_not_in_the_ledger(
    gate: Gate, proxy: Proxy, kept: list[LoggedConnection], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"http://me:pass@127.0.0.1:{proxy.port}")
    proxy.replies[HUB] = Reply(b"by proxy")
    get(gate, HUB)
    assert proxy.came[0].headers["Proxy-Authorization"].startswith("Basic ")
    assert kept[0].proxy == f"127.0.0.1:{proxy.port}"


@pytest.mark.parametrize("url", [HUB, SECURE_HUB])
def test_a_proxy_that_wants_a_password(gate: Gate, proxy: Proxy, url: str) -> None:
    proxy.replies[HUB] = Reply(status=407)
    proxy.replies["hub.invalid:443"] = Reply(status=407)
    with pytest.raises(httpx2.ProxyError) as caught:
        get(gate, url)
    error = as_user_error(caught.value, "hub.invalid")
    assert isinstance(error, ProxyRefused)
    assert "password" in error.why


def test_a_proxy_that_refuses_the_host(
    gate: Gate, proxy: Proxy, kept: list[LoggedConnection]
) -> None:
    proxy.replies["hub.invalid:443"] = Reply(status=403)
    with pytest.raises(httpx2.ProxyError) as caught:
        get(gate, SECURE_HUB)
    assert "403" in as_user_error(caught.value, "hub.invalid").why
    assert kept[0].result == "failed"


def test_a_proxy_that_is_not_there(
    gate: Gate, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{port}")
    with pytest.raises(httpx2.ProxyError) as caught:
        get(gate, HUB)
    error = as_user_error(caught.value, "hub.invalid")
    assert isinstance(error, ProxyRefused)
    assert "reached" in error.why


@pytest.mark.parametrize(
    "address", ["socks5://127.0.0.1:1080", "http://", "http://127.0.0.1:port", "me:pass@:x"]
)
def test_a_proxy_that_hearth_cannot_use(
    gate: Gate,
    proxy: Proxy,
    kept: list[LoggedConnection],
    monkeypatch: pytest.MonkeyPatch,
    address: str,
) -> None:
    monkeypatch.setenv("http_proxy", address)
    with pytest.raises(ProxyRefused, match="HTTPS_PROXY"):
        get(gate, HUB)
    assert kept[0].result == "failed"


def test_a_proxy_that_inspects_is_told_as_a_certificate(
    gate: Gate, proxy: Proxy, secure: Server
) -> None:
    proxy.target = ("127.0.0.1", secure.port)
    with pytest.raises(httpx2.ConnectError) as caught:
        get(gate, SECURE_HUB)
    assert isinstance(as_user_error(caught.value, "hub.invalid"), CertificateRefused)
    assert secure.came == []


def test_a_token_does_not_follow_from_http_to_https(
    gate: Gate, proxy: Proxy, secure: Server, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """httpx2 itself would send it, on the standard ports of one host."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    proxy.target = ("127.0.0.1", secure.port)
    proxy.replies[HUB] = Reply(status=301, headers={"Location": SECURE_HUB})
    secure.replies["/file"] = Reply(b"content")
    assert get(gate, HUB, {"Authorization": "Bearer hf_secret"}).text == "content"
    assert proxy.came[0].headers["Authorization"] == "Bearer hf_secret"
    assert "Authorization" not in secure.came[0].headers
    assert "hf_secret" not in proxy.tunnels[0]


def test_a_token_does_not_follow_from_https_to_http(
    gate: Gate, proxy: Proxy, secure: Server, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    proxy.target = ("127.0.0.1", secure.port)
    secure.replies["/file"] = Reply(status=302, headers={"Location": HUB})
    proxy.replies[HUB] = Reply(b"content")
    assert get(gate, SECURE_HUB, {"Authorization": "Bearer hf_secret"}).text == "content"
    assert secure.came[0].headers["Authorization"] == "Bearer hf_secret"
    assert "Authorization" not in proxy.came[0].headers
    assert "hf_secret" not in str(proxy.tunnels)
