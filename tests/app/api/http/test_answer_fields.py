"""The request fields of other servers: honoured, ignored or refused by name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from app.api.http.chat import ChatFields, CompletionFields
from app.api.http.field_table import GROUPS, LIMITED, fields_with, limits_markdown, markdown
from app.api.http.messages import MessagesFields
from app.api.http.responses import ResponsesFields
from app.settings.values.fields import fields as setting_fields
from engines.types import ChatRequest, TextDelta, TokenLogprob, ToolCall
from tests.support.serving import Served

GUIDE = Path(__file__).parents[4] / "resources" / "docs" / "server.md"
HI: Any = [{"role": "user", "content": "Hi"}]
PATHS: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"messages": HI},
    "/v1/completions": {"prompt": "Hi"},
    "/v1/responses": {"input": "Hi"},
    "/v1/messages": {"messages": HI, "max_tokens": 9},
}
TOWN = {"type": "object", "properties": {"town": {"type": "string"}}}
OBJECT = {"type": "object"}


@pytest.fixture
def client(served: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture
def claude(served: Served) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=served.url, api_key="none", max_retries=0) as client:
        yield client


def ask(served: Served, path: str = "/v1/chat/completions", **fields: Any) -> httpx2.Response:
    return served.post(path, {"model": "starter", **PATHS[path], **fields})


def asked(served: Served, path: str = "/v1/chat/completions", **fields: Any) -> ChatRequest:
    """Send a request with these fields and return the request that reached the engine."""
    answer = ask(served, path, **fields)
    assert answer.status_code == 200, (fields, answer.text)
    return served.engine.requests[-1]


def refused(served: Served, path: str = "/v1/chat/completions", **fields: Any) -> tuple[str, str]:
    """Send a request with fields that must be refused.

    Returns:
        The field that the error names, and its message.
    """
    before = len(served.engine.requests)
    answer = ask(served, path, **fields)
    assert answer.status_code == 400, (fields, answer.text)
    assert len(served.engine.requests) == before
    error = answer.json()["error"]
    return error.get("param", ""), error["message"]


# The table and the guide


def test_the_guide_has_the_table_and_the_limits() -> None:
    guide = GUIDE.read_text()
    assert markdown() in guide
    assert limits_markdown() in guide


def test_the_table_names_every_field_that_a_request_declares() -> None:
    declared: set[str] = set()
    for kind in (ChatFields, CompletionFields, ResponsesFields, MessagesFields):
        declared |= {field.alias or name for name, field in kind.model_fields.items()}
    honoured = {*fields_with("honoured"), "thread"}  # it has an error of its own
    assert declared <= honoured
    assert honoured - declared == {"options"}, "it is taken apart before"


def test_a_field_is_in_one_group_for_each_endpoint() -> None:
    for endpoint in ("chat", "completions", "responses", "messages"):
        found = [
            name
            for group in GROUPS
            if group.treatment != "honoured" and (not group.at or endpoint in group.at)
            for name in group.names.split()
        ]
        assert len(found) == len(set(found))


@pytest.mark.parametrize("path", PATHS)
def test_the_limits_are_those_of_the_settings(served: Served, path: str) -> None:
    for name in LIMITED:
        its = setting_fields()[name]
        least, most = its.gt if its.ge is None else its.ge, its.le
        assert least is not None
        assert most is not None
        assert ask(served, path, **{name: most}).status_code == 200
        assert ask(served, path, **{name: most + 0.01}).status_code == 400
        assert ask(served, path, **{name: least}).status_code == (400 if its.ge is None else 200)
        assert ask(served, path, **{name: least - 0.01}).status_code == 400


# Constraints

SCHEMAS: list[tuple[dict[str, Any], Any]] = [
    ({"json_schema": TOWN}, TOWN),
    ({"json_schema": json.dumps(TOWN)}, TOWN),
    ({"json_schema": {"name": "town", "schema": TOWN}}, TOWN),
    ({"guided_json": TOWN}, TOWN),
    ({"guided_json": json.dumps(TOWN)}, TOWN),
    ({"guided_json_object": True}, OBJECT),
    ({"structured_outputs": {"json": TOWN}}, TOWN),
    ({"structured_outputs": {"json": json.dumps(TOWN)}}, TOWN),
    ({"structured_outputs": {"json_object": True}}, OBJECT),
    ({"format": "json"}, OBJECT),
    ({"format": TOWN}, TOWN),
    ({"output_format": {"type": "json_schema", "schema": TOWN}}, TOWN),
    ({"response_format": {"type": "json_object", "schema": TOWN}}, TOWN),
    ({"response_format": {"type": "json_schema", "schema": TOWN}}, TOWN),
    ({"response_format": {"type": "json_schema", "json_schema": {"schema": TOWN}}}, TOWN),
    ({"response_format": {"type": "json", "value": TOWN}}, TOWN),
    ({"response_format": {"type": "json_object"}, "guided_json": TOWN}, TOWN),
    ({"json_schema": TOWN, "format": TOWN}, TOWN),
    ({"response_format": {"type": "json_schema", "json_schema": {"schema": {}}}}, {}),
    ({"guided_json": "", "guided_regex": "", "grammar": "", "format": ""}, None),
]


@pytest.mark.parametrize("path", PATHS)
def test_a_schema_holds_whatever_it_is_called(served: Served, path: str) -> None:
    for fields, schema in SCHEMAS:
        sampling = asked(served, path, **fields).sampling
        assert (json.loads(sampling.schema or "null"), sampling.grammar) == (schema, None), fields


GRAMMARS: list[tuple[dict[str, Any], str]] = [
    ({"grammar": 'root ::= "a"'}, 'root ::= "a"'),
    ({"guided_grammar": 'root ::= "a"'}, 'root ::= "a"'),
    ({"ebnf": 'root ::= "a"'}, 'root ::= "a"'),
    ({"structured_outputs": {"grammar": 'root ::= "a"'}}, 'root ::= "a"'),
    ({"response_format": {"type": "grammar", "grammar": 'root ::= "a"'}}, 'root ::= "a"'),
    ({"guided_choice": ["yes", 'n"o']}, 'root ::= "yes" | "n\\x22o"'),
    ({"structured_outputs": {"choice": ["a\n", "ß"]}}, 'root ::= "a\\x0A" | "\\xDF"'),
    ({"guided_regex": r"^\d{2,3}[a-c\]]+$"}, r"root ::= [0-9]{2,3} [a-c\x5D]+"),
    ({"regex": "(?:ab|c)?.*"}, r'root ::= ("a" "b" | "c")? [^\x0A\x0D]*'),
    ({"structured_outputs": {"regex": r"a\.b"}}, 'root ::= "a" "." "b"'),
    ({"response_format": {"type": "regex", "value": "x"}}, 'root ::= "x"'),
]


@pytest.mark.parametrize("path", PATHS)
def test_a_grammar_a_choice_and_a_pattern_hold_whatever_they_are_called(
    served: Served, path: str
) -> None:
    for fields, grammar in GRAMMARS:
        sampling = asked(served, path, **fields).sampling
        assert (sampling.grammar, sampling.schema) == (grammar, None), fields


def test_anthropics_client_sends_an_output_format(
    served: Served, claude: anthropic.Anthropic
) -> None:
    form = {"type": "json_schema", "schema": TOWN}
    for extra in ({"output_format": form}, {"output_config": {"format": form}}):
        claude.messages.create(model="starter", max_tokens=9, messages=HI, extra_body=extra)
        sampling = served.engine.requests[-1].sampling
        assert json.loads(sampling.schema or "null") == TOWN


IMPOSSIBLE: list[tuple[dict[str, Any], str]] = [
    ({"grammar": 'root ::= "a"', "json_schema": TOWN}, "grammar"),
    ({"guided_choice": ["a"], "guided_regex": "b"}, "guided_choice"),
    ({"guided_json": TOWN, "format": OBJECT | {"maxProperties": 1}}, "format"),
    ({"response_format": {"type": "json_object"}, "grammar": 'root ::= "a"'}, "grammar"),
    ({"guided_json": "no JSON"}, "guided_json"),
    ({"guided_json": 7}, "guided_json"),
    ({"format": "yaml"}, "format"),
    ({"guided_choice": []}, "guided_choice"),
    ({"guided_regex": "(?=a)b"}, "guided_regex"),
    ({"guided_regex": "(a"}, "guided_regex"),
    ({"guided_regex": "a)"}, "guided_regex"),
    ({"guided_regex": "[a"}, "guided_regex"),
    ({"guided_regex": r"(a)\1"}, "guided_regex"),
    ({"guided_regex": r"\bword"}, "guided_regex"),
    ({"guided_regex": "a{3,1}"}, "guided_regex"),
    ({"guided_regex": "(" * 100 + ")" * 100}, "guided_regex"),
    ({"structured_outputs": {"structural_tag": "{}"}}, "structured_outputs.structural_tag"),
    ({"response_format": {"type": "structural_tag"}}, "response_format"),
    ({"response_format": {"type": "yaml"}}, "response_format.type"),
    ({"output_format": {"type": "yaml"}}, "output_format.type"),
]


def test_a_constraint_that_cannot_be_held_is_refused(served: Served) -> None:
    for fields, field in IMPOSSIBLE:
        assert refused(served, **fields)[0] == field


CHANGING: list[tuple[str, Any, Any]] = [
    ("best_of", 3, 1),
    ("use_beam_search", True, False),
    ("skip_special_tokens", False, True),
    ("truncate_prompt_tokens", 5, -1),
    ("prompt_logprobs", 0, None),
    ("allowed_token_ids", [1], []),
    ("bad_words", ["a"], []),
    ("mirostat", 2, 0),
    ("dry_multiplier", 0.8, 0),
    ("xtc_probability", 0.5, 0.0),
    ("dynatemp_range", 0.5, 0),
    ("top_a", 0.2, 0),
    ("top_n_sigma", 1.5, -1),
    ("typical_p", 0.9, 1.0),
    (
        "samplers",
        ["temperature", "top_k"],
        ["penalties", "dry", "top_k", "typ_p", "top_p", "min_p", "xtc", "temperature"],
    ),
    ("samplers", "kt", "edskypmxt"),
    ("lora", [{"id": 0, "scale": 1}], []),
    ("chat_template", "{{ messages }}", ""),
    ("documents", [{"text": "a"}], []),
    ("modalities", ["text", "audio"], ["text"]),
    ("web_search_options", {"a": 1}, None),
    ("reasoning_format", "none", "auto"),
    ("vllm_xargs", {"a": 1}, {}),
    ("mcp_servers", [{"url": "http://a"}], []),
]
"""Fields that would change the answer, each with a value that does and one that has no effect."""


@pytest.mark.parametrize("path", PATHS)
def test_a_field_that_would_change_the_answer_is_refused_by_name(served: Served, path: str) -> None:
    for field, value, neutral in CHANGING:
        param, words = refused(served, path, **{field: value})
        assert f"“{field}”" in words
        if path != "/v1/messages":  # its errors name no field
            assert param == field
        answer = ask(served, path, **{field: neutral})
        assert answer.status_code == 200, answer.text
        assert "notes" not in answer.json()


def test_what_is_harmless_is_ignored(served: Served) -> None:
    harmless = dict.fromkeys(fields_with("ignored"), "x")
    for path in PATHS:
        own = {"store", "verbosity"} if path == "/v1/responses" else set()
        fields = {name: value for name, value in harmless.items() if name not in own}
        answer = ask(served, path, **fields)
        assert answer.status_code == 200, answer.text
        assert "notes" not in answer.json()


def test_a_field_that_nobody_knows_is_told(served: Served) -> None:
    body = ask(served, frobnicate=1, tempratur=0.5).json()
    (note,) = body["notes"]
    assert "frobnicate, tempratur" in note


def test_the_settings_in_ollamas_options_count(served: Served) -> None:
    options = {"temperature": 0.5, "num_predict": 7, "seed": 3, "stop": ["x"], "num_ctx": 512}
    request = asked(served, options=options)
    assert (request.sampling.temperature, request.sampling.seed) == (0.5, 3)
    assert (request.max_tokens, request.stop) == (7, ("x",))
    answer = ask(served, options={"mirostat": 1})
    assert answer.json()["error"]["param"] == "mirostat"


@pytest.mark.parametrize(
    ("fields", "thinking", "effort", "budget"),
    [
        ({"enable_thinking": False}, False, None, None),
        ({"chat_template_kwargs": {"thinking": True}}, True, None, None),
        ({"chat_template_kwargs": {"reasoning_effort": "high"}}, None, "high", None),
        ({"think": False}, False, None, None),
        ({"think": "low"}, None, "low", None),
        ({"thinking": {"type": "disabled"}}, False, None, None),
        ({"thinking": {"type": "enabled", "budget_tokens": 50}}, True, None, 50),
        ({"reasoning": {"effort": "high"}}, None, "high", None),
        ({"reasoning": {"max_tokens": 40}}, None, None, 40),
        ({"thinking_token_budget": 30}, None, None, 30),
        ({"reasoning_budget_tokens": -1}, None, None, None),
    ],
    ids=str,
)
def test_reasoning_is_asked_for_in_the_fields_of_other_servers(
    served: Served,
    fields: dict[str, Any],
    thinking: bool | None,
    effort: str | None,
    budget: int | None,
) -> None:
    request = asked(served, **fields)
    told = (request.thinking, request.effort, request.thinking_budget)
    assert told == (thinking, effort, budget)


def test_a_value_of_the_template_that_cannot_be_set_is_refused(served: Served) -> None:
    field, _ = refused(served, chat_template_kwargs={"enable_thinking": True, "style": "x"})
    assert field == "chat_template_kwargs.style"


# How an answer ends


@pytest.mark.parametrize("path", PATHS)
def test_the_end_of_an_answer_is_set_as_vllm_does(served: Served, path: str) -> None:
    more: dict[str, Any] = {"ignore_eos": True, "min_tokens": 4, "stop_token_ids": [3, 3, 9]}
    sampling = asked(served, path, **more).sampling
    assert (sampling.ignore_end, sampling.min_tokens) == (True, 4)
    assert sampling.stop_tokens == (3, 9)


def test_an_answer_that_must_not_end_is_not_held_to_a_form(served: Served) -> None:
    tool = {"type": "function", "function": {"name": "w", "parameters": {}}}
    assert refused(served, ignore_eos=True, guided_choice=["a"])[0] == "ignore_eos"
    assert refused(served, min_tokens=2, json_schema=TOWN)[0] == "min_tokens"
    assert refused(served, min_tokens=2, tools=[tool])[0] == "min_tokens"
    assert refused(served, min_tokens=9, max_tokens=8)[0] == "min_tokens"
    assert asked(served, min_tokens=2, tools=[tool], tool_choice="none").sampling.min_tokens == 2


def test_the_stop_string_can_be_a_part_of_the_answer(served: Served, client: openai.OpenAI) -> None:
    served.engine.stop = "END"
    extra = {"include_stop_str_in_output": True}
    both: Any = {"model": "starter", "stop": ["END"], "extra_body": extra}
    whole = client.chat.completions.create(messages=HI, **both)
    assert whole.choices[0].message.content == "Hello thereEND"
    stream = client.completions.create(prompt="Hi", stream=True, **both)
    assert "".join(it.choices[0].text for it in stream) == "Hello thereEND"


# Numbers


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(("limit", "told"), [(-1, None), (0, 0), (7.0, 7), ("7", 7)])
def test_a_limit_is_taken_as_other_servers_take_it(
    served: Served, path: str, limit: object, told: int | None
) -> None:
    names = {"/v1/responses": "max_output_tokens"}
    assert asked(served, path, **{names.get(path, "max_tokens"): limit}).max_tokens == told


def test_a_limit_may_have_other_names(served: Served) -> None:
    assert asked(served, max_completion_tokens=0, max_tokens=5).max_tokens == 0
    assert asked(served, n_predict=6).max_tokens == 6
    assert asked(served, max_tokens=None).max_tokens is None


@pytest.mark.parametrize("path", PATHS)
def test_numbers_have_the_limits_of_the_app(served: Served, path: str) -> None:
    sampling = asked(served, path, temperature=5, top_p=0, top_k=-1).sampling
    assert (sampling.temperature, sampling.top_p, sampling.top_k) == (5, 0, 0)
    sampling = asked(served, path, temperature="0.7", top_k=20.0, repeat_penalty=0.9).sampling
    assert (sampling.temperature, sampling.top_k, sampling.repeat_penalty) == (0.7, 20, 0.9)
    assert asked(served, path, repeat_last_n=7).sampling.repeat_last_n == 7
    assert asked(served, path, seed=-1).sampling.seed is None
    assert asked(served, path, seed=42.0).sampling.seed == 42


NO_NUMBERS: list[dict[str, Any]] = [
    {"temperature": 5.1},
    {"temperature": -0.1},
    {"temperature": True},
    {"temperature": "nan"},
    {"temperature": "hot"},
    {"top_p": 1.1},
    {"top_k": -2},
    {"max_tokens": -2},
    {"max_tokens": 7.5},
    {"max_tokens": True},
    {"repetition_penalty": 0},
    {"min_tokens": -1},
    {"stop_token_ids": ["a"]},
    {"logit_bias": {"5": "x"}},
    {"logit_bias": {"5": True}},
    {"logit_bias": {"5": None}},
    {"logit_bias": {"word": 1}},
    {"logit_bias": [5]},
    {"logit_bias": "5"},
]


def test_a_number_that_cannot_be_is_refused_by_name(served: Served) -> None:
    for field in NO_NUMBERS:
        assert refused(served, **field)[0].split(".")[0] in field


@pytest.mark.parametrize("field", ["temperature", "max_tokens", "logit_bias"])
@pytest.mark.parametrize("number", ["1e309", "-1e309", "NaN", "Infinity"])
def test_a_number_without_an_end_is_refused(served: Served, field: str, number: str) -> None:
    value = f'{{"5": {number}}}' if field == "logit_bias" else number
    body = f'{{"model": "starter", "messages": {json.dumps(HI)}, "{field}": {value}}}'
    answer = httpx2.post(f"{served.url}/v1/chat/completions", content=body, timeout=60)
    assert answer.status_code == 400, answer.text
    assert served.engine.requests == []


def test_a_bias_has_the_forms_of_other_servers(served: Served) -> None:
    ban = float("-inf")
    for given in ({"5": False, "6": "-2"}, [[5, False], [6, -2]], [["5", False], [6, -2.0]]):
        assert asked(served, logit_bias=given).sampling.logit_bias == ((5, ban), (6, -2.0))
    (bias,) = asked(served, logit_bias={"5": 1e300}).sampling.logit_bias
    assert 1000 < bias[1] < 1e38, "which a float of 32 bits can hold"


@pytest.mark.parametrize(
    ("stop", "told"),
    [
        (None, ()),
        ("", ()),
        ([], ()),
        (["", "x", None, "x"], ("x",)),
        ([str(number) for number in range(64)], tuple(map(str, range(64)))),
    ],
)
def test_stops_may_be_none_empty_and_many(served: Served, stop: Any, told: tuple[str, ...]) -> None:
    assert asked(served, stop=stop).stop == told
    assert asked(served, "/v1/messages", stop_sequences=stop or []).stop == (told or ())


def test_an_address_may_have_slashes_too_many(served: Served) -> None:
    body = {"model": "starter", "messages": HI}
    for path in ("//v1//chat/completions", "/v1/chat//completions//", "///v1/chat/completions"):
        assert served.post(path, body).status_code == 200
    assert served.get("//health").status_code == 200


# The conversation so far


def test_arguments_may_be_the_value_that_they_stand_for(served: Served) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "w", "arguments": {"town": "Köln"}}}
    result = {"role": "tool", "tool_call_id": "c", "content": "Sunny"}
    messages = [*HI, {"role": "assistant", "content": None, "tool_calls": [call]}, result]
    told = asked(served, messages=messages).messages
    assert told[1].calls == (ToolCall("w", '{"town": "Köln"}', "c"),)
    item = {"type": "function_call", "call_id": "c", "name": "w", "arguments": {"town": "Köln"}}
    output = {"type": "function_call_output", "call_id": "c", "output": "Sunny"}
    told = asked(served, "/v1/responses", input=[*HI, item, output]).messages
    assert told[1].calls == (ToolCall("w", '{"town": "Köln"}', "c"),)


def test_calls_of_older_and_newer_clients_are_read(served: Served) -> None:
    old = {"role": "assistant", "content": None, "function_call": {"name": "w", "arguments": "{}"}}
    result = {"role": "function", "name": "w", "content": "Sunny"}
    told = asked(served, messages=[*HI, old, result]).messages
    assert told[1].calls == (ToolCall("w", "{}"),)
    assert (told[2].role, told[2].tool, told[2].text) == ("tool", "w", "Sunny")
    new = {"id": "c", "type": "custom", "custom": {"name": "w", "input": "Köln"}}
    said = {"role": "assistant", "tool_calls": [new]}
    told = asked(served, messages=[*HI, said, result]).messages
    assert json.loads(told[1].calls[0].arguments) == {"input": "Köln"}


@pytest.mark.parametrize(
    ("said", "text", "reasoning"),
    [
        ({"content": [{"type": "refusal", "refusal": "No."}]}, "No.", ""),
        ({"content": None, "refusal": "No."}, "No.", ""),
        ({"content": [{"type": "reasoning", "text": "Hm"}]}, "", "Hm"),
        (
            {
                "content": [
                    {"type": "thinking", "thinking": "Hm", "signature": "s"},
                    {"type": "redacted_thinking", "data": "x"},
                    {"type": "text", "text": "Yes."},
                ]
            },
            "Yes.",
            "Hm",
        ),
        ({"content": ""}, "", ""),
        ({"content": []}, "", ""),
        ({}, "", ""),
    ],
)
def test_parts_of_other_servers_answers_are_read(
    served: Served, said: dict[str, Any], text: str, reasoning: str
) -> None:
    messages = [*HI, {"role": "assistant", **said}, {"role": "user", "content": "And?"}]
    told = asked(served, messages=messages).messages[1]
    assert (told.text, told.reasoning) == (text, reasoning)


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"content": None, "audio": {"id": "a"}}, "messages.1.audio"),
        ({"content": [{"type": "video_url", "video_url": {}}]}, "messages.1.content"),
        ({"tool_calls": [{"id": "c", "type": "function"}]}, "messages.1.tool_calls.0.function"),
    ],
)
def test_what_was_said_and_cannot_be_read_is_named(
    served: Served, said: dict[str, Any], field: str
) -> None:
    assert refused(served, messages=[*HI, {"role": "assistant", **said}])[0] == field


# Probabilities

EURO = tuple(
    TokenLogprob(number, "�", bytes([byte]), -float(number), (TokenLogprob(1, "�", b"\x80", -0.1),))
    for number, byte in enumerate("€".encode(), 1)
)


def test_each_byte_of_a_character_has_an_entry(served: Served, client: openai.OpenAI) -> None:
    x = TokenLogprob(9, "x", b"x", -0.5)
    served.engine.pieces = (TextDelta("a"), TextDelta("€x", (*EURO, x)))
    chat = client.chat.completions.create(
        model="starter", messages=HI, logprobs=True, top_logprobs=1
    )
    assert chat.choices[0].logprobs is not None
    content = chat.choices[0].logprobs.content or []
    assert [it.token for it in content] == ["\\xe2", "\\x82", "\\xac", "x"]
    assert [it.bytes for it in content] == [[0xE2], [0x82], [0xAC], [0x78]]
    assert content[0].top_logprobs[0].token == "\\x80"
    text = client.completions.create(model="starter", prompt="Hi", logprobs=1)
    told = text.choices[0].logprobs
    assert told is not None
    assert told.tokens == ["bytes:\\xe2", "bytes:\\x82", "bytes:\\xac", "x"]
    assert told.text_offset == [1, 1, 1, 2]
    assert told.token_logprobs == [-1.0, -2.0, -3.0, -0.5]
    assert told.top_logprobs is not None
    assert told.top_logprobs[1] == {"bytes:\\x80": -0.1, "bytes:\\x82": -2.0}


def test_offsets_in_a_stream_go_on(served: Served, client: openai.OpenAI) -> None:
    a, b = TokenLogprob(1, "One", b"One", -0.1), TokenLogprob(2, " two", b" two", -0.2)
    served.engine.pieces = (TextDelta("One", (a,)), TextDelta(" two", (b,)))
    asked: Any = {"model": "starter", "prompt": "Hi", "logprobs": 0, "echo": False}
    places = [
        place
        for chunk in client.completions.create(**asked, stream=True)
        if chunk.choices[0].logprobs is not None
        for place in chunk.choices[0].logprobs.text_offset or []
    ]
    whole = client.completions.create(**asked).choices[0].logprobs
    assert places == [0, 3]
    assert whole is not None
    assert whole.text_offset == places


@pytest.mark.parametrize(
    ("fields", "likely"),
    [
        ({"logprobs": True}, 0),
        ({"logprobs": False}, None),
        ({"logprobs": True, "top_logprobs": 3}, 3),
        ({"top_logprobs": 3}, 3),
        ({"logprobs": 4}, 4),
        ({"n_probs": 2}, 2),
        ({"n_probs": 0}, None),
    ],
    ids=str,
)
def test_probabilities_are_asked_for_as_elsewhere(
    served: Served, fields: dict[str, Any], likely: int | None
) -> None:
    assert asked(served, **fields).sampling.logprobs == likely
