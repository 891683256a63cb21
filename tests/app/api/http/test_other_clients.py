"""Requests of clients that the tests do not run themselves, copied with their longer texts cut.

They are those of Vercel's AI SDK 6.0 with @ai-sdk/openai 3.0, @anthropic-ai/sdk 1.14 (Node),
openai 7.57 (Node) and LangChain's OpenAI 1.7, and of clients in other languages that write a
null for each field.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from typing import Any

import anthropic
import httpx2
import pytest
from anthropic import beta_tool

from engines.types import ReasoningDelta, ToolCall
from tests.app.api.http.conftest import noted
from tests.support.serving import Served

HI: Any = [{"role": "user", "content": "Hi"}]


@pytest.fixture
def claude(served: Served) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=served.url, api_key="none", max_retries=0) as client:
        yield client


def ai_sdk(*items: Any) -> dict[str, Any]:
    """Return a step of the AI SDK, which by default assumes that a server stores its answers."""
    parameters = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"town": {"type": "string"}},
        "required": ["town"],
        "additionalProperties": False,
    }
    tool = {
        "type": "function", "name": "weather", "description": "Weather", "parameters": parameters,
    }  # fmt: skip
    question = {"role": "user", "content": [{"type": "input_text", "text": "Weather?"}]}
    return {
        "model": "starter", "input": [question, *items], "tools": [tool], "tool_choice": "auto",
    }  # fmt: skip


def step(output: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the items as the AI SDK sends them back: calls whole, others as references."""
    sent = []
    for item in output:
        if item["type"] == "function_call":
            call = {key: item[key] for key in ("type", "call_id", "name", "arguments")}
            result = {"type": "function_call_output", "call_id": item["call_id"], "output": "sun"}
            sent += [call, result]
        else:
            sent.append({"type": "item_reference", "id": item["id"]})
    return sent


@pytest.mark.parametrize("stream", [False, True])
def test_items_are_named_by_their_ids_as_the_ai_sdk_does(served: Served, stream: bool) -> None:
    call = ToolCall("weather", '{"town": "Ulm"}', "call_1")
    served.engine.pieces = (ReasoningDelta("Ulm, then."), "Let me see.", call)
    body = ai_sdk() | ({"stream": True} if stream else {})
    answer = served.post("/v1/responses", body)
    if stream:
        last = json.loads(answer.text.strip().rpartition("data: ")[2])
        assert last["type"] == "response.completed"
        output = last["response"]["output"]
    else:
        output = answer.json()["output"]
    assert [it["type"] for it in output] == ["reasoning", "message", "function_call"]
    served.engine.pieces = ("Sunny.",)
    assert served.post("/v1/responses", ai_sdk(*step(output))).status_code == 200
    _, said, result = served.engine.requests[-1].messages
    assert (said.reasoning, said.text) == ("Ulm, then.", "Let me see.")
    assert [it.name for it in said.calls] == ["weather"]
    assert (result.role, result.tool, result.text) == ("tool", "weather", "sun")


def test_a_reference_needs_no_type(served: Served) -> None:
    (item,) = served.post("/v1/responses", ai_sdk()).json()["output"]
    assert served.post("/v1/responses", ai_sdk({"id": item["id"]})).status_code == 200
    assert served.engine.requests[-1].messages[-1].text == "Hello there"


def test_what_shall_not_be_stored_is_not_remembered(served: Served) -> None:
    (item,) = served.post("/v1/responses", ai_sdk() | {"store": False}).json()["output"]
    answer = served.post("/v1/responses", ai_sdk({"type": "item_reference", "id": item["id"]}))
    assert answer.status_code == 400
    assert "store: false" in answer.json()["error"]["message"]


def test_a_tool_runner_that_would_have_its_thread_kept_sends_all_of_it(
    served: Served, claude: anthropic.Anthropic
) -> None:
    """Anthropic's tool runners send only new messages, unless a server says it stores none."""

    @beta_tool
    def weather(town: str) -> str:
        """Tell the weather of a town."""
        served.engine.pieces = ("Sunny.",)
        return f"Sun in {town}"

    served.engine.pieces = ("Let me see.", ToolCall("weather", '{"town": "Ulm"}', "toolu_1"))
    runner = claude.beta.messages.tool_runner(
        model="starter", max_tokens=50, tools=[weather], messages=[{"role": "user", "content": "?"}]
    )
    last = runner.until_done()
    assert [it.text for it in last.content if it.type == "text"] == ["Sunny."]
    told = [(it.role, it.text) for it in served.engine.requests[-1].messages]
    assert told == [("user", "?"), ("assistant", "Let me see."), ("tool", "Sun in Ulm")]


@pytest.mark.parametrize(
    "thread", [{"type": "create"}, {"type": "continue", "previous_message_id": "msg-1"}]
)
def test_a_thread_is_refused_in_words_that_clients_act_upon(
    served: Served, thread: dict[str, str]
) -> None:
    body = {"model": "starter", "max_tokens": 50, "messages": HI, "thread": thread}
    answer = served.post("/v1/messages?beta=true", body)
    assert answer.status_code == 400
    assert answer.json()["error"]["details"] == {"error_code": "thread_unsupported_request"}
    assert not served.engine.requests


def test_tools_of_other_servers_may_have_no_name(served: Served) -> None:
    tools = [{"type": "mcp_toolset", "mcp_server_name": "x"}]
    body = {"model": "starter", "max_tokens": 50, "messages": HI, "tools": tools}
    answer = served.post("/v1/messages", body).json()
    assert "mcp_toolset" in answer["notes"][0]
    nameless = body | {"tools": [{"input_schema": {"type": "object"}}]}
    refused = served.post("/v1/messages", nameless)
    assert refused.status_code == 400
    assert "tools.0" in refused.json()["error"]["message"]


@pytest.mark.parametrize("stream", [False, True])
def test_a_stop_sequence_is_named(
    served: Served, claude: anthropic.Anthropic, stream: bool
) -> None:
    served.engine.stop = "END"
    asked: Any = {
        "model": "starter", "max_tokens": 9, "messages": HI, "stop_sequences": ["END"],
    }  # fmt: skip
    if stream:
        with claude.messages.stream(**asked) as events:
            message = events.get_final_message()
    else:
        message = claude.messages.create(**asked)
    assert (message.stop_reason, message.stop_sequence) == ("stop_sequence", "END")


def test_a_model_has_a_date_as_anthropics_client_reads_it(claude: anthropic.Anthropic) -> None:
    (model,) = claude.models.list().data
    assert model.created_at.year >= 1970


@pytest.mark.parametrize("mode", ["auto", "required"])
def test_the_tools_that_are_allowed_are_those_that_there_are(served: Served, mode: str) -> None:
    functions = [{"name": name, "parameters": {"type": "object"}} for name in ("here", "there")]
    named = {"type": "function", "function": {"name": "there"}}
    chat = {
        "model": "starter",
        "messages": HI,
        "tools": [{"type": "function", "function": it} for it in functions],
        "tool_choice": {
            "type": "allowed_tools",
            "allowed_tools": {"mode": mode, "tools": [named]},
        },
    }
    assert served.post("/v1/chat/completions", chat).status_code == 200
    flat = {"type": "function", "name": "there"}
    response = {
        "model": "starter",
        "input": "Hi",
        "tools": [{"type": "function", **it} for it in functions],
        "tool_choice": {"type": "allowed_tools", "mode": mode, "tools": [flat]},
    }
    assert served.post("/v1/responses", response).status_code == 200
    for request in served.engine.requests:
        assert [it.name for it in request.tools] == ["there"]
        assert (request.tool_choice, request.only_tool) == (mode, "")
    chat["tool_choice"]["allowed_tools"]["tools"] = [
        {"type": "function", "function": {"name": "nowhere"}}
    ]
    assert served.post("/v1/chat/completions", chat).status_code == 400


def test_functions_of_old_clients_are_not_dropped_silently(served: Served) -> None:
    body = {"model": "starter", "messages": HI, "functions": [{"name": "w", "parameters": {}}]}
    refused = served.post("/v1/chat/completions", body)
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "functions")
    assert served.post("/v1/chat/completions", body | {"functions": []}).status_code == 200


def test_several_prompts_are_answered_one_after_the_other(served: Served) -> None:
    """LangChain's `OpenAI.batch` sends several prompts in one request."""
    body = {"model": "starter", "prompt": ["One", "Two"], "n": 2, "max_tokens": 256}
    answer = served.post("/v1/completions", body).json()
    assert [(it["index"], it["text"]) for it in answer["choices"]] == [
        (number, "Hello there") for number in range(4)
    ]
    assert [it.prompt for it in served.engine.requests] == ["One", "One", "Two", "Two"]
    assert (answer["usage"]["prompt_tokens"], answer["usage"]["completion_tokens"]) == (10, 8)
    (use,) = noted(served.keys, 1)
    assert (use.prompt_tokens, use.completion_tokens) == (10, 8)
    tokens = served.post("/v1/completions", body | {"prompt": [[1, 2], [3]], "n": 1}).json()
    assert len(tokens["choices"]) == 2
    assert [it.prompt for it in served.engine.requests[-2:]] == [(1, 2), (3,)]


@pytest.mark.parametrize("prompt", [[], ["x"] * 129])
def test_no_prompt_and_too_many_are_refused(served: Served, prompt: list[str]) -> None:
    answer = served.post("/v1/completions", {"model": "starter", "prompt": prompt})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "prompt")


NULLS: Any = [
    (
        "/v1/chat/completions",
        {
            "messages": [
                {"role": "user", "content": "Hi", "name": None},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {"id": "c", "type": None, "function": {"name": "w", "arguments": None}}
                    ],
                },
                {"role": "tool", "tool_call_id": "c", "content": None},
            ],
            "stream": None,
            "stream_options": {"include_usage": None},
            "n": None,
            "tools": None,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": None, "strict": None, "schema": {"type": "object"}},
            },
        },
    ),
    ("/v1/completions", {"prompt": "Hi", "echo": None, "suffix": None, "stream": None}),
    (
        "/v1/responses",
        {
            "input": [
                {"type": None, "role": "user", "content": "Hi"},
                {
                    "type": "function_call",
                    "call_id": "c",
                    "name": "w",
                    "namespace": None,
                    "arguments": "{}",
                },
            ],
            "stream": None,
            "store": None,
            "text": {"format": None},
        },
    ),
    (
        "/v1/messages",
        {
            "max_tokens": 9,
            "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
            "stream": None,
            "thread": None,
            "tools": [{"type": None, "name": "w", "input_schema": {"type": "object"}}],
            "tool_choice": {"type": "auto", "name": None, "disable_parallel_tool_use": None},
        },
    ),
    ("/v1/embeddings", {"input": "Hi", "encoding_format": None, "dimensions": None}),
]


@pytest.mark.parametrize(("path", "body"), NULLS, ids=[path for path, _ in NULLS])
def test_a_field_that_is_null_is_not_there(served: Served, path: str, body: Any) -> None:
    answer = served.post(path, {"model": "starter", **body})
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize(
    "half", [b"\\ud83d", b"\\uDE00", b"\xed\xa0\xbd"], ids=["first", "second", "bytes"]
)
@pytest.mark.parametrize(
    ("path", "head"),
    [
        ("/v1/chat/completions", b'"messages": [{"role": "user", "content": "'),
        ("/v1/messages", b'"max_tokens": 9, "messages": [{"role": "user", "content": "'),
        ("/v1/responses", b'"instructions": "\\ud83d", "input": [{"role": "user", "content": "'),
    ],
)
def test_half_a_character_is_replaced(served: Served, path: str, head: bytes, half: bytes) -> None:
    """JavaScript cuts strings by UTF-16 units, and so can cut an emoji in half."""
    whole = b"\\ud83d\\ude00"
    body = b'{"model": "starter", ' + head + b"Hi " + whole + half + b'"}]}'
    answer = httpx2.post(served.url + path, content=body, timeout=60)
    assert answer.status_code == 200, answer.text
    assert served.engine.requests[-1].messages[-1].text.startswith("Hi \N{GRINNING FACE}\ufffd")


@pytest.mark.parametrize(
    ("encoding", "packed"), [("gzip", gzip.compress), ("deflate", zlib.compress)]
)
def test_a_request_may_be_compressed(served: Served, encoding: str, packed: Any) -> None:
    body = packed(json.dumps({"model": "starter", "messages": HI}).encode())
    headers = {"Content-Encoding": encoding}
    address = f"{served.url}/v1/chat/completions"
    assert httpx2.post(address, content=body, headers=headers, timeout=60).status_code == 200
    cut = httpx2.post(address, content=body[:-9], headers=headers, timeout=60)
    assert (cut.status_code, cut.json()["error"]["code"]) == (400, "bad_encoding")
    other = httpx2.post(address, content=body, headers={"Content-Encoding": "br"}, timeout=60)
    assert (other.status_code, other.json()["error"]["code"]) == (415, "unsupported_encoding")


def test_a_compressed_request_is_no_larger_than_others_may_be(served: Served) -> None:
    bomb = gzip.compress(b" " * (33 * 1024 * 1024))
    headers = {"Content-Encoding": "gzip"}
    answer = httpx2.post(f"{served.url}/v1/messages", content=bomb, headers=headers, timeout=60)
    assert answer.status_code == 413
    assert answer.json()["error"]["type"] == "request_too_large"


def test_a_slash_at_the_end_changes_nothing(served: Served) -> None:
    assert served.get("/v1/models/").json()["data"][0]["id"] == "starter"
    body = {"model": "starter", "messages": HI}
    assert served.post("/v1/chat/completions/", body).status_code == 200


def test_an_address_that_there_is_not_says_where_the_api_is(served: Served) -> None:
    answer = served.post("/v1/v1/messages?beta=true", {})
    assert answer.status_code == 404
    assert "a single /v1" in answer.json()["error"]["message"]
    other = served.get("/v1/chat/completions")
    assert (other.status_code, other.headers["allow"]) == (405, "POST")
