"""The first facts of a file, which have to agree with its whole header."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.base.shipped import STARTER, STARTER_DRAFTER
from engines.models.gguf.glance import Glance, glance
from engines.models.gguf.header import read_header
from tests.engines import gguf_files


@pytest.mark.parametrize("path", [STARTER, STARTER_DRAFTER], ids=lambda path: path.name)
def test_it_agrees_with_the_header(path: Path) -> None:
    found, header = glance(path), read_header(path)
    assert found is not None
    assert (found.kind, found.architecture) == (header.kind, header.architecture)
    assert found.width == header.embedding_length


@pytest.mark.parametrize(
    "write",
    [gguf_files.write_llama, gguf_files.write_gemma3, gguf_files.write_qwen35,
     gguf_files.write_lfm2, gguf_files.write_assistant],
)  # fmt: skip
def test_made_models(tmp_path: Path, write: object) -> None:
    assert callable(write)
    path = write(tmp_path / "m.gguf")
    found, header = glance(path), read_header(path)
    assert found == Glance(header.architecture, header.kind, header.embedding_length)


@pytest.mark.parametrize("content", [b"", b"GGUF", b"GGUF" + b"\xff" * 100, b"PK\x03\x04", b"GG"])
def test_what_is_no_model(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(content)
    assert glance(path) is None


def test_only_the_start_is_read(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(STARTER.read_bytes()[:3000])
    found = glance(path)
    assert found is not None
    assert found.architecture == "gemma4"
