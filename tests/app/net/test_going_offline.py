"""Going offline ends answers of other computers; servers on this one go on."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from app.base.errors import Offline
from app.net import Gate, client, hosts
from app.net.values.connections import LoggedConnection
from engines.cancel import CancelToken
from engines.openai.answering import ServedModelAccess, answer
from engines.openai.client import OpenAiClient
from engines.types import Event
from tests.engines.asking import ask, text_of
from tests.support.openai_server import OpenAiServer, chunk, stream
from tests.support.waiting import until

CHAT = "/v1/chat/completions"


@dataclass
class Place:
    gate: Gate
    ledger: list[LoggedConnection] = field(default_factory=list)
    offline: bool = False

    def leave(self) -> None:
        self.offline = True
        self.gate.hang_up_outside()


@pytest.fixture
def place() -> Iterator[Place]:
    ledger: list[LoggedConnection] = []
    gate = Gate(ledger.append, lambda: made.offline)
    made = Place(gate, ledger)
    yield made
    gate.close()


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat the test's server as one on another computer."""
    for module in (client, hosts):
        monkeypatch.setattr(module, "is_loopback", lambda _: False)


def silent_after(server: OpenAiServer, *pieces: bytes) -> None:
    """Script an answer of these pieces, followed by silence longer than any test."""
    server.script(CHAT, stream(*pieces, pace_s=90.0))


def leave_once(place: Place, has_begun: Callable[[], object]) -> threading.Thread:
    """Leave the server from another thread once a request waits for its answer."""

    def leave() -> None:
        until(has_begun)
        place.leave()

    leaving = threading.Thread(target=leave)
    leaving.start()
    return leaving


def answer_and_leave(place: Place, server: OpenAiServer) -> list[Event]:
    lent = place.gate.lend("ask a server", server.address)
    events: list[Event] = []
    with lent:
        leaving = leave_once(place, lambda: server.asked)
        try:
            via = ServedModelAccess(OpenAiClient(lent, server.address), server.model, kind="vllm")
            events.extend(answer(ask("Hello"), via, CancelToken()))
        finally:
            leaving.join()
    return events


@pytest.mark.timeout(60)
@pytest.mark.parametrize("pieces", [(chunk({"content": "Begun "}),), (chunk({}),)])
def test_a_server_that_is_silent_is_left(
    far: None, place: Place, pieces: tuple[bytes, ...]
) -> None:
    with OpenAiServer("vllm") as server:
        silent_after(server, *pieces)
        with pytest.raises(Offline, match="offline") as caught:
            answer_and_leave(place, server)
        assert server.asked[-1].gone.wait(45)
    assert "was ended" in caught.value.why


@pytest.mark.timeout(60)
def test_one_whose_answer_ends_with_its_connection_is_left(far: None, place: Place) -> None:
    """A hang-up then looks like the end of the answer."""
    begun = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            line, _ = listening.accept()
            with line:
                while b"\r\n\r\n" not in line.recv(65536):
                    continue
                head = b"HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
                line.sendall(head + chunk({"content": "Begun "}))
                begun.set()
                while line.recv(65536):
                    continue

        serving = threading.Thread(target=serve)
        serving.start()
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        leaving = leave_once(place, begun.is_set)
        with place.gate.lend("ask a server", address) as lent:
            via = ServedModelAccess(OpenAiClient(lent, address), "x")
            with pytest.raises(Offline):
                list(answer(ask("Hello"), via, CancelToken()))
        leaving.join()
        serving.join()


@pytest.mark.timeout(60)
def test_a_server_on_this_computer_goes_on(place: Place) -> None:
    with OpenAiServer("vllm", pace_s=0.02) as server:
        assert len(text_of(answer_and_leave(place, server))) > 20
