"""A real vLLM behind the API with the starter's checkpoint, in each protocol.

One worker writes all answers. Their content does not matter here, only that they have the
requested form.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
import psutil
import pytest

from app.base.folder import DataFolder
from app.net.values.serving import LOOPBACK, Address, ServeOptions
from app.wiring.app import App, open_app
from tests.engines.vllm.faked import TARGET

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="vLLM runs on Linux only"),
    pytest.mark.vllm,
    pytest.mark.timeout(900),
    pytest.mark.filterwarnings("ignore:unclosed <socket.*family=1:ResourceWarning"),
]

LOAD_S = 600.0
"""Time limit for a start of vLLM on a busy processor, in seconds."""
QUESTION = "What can you do for me?"
USER: Any = [{"role": "user", "content": QUESTION}]
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


@pytest.fixture(scope="module")
def hearth(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    home = os.environ.get("HEARTH_VLLM_HOME", "")
    if not home:
        pytest.skip("HEARTH_VLLM_HOME names no installed vLLM")
    threads = {*threading.enumerate()}
    processes = {*psutil.Process().children(recursive=True)}
    root = tmp_path_factory.mktemp("data")
    (root / "engines").mkdir()
    (root / "engines" / "vllm").symlink_to(Path(home), target_is_directory=True)
    with closing(open_app(DataFolder(root), offline=True)) as app:
        settings = app.settings.read().changed("context", 1024).changed("vllm_idle", 0)
        app.settings.write(settings.changed("mtp", "off"))
        app.library.add(TARGET)
        app.server.start(ServeOptions(Address(LOOPBACK, 0)))
        yield app
    for thread in {*threading.enumerate()} - threads:
        thread.join(30)
    assert {*threading.enumerate()} <= threads
    assert {*psutil.Process().children(recursive=True)} <= processes


@pytest.fixture(autouse=True)
def nothing_left_behind() -> None:
    """Let the server's threads and the worker live from test to test: `hearth` ends them."""


def model_of(app: App) -> str:
    return next(it.id for it in app.library.entries() if it.engine == "vllm")


@pytest.fixture(scope="module")
def model(hearth: App) -> str:
    return model_of(hearth)


@pytest.fixture(scope="module")
def client(hearth: App) -> Iterator[openai.OpenAI]:
    key = hearth.api_keys.token().secret.reveal()
    url = f"{hearth.server.status.url}/v1"
    with openai.OpenAI(base_url=url, api_key=key, max_retries=0, timeout=300) as client:
        yield client


@pytest.fixture(scope="module")
def claude(hearth: App) -> Iterator[anthropic.Anthropic]:
    key = hearth.api_keys.token().secret.reveal()
    url = hearth.server.status.url
    with anthropic.Anthropic(base_url=url, api_key=key, max_retries=0, timeout=300) as client:
        yield client


def post(hearth: App, path: str, body: object) -> httpx2.Response:
    key = hearth.api_keys.token().secret.reveal()
    headers = {"Authorization": f"Bearer {key}"}
    return httpx2.post(hearth.server.status.url + path, json=body, headers=headers, timeout=LOAD_S)


def test_it_is_listed_beside_the_others(client: openai.OpenAI, model: str) -> None:
    assert {it.id for it in client.models.list()} == {"starter", model}


def test_a_chat_is_answered_with_its_figures_and_streamed_alike(
    client: openai.OpenAI, model: str
) -> None:
    asked: Any = {"model": model, "messages": USER, "temperature": 0, "max_tokens": 12}
    whole = client.chat.completions.create(**asked)
    assert whole.choices[0].finish_reason == "length"
    assert whole.usage is not None
    assert whole.usage.completion_tokens == 12
    assert whole.usage.prompt_tokens > 5
    pieces = list(
        client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True})
    )
    text = "".join(it.choices[0].delta.content or "" for it in pieces if it.choices)
    assert text == whole.choices[0].message.content
    assert pieces[-1].usage is not None
    assert pieces[-1].usage.completion_tokens == 12


def test_stops_seeds_and_several_answers(client: openai.OpenAI, model: str) -> None:
    asked: Any = {"model": model, "messages": USER, "max_tokens": 12}
    first, again = (
        client.chat.completions.create(**asked, seed=7, temperature=1.5).choices[0].message.content
        for _ in "ab"
    )
    assert first == again
    several = client.chat.completions.create(**asked, n=3, seed=7, temperature=1.5)
    assert [it.index for it in several.choices] == [0, 1, 2]
    assert several.choices[0].message.content == first
    whole = client.chat.completions.create(**asked, temperature=0).choices[0].message.content or ""
    word = whole.split()[1]
    cut = client.chat.completions.create(**asked, temperature=0, stop=[word]).choices[0]
    assert cut.finish_reason == "stop"
    assert word not in (cut.message.content or "")


def test_probabilities_are_told(client: openai.OpenAI, model: str) -> None:
    answer = client.chat.completions.create(
        model=model, messages=USER, temperature=0, max_tokens=4, logprobs=True, top_logprobs=3
    ).choices[0]
    assert answer.logprobs is not None
    told = answer.logprobs.content or []
    assert len(told) == 4
    assert "".join(it.token for it in told) == answer.message.content
    for it in told:
        assert it.logprob <= 0
        assert len(it.top_logprobs) == 3
        assert it.top_logprobs[0].token == it.token


def test_an_answer_follows_its_schema(client: openai.OpenAI, model: str) -> None:
    wanted: Any = {"type": "json_schema", "json_schema": {"name": "town", "schema": TOWN}}
    answer = client.chat.completions.create(
        model=model,
        messages=USER,
        max_tokens=200,
        response_format=wanted,
        # vLLM allows any number of blanks in JSON, and the starter likes line breaks.
        frequency_penalty=2,
    )
    assert json.loads(answer.choices[0].message.content or "")["town"] in {"Bonn", "Ulm"}


def test_an_answer_follows_its_grammar(client: openai.OpenAI, model: str) -> None:
    answer = client.chat.completions.create(
        model=model,
        messages=USER,
        max_tokens=20,
        extra_body={"grammar": 'root ::= "yes" | "no"'},
    )
    assert answer.choices[0].message.content in {"yes", "no"}


def test_a_tool_that_has_to_be_asked_for_is(client: openai.OpenAI, model: str) -> None:
    choices: Any = ("required", {"type": "function", "function": {"name": "clock"}})
    for choice in choices:
        answer = client.chat.completions.create(
            model=model,
            messages=USER,
            max_tokens=300,
            tools=[CLOCK],
            tool_choice=choice,
        ).choices[0]
        assert answer.finish_reason == "tool_calls", answer
        assert answer.message.tool_calls
        call: Any = answer.message.tool_calls[0]
        assert call.function.name == "clock"
        assert json.loads(call.function.arguments)["town"] in {"Bonn", "Ulm"}


def test_results_of_tools_are_read(client: openai.OpenAI, model: str) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "clock", "arguments": "{}"}}
    told: Any = [
        *USER,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "It is eight."},
    ]
    answer = client.chat.completions.create(
        model=model, messages=told, tools=[CLOCK], max_tokens=8, temperature=0
    )
    assert answer.choices[0].finish_reason in {"length", "stop", "tool_calls"}


def test_a_raw_prompt_is_gone_on_with(client: openai.OpenAI, model: str) -> None:
    answer = client.completions.create(
        model=model, prompt="Hearth keeps", max_tokens=6, temperature=0, logprobs=2
    )
    assert answer.choices[0].text
    assert answer.choices[0].logprobs is not None
    assert len(answer.choices[0].logprobs.tokens or ()) == 6
    assert answer.usage is not None
    assert answer.usage.completion_tokens == 6


def test_responses_are_written(client: openai.OpenAI, model: str) -> None:
    whole = client.responses.create(
        model=model, input=QUESTION, max_output_tokens=12, temperature=0
    )
    assert whole.status == "incomplete"
    assert whole.output_text
    assert whole.usage is not None
    assert whole.usage.output_tokens == 12
    with client.responses.stream(
        model=model, input=QUESTION, max_output_tokens=12, temperature=0
    ) as stream:
        text = "".join(it.delta for it in stream if it.type == "response.output_text.delta")
    assert text == whole.output_text
    tool: Any = {"type": "function", "name": "clock", "parameters": TOWN}
    called = client.responses.create(
        model=model, input=QUESTION, tools=[tool], tool_choice="required", max_output_tokens=300
    )
    assert [it.type for it in called.output if it.type != "reasoning"] == ["function_call"]


def test_messages_are_written_and_counted(claude: anthropic.Anthropic, model: str) -> None:
    asked: Any = {"model": model, "messages": USER, "max_tokens": 12}
    asked["extra_body"] = {"temperature": 0}
    whole = claude.messages.create(**asked)
    assert whole.stop_reason == "max_tokens"
    assert whole.usage.output_tokens == 12
    with claude.messages.stream(**asked) as stream:
        assert "".join(stream.text_stream) == whole.content[0].text
    counted = claude.messages.count_tokens(model=model, messages=USER).input_tokens
    read = whole.usage.input_tokens + (whole.usage.cache_read_input_tokens or 0)
    assert counted == read
    tool: Any = {"name": "clock", "input_schema": TOWN}
    called = claude.messages.create(
        **{**asked, "max_tokens": 300}, tools=[tool], tool_choice={"type": "any"}
    )
    assert called.stop_reason == "tool_use"
    assert called.content[-1].type == "tool_use"


def test_texts_and_tokens_are_turned_into_each_other(hearth: App, model: str) -> None:
    tokens = post(hearth, "/tokenize", {"model": model, "content": QUESTION}).json()["tokens"]
    assert len(tokens) > 3
    text = post(hearth, "/detokenize", {"model": model, "tokens": tokens}).json()["content"]
    assert text.strip() == QUESTION


def test_a_model_that_writes_gives_no_vectors_and_says_so(
    client: openai.OpenAI, model: str
) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        client.embeddings.create(model=model, input="Hello")
    assert "vectors" in str(caught.value)


def test_what_does_not_fit_is_told_in_the_words_that_clients_look_for(
    client: openai.OpenAI, model: str
) -> None:
    long: Any = [{"role": "user", "content": "a word " * 4000}]
    with pytest.raises(openai.BadRequestError, match="prompt is too long") as caught:
        client.chat.completions.create(model=model, messages=long)
    assert caught.value.code == "context_length_exceeded"


def test_several_are_answered_at_once_and_one_that_goes_ends_nobody_else(
    client: openai.OpenAI, model: str
) -> None:
    asked: Any = {"model": model, "messages": USER, "temperature": 0, "max_tokens": 40}
    alone = client.chat.completions.create(**asked).choices[0].message.content
    heard: list[str | None] = []

    def ask() -> None:
        heard.append(client.chat.completions.create(**asked).choices[0].message.content)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    with client.chat.completions.create(**asked, stream=True) as stream:
        next(iter(stream))
    for thread in threads:
        thread.join()
    assert len(heard) == 3
    assert all(heard)
    assert alone in heard


OLDER = {"vllm:time_per_output_token_seconds"}
"""Metrics exported for dashboards made for their old names; vLLM itself has renamed them."""


def test_figures_have_the_names_that_vllm_has(hearth: App) -> None:
    home = Path(os.environ["HEARTH_VLLM_HOME"])
    package = next(home.glob("versions/*/lib/python3*/site-packages/vllm"))
    sources = [*package.glob("v1/metrics/*.py"), *package.glob("v1/spec_decode/metrics.py")]
    known = "".join(it.read_text() for it in sources)
    told = {it.name for it in hearth.exposition.metrics() if it.name.startswith("vllm:")}
    unknown = {it for it in told if f'"{it.removesuffix("_total")}"' not in known}
    assert len(told) > 15
    assert unknown <= OLDER


def test_its_figures_are_told(hearth: App, model: str) -> None:
    key = hearth.api_keys.token().secret.reveal()
    headers = {"Authorization": f"Bearer {key}"}
    text = httpx2.get(hearth.server.status.url + "/metrics", headers=headers).text
    rows = [line for line in text.splitlines() if 'engine="vllm"' in line]
    for name in ("vllm:kv_cache_usage_perc", "vllm:generation_tokens_total"):
        assert any(line.startswith(name) for line in rows), rows
