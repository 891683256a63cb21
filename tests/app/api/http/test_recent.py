"""Continuing, fetching and deleting responses and listing their input, with OpenAI's client."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest

from app.api.http import api
from app.api.http.recent import (
    ListFields,
    PreviousResponseNotFound,
    RecentResponses,
    ResponseNotFound,
)
from app.base.folder import DataFolder
from app.net.values.serving import LOOPBACK, Address, ServeOptions
from app.wiring.app import open_app
from engines.errors import EngineFailed
from engines.types import ReasoningDelta, ToolCall
from tests.app.api.http.test_attacks import client_of
from tests.app.api.http.test_media import PNG, url_of
from tests.app.api.http.test_responses import WEATHER
from tests.support.serving import Served

SECRET = "the heron of Biberach"
ODD = ["resp_none", "resp_\N{GRINNING FACE}", "..", "a b?c#d", "%00", "'; DROP", "x" * 5000]


@pytest.fixture
def client(served: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
        yield client


def ask(client: openai.OpenAI, said: Any = "Hi", **more: Any) -> Any:
    return client.responses.create(model="starter", input=said, **more)


def told(served: Served) -> list[tuple[str, str]]:
    """Return the roles and texts of the last request to the model."""
    return [(it.role, it.text) for it in served.engine.requests[-1].messages]


def texts(items: Iterable[Any]) -> list[str]:
    return [it.content[0].text for it in items]


@pytest.mark.parametrize("stream", [False, True])
def test_a_response_is_gone_on_from(served: Served, client: openai.OpenAI, stream: bool) -> None:
    served.engine.pieces = (ReasoningDelta("Hm."), "Hello", " there")
    first = ask(client, "Hi", instructions="Be kind.")
    second = ask(client, [{"role": "user", "content": "And you?"}], previous_response_id=first.id)
    assert second.previous_response_id == first.id
    third = ask(
        client, "So?", previous_response_id=second.id, instructions="Be brief.", stream=stream
    )
    if stream:
        third = list(third)[-1].response
    assert third.status == "completed"
    assert told(served) == [
        ("system", "Be brief."),
        ("user", "Hi"),
        ("assistant", "Hello there"),
        ("user", "And you?"),
        ("assistant", "Hello there"),
        ("user", "So?"),
    ]
    reasoned = [it.reasoning for it in served.engine.requests[-1].messages]
    assert reasoned == ["", "", "Hm.", "", "Hm.", ""]
    ask(client, "Then?", previous_response_id=third.id)
    assert told(served)[-2:] == [("assistant", "Hello there"), ("user", "Then?")]


@pytest.mark.parametrize("stream", [False, True])
def test_a_tools_result_finds_its_call(served: Served, client: openai.OpenAI, stream: bool) -> None:
    """LangChain and OpenAI's Agents SDKs continue a response by sending only the new items."""
    served.engine.pieces = ("Let me see.", ToolCall("weather", '{"town": "Ulm"}', "call_1"))
    first = ask(client, "Weather?", tools=[WEATHER], stream=stream)
    if stream:
        first = list(first)[-1].response
    result: Any = {"type": "function_call_output", "call_id": "call_1", "output": "Sunny."}
    served.engine.pieces = ("Sunny.",)
    ask(client, [result], tools=[WEATHER], previous_response_id=first.id)
    question, said, output = served.engine.requests[-1].messages
    assert question.text == "Weather?"
    assert said.calls == (ToolCall("weather", '{"town": "Ulm"}', "call_1"),)
    assert (output.role, output.tool, output.text) == ("tool", "weather", "Sunny.")


def test_two_can_go_on_from_the_same_response(served: Served, client: openai.OpenAI) -> None:
    first = ask(client, "Hi")
    left = ask(client, "Left", previous_response_id=first.id)
    right = ask(client, "Right", previous_response_id=first.id)
    for branch, name in ((left, "Left"), (right, "Right"), (left, "Left")):
        ask(client, "On", previous_response_id=branch.id)
        assert [text for role, text in told(served) if role == "user"] == ["Hi", name, "On"]


def test_pictures_go_along(served: Served, client: openai.OpenAI) -> None:
    served.engine.says = {"sees": True}
    served.post("/v1/responses", {"model": "starter", "input": "Hi"})
    image: Any = {"type": "input_image", "image_url": url_of(PNG), "detail": "auto"}
    first = ask(client, [{"role": "user", "content": [image]}])
    ask(client, "What is it?", previous_response_id=first.id)
    shown = [it.media for it in served.engine.requests[-1].messages]
    assert [len(it) for it in shown] == [1, 0, 0]


def test_a_response_is_got_as_it_was(client: openai.OpenAI) -> None:
    first = ask(client, "Hi", instructions="Be kind.", tools=[WEATHER])
    assert first.id.startswith("resp_"), "LangChain goes on from those alone"
    assert first.store is True
    assert client.responses.retrieve(first.id) == first
    with pytest.raises(openai.BadRequestError, match="streamed"):
        client.responses.retrieve(first.id, stream=True)


def test_a_responses_input_is_listed_page_by_page(client: openai.OpenAI) -> None:
    items: Any = [{"role": "user", "content": f"{number}"} for number in range(5)]
    first = ask(client, items)
    listed = client.responses.input_items.list(first.id, order="asc", limit=2)
    assert listed.has_next_page()
    assert texts(listed) == list("01234")
    latest = client.responses.input_items.list(first.id)
    assert texts(latest) == list("43210")
    assert {it.type for it in latest} == {"message"}
    second = ask(client, "5", previous_response_id=first.id)
    whole = client.responses.input_items.list(second.id, order="asc", limit=3)
    assert texts(whole) == [*"01234", "Hello there", "5"]
    wrongs: Any = ({"limit": 0}, {"limit": 101}, {"order": "up"}, {"after": "msg_none"})
    for wrong in wrongs:
        with pytest.raises(openai.BadRequestError):
            client.responses.input_items.list(first.id, **wrong)


def test_items_with_one_id_are_listed_to_their_end(client: openai.OpenAI) -> None:
    items: Any = [{"role": "user", "id": "msg_1", "content": f"{number}"} for number in range(5)]
    first = ask(client, items)
    assert 2 <= len(list(client.responses.input_items.list(first.id, limit=2))) <= 5


def test_what_is_deleted_is_gone_with_its_items(served: Served, client: openai.OpenAI) -> None:
    first = ask(client, "Hi")
    client.responses.delete(first.id)
    for gone in (
        client.responses.retrieve,
        client.responses.delete,
        client.responses.input_items.list,
    ):
        with pytest.raises(openai.NotFoundError, match="in memory only"):
            gone(first.id)
    with pytest.raises(openai.BadRequestError, match="not known here"):
        ask(client, [{"type": "item_reference", "id": first.output[0].id}])
    second = served.post("/v1/responses", {"model": "starter", "input": "Hi"}).json()
    deleted = httpx2.delete(f"{served.url}/v1/responses/{second['id']}", timeout=60)
    assert deleted.json() == {"id": second["id"], "object": "response", "deleted": True}


def test_what_went_on_from_a_deleted_response_is_not_gone_on_from(
    served: Served, client: openai.OpenAI
) -> None:
    """The conversation would have a gap, and the model would continue a different one."""
    first = ask(client, "One")
    second = ask(client, "Two", previous_response_id=first.id)
    third = ask(client, "Three", previous_response_id=second.id)
    client.responses.delete(second.id)
    with pytest.raises(openai.BadRequestError, match=f"goes on from “{second.id}”") as refused:
        ask(client, "Four", previous_response_id=third.id)
    assert refused.value.code == "previous_response_not_found"
    assert client.responses.retrieve(third.id).output_text == "Hello there"
    assert texts(client.responses.input_items.list(third.id)) == ["Three"]
    ask(client, "Other", previous_response_id=first.id)
    assert [text for role, text in told(served) if role == "user"] == ["One", "Other"]


@pytest.mark.parametrize("id_", ODD)
def test_an_unknown_response_is_refused_in_openais_words(
    served: Served, client: openai.OpenAI, id_: str
) -> None:
    with pytest.raises(openai.BadRequestError, match="in memory only") as refused:
        ask(client, "Hi", previous_response_id=id_)
    error: Any = refused.value.body
    assert (error["code"], error["param"]) == (
        "previous_response_not_found",
        "previous_response_id",
    )
    assert error["type"] == "invalid_request_error"
    assert len(error["message"]) < 600
    assert not served.engine.requests
    if id_ == "..":
        return  # no client sends this: such a path leads elsewhere
    for gone in (client.responses.retrieve, client.responses.delete):
        with pytest.raises(openai.NotFoundError) as missed:
            gone(id_)
        unknown: Any = missed.value.body
        assert (unknown["code"], unknown["type"]) == (
            "response_not_found",
            "invalid_request_error",
        )


def test_an_item_is_no_response_and_a_response_no_item(client: openai.OpenAI) -> None:
    first = ask(client, "Hi")
    item = first.output[0].id
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(item)
    with pytest.raises(openai.BadRequestError, match=item):
        ask(client, "Hi", previous_response_id=item)
    with pytest.raises(openai.BadRequestError, match="not known here"):
        ask(client, [{"type": "item_reference", "id": first.id}])


def test_another_key_sees_nothing_of_it(served: Served, client: openai.OpenAI) -> None:
    _, key = served.keys.add("editor")
    first = ask(client, SECRET)
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key=key.reveal(), max_retries=0) as other:
        for call in (
            lambda: other.responses.retrieve(first.id),
            lambda: other.responses.delete(first.id),
            lambda: other.responses.input_items.list(first.id),
            lambda: ask(other, "Hi", previous_response_id=first.id),
            lambda: ask(other, [{"type": "item_reference", "id": first.output[0].id}]),
        ):
            with pytest.raises((openai.NotFoundError, openai.BadRequestError)) as refused:
                call()
            assert SECRET not in str(refused.value)
        own = ask(other, "Mine")
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(own.id)
    assert client.responses.retrieve(first.id).id == first.id


def test_what_shall_not_be_stored_is_not(client: openai.OpenAI) -> None:
    kept = ask(client, "Hi")
    passed = ask(client, "Hush", store=False, previous_response_id=kept.id)
    assert passed.store is False
    with pytest.raises(openai.NotFoundError, match="store: false"):
        client.responses.retrieve(passed.id)
    with pytest.raises(openai.BadRequestError, match="store: false"):
        ask(client, "Hi", previous_response_id=passed.id)


def test_a_failed_response_is_not_gone_on_from(served: Served, client: openai.OpenAI) -> None:
    served.engine.error = EngineFailed("It broke.", "Its process ended.", "Try again.")
    served.engine.hold = threading.Event()
    stream = ask(client, "Hi", stream=True)
    served.engine.hold.set()
    failed = list(stream)[-1].response
    assert failed.status == "failed"
    served.engine.error = None
    with pytest.raises(openai.BadRequestError, match="failed or was cancelled"):
        ask(client, "Hi", previous_response_id=failed.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(failed.id)


def test_a_cancelled_response_is_not_gone_on_from(
    served: Served, client: openai.OpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "PING_S", 0.05)  # a silent stream notices it by what it sends
    served.engine.hold = threading.Event()
    stream = ask(client, "Hi", stream=True)
    begun = next(iter(stream)).response
    stream.close()
    served.engine.hold = None
    ask(client, "Another")
    with pytest.raises(openai.BadRequestError, match="failed or was cancelled"):
        ask(client, "Hi", previous_response_id=begun.id)


def test_a_response_that_was_cut_off_is_gone_on_from(served: Served, client: openai.OpenAI) -> None:
    """OpenAI lets clients continue such responses as well."""
    served.engine.finish = "length"
    cut = ask(client, "Hi")
    assert cut.status == "incomplete"
    ask(client, "Go on", previous_response_id=cut.id)
    assert told(served)[1:] == [("assistant", "Hello there"), ("user", "Go on")]


def test_nothing_of_it_is_on_disk(served: Served, client: openai.OpenAI, tmp_path: Path) -> None:
    served.engine.pieces = (f"{SECRET} answers",)
    first = ask(client, SECRET)
    ask(client, SECRET, previous_response_id=first.id)
    files = [it for it in tmp_path.rglob("*") if it.is_file()]
    assert files
    assert not [it for it in files if SECRET.encode() in it.read_bytes()]


def test_what_is_used_no_more_is_forgotten(served: Served, client: openai.OpenAI) -> None:
    used, left = ask(client, "Used"), ask(client, "Left")
    # Calls of other servers' tools do not reach the model, but they are stored as items.
    large: Any = {"type": "web_search_call", "id": "ws_1", "query": "x" * 20_000_000}
    for _ in range(4):
        ask(client, [large, {"role": "user", "content": "Hi"}])
        ask(client, "On", previous_response_id=used.id)
    with pytest.raises(openai.BadRequestError, match="in memory only"):
        ask(client, "On", previous_response_id=left.id)


def test_what_was_computed_of_a_response_is_used_again() -> None:
    with closing(open_app(DataFolder.default(), offline=True)) as app:
        app.server.start(ServeOptions(Address(LOOPBACK, 0)))
        with client_of(app) as client:
            first = ask(client, "What is Hearth?", max_output_tokens=24)
            second = ask(client, "Go on", max_output_tokens=8, previous_response_id=first.id)
    read, written = first.usage.input_tokens, first.usage.output_tokens
    assert second.usage.input_tokens > read + written
    assert second.usage.input_tokens_details.cached_tokens >= read


def response(number: int, previous: str | None = None, text: str = "") -> dict[str, Any]:
    item = {"id": f"msg_{number}", "type": "message", "role": "assistant", "content": text}
    return {"id": f"resp_{number}", "output": [item], "previous_response_id": previous}


def keep_chain(recent: RecentResponses, length: int, text: str) -> str:
    """Store a chain of responses, each continuing the one before, and return the last one's id."""
    client, previous = recent.of(""), None
    for number in range(length):
        made = response(number, previous, text)
        client.store_response(made, json.dumps([{"id": f"q_{number}", "type": "message"}]))
        previous = made["id"]
    assert previous is not None
    return str(previous)


def test_a_long_conversation_takes_as_much_as_its_turns() -> None:
    last = keep_chain(recent := RecentResponses(), 20_000, "x" * 1000)
    clock = time.process_time()
    items = recent.of("").conversation(last)
    assert len(items) == 40_000
    assert time.process_time() - clock < 10
    page = recent.of("").page(last, ListFields.model_validate({"limit": 3, "order": "asc"}))
    assert [it["id"] for it in page["data"]] == ["q_0", "msg_0", "q_1"]


def test_a_conversation_whose_beginning_was_forgotten_is_not_gone_on_from() -> None:
    last = keep_chain(recent := RecentResponses(100_000), 1000, "x" * 1000)
    with pytest.raises(PreviousResponseNotFound, match=f"“{last}”, which goes on from"):
        recent.of("").conversation(last)
    assert recent.of("").response(last)["id"] == last


def test_what_is_too_large_alone_pushes_nothing_out() -> None:
    client = RecentResponses(10_000).of("")
    client.store_response(response(1), "[]")
    client.store_response(response(2), json.dumps([{"id": "q", "data": "x" * 20_000}]))
    assert client.response("resp_1")["id"] == "resp_1"
    with pytest.raises(ResponseNotFound):
        client.response("resp_2")


def test_media_of_the_input_count() -> None:
    client = RecentResponses(100_000).of("")
    picture = {"type": "input_image", "image_url": "data:image/png;base64," + "A" * 60_000}
    for number in range(2):
        given = [{"id": "q", "type": "message", "role": "user", "content": [picture]}]
        client.store_response(response(number), json.dumps(given))
    with pytest.raises(ResponseNotFound):
        client.response("resp_0")
    assert client.response("resp_1")["id"] == "resp_1"


def test_many_threads_keep_find_and_forget() -> None:
    recent = RecentResponses(400_000)

    def work(thread: int) -> None:
        client = recent.of(str(thread % 2))
        for number in range(300):
            made = response(thread * 1000 + number, text="x" * 500)
            client.store_response(made, "[]")
            client.store_item(made["output"][0])
            # Another thread may have evicted it already.
            with suppress(ResponseNotFound, PreviousResponseNotFound):
                if number % 3:
                    client.conversation(made["id"])
                else:
                    client.forget(made["id"])

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(8)))
    last = keep_chain(recent, 200, "x" * 1000)
    assert len(recent.of("").conversation(last)) == 400, "there is as much room as before"
