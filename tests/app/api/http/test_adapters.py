"""LoRA adapters of llama.cpp, requested by name by another program."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import openai
import pytest

from app.base.folder import DataFolder
from app.net.values.serving import LOOPBACK, Address, ServeOptions
from app.wiring.app import App, open_app
from tests.engines.llamacpp.random_models import STARTER
from tests.support.made_adapter import write_adapter


@pytest.fixture
def hearth(tmp_path: Path) -> Iterator[App]:
    loud, odd = (write_adapter(tmp_path / f"{it}.gguf", STARTER, seed=it) for it in (1, 2))
    with closing(open_app(DataFolder.default(), offline=True)) as app:
        app.settings.write(
            app.settings.read().changed("vllm_adapters", f"loud = {loud}\nodd = {odd}")
        )
        app.server.start(ServeOptions(Address(LOOPBACK, 0)))
        yield app


def test_an_adapter_answers_under_its_own_name(hearth: App) -> None:
    token = hearth.api_keys.token().secret.reveal()
    with openai.OpenAI(base_url=f"{hearth.server.status.url}/v1", api_key=token) as client:

        def answer(model: str) -> str:
            question = [{"role": "user", "content": "What can you do for me?"}]
            made = client.chat.completions.create(
                model=model,
                messages=question,  # type: ignore[arg-type]  # as plain as it is sent
                temperature=0,
                max_tokens=16,
            )
            assert made.model == model
            return made.choices[0].message.content or ""

        assert {it.id for it in client.models.list()} == {"starter", "loud", "odd"}
        texts = {it: answer(it) for it in ("starter", "loud", "odd")}
        assert len(set(texts.values())) == 3
        assert {it: answer(it) for it in ("odd", "starter", "loud")} == texts
        with pytest.raises(openai.NotFoundError, match="loud"):
            answer("nobody")
