"""A whole Hearth with its starter model under many bad requests while it writes an answer."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import openai
import pytest

from app.base.folder import DataFolder
from app.net.values.serving import LOOPBACK, Address, ServeOptions
from app.wiring.app import App, open_app
from engines.cancel import CancelToken
from engines.llamacpp.engine import LlamaCppEngine
from engines.types import ChatRequest, Event, TextDelta
from tests.app.api.http.conftest import Reply, noted, read_all
from tests.support.waiting import PATIENCE_S

QUESTION = "What is Hearth?"
LONG_S = 25.0
"""Limit for the processor time of an answer after many clients have disconnected, in seconds."""


@pytest.fixture
def hearth() -> Iterator[App]:
    with closing(open_app(DataFolder.default(), offline=True)) as app:
        app.server.start(ServeOptions(Address(LOOPBACK, 0)))
        yield app


@pytest.fixture
def client(hearth: App) -> Iterator[openai.OpenAI]:
    with client_of(hearth) as client:
        yield client


def client_of(hearth: App) -> openai.OpenAI:
    token = hearth.api_keys.token().secret.reveal()
    return openai.OpenAI(base_url=f"{hearth.server.status.url}/v1", api_key=token, max_retries=0)


def ask(client: openai.OpenAI) -> str:
    """Request a short answer and return its finish reason."""
    answer = client.chat.completions.create(
        model="starter", messages=[{"role": "user", "content": QUESTION}], max_tokens=8
    )
    return answer.choices[0].finish_reason


def post(hearth: App, path: str, body: bytes, *, read: int = 0) -> Reply:
    """Send a body unchanged.

    Args:
        hearth: The app whose server is asked.
        path: The endpoint.
        body: The bytes of the body.
        read: Number of bytes to read before the client disconnects; 0 reads the whole reply.
    """
    port = int(hearth.server.status.url.rpartition(":")[2])
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n"
        f"x-api-key: {hearth.api_keys.token().secret.reveal()}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection((LOOPBACK, port), timeout=60) as connection:
        connection.sendall(head.encode() + body)
        return Reply(connection.recv(read) if read else read_all(connection))


def asked(**changes: Any) -> bytes:
    question = [{"role": "user", "content": QUESTION}]
    values = {"model": "starter", "messages": question, "max_tokens": 8, **changes}
    return json.dumps(values).encode()


NO_REQUESTS = {
    "deep": b"[" * 100_000,
    "deep objects": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    "no JSON": b"\0" * 1000,
    "not UTF-8": b'{"model": "\xff\xfe"}',
    "no object": b"[]",
    "nothing": b"",
    "no number": b'{"model": "starter", "temperature": NaN}',
    "a long number": b'{"model": "starter", "max_tokens": ' + b"9" * 100_000 + b"}",
}
BAD = NO_REQUESTS | {
    "a negative number": asked(max_tokens=-5),
    "a text for a number": asked(temperature="warm"),
    "too many answers": asked(n=100_000),
    "too many stops": asked(stop=["a"] * 100_000),
    "too many messages": asked(messages=[{"role": "user", "content": "x"}] * 200_000),
    "no messages": asked(messages=[]),
    "a long grammar": asked(grammar='root ::= root root | "a"\n' * 20_000),
    "a grammar without an end": asked(grammar="root ::= root"),
    "a schema that refers to itself": asked(
        response_format={
            "type": "json_schema",
            "json_schema": {"name": "a", "schema": {"$ref": "#"}},
        }
    ),
    "a schema elsewhere": asked(
        response_format={
            "type": "json_schema",
            "json_schema": {"name": "a", "schema": {"$ref": "http://attacker.example/a.json"}},
        }
    ),
    "a pattern that takes long": asked(
        response_format={
            "type": "json_schema",
            "json_schema": {"name": "a", "schema": {"type": "string", "pattern": "(a+)+$" * 999}},
        }
    ),
    "a file for a model": asked(model="../../../etc/passwd"),
    "a file for a picture": asked(
        messages=[
            {
                "role": "user",
                "content": [{"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}],
            }
        ]
    ),
}


MILLIONS = "a word " * 1_500_000
SOON_S = 4.0
"""Limit for the processor time of refusing such a prompt; tokenising it takes over ten seconds."""


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": MILLIONS}]}),
        ("/v1/completions", {"prompt": MILLIONS}),
        ("/v1/responses", {"input": MILLIONS}),
        (
            "/v1/messages",
            {"messages": [{"role": "user", "content": MILLIONS}], "max_tokens": 8},
        ),
        ("/tokenize", {"content": MILLIONS}),
    ],
)
def test_millions_of_words_are_refused_soon_and_hold_nobody_up(
    hearth: App, client: openai.OpenAI, path: str, body: dict[str, Any]
) -> None:
    ask(client)
    clock = time.process_time()
    reply = post(hearth, path, json.dumps({"model": "starter", **body}).encode())
    assert (reply.status, "too long" in reply.body.decode()) == (400, True)
    assert time.process_time() - clock < SOON_S


@pytest.mark.parametrize(
    ("path", "bodies"),
    [
        ("/v1/chat/completions", BAD),
        ("/v1/messages", NO_REQUESTS),
        ("/v1/responses", NO_REQUESTS),
        ("/v1/embeddings", NO_REQUESTS),
    ],
)
def test_what_is_bad_is_told_in_the_protocols_words_and_ends_nobody_elses_answer(
    hearth: App, client: openai.OpenAI, path: str, bodies: dict[str, bytes]
) -> None:
    ended: list[str] = []
    stop = threading.Event()

    def go_on_asking() -> None:
        while not stop.is_set():
            ended.append(ask(client))

    asking = threading.Thread(target=go_on_asking)
    asking.start()
    try:
        wrong = {}
        for name, body in bodies.items():
            reply = post(hearth, path, body)
            said = json.loads(reply.body or b"{}")
            if reply.status not in {400, 404} or not said["error"]["message"]:
                wrong[name] = reply.data[:300]
    finally:
        stop.set()
        asking.join()
    assert wrong == {}
    assert set(ended) == {"length"}


def test_those_who_go_leave_room_for_the_others(hearth: App, client: openai.OpenAI) -> None:
    for _ in range(40):
        post(hearth, "/v1/chat/completions", asked(stream=True, max_tokens=4000), read=200)
    clock = time.process_time()
    assert ask(client) == "length"
    assert time.process_time() - clock < LONG_S


def test_sixty_four_at_once_are_all_answered(hearth: App) -> None:
    def once(_: int) -> str:
        with client_of(hearth) as client:
            return ask(client)

    with ThreadPoolExecutor(64) as threads:
        assert Counter(threads.map(once, range(64))) == {"length": 64}
    uses = noted(hearth.api_keys, 64)
    assert [it.model for it in uses] == ["starter"] * 64
    assert {it.completion_tokens for it in uses} == {8}


def test_who_is_answered_at_the_end_is_told(
    hearth: App, client: openai.OpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer goes on until it is cancelled, however fast the model writes."""
    cancelled: list[bool] = []
    chat = LlamaCppEngine.chat

    def endless(engine: LlamaCppEngine, asked: ChatRequest, cancel: CancelToken) -> Iterator[Event]:
        with closing(chat(engine, asked, cancel)) as events:
            for event in events:
                yield event
                if isinstance(event, TextDelta):
                    cancelled.append(cancel.wait(PATIENCE_S))

    monkeypatch.setattr(LlamaCppEngine, "chat", endless)
    stream = client.chat.completions.create(
        model="starter", messages=[{"role": "user", "content": QUESTION}], stream=True
    )
    assert next(iter(stream)).choices
    ending = threading.Thread(target=hearth.server.stop)
    ending.start()
    with pytest.raises(openai.APIError, match="server is stopping"):
        for _ in stream:
            pass
    ending.join()
    assert cancelled == [True]
