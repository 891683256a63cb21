"""Prompts that do not fit: every endpoint answers with the words that its clients look for."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any, Final

import anthropic
import httpx2
import openai
import pytest

from app.api.http.overflow import CODE, anthropic_message, openai_message
from app.base.folder import DataFolder
from app.net.values.serving import LOOPBACK, Address, ServeOptions
from app.wiring.app import App, open_app
from engines import overflow
from engines.errors import ContextFull, TooManyTokens
from engines.openai.faults import too_long
from tests.support.serving import Served

LONG: Final = "a word " * 200_000
FITS_NOT: Final = "a word " * 3000
BODIES: Final[dict[str, dict[str, Any]]] = {
    "/v1/chat/completions": {"messages": [{"role": "user", "content": FITS_NOT}]},
    "/v1/completions": {"prompt": FITS_NOT},
    "/v1/responses": {"input": FITS_NOT},
    "/v1/messages": {"messages": [{"role": "user", "content": FITS_NOT}], "max_tokens": 9},
}
OPENAI: Final = re.compile(
    r"This model's maximum context length is (\d+) tokens\. However, you requested (?:at least )?"
    r"(\d+) tokens \((\d+) in the messages, (\d+) in the completion\)\. Please reduce the length "
    r"of the messages or completion\."
)
ANTHROPIC: Final = re.compile(r"^prompt is too long: (\d+) tokens > (\d+) maximum")


@pytest.fixture
def hearth() -> Iterator[App]:
    with closing(open_app(DataFolder.default(), offline=True)) as app:
        app.settings.write(app.settings.read().changed("context", 2048))
        app.server.start(ServeOptions(Address(LOOPBACK, 0), needs_token=False))
        yield app


def ask(hearth: App, path: str, **body: Any) -> httpx2.Response:
    url = hearth.server.status.url + path
    return httpx2.post(url, json={"model": "starter", **body}, timeout=120)


def numbers(text: str, form: re.Pattern[str]) -> list[int]:
    found = form.search(text)
    assert found is not None, text
    return [int(it) for it in found.groups()]


@pytest.mark.parametrize("stream", [False, True])
def test_openais_words(hearth: App, stream: bool) -> None:
    for path, field in (("/v1/chat/completions", "messages"), ("/v1/completions", "prompt")):
        reply = ask(hearth, path, **BODIES[path], stream=stream)
        assert reply.status_code == 400
        error = reply.json()["error"]
        assert (error["type"], error["code"]) == ("invalid_request_error", CODE)
        assert error["param"] == field
        context, asked, prompt, kept = numbers(error["message"], OPENAI)
        assert asked == prompt + kept > context
        assert "prompt is too long" in error["message"]  # some clients recognise only this phrase


def test_those_of_responses(hearth: App) -> None:
    error = ask(hearth, "/v1/responses", **BODIES["/v1/responses"]).json()["error"]
    assert (error["code"], error["param"]) == (CODE, "input")
    assert "exceeds the context window of this model" in error["message"]
    numbers(error["message"], OPENAI)


def test_a_streamed_response_ends_with_it(hearth: App) -> None:
    reply = ask(hearth, "/v1/responses", **BODIES["/v1/responses"], stream=True)
    assert reply.status_code == 200
    events = [json.loads(it[6:]) for it in reply.text.splitlines() if it.startswith("data: {")]
    assert [it["type"] for it in events] == [
        "response.created", "response.in_progress", "error", "response.failed",
    ]  # fmt: skip
    assert [it["sequence_number"] for it in events] == [0, 1, 2, 3]
    assert events[2]["error"]["code"] == events[2]["code"] == CODE
    assert events[3]["response"]["status"] == "failed"
    assert events[3]["response"]["error"]["code"] == CODE
    assert "exceeds the context window" in events[3]["response"]["error"]["message"]


@pytest.mark.parametrize("stream", [False, True])
def test_anthropics_words(hearth: App, stream: bool) -> None:
    reply = ask(hearth, "/v1/messages", **BODIES["/v1/messages"], stream=stream)
    assert reply.status_code == 400
    error = reply.json()["error"]
    assert error["type"] == "invalid_request_error"
    tokens, most = numbers(error["message"], ANTHROPIC)
    assert tokens > most


def test_one_that_is_refused_before_it_is_counted(hearth: App) -> None:
    for path, body in BODIES.items():
        longer = json.loads(json.dumps(body).replace(FITS_NOT, LONG))
        error = ask(hearth, path, **longer).json()["error"]
        numbers(error["message"], ANTHROPIC if path == "/v1/messages" else OPENAI)


def test_the_clients_own_errors(hearth: App) -> None:
    url = hearth.server.status.url
    with openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        with pytest.raises(openai.BadRequestError) as refused:
            client.chat.completions.create(model="starter", **BODIES["/v1/chat/completions"])
        assert refused.value.code == CODE
        with pytest.raises(openai.APIError) as failed:
            list(client.responses.create(model="starter", input=FITS_NOT, stream=True))
        assert failed.value.code == CODE
    with (
        anthropic.Anthropic(base_url=url, api_key="none", max_retries=0) as claude,
        pytest.raises(anthropic.BadRequestError, match="prompt is too long: "),
    ):
        claude.messages.create(model="starter", **BODIES["/v1/messages"])


def test_one_that_is_found_late_ends_its_stream(served: Served) -> None:
    served.engine.error = overflow.full(900, 100, 800)
    served.engine.hold = threading.Event()
    served.engine.hold.set()
    for path, body in BODIES.items():
        reply = served.post(path, {"model": "starter", "stream": True, **body})
        assert "prompt is too long: 900 tokens > 700 maximum" in reply.text
        assert (CODE in reply.text) == (path != "/v1/messages")


VLLM: Final = (
    "This model's maximum context length is 2048 tokens. However, your request has 3001 input "
    "tokens. Please reduce the length of the input messages."
)


@pytest.mark.parametrize(
    ("error", "context", "tokens"),
    [
        (overflow.full(3000, 100, 2048), 2048, 3000),
        (overflow.too_long(3000, 0, 2048), 2048, 3000),
        (overflow.prompt_too_long(3000, 2048, counted=False), 2048, 3000),
        (too_long(VLLM), 2048, 3001),
    ],
)
def test_errors_of_all_engines_have_their_numbers(
    error: TooManyTokens, context: int, tokens: int
) -> None:
    assert (error.context, error.tokens) == (context, tokens)
    assert f"maximum context length is {context} tokens. " in openai_message(error)
    assert f"prompt is too long: {tokens} tokens > " in anthropic_message(error)


def test_one_without_numbers_has_the_words_all_the_same() -> None:
    for error in (
        ContextFull("It is full.", "It says so.", "Shorten it."),
        too_long("context window"),
    ):
        assert error is not None
        assert "This model's maximum context length is" in openai_message(error)
        assert anthropic_message(error).startswith("prompt is too long: ")
    half = ContextFull("It is full.", "It says so.", "Shorten it.", context=2048)
    assert "maximum context length is 2048 tokens. However" in openai_message(half)
