"""HTTP clients for a single server, and those over a Unix socket."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import UnixStreamServer

import pytest

from app.base.errors import Offline
from app.net import Gate
from app.net.server_client import socket_client, worker_client
from app.net.values.connections import LoggedConnection, Trust
from engines.cancel import CancelToken
from engines.errors import EngineError
from engines.openai.answering import ServedModelAccess, answer
from engines.openai.client import OpenAiClient
from engines.types import Event, PromptReady
from tests.engines.asking import ask, done_of
from tests.support.certificates import make_certificates
from tests.support.openai_server import OpenAiServer, Reply
from tests.support.waiting import until


@pytest.fixture
def ledger() -> list[LoggedConnection]:
    return []


@pytest.fixture
def gate(ledger: list[LoggedConnection]) -> Iterator[Gate]:
    gate = Gate(ledger.append, lambda: False)
    yield gate
    gate.close()


def test_each_request_has_its_purpose_and_is_in_the_ledger(
    gate: Gate, ledger: list[LoggedConnection]
) -> None:
    with OpenAiServer() as server, gate.lend("look at a server", server.address) as client:
        OpenAiClient(client, server.address).models()
    (line,) = ledger
    assert (line.host, line.port, line.purpose) == ("127.0.0.1", server.port, "look at a server")
    assert line.result == "200"


def test_a_listing_is_not_told_as_a_chat(gate: Gate, ledger: list[LoggedConnection]) -> None:
    with OpenAiServer() as server, gate.lend("ask a server", server.address) as client:
        asked = OpenAiClient(client, server.address)
        asked.models()
        asked.tokenize({"model": "tiny", "messages": [{"role": "user", "content": "Hi"}]})
    assert [it.purpose for it in ledger] == ["list a server's models", "ask a server"]


def test_a_key_goes_to_its_own_server_only(gate: Gate) -> None:
    key = {"Authorization": "Bearer sk-abc"}
    with (
        OpenAiServer() as server,
        OpenAiServer() as other,
        gate.lend("ask a server", server.address) as client,
    ):
        OpenAiClient(client, server.address, key).models()
        OpenAiClient(client, other.address, key).models()
        assert server.asked[0].headers["authorization"] == "Bearer sk-abc"
        assert "authorization" not in other.asked[0].headers


def test_a_worker_at_a_port_is_shown_its_key(ledger: list[LoggedConnection]) -> None:
    with (
        OpenAiServer(api_key="sk-own") as server,
        worker_client(ledger.append, lambda: True, server.address, "sk-own") as client,
    ):
        assert OpenAiClient(client, server.address).models(), "offline means this computer alone"


def test_a_redirect_is_not_followed(gate: Gate) -> None:
    with (
        OpenAiServer() as server,
        OpenAiServer() as other,
        gate.lend("ask a server", server.address) as client,
    ):
        server.script("/x", Reply(b"", 302, headers={"Location": f"{other.address}/x"}))
        assert client.get(f"{server.address}/x").status_code == 302
        assert not other.asked


def test_offline_lets_nothing_out(ledger: list[LoggedConnection]) -> None:
    gate = Gate(ledger.append, lambda: True)
    with gate.lend("ask a server", "http://192.0.2.9") as client, pytest.raises(Offline):
        client.get("http://192.0.2.9/v1/models")
    assert [it.result for it in ledger] == ["refused"]
    gate.close()


def test_the_proxy_of_the_system_is_used(
    gate: Gate, ledger: list[LoggedConnection], monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAiServer() as proxy:
        monkeypatch.setenv("http_proxy", proxy.address)
        with gate.lend("ask a server", "http://ai.example.com") as client:
            client.get("http://ai.example.com/v1/models")
    assert proxy.asked[0].path == "http://ai.example.com/v1/models"
    assert ledger[0].proxy == f"127.0.0.1:{proxy.port}"


def test_an_answer_that_came_whole_is_no_cancel(gate: Gate, ledger: list[LoggedConnection]) -> None:
    with OpenAiServer() as server, gate.lend("ask a server", server.address) as client:
        via = ServedModelAccess(OpenAiClient(client, server.address), server.model)
        list(answer(ask("Hello"), via, CancelToken()))
    assert [it.result for it in ledger] == ["200"]


def test_what_its_user_ends_is_no_failure(gate: Gate, ledger: list[LoggedConnection]) -> None:
    with OpenAiServer(pace_s=5) as server, gate.lend("ask a server", server.address) as client:
        cancel = CancelToken()
        via = ServedModelAccess(OpenAiClient(client, server.address), server.model)
        for event in answer(ask("Hello"), via, cancel):
            if isinstance(event, PromptReady):
                cancel.cancel()
    assert [it.result for it in ledger] == ["cancelled"]


def test_the_end_of_hearth_wakes_who_looks_at_a_server(gate: Gate) -> None:
    over = threading.Event()
    failed: list[Exception] = []

    def say_nothing(_: object) -> Reply:
        over.wait(120)
        return Reply(b"{}")

    def look(client: OpenAiClient) -> None:
        try:
            client.models()
        except EngineError as error:
            failed.append(error)

    with OpenAiServer() as server, gate.lend("look at a server", server.address) as client:
        server.script("/v1/models", say_nothing)
        looking = threading.Thread(target=look, args=(OpenAiClient(client, server.address),))
        looking.start()
        until(lambda: server.asked)
        gate.hang_up()
        looking.join(60)
        left = looking.is_alive()
        over.set()
        looking.join()
    assert not left
    assert len(failed) == 1


def test_a_cancel_wakes_who_reads_from_an_encrypted_line(gate: Gate, tmp_path: Path) -> None:
    made = make_certificates(tmp_path)
    with (
        OpenAiServer(tls=made.server, pace_s=100) as server,
        gate.lend("ask a server", server.address, Trust(ca=made.ca)) as client,
    ):
        cancel = CancelToken()
        via = ServedModelAccess(OpenAiClient(client, server.address), "tiny")
        events: list[Event] = []
        asking = threading.Thread(target=lambda: events.extend(answer(ask("Hi"), via, cancel)))
        asking.start()
        until(server.chats)
        cancel.cancel()
        assert server.asked[-1].gone.wait(60)
        asking.join()
        assert done_of(events).finish_reason == "cancelled"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such sockets in Python")
def test_a_unix_socket_is_spoken_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://192.0.2.1:1")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(self.path.encode())

        def log_message(self, *_: object) -> None: ...

        def address_string(self) -> str:
            return "here"

    path = tmp_path / "w.sock"
    with UnixStreamServer(str(path), Handler) as server:
        serving = threading.Thread(target=server.serve_forever, args=(0.02,))
        serving.start()
        for client in (
            socket_client(path),
            worker_client(lambda _: None, lambda: True, path, "sk-own"),
        ):
            with client:
                assert client.get("http://localhost/health").text == "/health"
        server.shutdown()
        serving.join()
