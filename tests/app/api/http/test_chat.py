"""Chat completions and completions of the server, with OpenAI's client."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from typing import Any

import httpx2
import openai
import pytest
from pydantic import BaseModel

from engines.errors import ContextFull, EngineFailed
from engines.types import (
    ReasoningDelta,
    TextDelta,
    TokenLogprob,
    ToolCall,
    ToolCallDelta,
    WasReasoning,
)
from tests.app.api.http.conftest import noted
from tests.support.serving import Served

WEATHER: Any = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather of a town.",
        "parameters": {"type": "object", "properties": {"town": {"type": "string"}}},
    },
}

WRITTEN = (
    ToolCallDelta(0, "weather", "c1", ""),
    ToolCallDelta(0, "weather", "c1", '{"town": '),
    ToolCallDelta(0, "weather", "c1", '"Ulm"}'),
    ToolCall("weather", '{"town": "Ulm"}', "c1"),
)
"""A tool call as the engines send it: in pieces, then whole."""


@pytest.fixture
def client(served: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
        yield client


def test_an_answer_comes_whole(served: Served, client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(
        model="starter",
        messages=[{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi"}],
        temperature=0.5,
        top_p=0.9,
        max_completion_tokens=20,
        seed=3,
        stop=["END"],
        presence_penalty=0.5,
        frequency_penalty=0.25,
        logit_bias={"5": -100},
    )
    assert answer.choices[0].message.content == "Hello there"
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage is not None
    assert answer.usage.prompt_tokens == 5
    assert answer.usage.prompt_tokens_details is not None
    assert answer.usage.prompt_tokens_details.cached_tokens == 2
    assert answer.usage.completion_tokens == 2
    (request,) = served.engine.requests
    assert [(it.role, it.text) for it in request.messages] == [
        ("system", "Be kind."),
        ("user", "Hi"),
    ]
    assert (request.sampling.temperature, request.sampling.top_p) == (0.5, 0.9)
    assert (request.max_tokens, request.stop, request.sampling.seed) == (20, ("END",), 3)
    assert (request.sampling.presence_penalty, request.sampling.frequency_penalty) == (0.5, 0.25)
    assert request.sampling.logit_bias == ((5, -100.0),)
    assert request.overflow == "stop", "a client is told when its conversation is too long"
    assert (request.chat or "").startswith("api-"), "what was read of it is kept under this name"
    (use,) = noted(served.keys, 1)
    assert (use.model, use.prompt_tokens, use.completion_tokens) == ("starter", 5, 2)


def test_a_client_that_gives_no_limit_has_none(served: Served, client: openai.OpenAI) -> None:
    served.settings = served.settings.changed("max_tokens", 7)
    client.chat.completions.create(model="starter", messages=[{"role": "user", "content": "Hi"}])
    assert served.engine.requests[0].max_tokens is None


def test_a_stream_comes_in_pieces_and_ends_with_the_usage(
    served: Served, client: openai.OpenAI
) -> None:
    served.engine.pieces = (ReasoningDelta("Hm."), "Hello", " there")
    stream = client.chat.completions.create(
        model="starter",
        messages=[{"role": "user", "content": "Hi"}],
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = list(stream)
    texts = [it.choices[0].delta.content for it in chunks if it.choices]
    assert [it for it in texts if it] == ["Hello", " there"]
    thoughts = [
        getattr(it.choices[0].delta, "reasoning_content", None) for it in chunks if it.choices
    ]
    assert [it for it in thoughts if it] == ["Hm."]
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.total_tokens == 8
    assert chunks[-2].choices[0].finish_reason == "stop"


def test_a_stream_ends_with_done_as_the_protocol_has_it(served: Served) -> None:
    body = {"model": "starter", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
    answer = served.post("/v1/chat/completions", body)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.text.endswith("data: [DONE]\n\n")


def test_the_asynchronous_client_streams_too(served: Served) -> None:
    async def texts() -> list[str]:
        async with openai.AsyncOpenAI(base_url=f"{served.url}/v1", api_key="none") as asking:
            stream = await asking.chat.completions.create(
                model="starter", messages=[{"role": "user", "content": "Hi"}], stream=True
            )
            return [it.choices[0].delta.content or "" async for it in stream if it.choices]

    assert "".join(asyncio.run(texts())) == "Hello there"


def test_tools_are_asked_for_and_their_results_are_sent(
    served: Served, client: openai.OpenAI
) -> None:
    served.engine.pieces = ("Let me see.", ToolCall("weather", '{"town": "Ulm"}', "call_1"))
    answer = client.chat.completions.create(
        model="starter",
        messages=[{"role": "user", "content": "Weather?"}],
        tools=[WEATHER],
        tool_choice={"type": "function", "function": {"name": "weather"}},
        parallel_tool_calls=False,
    )
    assert answer.choices[0].finish_reason == "tool_calls"
    (call,) = answer.choices[0].message.tool_calls or []
    assert call.type == "function"
    assert (call.id, call.function.name) == ("call_1", "weather")
    assert json.loads(call.function.arguments) == {"town": "Ulm"}
    (request,) = served.engine.requests
    assert [tool.name for tool in request.tools] == ["weather"]
    assert (request.tool_choice, request.only_tool) == ("required", "weather")
    assert not request.parallel_tools
    served.engine.pieces = ("Sunny.",)
    said: Any = answer.choices[0].message.model_dump(exclude_none=True)
    client.chat.completions.create(
        model="starter",
        messages=[
            {"role": "user", "content": "Weather?"},
            said,
            {"role": "tool", "tool_call_id": "call_1", "content": "It is sunny."},
        ],
        tools=[WEATHER],
    )
    told = served.engine.requests[1].messages
    assert told[1].calls == (ToolCall("weather", '{"town": "Ulm"}', "call_1"),)
    assert (told[1].text, told[2].role, told[2].tool) == ("Let me see.", "tool", "weather")
    assert (told[2].call_id, told[2].text) == ("call_1", "It is sunny.")


def test_a_streamed_call_is_put_together_by_the_client(
    served: Served, client: openai.OpenAI
) -> None:
    served.engine.pieces = (
        ToolCall("weather", '{"town": "Ulm"}'),
        ToolCall("weather", '{"town": "Bonn"}'),
    )
    with client.chat.completions.stream(
        model="starter",
        messages=[{"role": "user", "content": "Weather?"}],
        tools=[WEATHER],
    ) as stream:
        answer = stream.get_final_completion()
    calls = answer.choices[0].message.tool_calls or []
    assert [call.function.arguments for call in calls] == ['{"town": "Ulm"}', '{"town": "Bonn"}']
    assert len({call.id for call in calls}) == 2


def test_a_call_is_told_while_it_is_written(served: Served, client: openai.OpenAI) -> None:
    messages: Any = [{"role": "user", "content": "Weather?"}]
    served.engine.pieces = WRITTEN
    chunks = list(client.chat.completions.create(model="starter", messages=messages, stream=True))
    told = [call for it in chunks for call in it.choices[0].delta.tool_calls or []]
    assert [call.function.arguments for call in told if call.function] == [
        "", '{"town": ', '"Ulm"}',
    ]  # fmt: skip
    assert [(call.id, call.index) for call in told] == [("c1", 0), (None, 0), (None, 0)]
    whole = client.chat.completions.create(model="starter", messages=messages)
    (call,) = whole.choices[0].message.tool_calls or []
    assert call.type == "function"
    assert (call.id, call.function.arguments) == ("c1", '{"town": "Ulm"}')


def test_a_call_that_was_cut_off_is_none(served: Served, client: openai.OpenAI) -> None:
    served.engine.pieces, served.engine.finish = WRITTEN[:2], "length"
    whole = client.chat.completions.create(
        model="starter", messages=[{"role": "user", "content": "Weather?"}]
    )
    assert whole.choices[0].message.tool_calls is None
    assert whole.choices[0].finish_reason == "length"


def test_what_is_no_function_among_tools_is_left_out_with_a_note(served: Served) -> None:
    tools = [WEATHER, {"type": "web_search", "filters": {}}]
    body = {"model": "starter", "messages": [{"role": "user", "content": "Hi"}], "tools": tools}
    answer = served.post("/v1/chat/completions", body).json()
    assert "web_search" in answer["notes"][0]
    assert [tool.name for tool in served.engine.requests[0].tools] == ["weather"]


class Town(BaseModel):
    name: str
    people: int


def test_structured_output_is_parsed_by_the_client(served: Served, client: openai.OpenAI) -> None:
    served.engine.pieces = ('{"name": "Ulm", ', '"people": 126000}')
    answer = client.chat.completions.parse(
        model="starter", messages=[{"role": "user", "content": "Ulm?"}], response_format=Town
    )
    assert answer.choices[0].message.parsed == Town(name="Ulm", people=126000)
    schema = json.loads(served.engine.requests[0].sampling.schema or "")
    assert set(schema["required"]) == {"name", "people"}


def test_any_json_object_can_be_asked_for(served: Served, client: openai.OpenAI) -> None:
    client.chat.completions.create(
        model="starter",
        messages=[{"role": "user", "content": "Hi"}],
        response_format={"type": "json_object"},
    )
    assert json.loads(served.engine.requests[0].sampling.schema or "") == {"type": "object"}


def test_probabilities_are_told(served: Served, client: openai.OpenAI) -> None:
    top = (TokenLogprob(1, "He", b"He", -0.1), TokenLogprob(2, "Yo", b"Yo", -2.5))
    served.engine.pieces = (TextDelta("He", (TokenLogprob(1, "He", b"He", -0.1, top),)),)
    answer = client.chat.completions.create(
        model="starter",
        messages=[{"role": "user", "content": "Hi"}],
        logprobs=True,
        top_logprobs=2,
    )
    assert served.engine.requests[0].sampling.logprobs == 2
    told = answer.choices[0].logprobs
    assert told is not None
    assert told.content is not None
    assert [it.token for it in told.content[0].top_logprobs] == ["He", "Yo"]


def test_several_answers_have_numbers(served: Served, client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(
        model="starter", messages=[{"role": "user", "content": "Hi"}], n=3, seed=5
    )
    assert [it.index for it in answer.choices] == [0, 1, 2]
    assert [it.sampling.seed for it in served.engine.requests] == [5, 6, 7]
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (5, 6)


def test_reasoning_is_asked_for_in_the_words_of_clients(
    served: Served, client: openai.OpenAI
) -> None:
    asking = client.chat.completions
    messages: Any = [{"role": "user", "content": "Hi"}]
    asking.create(model="starter", messages=messages, reasoning_effort="high")
    asking.create(model="starter", messages=messages, reasoning_effort="none")
    asking.create(
        model="starter",
        messages=messages,
        extra_body={"chat_template_kwargs": {"enable_thinking": True}, "thinking_budget": 9},
    )
    high, none, on = served.engine.requests
    assert high.effort == "high"
    assert none.thinking is False
    assert (on.thinking, on.thinking_budget) == (True, 9)


def test_text_that_was_reasoning_is_where_it_belongs(served: Served, client: openai.OpenAI) -> None:
    served.engine.pieces = ("So far.", WasReasoning(), "Hello")
    answer = client.chat.completions.create(
        model="starter", messages=[{"role": "user", "content": "Hi"}]
    )
    message = answer.choices[0].message
    assert message.content == "Hello"
    assert message.model_extra is not None
    assert message.model_extra["reasoning_content"] == "So far."


@pytest.mark.parametrize(("reason", "told"), [("length", "length"), ("repetition", "length")])
def test_reasons_to_end_are_those_that_clients_know(
    served: Served, client: openai.OpenAI, reason: Any, told: str
) -> None:
    served.engine.finish = reason
    answer = client.chat.completions.create(
        model="starter", messages=[{"role": "user", "content": "Hi"}]
    )
    assert answer.choices[0].finish_reason == told


def test_a_raw_prompt_is_completed(served: Served, client: openai.OpenAI) -> None:
    answer = client.completions.create(model="starter", prompt="Once upon", max_tokens=5)
    assert answer.choices[0].text == "Hello there"
    assert served.engine.requests[0].prompt == "Once upon"
    assert served.engine.requests[0].messages == ()
    stream = client.completions.create(model="starter", prompt=[1, 2], stream=True)
    assert "".join(it.choices[0].text for it in stream) == "Hello there"
    assert served.engine.requests[1].prompt == (1, 2)
    assert served.engine.requests[1].max_tokens == 16, "as the protocol has it"


def test_a_prompt_of_text_is_sent_back_before_its_answer(
    served: Served, client: openai.OpenAI
) -> None:
    asked: Any = {"model": "starter", "prompt": ["Once", "Twice"], "n": 2, "echo": True}
    whole = client.completions.create(**asked)
    said = ["OnceHello there"] * 2 + ["TwiceHello there"] * 2
    assert [it.text for it in whole.choices] == said
    pieces = [""] * 4
    for chunk in client.completions.create(**asked, stream=True):
        for choice in chunk.choices:
            pieces[choice.index] += choice.text
    assert pieces == said
    with pytest.raises(openai.BadRequestError, match="echo") as refused:
        client.completions.create(**asked, logprobs=0, suffix="the end.")
    assert refused.value.param == "echo"


def test_a_suffix_goes_with_a_prompt_of_text(served: Served, client: openai.OpenAI) -> None:
    client.completions.create(model="starter", prompt="Once", suffix="the end.")
    assert (served.engine.requests[0].prompt, served.engine.requests[0].suffix) == (
        "Once",
        "the end.",
    )
    with pytest.raises(openai.BadRequestError, match="suffix") as refused:
        client.completions.create(model="starter", prompt=[1, 2], suffix="the end.")
    assert refused.value.param == "suffix"


def test_no_tokens_are_no_tokens(served: Served, client: openai.OpenAI) -> None:
    client.completions.create(model="starter", prompt="Once", max_tokens=0)
    assert served.engine.requests[0].max_tokens == 0


def test_what_the_system_says_later_does_not_change_the_beginning(
    served: Served, client: openai.OpenAI
) -> None:
    client.chat.completions.create(
        model="starter",
        messages=[
            {"role": "system", "content": "Be kind."},
            {"role": "developer", "content": "Be short."},
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "Hello"},
            {"role": "system", "content": "Now be long."},
            {"role": "user", "content": "Go on"},
        ],
    )
    told = [(it.role, it.text) for it in served.engine.requests[0].messages]
    reminder = "<system-reminder>\nNow be long.\n</system-reminder>"
    assert told == [
        ("system", "Be kind.\n\nBe short."),
        ("user", "Hi"),
        ("assistant", "Hello"),
        ("user", f"{reminder}\n\nGo on"),
    ]


def test_a_model_that_is_not_there_is_named_with_those_that_are(
    served: Served, client: openai.OpenAI
) -> None:
    with pytest.raises(openai.NotFoundError) as caught:
        client.chat.completions.create(model="gpt-9", messages=[{"role": "user", "content": "Hi"}])
    assert caught.value.code == "model_not_found"
    assert "starter" in str(caught.value)


def test_an_alias_answers(served: Served, client: openai.OpenAI) -> None:
    served.aliases = {"gpt-9": "starter", "lost": "nothing"}
    listed = client.models.list()
    assert [it.id for it in listed.data] == ["starter", "gpt-9"]
    answer = client.chat.completions.create(
        model="gpt-9", messages=[{"role": "user", "content": "Hi"}]
    )
    assert answer.model == "gpt-9"
    assert client.models.retrieve("gpt-9").id == "gpt-9"


def test_no_path_leads_to_a_file(served: Served) -> None:
    path = str(served.services.library.starter.path)
    for model in (path, "../../etc/passwd", f"file://{path}"):
        body = {"model": model, "messages": [{"role": "user", "content": "Hi"}]}
        assert served.post("/v1/chat/completions", body).status_code == 404


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "king", "content": "Hi"}]}, "messages.0.role"),
        ({"messages": [{"role": "user", "content": 7}]}, "messages.0.content.str"),
        ({"temperature": "hot"}, "temperature"),
        ({"n": 1000}, "n"),
        ({"tools": [{"type": "function", "function": {}}]}, "name"),
        ({"tool_choice": {"type": "function", "function": {"name": "x"}}}, "tool_choice"),
        ({"tool_choice": "sometimes"}, "tool_choice"),
        ({"response_format": {"type": "json_schema"}}, "response_format"),
        ({"logit_bias": {"word": 1}}, "logit_bias"),
        ({"stop": [str(it) for it in range(65)]}, "stop"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]},
            "messages.0.content",
        ),
    ],
)
def test_a_wrong_field_is_named(served: Served, body: dict[str, object], field: str) -> None:
    whole = {"model": "starter", "messages": [{"role": "user", "content": "Hi"}], **body}
    answer = served.post("/v1/chat/completions", whole)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["param"] == field
    assert error["type"] == "invalid_request_error"
    assert served.engine.requests == []


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'{"a": NaN}', b"[" * 200, b'{"a":' * 100, b"\xff\xfe{"]
)
def test_what_is_no_json_object_is_refused(served: Served, body: bytes) -> None:
    answer = httpx2.post(f"{served.url}/v1/chat/completions", content=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "bad_request"


def test_a_conversation_that_is_too_long_is_told_in_words_that_clients_look_for(
    served: Served,
    client: openai.OpenAI,
) -> None:
    served.engine.error = ContextFull("It is too long.", "It takes 9 of 8 tokens.", "Shorten it.")
    served.engine.pieces = ()
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(
            model="starter", messages=[{"role": "user", "content": "Hi"}]
        )
    assert caught.value.code == "context_length_exceeded"
    assert "prompt is too long" in str(caught.value)


def test_an_error_in_a_stream_is_its_last_event(served: Served, client: openai.OpenAI) -> None:
    served.engine.error = EngineFailed("It broke.", "Its process ended.", "Try again.")
    served.engine.hold = threading.Event()
    stream = client.chat.completions.create(
        model="starter", messages=[{"role": "user", "content": "Hi"}], stream=True
    )
    served.engine.hold.set()
    with pytest.raises(openai.APIError) as caught:
        list(stream)
    assert "It broke." in str(caught.value)


def test_addresses_that_there_are_not_say_so(served: Served) -> None:
    assert served.get("/v1/nothing").json()["error"]["code"] == "not_found"
    assert served.get("/v1/chat/completions").status_code == 405
    assert served.get("/health").json() == {"status": "ok"}
    assert httpx2.head(served.url).status_code == 200
