"""Schemas and grammars from clients, in a whole Hearth with its starter model."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import anthropic
import openai
import pytest

from app.base.folder import DataFolder
from app.net.values.serving import LOOPBACK, Address, ServeOptions
from app.wiring.app import App, open_app

QUESTION: Any = [{"role": "user", "content": "What is Hearth?"}]
NOTE = (
    "Hearth did not enforce this part of the schema of the tool label: "
    "#/properties/tags: uniqueItems."
)
ARGUMENTS = {
    "type": "object",
    "properties": {
        "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        "count": {"type": "integer"},
    },
    "required": ["count"],
}
COSTLY: dict[str, Any] = {
    "words": {"schema": {"type": "string", "pattern": "^([a-z]* ?){0,20}$"}},
    "many patterns": {
        "schema": {"allOf": [{"type": "string", "pattern": f"a.{{{n}}}b"} for n in range(3, 30)]}
    },
    "optional letters": {"grammar": 'root ::= ("a"?){100}'},
    "many optional letters": {"grammar": 'root ::= ("a"?){1000}'},
}


@pytest.fixture
def hearth() -> Iterator[App]:
    with closing(open_app(DataFolder.default(), offline=True)) as app:
        app.server.start(ServeOptions(Address(LOOPBACK, 0)))
        yield app


@pytest.fixture
def client(hearth: App) -> Iterator[openai.OpenAI]:
    url, token = hearth.server.status.url, hearth.api_keys.token().secret.reveal()
    with openai.OpenAI(base_url=f"{url}/v1", api_key=token, max_retries=0) as client:
        yield client


@pytest.fixture
def claude(hearth: App) -> Iterator[anthropic.Anthropic]:
    url, token = hearth.server.status.url, hearth.api_keys.token().secret.reveal()
    with anthropic.Anthropic(base_url=url, api_key=token, max_retries=0) as client:
        yield client


def wanted(schema: Any) -> Any:
    named = {"name": "a", "strict": True, "schema": schema}
    return {"type": "json_schema", "json_schema": named}


def test_a_completion_s_notes_name_what_was_not_held(client: openai.OpenAI) -> None:
    tools: Any = [{"type": "function", "function": {"name": "label", "parameters": ARGUMENTS}}]
    asked: Any = {"model": "starter", "messages": QUESTION, "tools": tools, "max_tokens": 4}
    whole = client.chat.completions.create(**asked)
    assert NOTE in whole.model_dump()["notes"]
    chunks = [it.model_dump() for it in client.chat.completions.create(**asked, stream=True)]
    assert NOTE in chunks[-1]["notes"]


def test_a_message_s_notes_name_what_was_not_held(claude: anthropic.Anthropic) -> None:
    tools: Any = [{"name": "label", "input_schema": ARGUMENTS}]
    asked: Any = {"model": "starter", "messages": QUESTION, "tools": tools, "max_tokens": 4}
    assert NOTE in claude.messages.create(**asked).model_dump()["notes"]
    events = [it.model_dump() for it in claude.messages.create(**asked, stream=True)]
    (ended,) = [it for it in events if it["type"] == "message_delta"]
    assert NOTE in ended["notes"]


@pytest.mark.parametrize("stream", [False, True])
def test_a_response_s_notes_name_what_was_not_held(client: openai.OpenAI, stream: bool) -> None:
    tools: Any = [{"type": "function", "name": "label", "parameters": ARGUMENTS, "strict": False}]
    asked: Any = {"model": "starter", "input": "Hi", "tools": tools, "max_output_tokens": 16}
    if stream:
        *_, last = client.responses.create(**asked, stream=True)
        answer = last.response
    else:
        answer = client.responses.create(**asked)
    assert NOTE in answer.metadata["notes"]


def test_a_keyword_of_an_answer_s_schema_is_refused_with_its_path(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="#/properties/tags: uniqueItems"):
        client.chat.completions.create(
            model="starter", messages=QUESTION, response_format=wanted(ARGUMENTS)
        )


@pytest.mark.parametrize("name", COSTLY)
def test_no_schema_or_grammar_holds_the_answers_of_others_up(
    client: openai.OpenAI, name: str
) -> None:
    costly = COSTLY[name]
    if "schema" in costly:
        costly = {"response_format": wanted(costly["schema"])}
    ended: list[str] = []

    def send() -> None:
        try:
            client.chat.completions.create(
                model="starter", messages=QUESTION, max_tokens=30, extra_body=costly
            )
            ended.append("answered")
        except openai.BadRequestError:
            ended.append("refused")

    sending = threading.Thread(target=send)
    sending.start()
    others = [
        client.chat.completions.create(model="starter", messages=QUESTION, max_tokens=4)
        for _ in range(6)
    ]
    sending.join()
    assert [it.choices[0].finish_reason for it in others] == ["length"] * 6
    assert ended == ["refused" if name == "many patterns" else "answered"]
