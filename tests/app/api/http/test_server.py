"""Starting and stopping the server, and how long it waits for connections, over real sockets."""

from __future__ import annotations

import ipaddress
import json
import socket
import ssl
import sys
import threading
import time
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import pytest
import trustme
from starlette.applications import Starlette

from app.api.http.server import Server
from app.api.services.api_keys import ApiKeys
from app.base.errors import AddressInvalid, AddressNotFree, CertificateRefused, NotSafe
from app.net import listening
from app.net.listening import PatientProtocol
from app.net.values.serving import LOOPBACK, Address, ServeOptions
from tests.app.api.http.conftest import (
    BEGUN,
    BIG,
    GONE,
    RELEASED,
    Reply,
    Serve,
    ask,
    connected,
    error_body,
    flood,
    head,
    noted,
    port_of,
    read_all,
    read_until,
    small_app,
)
from tests.support.waiting import until


def wait_for_head_s(server: Server) -> None:
    """Wait for `HEAD_S`, so that any unfinished head that began before this call has timed out."""
    with connected(server) as silent:
        assert read_all(silent) == b""


def test_a_server_answers_from_start_to_stop(serve: Serve, token: str) -> None:
    server = serve()
    assert server.url == f"http://127.0.0.1:{port_of(server)}"
    assert port_of(server) > 0
    assert server.network_urls == ()
    assert ask(server, token=token).status == 200
    server.stop()
    with pytest.raises(ConnectionRefusedError):
        ask(server, token=token)
    server.stop()


def test_a_port_that_is_taken_is_told(serve: Serve) -> None:
    taken = port_of(serve())
    with pytest.raises(AddressNotFree) as caught:
        serve(address=Address(LOOPBACK, taken))
    assert str(taken) in caught.value.why


def test_an_address_of_another_computer_is_told(serve: Serve) -> None:
    with pytest.raises(AddressNotFree):
        serve(address=Address("192.0.2.1", 0), exposed=True, without_tls=True)
    with pytest.raises(AddressInvalid):
        serve(address=Address("box.example", 0), exposed=True, without_tls=True)
    with pytest.raises(AddressNotFree):
        serve(address=Address(LOOPBACK, 70_000))


def test_a_port_is_free_again_after_its_server(serve: Serve, token: str) -> None:
    first = serve()
    ask(first, token=token)
    port = port_of(first)
    first.stop()
    assert ask(serve(address=Address(LOOPBACK, port)), token=token).status == 200


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"without_tls": True},
        {"exposed": True},
        {"exposed": True, "without_tls": True, "needs_token": False},
        {"exposed": True, "certificate": Path("cert.pem")},
    ],
)
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.20"])
def test_nobody_else_is_let_in_by_one_yes(
    serve: Serve, host: str, options: dict[str, object]
) -> None:
    with pytest.raises(NotSafe) as caught:
        serve(address=Address(host, 0), **options)
    assert caught.value.do
    assert "--" in caught.value.terminal


def test_exposed_it_goes_by_addresses_and_by_no_name(serve: Serve, token: str) -> None:
    server = serve(address=Address("0.0.0.0", 0), exposed=True, without_tls=True)
    port = port_of(server)
    for host in (f"192.168.1.20:{port}", f"[fd00::1]:{port}", f"127.0.0.1:{port}"):
        assert ask(server, token=token, headers={"Host": host}).status == 200
    for url in server.network_urls:
        host = url.removeprefix("http://")
        assert host.endswith(f":{port}")
        assert not ipaddress.ip_address(host.partition(":")[0]).is_loopback
        assert ask(server, token=token, headers={"Host": host}).status == 200
    assert ask(server, token=token, headers={"Host": f"rebound.example:{port}"}).status == 421
    assert ask(server).status == 401


def test_with_a_certificate_it_is_encrypted(serve: Serve, token: str, tmp_path: Path) -> None:
    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1")
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    issued.cert_chain_pems[0].write_to_path(str(certificate))
    issued.private_key_pem.write_to_path(str(key))
    server = serve(certificate=certificate, key=key)
    assert server.url.startswith("https://")
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    with (
        socket.create_connection((LOOPBACK, port_of(server)), timeout=60) as made,
        trusting.wrap_socket(made, server_hostname=LOOPBACK) as connection,
    ):
        connection.sendall(head(server, token=token))
        assert Reply(read_all(connection)).status == 200
    assert not ask(server, token=token).status, "what is not encrypted gets no answer"
    with pytest.raises(CertificateRefused):
        serve(certificate=certificate, key=certificate)
    with pytest.raises(CertificateRefused):
        serve(certificate=tmp_path / "none.pem", key=key)


def test_endless_headers_are_refused(server: Server) -> None:
    with connected(server) as connection:
        connection.sendall(b"GET /v1/models HTTP/1.1\r\n")
        flood(connection, b"X-More: and more\r\n" * 100)


def test_what_is_no_request_is_refused(server: Server) -> None:
    with connected(server) as connection:
        connection.sendall(b"\x16\x03\x01 not http\r\n\r\n")
        assert Reply(read_all(connection)).status == 400


@pytest.mark.parametrize("said", [b"", b"GET /v1/models HT"])
def test_a_head_that_does_not_arrive_ends_its_connection(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, said: bytes
) -> None:
    monkeypatch.setattr(PatientProtocol, "HEAD_S", 0.4)
    server, clock = serve(), time.monotonic()
    with connected(server) as connection:
        connection.sendall(said)
        assert read_all(connection) == b""
    assert time.monotonic() - clock > 0.3


def test_a_head_that_trickles_ends_its_connection(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slowloris: each byte arrives before the idle timeout ends."""
    monkeypatch.setattr(PatientProtocol, "HEAD_S", 0.5)
    with connected(serve()) as connection:
        connection.sendall(b"GET /v1/models HTTP/1.1\r\n")
        flood(connection, b"X", pause_s=0.05)


def test_the_head_of_a_second_request_has_its_time_too(
    serve: Serve, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PatientProtocol, "HEAD_S", 0.5)
    server = serve()
    with connected(server) as connection:
        kept = {"Connection": "keep-alive"}
        for _ in range(2):
            connection.sendall(head(server, token=token, headers=kept))
            assert read_until(connection, b'{"who":"Hearth"}').status == 200
            wait_for_head_s(server)
        connection.sendall(b"GET ")
        assert read_all(connection) == b""


def test_an_answer_that_takes_long_is_no_silence(
    serve: Serve, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PatientProtocol, "HEAD_S", 0.5)
    server = serve()
    with connected(server) as connection:
        connection.sendall(head(server, "/v1/responses", method="POST", token=token))
        wait_for_head_s(server)
        assert connection.recv(65536), "it came meanwhile"
        assert connection.recv(65536)


def test_an_idle_connection_is_not_kept_for_ever(
    serve: Serve, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.api.http.server.IDLE_S", 0.3)
    server = serve()
    with connected(server) as connection:
        connection.sendall(head(server, token=token, headers={"Connection": "keep-alive"}))
        assert read_until(connection, b'{"who":"Hearth"}').status == 200
        assert read_all(connection) == b""


def test_a_reader_that_takes_nothing_is_left(
    serve: Serve, token: str, keys: ApiKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve()
    with monkeypatch.context() as hurried, connected(server) as connection:
        hurried.setattr(PatientProtocol, "STALL_S", 0.5)
        connection.sendall(head(server, "/v1/embeddings", method="POST", token=token))
        noted(keys, 1)  # the whole answer waits to be read
        hurried.setattr(PatientProtocol, "HEAD_S", 0.5)
        wait_for_head_s(server)
        assert len(read_all(connection)) < BIG
    with connected(server) as connection:
        connection.sendall(head(server, "/v1/embeddings", method="POST", token=token))
        assert len(Reply(read_all(connection)).body) == BIG


def test_who_asks_for_nothing_makes_room_for_who_asks(
    serve: Serve, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Idle connections that are held open in great number do not keep other clients out."""
    monkeypatch.setattr(listening, "CONNECTIONS", 5)
    server = serve()
    with ExitStack() as ends:
        held = [ends.enter_context(connected(server)) for _ in range(50)]
        assert ask(server, token=token).status == 200
        for it in held[:45]:
            assert read_all(it) == b""


def test_where_all_are_being_answered_a_newcomer_is_ended(
    serve: Serve, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "CONNECTIONS", 3)
    server = serve()
    with ExitStack() as ends:
        busy = [ends.enter_context(connected(server)) for _ in range(3)]
        for it in busy:
            it.sendall(head(server, "/v1/responses", method="POST", token=token))
            assert it.recv(15) == b"HTTP/1.1 200 OK"
        assert ask(server, token=token).status == 0
        assert all(it.recv(100) for it in busy)


def test_at_the_end_running_answers_are_told(
    serve: Serve, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.api.http.server.GRACE_S", 0.3)
    BEGUN.clear()
    server = serve()
    replies: dict[str, Reply] = {}

    def asking(target: str) -> None:
        replies[target] = ask(server, target, method="POST", token=token)

    targets = ("/v1/responses", "/v1/messages")
    threads = [threading.Thread(target=asking, args=(it,)) for it in targets]
    for it in threads:
        it.start()
    until(lambda: set(targets) <= BEGUN)
    server.stop()
    for it in threads:
        it.join()
    streamed = replies["/v1/responses"]
    assert streamed.status == 200
    last = streamed.body.split(b"event: error\r\n")[0].rsplit(b"event: error\n")[-1]
    data = next(line for line in last.splitlines() if line.startswith(b"data: "))
    assert json.loads(data[6:])["error"]["code"] == "server_ending"
    assert streamed.data.endswith(b"0\r\n\r\n"), "the stream ends as one should"
    assert (replies["/v1/messages"].status, replies["/v1/messages"].code) == (503, "server_ending")


def test_the_app_lives_as_long_as_its_server(keys: ApiKeys) -> None:
    told: list[str] = []

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        told.append("begun")
        yield
        told.append("ended")

    server = Server(small_app(life), ServeOptions(Address(LOOPBACK, 0)), keys, error_body)
    server.start()
    assert told == ["begun"]
    server.stop()
    assert told == ["begun", "ended"]


def test_an_app_that_does_not_start_is_a_bug_that_is_told(keys: ApiKeys) -> None:
    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        if app.routes:
            raise ZeroDivisionError
        yield

    server = Server(small_app(life), ServeOptions(Address(LOOPBACK, 0)), keys, error_body)
    with pytest.raises(RuntimeError, match="did not start"):
        server.start()


def test_no_websocket_is_opened(server: Server, token: str) -> None:
    wanted = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    with connected(server) as connection:
        connection.sendall(head(server, token=token, headers=wanted))
        assert read_until(connection, b'{"who":"Hearth"}').status == 200


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_a_server_may_open_a_file_for_each_that_asks(serve: Serve) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
    try:
        serve()
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 256
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def post(server: Server, token: str, target: str, *, last: bool = True) -> bytes:
    """Return a whole request.

    Args:
        server: The server, for its port.
        token: The key.
        target: The path.
        last: Close the connection after the answer.
    """
    headers = {"Content-Length": "2"} | ({} if last else {"Connection": "keep-alive"})
    return head(server, target, method="POST", token=token, headers=headers) + b"{}"


@pytest.mark.parametrize("last", [True, False])
def test_a_client_that_ends_its_side_behind_a_request_gets_its_answer(
    server: Server, token: str, last: bool
) -> None:
    with connected(server) as connection:
        connection.sendall(post(server, token, "/v1/chat/completions", last=last))
        connection.shutdown(socket.SHUT_WR)
        reply = Reply(read_all(connection))
    assert (reply.status, json.loads(reply.body)) == (200, {"length": 2})


def test_all_of_several_requests_are_answered_before_the_connection_ends(
    server: Server, token: str
) -> None:
    with connected(server) as connection:
        connection.sendall(3 * post(server, token, "/v1/chat/completions", last=False))
        connection.shutdown(socket.SHUT_WR)
        assert read_all(connection).count(b'{"length":2}') == 3


def test_a_stream_goes_on_for_a_client_that_has_ended_its_side(server: Server, token: str) -> None:
    with connected(server) as connection:
        connection.sendall(post(server, token, "/v1/responses"))
        connection.shutdown(socket.SHUT_WR)
        data = b""
        while data.count(b"on and on") < 20:
            data += connection.recv(65536)


@pytest.fixture
def asks_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PatientProtocol, "ASK_S", 0.05)
    monkeypatch.setattr(PatientProtocol, "AGAIN_S", 0.05)
    RELEASED.clear()
    GONE.clear()


@pytest.mark.usefixtures("asks_soon")
def test_one_that_waits_long_is_asked_whether_it_is_there(server: Server, token: str) -> None:
    with connected(server) as connection:
        connection.sendall(post(server, token, "/v1/completions"))
        connection.shutdown(socket.SHUT_WR)
        asked = b"HTTP/1.1 100 Continue\r\n\r\n"
        data = connection.recv(65536)
        while data.count(asked) < 3:
            data += connection.recv(65536)
        RELEASED.set()
        rest = (data + read_all(connection)).replace(asked, b"")
    assert (Reply(rest).status, Reply(rest).body) == (200, b'{"held":true}')
    assert not GONE.is_set()


@pytest.mark.usefixtures("asks_soon")
def test_one_that_has_gone_is_noticed(server: Server, token: str) -> None:
    with connected(server) as connection:
        connection.sendall(post(server, token, "/v1/completions"))
    assert GONE.wait(60)


def test_one_that_ends_its_side_before_its_request_is_whole_is_left(
    server: Server, token: str
) -> None:
    with connected(server) as connection:
        connection.sendall(post(server, token, "/v1/chat/completions")[:-1])
        connection.shutdown(socket.SHUT_WR)
        assert b"200 OK" not in read_all(connection)
