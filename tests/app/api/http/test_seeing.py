"""Pictures from real clients for a model with a projector in this process."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from PIL import Image

from app.base.folder import DataFolder
from app.net.values.serving import LOOPBACK, Address, ServeOptions
from app.wiring.app import App, open_app
from tests.support.made_media import noise, two_colours, wav, with_metadata, written
from tests.support.made_senses import qwen3vl_projector, write_qwen3vl

QUESTION = "What is it?"


@pytest.fixture
def hearth(tmp_path: Path) -> Iterator[App]:
    folder = tmp_path / "seeing"
    folder.mkdir()
    model = write_qwen3vl(folder / "model.gguf")
    qwen3vl_projector(folder / "mmproj.gguf")
    with closing(open_app(DataFolder.default(), offline=True)) as app:
        app.settings.write(app.settings.read().changed("context", 2048))
        app.library.add(model)
        app.server.start(ServeOptions(Address(LOOPBACK, 0)))
        yield app


def url_of(picture: Image.Image, **options: object) -> str:
    data = base64.b64encode(written(picture, "JPEG", **options)).decode()
    return f"data:image/jpeg;base64,{data}"


def test_a_picture_is_seen_and_is_read_once(hearth: App) -> None:
    (entry,) = [it for it in hearth.library.entries() if not it.builtin]
    token = hearth.api_keys.token().secret.reveal()
    url = hearth.server.status.url
    left, right = two_colours(), two_colours().transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    turned = url_of(right, exif=with_metadata(orientation=3), quality=95)
    with openai.OpenAI(base_url=f"{url}/v1", api_key=token, max_retries=0) as client:

        def answer(*parts: dict[str, Any]) -> Any:
            message: Any = {"role": "user", "content": [*parts, {"type": "text", "text": QUESTION}]}
            return client.chat.completions.create(
                model=entry.id, messages=[message], temperature=0, max_tokens=8, logprobs=True
            )

        def picture(address: str) -> dict[str, Any]:
            return {"type": "image_url", "image_url": {"url": address}}

        def likely(answered: Any) -> list[float]:
            return [it.logprob for it in answered.choices[0].logprobs.content]

        plain = answer()
        seen, again = (answer(picture(url_of(left))) for _ in "ab")
        assert seen.usage.prompt_tokens > plain.usage.prompt_tokens
        assert likely(seen) == pytest.approx(likely(again), abs=0.01)
        assert again.usage.prompt_tokens_details.cached_tokens >= seen.usage.prompt_tokens - 1
        other = answer(picture(url_of(noise(60, 40))))
        assert other.usage.prompt_tokens == seen.usage.prompt_tokens
        assert other.usage.prompt_tokens_details.cached_tokens < 20, "it is another picture"
        assert likely(other) != pytest.approx(likely(seen), abs=0.01)
        assert answer(picture(turned)).usage.prompt_tokens == seen.usage.prompt_tokens
    with anthropic.Anthropic(base_url=url, api_key=token, max_retries=0) as claude:
        out = io.BytesIO()
        left.save(out, "PNG")
        data = base64.b64encode(out.getvalue()).decode()
        source = {"type": "base64", "media_type": "image/png", "data": data}
        messages: Any = [
            {
                "role": "user",
                "content": [{"type": "image", "source": source}, {"type": "text", "text": "Hm?"}],
            }
        ]
        counted = claude.messages.count_tokens(model=entry.id, messages=messages).input_tokens
        said = claude.messages.create(model=entry.id, messages=messages, max_tokens=4)
        assert counted == said.usage.input_tokens + (said.usage.cache_read_input_tokens or 0)


def test_a_sound_for_a_model_without_ears_is_refused(hearth: App) -> None:
    (entry,) = [it for it in hearth.library.entries() if not it.builtin]
    token = hearth.api_keys.token().secret.reveal()
    data = base64.b64encode(wav(0.5)).decode()
    part: Any = {"type": "input_audio", "input_audio": {"data": data, "format": "wav"}}
    message: Any = {"role": "user", "content": [part]}
    url = f"{hearth.server.status.url}/v1"
    with (
        openai.OpenAI(base_url=url, api_key=token, max_retries=0) as client,
        pytest.raises(openai.BadRequestError, match="sound") as caught,
    ):
        client.chat.completions.create(model=entry.id, messages=[message])
    assert caught.value.code == "media"
