"""Data that no server should send: it leads to an answer or to an error of three parts."""

from __future__ import annotations

import math

import pytest

from engines.errors import EngineError, ModelNotFound, ServerFailed
from engines.openai.parsing import parse_json
from tests.engines.asking import ask, done_of, text_of
from tests.engines.openai.conftest import CHAT, Reach, Serve, run
from tests.support.openai_server import DONE, Reply, chunk, stream

DEEP = b'{"a":' * 100_000 + b"1" + b"}" * 100_000


def told(text: bytes) -> bytes:
    return b"data: " + text + b"\n\n"


def test_half_a_character_becomes_a_sign_that_can_be_kept(serve: Serve, reach: Reach) -> None:
    server = serve()
    half = told(rb'{"choices":[{"delta":{"content":"half \ud83d, whole \ud83d\ude00."}}]}')
    server.script(CHAT, stream(half, chunk({}, "stop"), DONE))
    text = text_of(run(ask("Hello"), reach(server)))
    assert text == "half \ufffd, whole 😀."
    assert text.encode()


def test_what_only_looks_like_half_a_character_stays() -> None:
    assert parse_json(rb'{"a": "a path \\ud800 and \u00e9"}') == {"a": "a path \\ud800 and é"}


@pytest.mark.parametrize("reply", [stream(chunk({"content": "x"}), told(DEEP)), Reply(DEEP)])
def test_what_is_nested_too_deep_is_no_answer(serve: Serve, reach: Reach, reply: Reply) -> None:
    server = serve()
    server.script(CHAT, reply)
    with pytest.raises(ServerFailed):
        run(ask("Hello"), reach(server))


def test_an_error_that_is_nested_too_deep_is_one(serve: Serve, reach: Reach) -> None:
    server = serve()
    server.script(CHAT, Reply(b'{"error":' * 100_000, status=500))
    with pytest.raises(EngineError):
        run(ask("Hello"), reach(server))


def test_figures_that_cannot_be_are_none(serve: Serve, reach: Reach) -> None:
    server = serve()
    usage = b'{"prompt_tokens": 1e400, "completion_tokens": true, "cached": NaN}'
    timings = b'{"predicted_per_second": Infinity, "prompt_per_second": 1e300, "predicted_n": -3}'
    ends = b'{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":%b,"timings":%b}'
    big = told(b'{"choices":[],"usage":{"completion_tokens":' + b"9" * 40 + b"}}")
    server.script(
        CHAT, stream(chunk({"content": "Well."}), told(ends % (usage, timings)), big, DONE)
    )
    done = done_of(run(ask("Hello"), reach(server)))
    assert done.usage.completion_tokens is not True
    assert 0 <= done.usage.completion_tokens < 100
    assert math.isfinite(done.timing.decode_tok_s)
    assert done.timing.prefill_tok_s < 1e12


def test_what_is_not_packed_as_it_says_is_no_fault_of_the_network(
    serve: Serve, reach: Reach
) -> None:
    server = serve()
    answer = stream(chunk({"content": "x"}), DONE, headers={"Content-Encoding": "gzip"})
    server.script(CHAT, answer)
    with pytest.raises(ServerFailed, match="something that no server of this kind sends"):
        run(ask("Hello"), reach(server))


def test_another_model_s_words_are_not_taken_for_those_of_the_one_asked(
    serve: Serve, reach: Reach
) -> None:
    """llama-server accepts any name, and answers with its own model."""
    server = serve("llama-server")
    via = reach(server)
    other = (chunk({"content": "x"}, model="other"), chunk({}, "stop", model="other"), DONE)
    server.script(CHAT, stream(*other), stream(*other))
    assert text_of(run(ask("Hello"), via)) == "x", "it lists the model still, under another name"
    server.model = "other"
    with pytest.raises(ModelNotFound, match="no longer has") as caught:
        run(ask("Hello"), via)
    assert "other" in caught.value.why
