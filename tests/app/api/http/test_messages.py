"""Messages and their token counts of the server, with Anthropic's client."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from typing import Any

import anthropic
import pytest

from engines.errors import EngineFailed, MessageTooLong
from engines.types import ReasoningDelta, ToolCall, WasReasoning
from tests.app.api.http.test_chat import WRITTEN
from tests.support.serving import Served

WEATHER: Any = {
    "name": "weather",
    "description": "The weather of a town.",
    "input_schema": {"type": "object", "properties": {"town": {"type": "string"}}},
}
HI: Any = [{"role": "user", "content": "Hi"}]


@pytest.fixture
def client(served: Served) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=served.url, api_key="none", max_retries=0) as client:
        yield client


def test_a_message_comes_whole(served: Served, client: anthropic.Anthropic) -> None:
    served.engine.pieces = (ReasoningDelta("Hm."), "Hello", " there")
    answer = client.messages.create(
        model="starter",
        max_tokens=20,
        system="Be kind.",
        messages=HI,
        stop_sequences=["END"],
        extra_body={"temperature": 0.5, "top_k": 7},
    )
    assert [block.type for block in answer.content] == ["thinking", "text"]
    assert answer.content[1].type == "text"
    assert answer.content[1].text == "Hello there"
    assert answer.stop_reason == "end_turn"
    assert (answer.usage.input_tokens, answer.usage.cache_read_input_tokens) == (3, 2)
    (request,) = served.engine.requests
    assert [(it.role, it.text) for it in request.messages] == [
        ("system", "Be kind."),
        ("user", "Hi"),
    ]
    assert (request.sampling.temperature, request.sampling.top_k) == (0.5, 7)
    assert (request.max_tokens, request.stop) == (20, ("END",))


def test_a_stream_is_put_together_by_the_client(
    served: Served, client: anthropic.Anthropic
) -> None:
    call = ToolCall("weather", '{"town": "Ulm"}', "toolu_1")
    served.engine.pieces = (ReasoningDelta("Hm."), "Let me", " see.", call)
    with client.messages.stream(
        model="starter", max_tokens=20, messages=HI, tools=[WEATHER]
    ) as stream:
        assert "".join(stream.text_stream) == "Let me see."
        answer = stream.get_final_message()
    assert [block.type for block in answer.content] == ["thinking", "text", "tool_use"]
    asked = answer.content[2]
    assert asked.type == "tool_use"
    assert (asked.id, asked.name, asked.input) == ("toolu_1", "weather", {"town": "Ulm"})
    assert answer.stop_reason == "tool_use"
    assert answer.usage.output_tokens == 4


def test_a_call_is_told_while_it_is_written(served: Served, client: anthropic.Anthropic) -> None:
    served.engine.pieces = WRITTEN
    with client.messages.stream(
        model="starter", max_tokens=20, messages=HI, tools=[WEATHER]
    ) as stream:
        pieces = [it.partial_json for it in stream if it.type == "input_json"]
        (asked,) = stream.get_final_message().content
    assert pieces == ['{"town": ', '"Ulm"}']
    assert asked.type == "tool_use"
    assert (asked.id, asked.input) == ("c1", {"town": "Ulm"})


def test_a_call_that_was_cut_off_is_none(served: Served, client: anthropic.Anthropic) -> None:
    served.engine.pieces, served.engine.finish = WRITTEN[:2], "length"
    answer = client.messages.create(model="starter", max_tokens=20, messages=HI)
    assert [block.type for block in answer.content] == ["text"]
    assert answer.stop_reason == "max_tokens"


def test_the_asynchronous_client_streams_too(served: Served) -> None:
    async def text() -> str:
        async with (
            anthropic.AsyncAnthropic(base_url=served.url, api_key="none") as asking,
            asking.messages.stream(model="starter", max_tokens=9, messages=HI) as stream,
        ):
            return "".join([it async for it in stream.text_stream])

    assert asyncio.run(text()) == "Hello there"


def test_calls_and_results_are_sent_back(served: Served, client: anthropic.Anthropic) -> None:
    client.messages.create(
        model="starter",
        max_tokens=9,
        tools=[WEATHER, {"type": "web_search_20250305", "name": "web_search"}],
        tool_choice={"type": "tool", "name": "weather", "disable_parallel_tool_use": True},
        messages=[
            {"role": "user", "content": "Weather?"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Hm.", "signature": "hearth"},
                    {"type": "text", "text": "Let me see."},
                    {"type": "tool_use", "id": "a", "name": "weather", "input": {"town": "Ulm"}},
                    {"type": "tool_use", "id": "b", "name": "weather", "input": {"town": "Bonn"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "a", "content": "Sunny."},
                    {
                        "type": "tool_result",
                        "tool_use_id": "b",
                        "content": [{"type": "text", "text": "No such town."}],
                        "is_error": True,
                    },
                    {"type": "text", "text": "And now?"},
                ],
            },
        ],
    )
    (request,) = served.engine.requests
    question, answer, first, second, more = request.messages
    assert question.text == "Weather?"
    assert (answer.reasoning, answer.text) == ("Hm.", "Let me see.")
    assert [json.loads(call.arguments) for call in answer.calls] == [
        {"town": "Ulm"},
        {"town": "Bonn"},
    ]
    assert (first.role, first.tool, first.call_id, first.text) == ("tool", "weather", "a", "Sunny.")
    assert second.text == "Error: No such town."
    assert (more.role, more.text) == ("user", "And now?")
    assert [tool.name for tool in request.tools] == ["weather"]
    assert (request.tool_choice, request.only_tool) == ("required", "weather")
    assert not request.parallel_tools


def test_the_header_of_a_bill_is_not_read(served: Served, client: anthropic.Anthropic) -> None:
    for number in range(2):
        client.messages.create(
            model="starter",
            max_tokens=9,
            system=[
                {
                    "type": "text",
                    "text": f"x-anthropic-billing-header: cc_version=2; cch={number};",
                },
                {"type": "text", "text": "You are an agent."},
                {"type": "text", "text": "Be kind."},
            ],
            messages=HI,
        )
    first, second = served.engine.requests
    assert first.messages == second.messages, "so that its prompt is read once"
    assert first.messages[0].text == "You are an agent.\n\nBe kind."


def test_a_schema_and_an_effort_are_taken(served: Served, client: anthropic.Anthropic) -> None:
    served.engine.pieces = ('{"a": 1}',)
    client.messages.create(
        model="starter",
        max_tokens=9,
        messages=HI,
        thinking={"type": "enabled", "budget_tokens": 1024},
        extra_body={
            "output_config": {
                "effort": "low",
                "format": {"type": "json_schema", "schema": {"type": "object"}},
            }
        },
    )
    client.messages.create(
        model="starter", max_tokens=9, messages=HI, thinking={"type": "disabled"}
    )
    with_thoughts, without = served.engine.requests
    assert json.loads(with_thoughts.sampling.schema or "") == {"type": "object"}
    assert (with_thoughts.thinking, with_thoughts.effort) == (True, "low")
    assert with_thoughts.thinking_budget == 1024
    assert without.thinking is False


def test_tokens_are_counted_without_an_answer(served: Served, client: anthropic.Anthropic) -> None:
    found = client.messages.count_tokens(model="starter", messages=HI, system="Be kind.")
    assert found.input_tokens == 11, "of a scripted engine: a word each, and 4 for a message"
    assert served.engine.requests == []


def test_text_that_was_reasoning_is_where_it_belongs(
    served: Served, client: anthropic.Anthropic
) -> None:
    served.engine.pieces = ("So far.", WasReasoning(), "Hello")
    answer = client.messages.create(model="starter", max_tokens=9, messages=HI)
    assert [block.type for block in answer.content] == ["thinking", "text"]


def test_an_answer_without_a_word_is_a_message_too(
    served: Served, client: anthropic.Anthropic
) -> None:
    served.engine.pieces = ()
    answer = client.messages.create(model="starter", max_tokens=9, messages=HI)
    assert [block.type for block in answer.content] == ["text"]


@pytest.mark.parametrize("reason", ["length", "repetition"])
def test_an_answer_that_was_cut_off_says_so(
    served: Served, client: anthropic.Anthropic, reason: Any
) -> None:
    served.engine.finish = reason
    answer = client.messages.create(model="starter", max_tokens=9, messages=HI)
    assert answer.stop_reason == "max_tokens"


def test_errors_are_told_as_the_client_reads_them(
    served: Served, client: anthropic.Anthropic
) -> None:
    with pytest.raises(anthropic.NotFoundError) as unknown:
        client.messages.create(model="claude-9", max_tokens=9, messages=HI)
    assert unknown.value.body == {
        "type": "error",
        "error": {
            "type": "not_found_error",
            "message": "There is no model “claude-9” here. The models are: starter. Use one of "
            "them, or give one this name in the settings of the server.",
        },
    }
    served.engine.pieces = ()
    served.engine.error = MessageTooLong("It is too long.", "9 of 8 tokens.", "Shorten it.")
    with pytest.raises(anthropic.BadRequestError, match="prompt is too long"):
        client.messages.create(model="starter", max_tokens=9, messages=HI)
    picture: Any = [{"type": "image", "source": {"type": "base64", "data": ""}}]
    with pytest.raises(anthropic.BadRequestError, match="is empty"):
        client.messages.create(
            model="starter", max_tokens=9, messages=[{"role": "user", "content": picture}]
        )
    with pytest.raises(anthropic.BadRequestError, match="max_tokens"):
        client.messages.create(model="starter", max_tokens=-2, messages=HI)


def test_an_error_in_a_stream_is_its_last_event(
    served: Served, client: anthropic.Anthropic
) -> None:
    served.engine.error = EngineFailed("It broke.", "Its process ended.", "Try again.")
    served.engine.hold = threading.Event()
    with client.messages.stream(model="starter", max_tokens=9, messages=HI) as stream:
        served.engine.hold.set()
        with pytest.raises(anthropic.APIStatusError, match="It broke"):
            stream.until_done()


def test_models_are_listed_for_both_kinds_of_client(client: anthropic.Anthropic) -> None:
    assert [it.id for it in client.models.list()] == ["starter"]
