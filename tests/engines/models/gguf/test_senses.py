"""What a projector is for is told by the beginning of its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines.models.gguf.senses import senses
from tests.support.made_senses import gemma4_projector, qwen3a_projector, qwen3vl_projector


def test_eyes_and_ears_are_told_apart(tmp_path: Path) -> None:
    assert senses(qwen3vl_projector(tmp_path / "a.gguf")) == ("sees",)
    assert senses(qwen3a_projector(tmp_path / "b.gguf")) == ("hears",)
    assert senses(gemma4_projector(tmp_path / "c.gguf", ears=True)) == ("sees", "hears")


@pytest.mark.parametrize("content", [b"", b"no model", b"GGUF\x03\0\0\0" + bytes(9)])
def test_what_cannot_be_read_is_for_nothing(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.gguf"
    path.write_bytes(content)
    assert senses(path) == ()
    assert senses(tmp_path / "gone.gguf") == ()
    assert senses(None) == ()
