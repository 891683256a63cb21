"""Options that an API passes to a server: probabilities, penalties, schemas, raw prompts."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest

from engines.cancel import CancelToken
from engines.errors import EngineError, GrammarInvalid, MessageTooLong, Unsupported
from engines.openai.answering import measure
from engines.redaction import remember
from engines.types import (
    ChatRequest,
    Event,
    PromptEcho,
    PromptReady,
    Sampling,
    TextDelta,
    TokenLogprob,
)
from tests.engines.asking import ask, done_of, text_of
from tests.engines.openai.conftest import CHAT, Reach, Serve, run
from tests.support.openai_server import DONE, Body, chunk, event, refusal, stream

COMPLETIONS = "/v1/completions"
PERSON = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def told(events: list[Event]) -> list[TokenLogprob]:
    return [it for each in events if isinstance(each, TextDelta) for it in each.logprobs]


def likely(text: str, logprob: float, *others: tuple[str, float], **more: object) -> Body:
    top = [{"token": it, "logprob": its, "bytes": None} for it, its in others]
    raw = list(text.encode())
    return {"token": text, "logprob": logprob, "bytes": raw, "top_logprobs": top, **more}


def spoken(text: str, *tokens: Body) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "logprobs": {"content": list(tokens)}}
    return event({"choices": [choice]})


def asked_with(**changes: object) -> ChatRequest:
    return ask("Hello", sampling=Sampling(0.0, **changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["vllm", "llama-server", "openai"])
def test_penalties_biases_and_probabilities_are_passed_on(
    serve: Serve, reach: Reach, kind: str
) -> None:
    server = serve(kind)
    run(ask("Hello"), reach(server))
    request = asked_with(
        presence_penalty=0.5, frequency_penalty=-0.5, logit_bias=((7, -100.0),), logprobs=3
    )
    run(request, reach(server))
    plain, sent = server.chats()
    names = {"presence_penalty", "frequency_penalty", "logit_bias", "logprobs", "top_logprobs"}
    assert not names & plain.keys()
    assert {name: sent[name] for name in names} == {
        "presence_penalty": 0.5,
        "frequency_penalty": -0.5,
        "logit_bias": {"7": -100.0},
        "logprobs": True,
        "top_logprobs": 3,
    }


def test_what_a_server_does_not_take_of_them_is_left_out_and_said(
    serve: Serve, reach: Reach
) -> None:
    server = serve("openai")
    server.script(CHAT, refusal(400, "Unsupported parameter: 'presence_penalty'"))
    events = run(asked_with(presence_penalty=1.0), reach(server))
    assert done_of(events).notes == (
        "This server does not support a presence penalty; it was not used.",
    )
    assert "presence_penalty" not in server.chats()[-1]


def test_vllm_is_sent_no_bias_where_it_drafts(serve: Serve, reach: Reach) -> None:
    server = serve("vllm")
    events = run(asked_with(logit_bias=((7, 1.0),)), reach(server, drafts=True))
    assert "logit_bias" not in server.chats()[0]
    assert any("logit bias" in note for note in done_of(events).notes)


@pytest.mark.parametrize(
    ("kind", "schema", "sent"),
    [
        ("vllm", PERSON, {"structured_outputs": {"json": PERSON}}),
        (
            "openai",
            PERSON,
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "answer", "schema": PERSON, "strict": True},
                }
            },
        ),
        ("ollama", {"type": "object"}, {"response_format": {"type": "json_object"}}),
    ],
)
def test_a_schema_goes_as_the_server_takes_it(
    serve: Serve, reach: Reach, kind: str, schema: Body, sent: Body
) -> None:
    server = serve(kind)
    run(asked_with(schema=json.dumps(schema)), reach(server))
    assert {name: server.chats()[0][name] for name in sent} == sent


def test_a_schema_that_is_no_json_is_refused_here(serve: Serve, reach: Reach) -> None:
    server = serve("vllm")
    with pytest.raises(GrammarInvalid):
        run(asked_with(schema="{"), reach(server))
    assert server.chats() == []


def test_the_probabilities_of_a_stream_come_with_its_text(serve: Serve, reach: Reach) -> None:
    server = serve("llama-server")
    server.script(
        CHAT,
        stream(
            spoken("Hel", likely("Hel", -0.25, ("Hel", -0.25), ("Ha", -2.0), id=17)),
            spoken("lo", likely("lo", -0.5)),
            chunk({}, "stop"),
            DONE,
        ),
    )
    events = run(asked_with(logprobs=2), reach(server))
    assert text_of(events) == "Hello"
    first, second = told(events)
    assert (first.token, first.text, first.raw, first.logprob) == (17, "Hel", b"Hel", -0.25)
    assert [(it.text, it.logprob) for it in first.likeliest] == [("Hel", -0.25), ("Ha", -2.0)]
    assert (second.token, second.text) == (-1, "lo")


@pytest.mark.parametrize("end", [chunk({}, "stop"), chunk({}, "length")])
def test_what_was_held_back_has_its_probabilities_at_the_end(
    serve: Serve, reach: Reach, end: bytes
) -> None:
    """It might have become a secret, or a marker."""
    server = serve()
    server.script(
        CHAT, stream(spoken("It is", likely("It is", -0.1)), spoken(" sk", likely(" sk", -0.2)),
                     spoken("-", likely("-", -0.3)), end, DONE)
    )  # fmt: skip
    events = run(asked_with(logprobs=0), reach(server))
    assert text_of(events) == "It is sk-"
    assert [it.text for it in told(events)] == ["It is", " sk", "-"]


def test_tokens_of_reasoning_belong_to_no_text(serve: Serve, reach: Reach) -> None:
    thinking = {
        "index": 0,
        "delta": {"reasoning": "Hm."},
        "logprobs": {"content": [likely("Hm.", -1.0)]},
    }
    server = serve("vllm")
    server.script(
        CHAT, stream(event({"choices": [thinking]}), spoken("Hi", likely("Hi", -0.1)), DONE)
    )
    events = run(asked_with(logprobs=0), reach(server, thinking="always", thinks=True))
    assert [it.text for it in told(events)] == ["Hi"]


def test_probabilities_spell_no_secret_that_was_taken_out(serve: Serve, reach: Reach) -> None:
    secret = "sk-abcdefghijklmnopqrstuvwx"
    remember(secret)
    server = serve("openai")
    pieces = [secret[at : at + 5] for at in range(0, len(secret), 5)]
    server.script(
        CHAT,
        stream(
            spoken("It is ", likely("It is ", -0.1)),
            *(spoken(piece, likely(piece, -0.1)) for piece in pieces),
            spoken(".", likely(".", -0.1)),
            chunk({}, "stop"),
            DONE,
        ),
    )
    events = run(asked_with(logprobs=0), reach(server))
    assert secret not in text_of(events)
    assert not any(piece in (it.text for it in told(events)) for piece in pieces)


@pytest.mark.parametrize(
    "odd",
    [
        7,
        {"content": 7},
        {"content": [7, {"token": 7}, {"token": "a", "logprob": "x", "bytes": [999]}]},
        {"tokens": ["a"], "token_logprobs": 7},
        {"tokens": [7, "a"], "token_logprobs": [1, None], "top_logprobs": [7, 7]},
    ],
)
def test_odd_probabilities_do_no_harm(serve: Serve, reach: Reach, odd: object) -> None:
    server = serve("openai")
    piece = {"choices": [{"index": 0, "delta": {"content": "a"}, "logprobs": odd}]}
    server.script(CHAT, stream(event(piece), chunk({}, "stop"), DONE))
    assert text_of(run(asked_with(logprobs=1), reach(server))) == "a"


def completion(text: str, finish: str | None = None, **more: Any) -> bytes:
    return event({"choices": [{"index": 0, "text": text, "finish_reason": finish, **more}]})


@pytest.mark.parametrize("prompt", ["Once upon", (1, 2, 3)])
def test_a_prompt_goes_in_as_it_is(
    serve: Serve, reach: Reach, prompt: str | tuple[int, ...]
) -> None:
    server = serve("vllm")
    old = {
        "tokens": [" a"],
        "token_logprobs": [-0.5],
        "top_logprobs": [{" the": -1.0, " a": -0.5}],
        "text_offset": [0],
    }
    server.script(
        COMPLETIONS, stream(completion(" a", logprobs=old), completion(" <think>", "stop"), DONE)
    )
    request = ChatRequest((), Sampling(0.0, logprobs=2, seed=1), prompt=prompt, stop=("END",))
    events = run(request, reach(server, thinking="always", thinks=True))
    assert text_of(events) == " a <think>"
    assert [it.text for it in told(events)[0].likeliest] == [" a", " the"]
    (sent,) = (it.body for it in server.asked if it.path == COMPLETIONS)
    assert sent["prompt"] == (prompt if isinstance(prompt, str) else list(prompt))
    assert sent["stop"] == ["END"]
    assert sent["logprobs"] == 2
    assert sent["max_tokens"] > 100
    assert "messages" not in sent
    assert isinstance(events[0], PromptReady)


def test_a_gap_in_a_text_is_not_filled(serve: Serve, reach: Reach) -> None:
    server = serve("vllm")
    with pytest.raises(Unsupported, match="cannot fill a gap"):
        run(ChatRequest((), prompt="Once", suffix="the end."), reach(server))
    assert COMPLETIONS not in {it.path for it in server.asked}


def test_a_prompt_that_is_too_long_is_not_sent(serve: Serve, reach: Reach) -> None:
    server = serve("vllm", context=64)
    request = ChatRequest((), prompt=(1,) * 64)
    with pytest.raises(MessageTooLong, match="64 tokens"):
        run(request, reach(server))
    assert measure(request, reach(server), CancelToken()).total == 64
    server.script(COMPLETIONS, refusal(400, "This model's maximum context length is 64 tokens."))
    with pytest.raises(EngineError, match="64 tokens"):
        run(replace(request, prompt=(1,) * 10), reach(server))


@pytest.mark.parametrize("kind", ["vllm", "sglang"])
def test_the_end_of_an_answer_is_passed_on(serve: Serve, reach: Reach, kind: str) -> None:
    server = serve(kind)
    run(asked_with(ignore_end=True, min_tokens=5, stop_tokens=(3, 9)), reach(server))
    (sent,) = server.chats()
    assert (sent["ignore_eos"], sent["min_tokens"]) == (True, 5)
    assert sent["stop_token_ids"] == [3, 9]


@pytest.mark.parametrize(
    ("kind", "changes", "field"),
    [
        ("llama-server", {"min_tokens": 5}, "min_tokens"),
        ("llama-server", {"stop_tokens": (3,)}, "stop_token_ids"),
        ("openai", {"ignore_end": True}, "ignore_eos"),
        ("lmstudio", {"ignore_end": True}, "ignore_eos"),
        ("ollama", {"min_tokens": 1}, "min_tokens"),
    ],
)
def test_a_server_that_would_end_an_answer_elsewhere_is_not_asked(
    serve: Serve, reach: Reach, kind: str, changes: dict[str, Any], field: str
) -> None:
    server = serve(kind)
    with pytest.raises(Unsupported, match=field):
        run(asked_with(**changes), reach(server))
    assert server.chats() == []


def test_llama_server_ignores_an_end(serve: Serve, reach: Reach) -> None:
    server = serve("llama-server")
    run(asked_with(ignore_end=True), reach(server))
    assert server.chats()[0]["ignore_eos"] is True


def test_numbers_are_what_a_server_can_take(serve: Serve, reach: Reach) -> None:
    server = serve("vllm")
    bias = ((5, float("-inf")), (6, 1e6))
    request = ask("Hello", sampling=Sampling(1.0, top_p=0.0, seed=1 << 70, logit_bias=bias))
    run(request, reach(server))
    (sent,) = server.chats()
    assert 0 < sent["top_p"] < 0.001, "vLLM refuses 0"
    assert sent["logit_bias"] == {"5": -100.0, "6": 100.0}
    assert -(1 << 63) <= sent["seed"] < 1 << 63


def test_a_prompt_comes_back_with_its_probabilities_from_vllm(serve: Serve, reach: Reach) -> None:
    server = serve("vllm")
    logprobs = {
        "tokens": ["Once", " upon", " a"],
        "token_logprobs": [None, -1.5, -0.5],
        "top_logprobs": [None, {" upon": -1.5, " more": -0.5}, {" a": -0.5}],
    }
    choice = {"index": 0, "text": "Once upon a", "logprobs": logprobs}
    server.script(COMPLETIONS, stream(event({"choices": [choice]}), DONE))
    request = ChatRequest(
        (), Sampling(0.0, logprobs=1), 4, ("upon",), prompt="Once upon", echo=True
    )
    events = run(request, reach(server))
    (sent,) = (it.body for it in server.asked if it.path == COMPLETIONS)
    assert (sent["echo"], sent["logprobs"], sent["stop"]) == (True, 1, ["upon"])
    assert text_of(events) == "Once upon a", "no stop counts in the prompt"
    first, second, third = told(events)
    assert math.isnan(first.logprob)
    assert (second.logprob, third.logprob) == (-1.5, -0.5)


def test_another_server_tells_no_probabilities_of_a_prompt(serve: Serve, reach: Reach) -> None:
    server = serve("llama-server")
    answer = event({"choices": [{"index": 0, "text": " a time"}]})
    server.script(COMPLETIONS, stream(answer, DONE))
    asked = ChatRequest((), Sampling(0.0), 4, prompt="Once upon", echo=True)
    events = run(asked, reach(server))
    assert [it.text for it in events if isinstance(it, PromptEcho)] == ["Once upon"]
    with pytest.raises(Unsupported, match="prompt"):
        run(replace(asked, sampling=Sampling(0.0, logprobs=1)), reach(server))
