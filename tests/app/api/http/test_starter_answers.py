"""The starter model itself behind the API, with the request fields of other servers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from app.base.folder import DataFolder
from app.net.values.serving import LOOPBACK, Address, ServeOptions
from app.wiring.app import App, open_app

QUESTION: Any = [{"role": "user", "content": "What is Hearth?"}]
TOWN = {
    "type": "object",
    "properties": {"town": {"enum": ["Bonn", "Ulm"]}},
    "required": ["town"],
    "additionalProperties": False,
}
CLOCK: Any = {
    "type": "function",
    "function": {"name": "clock", "description": "The time", "parameters": TOWN},
}


@pytest.fixture
def hearth() -> Iterator[App]:
    with closing(open_app(DataFolder.default(), offline=True)) as app:
        app.server.start(ServeOptions(Address(LOOPBACK, 0), needs_token=False))
        yield app


@pytest.fixture
def client(hearth: App) -> Iterator[openai.OpenAI]:
    url = f"{hearth.server.status.url}/v1"
    with openai.OpenAI(base_url=url, api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture
def claude(hearth: App) -> Iterator[anthropic.Anthropic]:
    url = hearth.server.status.url
    with anthropic.Anthropic(base_url=url, api_key="none", max_retries=0) as client:
        yield client


def said(client: openai.OpenAI, **extra: Any) -> str:
    """Send fields that the client does not know and return the answer's text."""
    answer = client.chat.completions.create(
        model="starter", messages=QUESTION, max_tokens=100, extra_body=extra
    )
    assert answer.choices[0].finish_reason == "stop"
    return answer.choices[0].message.content or ""


def test_an_answer_follows_what_other_servers_call_it(client: openai.OpenAI) -> None:
    assert said(client, guided_choice=["maybe", 'no, "never"']) in {"maybe", 'no, "never"'}
    assert said(client, structured_outputs={"choice": ["ä\n", "ö\n"]}) in {"ä\n", "ö\n"}
    for pattern in (r"\d{3}-[a-c]{2}", "^(Hello|Bye), [A-Z][a-z]{2,5}!$", r"[^a-z\s]{4}(x|y)?"):
        assert re.fullmatch(pattern, said(client, guided_regex=pattern))
        assert re.fullmatch(pattern, said(client, regex=pattern))
    for field in ("guided_json", "json_schema", "format"):
        assert json.loads(said(client, **{field: TOWN}))["town"] in {"Bonn", "Ulm"}
    assert json.loads(said(client, structured_outputs={"json": TOWN}))["town"] in {"Bonn", "Ulm"}
    form = {"type": "json_object", "schema": TOWN}
    assert json.loads(said(client, response_format=form))["town"] in {"Bonn", "Ulm"}
    assert said(client, ebnf='root ::= "q"') == "q"


def test_the_other_protocols_hold_a_choice_too(
    client: openai.OpenAI, claude: anthropic.Anthropic
) -> None:
    choice: Any = {"guided_choice": ["maybe", "never"]}
    message = claude.messages.create(
        model="starter", max_tokens=20, messages=QUESTION, extra_body=choice
    )
    assert message.content[0].type == "text"
    assert message.content[0].text in choice["guided_choice"]
    response = client.responses.create(model="starter", input="What is Hearth?", extra_body=choice)
    assert response.output_text in choice["guided_choice"]
    text = client.completions.create(model="starter", prompt="Hearth is", extra_body=choice)
    assert text.choices[0].text in choice["guided_choice"]


@pytest.mark.parametrize("temperature", [0, 1])
def test_an_answer_goes_on_past_its_end(client: openai.OpenAI, temperature: float) -> None:
    asked: Any = {"model": "starter", "messages": QUESTION, "temperature": temperature}
    endless = client.chat.completions.create(
        **asked, max_tokens=200, extra_body={"ignore_eos": True}
    )
    assert endless.usage is not None
    assert (endless.usage.completion_tokens, endless.choices[0].finish_reason) == (200, "length")
    longer = client.chat.completions.create(
        **asked, max_tokens=150, extra_body={"min_tokens": 100}, logprobs=True
    )
    assert longer.usage is not None
    assert 100 <= longer.usage.completion_tokens <= 150


def test_no_stop_ends_an_answer_before_its_least_tokens(client: openai.OpenAI) -> None:
    usual = client.completions.create(
        model="starter", prompt="Hearth is a", max_tokens=20, temperature=0, logprobs=0
    ).choices[0]
    assert usual.logprobs is not None
    tokens = usual.logprobs.tokens or []
    stop = tokens[4]
    ended = client.completions.create(
        model="starter", prompt="Hearth is a", max_tokens=20, temperature=0, stop=[stop]
    )
    assert ended.choices[0].text == "".join(tokens[: tokens.index(stop)])
    longer = client.completions.create(
        model="starter", prompt="Hearth is a", max_tokens=20, temperature=0, stop=[stop],
        extra_body={"min_tokens": 10},
    )  # fmt: skip
    assert longer.choices[0].text.startswith("".join(tokens[:9]))


def test_a_token_ends_an_answer(hearth: App, client: openai.OpenAI) -> None:
    usual = said(client)
    word = " desktop"
    answer = httpx2.post(f"{hearth.server.status.url}/tokenize", json={"content": word}, timeout=60)
    (token,) = answer.json()["tokens"]
    assert word in usual
    assert said(client, stop_token_ids=[token]) == usual.partition(word)[0]


def test_a_limit_of_none_and_of_no_token(client: openai.OpenAI) -> None:
    whole = client.chat.completions.create(model="starter", messages=QUESTION, max_tokens=-1)
    assert whole.choices[0].finish_reason == "stop"
    none = client.chat.completions.create(model="starter", messages=QUESTION, max_tokens=0)
    assert (none.choices[0].message.content, none.choices[0].finish_reason) == ("", "length")
    assert none.usage is not None
    assert none.usage.completion_tokens == 0


def test_a_new_seed_is_drawn_for_each_answer(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(
        model="starter", messages=QUESTION, n=3, seed=-1, temperature=5, max_tokens=30,
        extra_body={"top_k": 0, "min_p": 0}, top_p=1,
    )  # fmt: skip
    assert len({it.message.content for it in answer.choices}) == 3


def test_control_tokens_in_an_answer_leave_the_next_one_alone(client: openai.OpenAI) -> None:
    usual = said(client)
    for token in range(8):
        client.chat.completions.create(
            model="starter", messages=QUESTION, max_tokens=4, logit_bias={str(token): 100}
        )
    assert said(client) == usual


# Probabilities of a prompt, as lm-eval asks for them


def test_a_prompt_is_as_likely_as_when_it_was_written(client: openai.OpenAI) -> None:
    asked: Any = {"model": "starter", "temperature": 0, "logprobs": 1}
    written = client.completions.create(**asked, prompt="Hearth is a", max_tokens=40).choices[0]
    whole = "Hearth is a" + written.text
    judged = client.completions.create(**asked, prompt=whole, max_tokens=1, echo=True).choices[0]
    assert written.logprobs is not None
    assert judged.logprobs is not None
    tokens, told = judged.logprobs.tokens or [], judged.logprobs.token_logprobs or []
    tops, places = judged.logprobs.top_logprobs or [], judged.logprobs.text_offset or []
    assert len(tokens) == len(told) == len(tops) == len(places)
    assert judged.text == "".join(tokens)
    assert judged.text.startswith(whole)
    assert all(judged.text.startswith(it, at) for at, it in zip(places, tokens, strict=True))
    assert (told[0], tops[0], places[0]) == (None, None, 0)
    before = len(tokens) - 1 - len(written.logprobs.tokens or [])
    assert told[before:-1] == pytest.approx(written.logprobs.token_logprobs, abs=0.05)
    assert all(
        max(top.values()) >= logprob for top, logprob in zip(tops[1:], told[1:], strict=True)
    )


def test_the_prompt_alone_is_judged(client: openai.OpenAI) -> None:
    asked: Any = {"model": "starter", "prompt": "Grüße, €!", "echo": True, "logprobs": 2}
    for _ in range(2):  # the second answer could come from the cache
        answer = client.completions.create(**asked, max_tokens=0)
        choice = answer.choices[0]
        assert (choice.text, choice.finish_reason) == ("Grüße, €!", "length")
        assert choice.logprobs is not None
        told = choice.logprobs.token_logprobs or []
        assert told[0] is None
        assert all(it < 0 for it in told[1:])
        assert choice.logprobs.text_offset == sorted(choice.logprobs.text_offset or [])
        assert answer.usage is not None
        assert answer.usage.completion_tokens == 0
    stream = client.completions.create(**asked, max_tokens=0, stream=True)
    pieces = [it.choices[0] for it in stream if it.choices]
    assert "".join(it.text for it in pieces) == "Grüße, €!"


def test_prompts_of_tokens_are_judged_as_lm_eval_sends_them(
    hearth: App, client: openai.OpenAI
) -> None:
    texts = ["Hearth is a free app.", "The models run on your own computer, and nowhere else. " * 9]
    url = f"{hearth.server.status.url}/tokenize"
    prompts = [
        httpx2.post(url, json={"prompt": it, "add_special_tokens": False}).json()["tokens"]
        for it in texts
    ]
    answer = client.completions.create(
        model="starter", prompt=prompts, temperature=0, max_tokens=1, logprobs=1, seed=1234,
        echo=True,
    )  # fmt: skip
    for choice, prompt, text in zip(answer.choices, prompts, texts, strict=True):
        assert choice.logprobs is not None
        assert choice.text.startswith(text)
        assert len((choice.logprobs.token_logprobs or [])[:-1]) == len(prompt)
        assert len(choice.logprobs.top_logprobs or []) == len(choice.logprobs.tokens or [])


# Calls that are cut off


def test_no_cut_call_comes_as_text(client: openai.OpenAI, exhaustive: bool) -> None:
    asked: Any = {
        "model": "starter", "messages": QUESTION, "tools": [CLOCK], "tool_choice": "required",
        "temperature": 0,
    }  # fmt: skip
    finished = set()
    for most in range(1, 100, 1 if exhaustive else 6):
        whole = client.chat.completions.create(**asked, max_tokens=most).choices[0]
        assert not whole.message.content
        stream = client.chat.completions.create(**asked, max_tokens=most, stream=True)
        chunks = [it.choices[0] for it in stream]
        assert "".join(it.delta.content or "" for it in chunks) == ""
        assert chunks[-1].finish_reason == whole.finish_reason
        calls = whole.message.tool_calls or []
        for call in calls:  # a call may lack its end marker, and nothing else
            assert call.type == "function"
            assert json.loads(call.function.arguments)["town"] in {"Bonn", "Ulm"}
        if whole.finish_reason == "length":
            finished.add(len(calls))
    assert {0, 1} <= finished, "some were cut behind a call that had come to its end"


def test_a_cut_call_is_left_out_in_the_other_protocols(
    client: openai.OpenAI, claude: anthropic.Anthropic
) -> None:
    function: Any = {"type": "function", "strict": True, **CLOCK["function"]}
    message = claude.messages.create(
        model="starter", max_tokens=5, messages=QUESTION, tool_choice={"type": "any"},
        tools=[{"name": "clock", "input_schema": TOWN}],
    )  # fmt: skip
    assert message.stop_reason == "max_tokens"
    assert [(it.type, getattr(it, "text", "")) for it in message.content] == [("text", "")]
    response = client.responses.create(
        model="starter", input="What is Hearth?", max_output_tokens=5, tool_choice="required",
        tools=[function],
    )  # fmt: skip
    assert (response.status, response.output_text) == ("incomplete", "")
    assert response.incomplete_details is not None
    assert response.incomplete_details.reason == "max_output_tokens"
