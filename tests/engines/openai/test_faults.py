"""Faults on the way to a server: each has its own error, and a cancel ends each wait."""

from __future__ import annotations

import socket  # noqa: TID251 - a server that says nothing
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest

from engines.cancel import CancelToken
from engines.connection import Connection
from engines.errors import EngineError, ServerBusy, ServerFailed, ServerUnreachable
from engines.openai import client as clients
from engines.openai.answering import ServedModelAccess, answer
from engines.openai.client import OpenAiClient
from engines.types import Event
from tests.engines.asking import ask, done_of
from tests.engines.openai.conftest import Serve
from tests.support.openai_server import Reply

PAGE = b"<html><h1>nginx</h1></html>"


@contextmanager
def listening() -> Iterator[tuple[socket.socket, int]]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server, server.getsockname()[1]


@pytest.mark.parametrize(
    ("status", "kind", "word"),
    [
        (301, ServerFailed, "https://there.example"),
        (429, ServerBusy, "is busy"),
        (413, EngineError, "413"),
        (404, ServerFailed, "web page"),
        (502, ServerFailed, "502"),
    ],
)
def test_a_gateway_may_send_a_page_with_its_status(
    serve: Serve, client: httpx2.Client, status: int, kind: type[EngineError], word: str
) -> None:
    server = serve()
    headers = {"Location": "https://there.example"}
    server.script("/v1/models", Reply(PAGE, status, "text/html", headers))
    with pytest.raises(kind, match=word):
        OpenAiClient(client, server.address).models()


@pytest.mark.parametrize(
    "said",
    [
        b"<html><h1>400 Bad Request</h1>The plain HTTP request was sent to HTTPS port</html>",
        b"Client sent an HTTP request to an HTTPS server.\n",
        b"<p>Reason: You're speaking plain HTTP to an SSL-enabled server port.</p>",
    ],
)
def test_http_at_a_port_for_https_is_said(serve: Serve, client: httpx2.Client, said: bytes) -> None:
    server = serve()
    server.script("/v1/models", Reply(said, 400, "text/html"))
    with pytest.raises(ServerUnreachable) as caught:
        OpenAiClient(client, server.address, server_name="team").models()
    assert caught.value.what == "team requires an encrypted connection."
    assert "https://" in caught.value.do


def test_https_at_a_port_for_http_is_said(serve: Serve, client: httpx2.Client) -> None:
    with listening() as (server, port):

        def speak_plainly() -> None:
            line, _ = server.accept()
            with line:
                line.recv(4096)
                line.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

        answering = threading.Thread(target=speak_plainly)
        answering.start()
        with pytest.raises(ServerUnreachable) as caught:
            OpenAiClient(client, f"https://127.0.0.1:{port}", server_name="team").models()
        answering.join()
    assert caught.value.what == "team does not encrypt connections on this port."
    assert "http://" in caught.value.do


def test_a_port_that_hangs_up_may_want_https(client: httpx2.Client) -> None:
    with listening() as (server, port):

        def hang_up() -> None:
            line, _ = server.accept()
            line.recv(4096)
            line.close()

        answering = threading.Thread(target=hang_up)
        answering.start()
        with pytest.raises(ServerFailed) as caught:
            OpenAiClient(client, f"http://127.0.0.1:{port}").models()
        answering.join()
    assert "https://" in caught.value.do


def test_nothing_hidden_comes_out_of_an_error(serve: Serve, client: httpx2.Client) -> None:
    server = serve()
    server.script("/v1/models", Reply(b'{"error": "red \\u001b[31m\\u202e text"}', 500))
    with pytest.raises(ServerFailed) as caught:
        OpenAiClient(client, server.address).models()
    assert caught.value.why == "It says: red [31m text."


def test_who_ends_the_connection_at_once_has_begun_no_answer(client: httpx2.Client) -> None:
    with listening() as (server, port):

        def end() -> None:
            connection, _ = server.accept()
            connection.recv(1000)
            connection.close()

        ending = threading.Thread(target=end)
        ending.start()
        with pytest.raises(ServerFailed, match="without an answer"):
            OpenAiClient(client, f"http://127.0.0.1:{port}").models()
        ending.join()


def test_an_address_that_is_none_is_said(client: httpx2.Client) -> None:
    with pytest.raises(EngineError, match="address cannot be used"):
        OpenAiClient(client, "http://ü..b").models()


def test_a_cancel_wakes_who_shakes_hands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "CONNECT_S", 600)
    cancel = CancelToken()
    seen: list[Event] = []
    with (
        listening() as (server, port),
        httpx2.Client(trust_env=False, verify=False) as client,
    ):
        via = ServedModelAccess(OpenAiClient(client, f"https://127.0.0.1:{port}"), "tiny")
        asking = threading.Thread(target=lambda: seen.extend(answer(ask("Hello"), via, cancel)))
        asking.start()
        connection, _ = server.accept()
        assert connection.recv(1), "it has begun to shake hands"
        cancel.cancel()
        asking.join(60)
        left = asking.is_alive()
        connection.close()
        asking.join()
    assert not left
    assert done_of(seen).finish_reason == "cancelled"


class Plain:
    """A socket that notes how it is shut down."""

    how = -1

    def shutdown(self, how: int) -> None:
        self.how = how


class Encrypted(Plain):
    def shutdown(self, how: int) -> None:
        raise AssertionError(how)


class Stream:
    def __init__(self) -> None:
        self.opened = Encrypted()

    def get_extra_info(self, _: str) -> Encrypted:
        return self.opened


def test_hanging_up_leaves_the_cipher_in_its_place() -> None:
    """`SSLSocket.shutdown` drops the cipher first: data written meanwhile would be plain text."""
    stream, connection = Stream(), Connection()
    connection.attach(stream)
    connection.hang_up()
    assert stream.opened.how == socket.SHUT_RDWR


def test_a_connection_that_is_let_go_ends_nothing() -> None:
    """It may be used for another request by then."""
    stream, connection = Stream(), Connection()
    connection.attach(stream)
    connection.release()
    connection.hang_up()
    assert stream.opened.how == -1
