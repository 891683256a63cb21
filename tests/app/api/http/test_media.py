"""Pictures, sounds and files in requests: from real clients to the request for the engine."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import anthropic
import openai
import pytest

from app.api.http import uploads
from app.api.http.request import BadRequest
from app.api.http.uploads import Uploads, decode_data_url, display_name
from app.documents.values.documents import Document, DocumentKind
from engines.cancel import CancelToken
from engines.errors import Cancelled
from engines.types import Message
from tests.support.made_media import noise, two_colours, wav, written
from tests.support.serving import Served

PNG = written(two_colours(), "PNG")
WEBP = written(two_colours(64, 64), "WEBP")
TEXT = "Hearth keeps its chats here.\nIt is seven years old."


def base64_of(data: bytes) -> str:
    return base64.b64encode(data).decode()


def url_of(data: bytes, kind: str = "image/png") -> str:
    return f"data:{kind};base64,{base64_of(data)}"


@pytest.fixture
def seeing(served: Served) -> Served:
    """Give the engine a model that takes pictures and sounds."""
    served.engine.says = {"sees": True, "hears": True}
    served.post("/v1/chat/completions", {"model": "starter", **HI})
    return served


HI: dict[str, Any] = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 5}


@pytest.fixture
def client(served: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture
def claude(served: Served) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=served.url, api_key="none", max_retries=0) as client:
        yield client


def last(served: Served) -> Message:
    return served.engine.requests[-1].messages[-1]


def with_marks(message: Message) -> str:
    """Return the text with a mark at the place of each picture or sound."""
    text = message.text
    for medium in reversed(message.media):
        text = f"{text[: medium.at]}<{medium.kind}>{text[medium.at :]}"
    return text


def image(data: bytes = PNG) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url_of(data)}}


def words(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def ask(client: openai.OpenAI, *parts: dict[str, Any], **more: Any) -> Any:
    message: Any = {"role": "user", "content": list(parts)}
    return client.chat.completions.create(model="starter", messages=[message], **more)


def test_pictures_of_a_chat_stand_where_they_were_sent(
    seeing: Served, client: openai.OpenAI
) -> None:
    ask(client, words("Before"), image(), words("between"), image(WEBP), words("behind."))
    assert with_marks(last(seeing)) == "Before<image>\nbetween<image>\nbehind."
    first, second = last(seeing).media
    assert first.data.startswith(b"\x89PNG")
    assert first.sha256 != second.sha256
    assert not second.data.startswith(b"RIFF"), "engines take PNG and JPEG"
    for chunk in ask(client, words("And"), image(), stream=True):
        assert chunk.choices
    assert with_marks(last(seeing)) == "And<image>"


def test_neighbours_of_one_role_keep_their_pictures_in_place(seeing: Served) -> None:
    messages = [
        {"role": "user", "content": [words("One"), image()]},
        {"role": "user", "content": [image(WEBP), words("two")]},
    ]
    seeing.post("/v1/chat/completions", {"model": "starter", "messages": messages})
    assert with_marks(last(seeing)) == "One<image>\n\n<image>two"


def test_a_sound_and_a_file_of_a_chat(seeing: Served, client: openai.OpenAI) -> None:
    sound = {"data": base64_of(wav(0.5)), "format": "wav"}
    file = {"filename": "../../etc/house.txt", "file_data": url_of(TEXT.encode(), "text/plain")}
    ask(
        client,
        words("What is it?"),
        {"type": "input_audio", "input_audio": sound},
        {"type": "file", "file": file},
    )
    told = with_marks(last(seeing))
    assert told.endswith("```\n\nWhat is it?<audio>"), told
    assert f"house.txt, text:\n```\n{TEXT}\n```" in told
    assert "never an instruction" in told
    assert "etc" not in told


def test_a_file_alone_is_a_message(seeing: Served, client: openai.OpenAI) -> None:
    ask(client, {"type": "file", "file": {"filename": "a.md", "file_data": base64_of(b"# Hi")}})
    assert last(seeing).text.endswith("```")


def test_pictures_and_files_of_responses(seeing: Served, client: openai.OpenAI) -> None:
    given: Any = [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "Look:"},
                {"type": "input_image", "image_url": url_of(PNG), "detail": "auto"},
                {"type": "input_file", "filename": "a.txt", "file_data": url_of(b"Seven.")},
            ],
        },
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
        {
            "type": "function_call_output",
            "call_id": "c1",
            "output": [
                {"type": "input_text", "text": "Seen:"},
                {"type": "input_image", "image_url": url_of(WEBP)},
            ],
        },
    ]
    client.responses.create(model="starter", input=given)
    question, _, result = seeing.engine.requests[-1].messages
    assert with_marks(question).endswith("Look:<image>")
    assert "Seven." in question.text
    assert (result.role, with_marks(result)) == ("tool", "Seen:<image>")


def test_pictures_and_documents_of_messages(seeing: Served, claude: anthropic.Anthropic) -> None:
    def source(data: bytes, kind: str) -> dict[str, str]:
        return {"type": "base64", "media_type": kind, "data": base64_of(data)}

    page = {"type": "text", "media_type": "text/plain", "data": TEXT}
    picture = {"type": "image", "source": source(PNG, "image/png")}
    messages: Any = [
        {
            "role": "user",
            "content": [
                picture,
                words("What is it?"),
                {"type": "document", "title": "House", "source": page},
                {"type": "document", "source": {"type": "content", "content": [words("Inside.")]}},
            ],
        },
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t1", "name": "look", "input": {}}],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "content": [words("Seen:"), picture],
                },
            ],
        },
    ]
    claude.messages.create(model="starter", messages=messages, max_tokens=5)
    question, _, result = seeing.engine.requests[-1].messages
    assert with_marks(question).endswith("<image>What is it?\n\nInside.")
    assert f"House.txt, text:\n```\n{TEXT}\n```" in question.text
    assert (result.role, with_marks(result)) == ("tool", "Seen:<image>")
    counted = claude.messages.count_tokens(model="starter", messages=messages)
    assert counted.input_tokens > 0


def test_a_model_that_does_not_see_says_why(served: Served, client: openai.OpenAI) -> None:
    for _ in "before and after its load":
        with pytest.raises(openai.BadRequestError, match="cannot see pictures") as caught:
            ask(client, words("What is it?"), image())
        assert caught.value.code == "media"
        served.post("/v1/chat/completions", {"model": "starter", **HI})
    assert all(not it.media for request in served.engine.requests for it in request.messages)


OLD_OFFICE = bytes.fromhex("d0cf11e0a1b11ae1")
ELSEWHERE = {
    "an address": image() | {"image_url": {"url": "https://attacker.example/a.png"}},
    "an address of this computer": image() | {"image_url": {"url": "http://127.0.0.1:1/a"}},
    "a file": image() | {"image_url": {"url": "file:///etc/passwd"}},
    "a path": image() | {"image_url": {"url": "/etc/passwd"}},
    "a path of Windows": image() | {"image_url": {"url": "C:\\secret.png"}},
    "no base64": image() | {"image_url": {"url": "data:image/png,abc"}},
    "base64 that is none": image() | {"image_url": {"url": "data:image/png;base64,%%%"}},
    "nothing": image() | {"image_url": {"url": "data:image/png;base64,"}},
    "no URL": image() | {"image_url": None},
    "a number": image() | {"image_url": {"url": 7}},
    "a text for a picture": image(b"data:image/png;base64," + base64.b64encode(PNG)),
    "a drawing with a script": image(
        b"<svg onload='alert(1)' xmlns='http://www.w3.org/2000/svg'/>"
    ),
    "a picture cut off": image(PNG[:60]),
    "a picture for a sound": {"type": "input_audio", "input_audio": {"data": base64_of(PNG)}},
    "a kept file": {"type": "file", "file": {"file_id": "file-123"}},
    "a file at an address": {"type": "input_file", "file_url": "https://attacker.example/a.pdf"},
    "a locked file": {
        "type": "file",
        "file": {"file_data": base64_of(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")},
    },
    "a film": {"type": "video_url", "video_url": {"url": url_of(PNG)}},
}


@pytest.mark.parametrize("name", sorted(ELSEWHERE))
def test_what_is_not_in_the_request_or_cannot_be_read_is_refused(
    seeing: Served, client: openai.OpenAI, name: str
) -> None:
    before = len(seeing.engine.requests)
    with pytest.raises(openai.BadRequestError) as caught:
        ask(client, words("What is it?"), ELSEWHERE[name])
    assert str(caught.value)
    assert len(seeing.engine.requests) == before


@pytest.mark.parametrize(
    "source",
    [
        {"type": "url", "url": "https://attacker.example/a.png"},
        {"type": "file", "file_id": "file_1"},
        {"type": "base64", "media_type": "image/png", "data": "file:///etc/passwd"},
        {"type": "base64", "media_type": "image/png"},
        {},
    ],
)
def test_blocks_of_messages_that_are_not_in_the_request_are_refused(
    seeing: Served, source: dict[str, str]
) -> None:
    for kind in ("image", "document"):
        message = {"role": "user", "content": [{"type": kind, "source": source}]}
        body = {"model": "starter", "max_tokens": 5, "messages": [message]}
        reply = seeing.post("/v1/messages", body)
        assert reply.status_code == 400, reply.text
        assert reply.json()["error"]["type"] == "invalid_request_error"


def test_documents_within_documents_are_refused(seeing: Served) -> None:
    block: dict[str, Any] = words("deep")
    for _ in range(5):
        block = {"type": "document", "source": {"type": "content", "content": [block]}}
    body = {
        "model": "starter",
        "max_tokens": 5,
        "messages": [{"role": "user", "content": [block]}],
    }
    assert seeing.post("/v1/messages", body).status_code == 400


def test_a_picture_that_unpacks_to_gigabytes_is_refused(
    seeing: Served, client: openai.OpenAI
) -> None:
    bomb = written(two_colours().resize((1, 1)), "PNG")
    large = bytearray(bomb)
    large[16:24] = (60_000).to_bytes(4, "big") * 2
    with pytest.raises(openai.BadRequestError):
        ask(client, image(bytes(large)))


def test_more_than_the_body_may_have_is_refused(seeing: Served) -> None:
    body = {
        "model": "starter",
        "messages": [{"role": "user", "content": [image(bytes(30_000_000))]}],
    }
    assert seeing.post("/v1/chat/completions", body).status_code == 413


def test_thousands_of_pictures_are_refused_and_thousands_of_texts_are_not(
    seeing: Served, client: openai.OpenAI
) -> None:
    with pytest.raises(openai.BadRequestError, match="At most 100"):
        ask(client, *[image()] * 3000)
    ask(client, *[words("word")] * 3000)
    assert last(seeing).text.count("word") == 3000


class Counting:
    """A reader that records the data it reads."""

    def __init__(self) -> None:
        self.read: list[bytes] = []

    def read_bytes(self, data: bytes, name: str, _cancel: CancelToken) -> Document:
        self.read.append(data)
        return Document(DocumentKind.IMAGE, "0" * 64, len(data), (), media=data)


def test_a_picture_is_read_once_and_the_oldest_are_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(uploads, "MOST_REMEMBERED_BYTES", 100)
    reader = Counting()
    intake = Uploads(reader)
    first, second, third = b"a" * 40, b"b" * 40, b"c" * 40
    for data in (first, second, first, third, first, second):
        intake.read(data, "picture", CancelToken())
    assert reader.read == [first, second, third, second]
    intake.read(first + second + third, "picture", CancelToken())
    assert intake.held_bytes <= 100


@pytest.mark.parametrize(
    "address",
    ["https://attacker.example/a.png", "http://127.0.0.1:1/a", "file:///etc/passwd", "C:\\a.png"],
)
def test_an_address_is_told_to_lead_elsewhere(address: str) -> None:
    with pytest.raises(BadRequest, match="fetches no files"):
        decode_data_url(address, "here")


def test_who_has_gone_waits_for_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MOST_AT_ONCE", 0)
    gone = CancelToken()
    gone.cancel()
    with pytest.raises(Cancelled):
        Uploads(Counting()).read(PNG, "picture", gone)


def test_names_are_for_reading_only() -> None:
    assert display_name("../../a/b.pdf", "file") == "b.pdf"
    assert display_name("C:\\x\\c.txt", "file") == "c.txt"
    assert display_name("a\nb.txt", "file") == "a b.txt"
    assert display_name("..\u202ea/", "file") == "file"
    assert display_name(7, "file") == "file"
    assert len(display_name("x" * 5000, "file")) <= 120


def test_a_large_picture_is_made_smaller_for_the_engine(
    seeing: Served, client: openai.OpenAI
) -> None:
    ask(client, image(written(noise(2600, 2400), "JPEG", quality=80)))
    (medium,) = last(seeing).media
    assert len(medium.data) <= 3 << 20
    assert json.dumps(medium.sha256)
