"""Tools, calls and results with servers: in their protocol, or in words."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from engines.openai.values import ServerKind
from engines.types import ChatRequest, Message, TextDelta, Tool, ToolCall, ToolCallDelta
from tests.engines.asking import ask, done_of, text_of
from tests.engines.openai.conftest import CHAT, Reach, Serve, run
from tests.support.openai_server import DONE, chunk, refusal, stream

CLOCK = Tool("clock", "The time of a town", {"type": "object", "properties": {}})
CALL = ToolCall("clock", '{"town": "Köln"}', "a1")
TALK = (
    Message("system", "Be kind."),
    Message("user", "How late is it?"),
    Message("assistant", "", calls=(CALL,)),
    Message("tool", "eight", tool="clock", call_id="a1"),
    Message("user", "And in Bonn?"),
)
YES = (chunk({"content": "Nine."}), chunk({}, "stop"), DONE)


def talking(**fields: object) -> ChatRequest:
    return replace(ask("?", tools=(CLOCK,)), messages=TALK, **fields)  # type: ignore[arg-type]


def test_calls_and_results_are_messages_of_the_protocol(serve: Serve, reach: Reach) -> None:
    server = serve()
    server.script(CHAT, stream(*YES))
    run(talking(), reach(server))
    sent = server.chats()[0]["messages"]
    assert sent[2] == {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "a1",
                "type": "function",
                "function": {"name": "clock", "arguments": '{"town": "Köln"}'},
            }
        ],
    }
    result = {"role": "tool", "content": "eight", "tool_call_id": "a1", "name": "clock"}
    assert sent[3] == result


def test_a_result_has_no_name_where_the_protocol_is_all_that_is_known(
    serve: Serve, reach: Reach
) -> None:
    server = serve("openai")
    server.script(CHAT, stream(*YES))
    run(talking(), reach(server))
    assert server.chats()[0]["messages"][3].keys() == {"role", "content", "tool_call_id"}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, None),
        ({"tool_choice": "none"}, "none"),
        ({"tool_choice": "required"}, "required"),
        (
            {"tool_choice": "required", "only_tool": "clock"},
            {"type": "function", "function": {"name": "clock"}},
        ),
    ],
)
def test_the_choice_of_tools_is_passed_on(
    serve: Serve, reach: Reach, fields: dict[str, object], expected: object
) -> None:
    server = serve()
    server.script(CHAT, stream(*YES))
    run(talking(**fields), reach(server))
    body = server.chats()[0]
    assert body.get("tool_choice") == expected
    assert body["tools"][0]["function"]["name"] == "clock"
    assert "parallel_tool_calls" not in body


def test_several_calls_at_once_are_declined(serve: Serve, reach: Reach) -> None:
    server = serve()
    server.script(CHAT, refusal(400, "Unknown field: parallel_tool_calls"), stream(*YES))
    done = done_of(run(talking(parallel_tools=False), reach(server)))
    first, second = server.chats()
    assert first["parallel_tool_calls"] is False
    assert "parallel_tool_calls" not in second
    assert "several tools" in " ".join(done.notes)


def test_a_call_is_told_piece_by_piece(serve: Serve, reach: Reach) -> None:
    server = serve()

    def piece(index: int, arguments: str, **more: object) -> dict[str, object]:
        return {"index": index, **more, "function": {"arguments": arguments}}

    first = {"index": 0, "id": "a1", "function": {"name": "clock", "arguments": ""}}
    second = {"index": 1, "id": "b2", "function": {"name": "clock", "arguments": "{}"}}
    server.script(
        CHAT,
        stream(
            chunk({"tool_calls": [first]}),
            chunk({"tool_calls": [piece(0, '{"to')]}),
            chunk({"tool_calls": [piece(0, 'wn": 1}'), second]}),
            chunk({}, "tool_calls"),
            DONE,
        ),
    )
    events = run(ask("Late?", tools=(CLOCK,)), reach(server))
    assert [it for it in events if isinstance(it, ToolCallDelta | ToolCall)] == [
        ToolCallDelta(0, "clock", "a1", ""),
        ToolCallDelta(0, "clock", "a1", '{"to'),
        ToolCallDelta(0, "clock", "a1", 'wn": 1}'),
        ToolCallDelta(1, "clock", "b2", ""),
        ToolCallDelta(1, "clock", "b2", "{}"),
        ToolCall("clock", '{"town": 1}', "a1"),
        ToolCall("clock", "{}", "b2"),
    ]


def test_a_call_that_was_cut_off_is_not_told_as_one(serve: Serve, reach: Reach) -> None:
    server = serve()
    call = {"index": 0, "id": "a", "function": {"name": "clock", "arguments": '{"zo'}}
    server.script(CHAT, stream(chunk({"tool_calls": [call]}), chunk({}, "length"), DONE))
    events = run(ask("Late?", tools=(CLOCK,)), reach(server))
    assert not [it for it in events if isinstance(it, ToolCall)]
    assert done_of(events).finish_reason == "length"


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("ollama", "registry.ollama.ai/library/gemma2:2b does not support tools"),
        (
            "vllm",
            '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser',
        ),
    ],
)
def test_words_tell_of_tools_where_a_server_takes_none(
    serve: Serve, reach: Reach, kind: ServerKind, said: str
) -> None:
    server = serve(kind)
    written = '<tool_call>{"name": "clock", "arguments": {}}</tool_call>'
    answer = stream(chunk({"content": written}), chunk({}, "stop"), DONE)
    server.script(CHAT, refusal(400, said), answer)
    events = run(talking(tool_choice="required"), reach(server))
    sent, body = server.chats()
    assert "tools" in sent
    assert not {"tools", "tool_choice"} & body.keys()
    roles = [it["role"] for it in body["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    text = json.dumps(body["messages"], ensure_ascii=False)
    places = [text.find(it) for it in ("Be kind.", "The time of a town", "Köln", "eight", "Bonn")]
    assert places == sorted(places)
    assert -1 not in places
    assert [it.name for it in events if isinstance(it, ToolCall)] == ["clock"]
    assert not [it for it in events if isinstance(it, TextDelta)]
    notes = " ".join(done_of(events).notes)
    assert ("cannot force the model" in notes) == ("structured_outputs" not in body)
    assert ("structured_outputs" in body) == (kind == "vllm")


def test_what_may_be_no_call_is_text(serve: Serve, reach: Reach) -> None:
    server = serve()
    written = '<tool_call>{"name": "clock", "arguments": {}}</tool_call>'
    server.script(CHAT, stream(chunk({"content": written}), chunk({}, "stop"), DONE))
    assert text_of(run(talking(tool_choice="none"), reach(server))) == written


def test_calls_count_where_a_chat_is_measured(serve: Serve, reach: Reach) -> None:
    server = serve()
    via = reach(server)
    long = replace(CALL, arguments=json.dumps({"town": "K" * 4000}))
    talk = (*TALK[:2], Message("assistant", "", calls=(long,)), *TALK[3:])
    assert via.estimator.estimate(talk) > via.estimator.estimate(TALK) + 500


@pytest.mark.parametrize("without", [frozenset[str](), frozenset({"tools"})])
def test_vllm_is_held_to_a_call_where_its_parser_does_not_see_to_it(
    without: frozenset[str], serve: Serve, reach: Reach
) -> None:
    server = serve("vllm")
    written = '<tool_call>\n{"name": "clock", "arguments": {"town": "Ulm"}}\n</tool_call>'
    server.script(CHAT, stream(chunk({"content": written}), chunk({}, "stop"), DONE))
    way = reach(server, omitted=without, enforces_calls=False)
    guided = replace(ask("?").sampling, schema='{"type": "object"}')
    bell = replace(CLOCK, name="bell")
    asked = replace(ask("How late?", tools=(bell, CLOCK)), tool_choice="required", sampling=guided)
    events = run(replace(asked, only_tool="clock", parallel_tools=False), way)
    assert [it.name for it in events if isinstance(it, ToolCall)] == ["clock"]
    assert done_of(events).finish_reason == "tool"
    assert not done_of(events).notes
    (sent,) = server.chats()
    if without:
        assert not {"tools", "tool_choice", "parallel_tool_calls"} & sent.keys()
    told = sent["messages"][0]["content"] if without else sent["tools"]
    assert "clock" in json.dumps(told)
    form = json.loads(sent["structured_outputs"].pop("structural_tag"))["format"]
    assert not sent["structured_outputs"], "a call follows its tool, and nothing else"
    assert form["at_least_one"]
    assert form["stop_after_first"]
    (tag,) = form["tags"]
    assert tag["content"]["json_schema"] == CLOCK.parameters
    begin, end = (json.dumps({"name": "clock"})[:-1], "}\n</tool_call>")
    assert tag["begin"].startswith(f"<tool_call>\n{begin}, ")
    assert tag["end"] == end


def test_where_a_call_may_be_it_is_asked_for_in_words_alone(serve: Serve, reach: Reach) -> None:
    server = serve("vllm")
    server.script(CHAT, stream(*YES))
    run(ask("How late is it?", tools=(CLOCK,)), reach(server, omitted=frozenset({"tools"})))
    (sent,) = server.chats()
    assert not {"tools", "tool_choice"} & sent.keys()
    assert "clock" in sent["messages"][0]["content"]
