"""Pictures and sounds go to servers as parts of a message, and an error names their refusal."""

from __future__ import annotations

import base64

import pytest

from engines.cancel import CancelToken
from engines.errors import MediaUnsupported, ServerFailed
from engines.openai.answering import measure
from engines.openai.media import content_of
from engines.types import ChatRequest, MediaKind, Medium, Message
from tests.engines.asking import text_of
from tests.engines.openai.conftest import CHAT, Reach, Serve, run
from tests.support.made_media import flac, mp3, two_colours, wav, written
from tests.support.openai_server import refusal

PNG, JPEG = written(two_colours(), "PNG"), written(two_colours(), "JPEG")


def medium(data: bytes, kind: MediaKind = "image", at: int = 0) -> Medium:
    return Medium(kind, data, "0" * 64, at)


def asking(text: str, *media: Medium) -> ChatRequest:
    return ChatRequest((Message("user", text, media=media),))


@pytest.mark.parametrize("kind", ["vllm", "llama-server", "ollama", "openai"])
def test_a_picture_is_sent_as_a_part_of_its_message(serve: Serve, reach: Reach, kind: str) -> None:
    server = serve(kind)
    run(asking("What is it?", medium(PNG)), reach(server))
    (message,) = server.chats()[-1]["messages"]
    picture, text = message["content"]
    assert text == {"type": "text", "text": "What is it?"}
    head, data = picture["image_url"]["url"].split(",")
    assert (picture["type"], head) == ("image_url", "data:image/png;base64")
    assert base64.b64decode(data) == PNG


def test_each_medium_stands_at_its_place_in_the_text() -> None:
    text = "a.jpg:\n\nb.wav:\n\nWhich?"
    media = (medium(JPEG, at=6), medium(wav(0.1), "audio", at=14))
    parts = content_of(Message("user", text, media=media))
    assert isinstance(parts, list)
    assert [it["type"] for it in parts] == ["text", "image_url", "text", "input_audio", "text"]
    assert [it["text"] for it in parts if it["type"] == "text"] == ["a.jpg:", "b.wav:", "Which?"]
    assert parts[1]["image_url"]["url"].startswith("data:image/jpeg;base64,")


@pytest.mark.parametrize(("data", "form"), [(wav(0.1), "wav"), (mp3(2), "mp3"), (flac(1), "flac")])
def test_a_sound_is_sent_with_its_format(data: bytes, form: str) -> None:
    parts = content_of(Message("user", "", media=(medium(data, "audio"),)))
    assert isinstance(parts, list)
    (part,) = parts
    assert part["input_audio"]["format"] == form


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "At most 0 image(s) may be provided in one prompt."),
        (500, "image input is not supported - hint: you may need to provide the mmproj"),
        (400, "Invalid 'messages[0].content': the model does not support vision."),
    ],
)
def test_a_server_that_refuses_pictures_is_told_from_one_that_fails(
    serve: Serve, reach: Reach, status: int, said: str
) -> None:
    server = serve("llama-server")
    server.replies[CHAT] = [refusal(status, said), refusal(status, said)]
    with pytest.raises(MediaUnsupported) as raised:
        run(asking("What is it?", medium(PNG)), reach(server))
    assert said.rstrip(".") in raised.value.why
    with pytest.raises(ServerFailed):
        run(asking("What is an image?"), reach(server))


@pytest.mark.parametrize("kind", ["vllm", "llama-server", "openai"])
def test_pictures_are_counted_without_being_sent(serve: Serve, reach: Reach, kind: str) -> None:
    server = serve(kind)
    via = reach(server)
    plain = measure(asking("What is it?"), via, CancelToken())
    shown = measure(asking("What is it?", medium(PNG), medium(PNG)), via, CancelToken())
    assert 1500 < shown.total - plain.total < 2500
    assert not any(b"base64" in repr(it.body).encode() for it in server.asked)


def test_a_chat_goes_on_without_pictures_where_they_leave(serve: Serve, reach: Reach) -> None:
    server = serve("vllm", context=1500)
    turns = (
        Message("user", "One", media=(medium(PNG),)),
        Message("assistant", "1"),
        Message("user", "Two", media=(medium(PNG),)),
    )
    events = run(ChatRequest(turns, max_tokens=100), reach(server))
    assert text_of(events)
    (message,) = server.chats()[-1]["messages"]
    assert message["content"][1]["text"] == "Two"
