"""The details read from a model's file."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.base.shipped import STARTER, STARTER_DRAFTER
from app.models.library.services.details import details, template_of
from engines.dialect import CHATML
from tests.engines.gguf_files import LLAMA, llama_tensors, write_gguf, write_qwen35
from tests.support.services import Services

NO_SYSTEM = (
    "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no') }}{% endif %}"
    "{{ m.content }}{% endfor %}"
)


def test_the_guide(services: Services) -> None:
    found = details(services.library, "starter")
    assert (found.file.architecture, found.entry.source, found.file.mtp) == (
        "gemma4",
        "builtin",
        "drafter",
    )
    assert (found.entry.files, found.file.drafter) == ((STARTER,), STARTER_DRAFTER)
    assert found.template.present
    assert found.template.system_prompt
    assert found.file.parameters > 1_000_000
    assert sum(part.share for part in found.file.tensors) == pytest.approx(1)
    assert [part.type for part in found.file.tensors] == ["F16", "F32"]
    assert sum(part.size_bytes for part in found.file.tensors) == found.file.weight_bytes


def test_licence_maker_and_tokenizer(services: Services, tmp_path: Path) -> None:
    path = write_gguf(
        tmp_path / "m.gguf", "llama", LLAMA, llama_tensors(LLAMA),
        {
            "general.license": "apache-2.0", "general.organization": "Anna",
            "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "qwen2",
        },
    )  # fmt: skip
    services.library.add(path)
    found = details(services.library, "m")
    assert (found.file.licence, found.file.made_by, found.file.tokenizer) == (
        "apache-2.0",
        "Anna",
        "gpt2, qwen2",
    )
    assert (found.file.layers, found.file.heads, found.file.kv_heads) == (4, 8, 2)
    assert (found.file.context_max, found.file.embedding_length) == (2048, 256)
    assert (found.entry.repo, found.entry.verified) == (None, None)
    assert not found.template.present


def test_prediction_layers_are_not_counted(services: Services, tmp_path: Path) -> None:
    services.library.add(write_qwen35(tmp_path / "q.gguf"))
    found = details(services.library, "q")
    assert (found.file.mtp, found.file.layers) == ("embedded", 8)


def test_templates_are_asked_by_running_them() -> None:
    assert template_of(CHATML).system_prompt
    assert not template_of(NO_SYSTEM).system_prompt
    assert template_of(CHATML + "{# </think> #}").thinking
    assert not template_of(CHATML).thinking
    assert template_of("{% broken").trouble
    assert not template_of(None).present
