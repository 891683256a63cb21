"""A server that repeats a key: no error, no list and no answer contains it."""

from __future__ import annotations

import json

import httpx2
import pytest

from engines.cancel import CancelToken
from engines.errors import EngineError
from engines.openai.access import ServedModelAccess
from engines.openai.answering import answer
from engines.openai.client import OpenAiClient
from engines.types import Event, ReasoningDelta, TextDelta, ToolCall
from tests.engines.asking import ask, text_of
from tests.engines.openai.conftest import CHAT, Serve
from tests.support.openai_server import DONE, OpenAiServer, Reply, chunk, event, refusal, stream

KEY = "sk-office/4711-qwertz"
HEADERS = {"Authorization": f"Bearer {KEY}"}


def way(client: httpx2.Client, server: OpenAiServer) -> ServedModelAccess:
    return ServedModelAccess(OpenAiClient(client, server.address, HEADERS), server.model)


def told(events: list[Event]) -> str:
    return " ".join(str(it) for it in events)


ERRORS = [
    refusal(400, f"Key {KEY} is odd."),
    refusal(403, f"“{KEY}” may not."),
    refusal(429, f"{KEY}: too much"),
    refusal(500, "x" * 290 + KEY),
    Reply(f"Bearer {KEY} is wrong".encode(), 500, "text/plain"),
    Reply(json.dumps({"detail": [{"input": KEY}, KEY]}).replace("/", "\\/").encode(), 503),
    Reply(b"", 302, headers={"Location": f"http://127.0.0.1/?key={KEY.replace('/', '%2F')}"}),
    stream(event({"error": {"message": f"{KEY} has expired"}})),
    stream(chunk({"content": "So"}), event({"error": KEY})),
]


@pytest.mark.parametrize("reply", ERRORS)
def test_no_error_says_the_key(serve: Serve, client: httpx2.Client, reply: Reply) -> None:
    server = serve()
    server.script(CHAT, reply)
    with pytest.raises(EngineError) as caught:
        list(answer(ask("Hello"), way(client, server), CancelToken()))
    error = caught.value
    said = f"{error} {error.what} {error.why} {error.do}"
    assert "4711" not in said
    assert "sk-of" not in said


def test_no_answer_says_the_key_however_it_is_cut(serve: Serve, client: httpx2.Client) -> None:
    server = serve()
    pieces = [chunk({"reasoning": it}) for it in ("It is sk-off", "ice/4711-q", "wertz, so")]
    pieces += [chunk({"content": it}) for it in f"Here: {KEY}! And s"]
    function = {"name": "a", "arguments": json.dumps({"key": KEY})}
    pieces.append(chunk({"tool_calls": [{"index": 0, "id": KEY, "function": function}]}))
    server.script(CHAT, stream(*pieces, chunk({}, "tool_calls"), DONE))
    events = list(answer(ask("Hello"), way(client, server), CancelToken()))
    assert text_of(events) == "Here: [hidden]! And s"
    thought = "".join(it.text for it in events if isinstance(it, ReasoningDelta))
    assert thought == "It is [hidden], so"
    (call,) = (it for it in events if isinstance(it, ToolCall))
    assert json.loads(call.arguments) == {"key": "[hidden]"}
    assert "4711" not in told(events)


def test_what_may_have_become_a_key_is_kept_of_an_answer_that_breaks_off(
    serve: Serve, client: httpx2.Client
) -> None:
    server = serve()
    server.script(CHAT, stream(chunk({"content": "as sk"}), cut=True))
    events: list[Event] = []
    with pytest.raises(EngineError):  # noqa: PT012
        for it in answer(ask("Hello"), way(client, server), CancelToken()):
            events.append(it)  # noqa: PERF402
    assert "".join(it.text for it in events if isinstance(it, TextDelta)) == "as sk"


def test_no_look_up_says_the_key(serve: Serve, client: httpx2.Client) -> None:
    server = serve()
    listed = {"data": [{"id": f"model-{KEY}"}]}
    server.script("/v1/models", Reply(json.dumps(listed).encode()))
    server.script("/version", Reply(json.dumps({"version": KEY}).encode()))
    server.script("/metrics", Reply(f"# {KEY}\n".encode(), kind="text/plain"))
    looking = way(client, server).client
    assert [it.id for it in looking.models()] == ["model-[hidden]"]
    assert looking.version() == "[hidden]"
    assert looking.text("/metrics") == "# [hidden]\n"
