"""Facts taken from a model's tags and name."""

from __future__ import annotations

import pytest

from app.models.hub.values.tags import drafts_ahead, parameters_in


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("unsloth/Qwen3.5-0.8B-GGUF", 800_000_000),
        ("ggml-org/gemma-4-26B-A4B-it-GGUF", 26_000_000_000),
        ("google/gemma-4-E2B-it-qat-q4_0-gguf", 4_000_000_000),
        ("LiquidAI/LFM2-350M-GGUF", 350_000_000),
        ("mistralai/Ministral-3-14B-Instruct-2512-GGUF", 14_000_000_000),
        ("meta-models/Muse-Glimmer-GGUF", None),
        ("x/4bit-model", None),
    ],
)
def test_a_name_tells_its_parameters(name: str, count: int | None) -> None:
    assert parameters_in(name) == count


def test_tags_tell_mtp() -> None:
    assert drafts_ahead("unsloth/Qwen3.6-27B-MTP-GGUF", [])
    assert drafts_ahead("a/b", ["mtp"])
    assert not drafts_ahead("a/smtp-mailer", ["gguf"])
