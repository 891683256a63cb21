"""A projector's header, compared with llama.cpp's own counts and allocations."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from engines.cancel import CancelToken
from engines.errors import EngineError, NotAModel
from engines.llamacpp.cells import is_cell
from engines.llamacpp.model import open_model
from engines.llamacpp.native import load_native
from engines.llamacpp.projector import Projector, open_projector
from engines.models.gguf.projector import read_projector, senses
from engines.types import LlamaPlan, MediaKind, Medium
from tests.support.made_senses import (
    gemma4_projector,
    png,
    qwen3a_projector,
    qwen3vl_projector,
    write_gemma4,
    write_qwen3vl,
)

KINDS = ("qwen3vl", "gemma4", "qwen3a")
SIZES = (
    (320, 240), (64, 64), (1, 1), (1024, 768), (999, 1001), (4096, 4096),
)  # fmt: skip

Pair = tuple[Path, Path]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Pair]:
    folder = tmp_path_factory.mktemp("projectors")
    gemma = write_gemma4(folder / "gemma4.gguf")
    return {
        "qwen3vl": (
            write_qwen3vl(folder / "qwen3vl.gguf"),
            qwen3vl_projector(folder / "mmproj-qwen3vl.gguf"),
        ),
        "gemma4": (gemma, gemma4_projector(folder / "mmproj-gemma4.gguf", ears=True)),
        "qwen3a": (
            write_qwen3vl(folder / "plain.gguf", deepstack=0),
            qwen3a_projector(folder / "mmproj-qwen3a.gguf"),
        ),
    }


@contextmanager
def opened(pair: Pair) -> Iterator[Projector]:
    native = load_native()
    plan = LlamaPlan(pair[0], 512, 1, 1, projector=pair[1])
    with (
        closing(open_model(native, plan, lambda _: None, CancelToken())) as model,
        closing(open_projector(native, model, plan, CancelToken())) as projector,
    ):
        yield projector


def cells(projector: Projector, kind: MediaKind, data: bytes) -> int:
    medium = Medium(kind, data, sha256(data).hexdigest())
    return sum(map(is_cell, projector.tokens(medium)))


@pytest.mark.parametrize("kind", KINDS)
def test_it_says_what_it_sees_and_hears(pairs: dict[str, Pair], kind: str) -> None:
    facts = read_projector(pairs[kind][1])
    with opened(pairs[kind]) as projector:
        assert (facts.sees, facts.hears) == (projector.sees, projector.hears)
        assert projector.width % facts.width == 0, "a Qwen 3 VL adds to the first layers as well"


@pytest.mark.parametrize("kind", ["qwen3vl", "gemma4"])
def test_a_picture_has_as_many_tokens_as_llama_counts(pairs: dict[str, Pair], kind: str) -> None:
    facts = read_projector(pairs[kind][1])
    assert facts.pictures is not None
    with opened(pairs[kind]) as projector:
        for width, height in SIZES:
            counted = cells(projector, "image", png(width, height))
            across, down = facts.pictures.token_grid(width, height)
            assert across * down == counted, (width, height)
            assert counted <= facts.most_picture_tokens


@pytest.mark.parametrize("kind", KINDS)
def test_it_says_whether_a_picture_is_read_in_one_call(pairs: dict[str, Pair], kind: str) -> None:
    facts = read_projector(pairs[kind][1])
    with opened(pairs[kind]) as projector:
        assert facts.picture_rows == projector.most_rows
    assert facts.picture_rows == (1120 if kind == "gemma4" else 0)
    small = replace(facts, width=1536)
    assert small.picture_rows == 0, "the small ones of Gemma 4 read them token by token"


@pytest.mark.parametrize("kind", KINDS)
def test_its_buffers_are_estimated_from_above(
    pairs: dict[str, Pair], kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    facts = read_projector(pairs[kind][1])
    with caplog.at_level(logging.DEBUG, "engines.llamacpp"), opened(pairs[kind]):
        pass
    said = re.findall(r"reserve_compute_meta: .*compute buffer size = +([\d.]+) MiB", caplog.text)
    real = sum(float(size) for size in said) * (1 << 20)
    assert real <= facts.compute_bytes() <= 2 * real
    assert facts.weight_bytes <= pairs[kind][1].stat().st_size


def test_what_is_no_projector_is_refused(pairs: dict[str, Pair], tmp_path: Path) -> None:
    with pytest.raises(NotAModel, match="is not a projector"):
        read_projector(pairs["qwen3vl"][0])
    whole = pairs["qwen3vl"][1].read_bytes()
    (cut := tmp_path / "cut.gguf").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(EngineError, match="not complete"):
        read_projector(cut)


def test_an_unknown_kind_is_counted_by_nobody_but_llama(tmp_path: Path) -> None:
    facts = read_projector(qwen3vl_projector(tmp_path / "new.gguf", kind="telescope"))
    assert facts.sees
    assert facts.kinds == ("telescope",)
    assert facts.most_picture_tokens == facts.picture_rows == 0


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
