"""Responses of the server, with OpenAI's client."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from pydantic import BaseModel

from engines.errors import EngineFailed
from engines.types import ReasoningDelta, TextDelta, TokenLogprob, ToolCall
from tests.app.api.http.test_chat import WRITTEN
from tests.support.serving import Served

WEATHER: Any = {
    "type": "function",
    "name": "weather",
    "description": "The weather of a town.",
    "parameters": {"type": "object", "properties": {"town": {"type": "string"}}},
    "strict": True,
}


@pytest.fixture
def client(served: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
        yield client


def test_a_response_comes_whole(served: Served, client: openai.OpenAI) -> None:
    served.engine.pieces = (ReasoningDelta("Hm."), "Hello", " there")
    answer = client.responses.create(
        model="starter",
        instructions="Be kind.",
        input="Hi",
        max_output_tokens=20,
        temperature=0.5,
        reasoning={"effort": "low"},
    )
    assert answer.output_text == "Hello there"
    assert [it.type for it in answer.output] == ["reasoning", "message"]
    assert answer.status == "completed"
    assert answer.usage is not None
    assert answer.usage.input_tokens_details.cached_tokens == 2
    (request,) = served.engine.requests
    assert [(it.role, it.text) for it in request.messages] == [
        ("system", "Be kind."),
        ("user", "Hi"),
    ]
    assert (request.max_tokens, request.sampling.temperature) == (20, 0.5)
    assert (request.thinking, request.effort) == (None, "low")


def test_a_stream_is_put_together_by_the_client(served: Served, client: openai.OpenAI) -> None:
    call = ToolCall("weather", '{"town": "Ulm"}', "call_1")
    served.engine.pieces = (ReasoningDelta("Hm."), "Let me", " see.", call)
    with client.responses.stream(model="starter", input="Hi", tools=[WEATHER]) as stream:
        events = list(stream)
        answer = stream.get_final_response()
    assert [it.type for it in answer.output] == ["reasoning", "message", "function_call"]
    asked = answer.output[2]
    assert asked.type == "function_call"
    assert (asked.call_id, asked.arguments) == ("call_1", '{"town": "Ulm"}')
    numbers = [it.sequence_number for it in events if hasattr(it, "sequence_number")]
    assert numbers == sorted(set(numbers))
    assert events[0].type == "response.created"
    assert events[-1].type == "response.completed"


def test_a_call_is_told_while_it_is_written(served: Served, client: openai.OpenAI) -> None:
    served.engine.pieces = WRITTEN
    with client.responses.stream(model="starter", input="Hi", tools=[WEATHER]) as stream:
        pieces = [it.delta for it in stream if it.type == "response.function_call_arguments.delta"]
        (asked,) = stream.get_final_response().output
    assert pieces == ['{"town": ', '"Ulm"}']
    assert asked.type == "function_call"
    assert (asked.call_id, asked.arguments) == ("c1", '{"town": "Ulm"}')


def test_a_call_that_was_cut_off_is_none(served: Served, client: openai.OpenAI) -> None:
    served.engine.pieces, served.engine.finish = WRITTEN[:2], "length"
    answer = client.responses.create(model="starter", input="Hi", tools=[WEATHER])
    assert (answer.output, answer.status) == ([], "incomplete")


def test_the_asynchronous_client_streams_too(served: Served) -> None:
    async def text() -> str:
        async with (
            openai.AsyncOpenAI(base_url=f"{served.url}/v1", api_key="none") as asking,
            asking.responses.stream(model="starter", input="Hi") as stream,
        ):
            return (await stream.get_final_response()).output_text

    assert asyncio.run(text()) == "Hello there"


def test_the_items_of_a_conversation_are_turns_again(served: Served, client: openai.OpenAI) -> None:
    served.engine.pieces = (ReasoningDelta("Hm."), "So.", ToolCall("weather", "{}", "call_1"))
    first = client.responses.create(
        model="starter", input="Hi", tools=[WEATHER], include=["reasoning.encrypted_content"]
    )
    assert isinstance(first.output[0].encrypted_content, str)  # type: ignore[union-attr]
    items: Any = [
        {"role": "developer", "content": "Be an agent."},
        {"role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
        *first.output,
        {"type": "function_call_output", "call_id": "call_1", "output": "Sunny."},
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"role": "user", "content": "And now?"},
    ]
    client.responses.create(model="starter", tools=[WEATHER], input=items)
    system, question, answer, result, more = served.engine.requests[1].messages
    assert (system.role, system.text) == ("system", "Be an agent.")
    assert question.text == "Hi"
    assert (answer.reasoning, answer.text) == ("Hm.", "So.")
    assert answer.calls == (ToolCall("weather", "{}", "call_1"),)
    assert (result.role, result.tool, result.text) == ("tool", "weather", "Sunny.")
    assert more.text == "And now?"


def test_tools_of_a_namespace_and_with_free_input_come_back_as_they_were_given(
    served: Served, client: openai.OpenAI
) -> None:
    tools: Any = [
        {
            "type": "namespace",
            "name": "files",
            "description": "Files.",
            "tools": [{"type": "function", "name": "read", "parameters": {"type": "object"}}],
        },
        {
            "type": "custom",
            "name": "patch",
            "description": "Patches.",
            "format": {"type": "grammar", "syntax": "lark", "definition": "start: LINE+"},
        },
        {"type": "web_search"},
    ]
    served.engine.pieces = (
        ToolCall("files__read", '{"path": "a"}', "c1"),
        ToolCall("patch", '{"input": "*** Begin"}', "c2"),
    )
    answer = client.responses.create(model="starter", input="Hi", tools=tools)
    read, patch = [it.model_dump() for it in answer.output]
    assert (read["type"], read["namespace"], read["name"]) == ("function_call", "files", "read")
    assert (patch["type"], patch["input"]) == ("custom_tool_call", "*** Begin")
    assert "web_search" in (answer.metadata or {})["notes"]
    named = {tool.name: tool for tool in served.engine.requests[0].tools}
    assert set(named) == {"files__read", "patch"}
    assert "start: LINE+" in named["patch"].description
    items: Any = [
        {"role": "user", "content": "Hi"},
        {key: read[key] for key in ("type", "namespace", "name", "arguments", "call_id")},
        {"type": "function_call_output", "call_id": "c1", "output": "text of a"},
        {key: patch[key] for key in ("type", "name", "input", "call_id")},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "done"},
    ]
    client.responses.create(model="starter", tools=tools, input=items)
    calls = [call for it in served.engine.requests[1].messages for call in it.calls]
    assert [call.name for call in calls] == ["files__read", "patch"]
    assert json.loads(calls[1].arguments) == {"input": "*** Begin"}


def test_a_tool_can_be_demanded(served: Served, client: openai.OpenAI) -> None:
    client.responses.create(
        model="starter",
        input="Hi",
        tools=[WEATHER],
        tool_choice={"type": "function", "name": "weather"},
    )
    (request,) = served.engine.requests
    assert (request.tool_choice, request.only_tool) == ("required", "weather")


class Town(BaseModel):
    name: str


def test_structured_output_is_parsed_by_the_client(served: Served, client: openai.OpenAI) -> None:
    served.engine.pieces = ('{"name": "Ulm"}',)
    answer = client.responses.parse(model="starter", input="Town?", text_format=Town)
    assert answer.output_parsed == Town(name="Ulm")
    assert json.loads(served.engine.requests[0].sampling.schema or "")["required"] == ["name"]


def test_probabilities_are_told(served: Served, client: openai.OpenAI) -> None:
    served.engine.pieces = (TextDelta("He", (TokenLogprob(1, "He", b"He", -0.1),)),)
    answer = client.responses.create(
        model="starter", input="Hi", include=["message.output_text.logprobs"], top_logprobs=1
    )
    part = answer.output[0].content[0]  # type: ignore[union-attr,index]
    assert part.logprobs[0].token == "He"  # type: ignore[union-attr,index]


def test_an_answer_that_was_cut_off_is_incomplete(served: Served, client: openai.OpenAI) -> None:
    served.engine.finish = "repetition"
    answer = client.responses.create(model="starter", input="Hi")
    assert answer.status == "incomplete"
    assert answer.incomplete_details is not None
    assert answer.incomplete_details.reason == "max_output_tokens"


@pytest.mark.parametrize("field", [{"conversation": "conv_1"}, {"background": True}])
def test_what_there_is_not_is_refused(client: openai.OpenAI, field: Any) -> None:
    with pytest.raises(openai.BadRequestError, match="previous_response_id") as refused:
        client.responses.create(model="starter", input="Hi", **field)
    assert refused.value.param in field


def test_items_that_another_server_keeps_are_refused(client: openai.OpenAI) -> None:
    kept: Any = {"type": "item_reference", "id": "msg_1"}
    with pytest.raises(openai.BadRequestError, match="msg_1"):
        client.responses.create(model="starter", input=[kept])


def test_an_error_in_a_stream_is_its_last_event(served: Served, client: openai.OpenAI) -> None:
    served.engine.error = EngineFailed("It broke.", "Its process ended.", "Try again.")
    served.engine.hold = threading.Event()
    stream = client.responses.create(model="starter", input="Hi", stream=True)
    served.engine.hold.set()
    events = list(stream)
    assert events[-1].type == "response.failed"
    assert events[-1].response.error is not None
    assert "It broke." in events[-1].response.error.message
