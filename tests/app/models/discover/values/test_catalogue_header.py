"""Headers made from the catalogue's models, and the engine's estimates from them."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.models.discover.values.catalogue import Size, load_catalogue
from app.models.discover.values.catalogue_header import drafter_header, header_of
from engines.memory.fit import DraftNeed, need_by_formula
from engines.memory.formula.caches import kv_bytes
from engines.types import MAX_DEPTH

SHIPPED = Path(__file__).parents[5] / "resources" / "catalogue.json"
SIZES = load_catalogue(SHIPPED.read_text(encoding="utf-8")).sizes
BATCH = 512
WEIGHTS = 5_000_000_003


@pytest.mark.parametrize("size", SIZES.values(), ids=lambda size: size.id)
def test_the_engine_reads_from_it_what_the_catalogue_says(size: Size) -> None:
    shape = size.shape
    header = header_of(size, WEIGHTS, head=False)
    assert header.layers
    assert (header.kind, header.mtp) == ("chat", "none")
    assert header.block_count == shape.layers.value
    assert header.weight_bytes == sum(it.size_bytes for it in header.tensors) == WEIGHTS
    for context in (4096, 8192):
        window = min(context, shape.window.value + BATCH) if shape.window else 0
        sliding = shape.window_kv.value * (-(-window // 256) * 256) if shape.window_kv else 0
        state = shape.state.value // shape.layers.value * shape.layers.value if shape.state else 0
        kept = kv_bytes(header.layers, context, "f16", BATCH)
        assert kept == shape.kv.value * context + sliding + state


@pytest.mark.parametrize(("layers", "last"), [(0, 0), (1, 1), (7, 7), (-1, 49)])
def test_all_bytes_lie_on_the_card_or_beside_it(layers: int, last: int) -> None:
    size = SIZES["gemma-4-12b"]
    header = header_of(size, WEIGHTS, head=False)
    split = need_by_formula(header, 8192, "f16", BATCH, layers)
    assert split.parts.weights == WEIGHTS
    sizes = [tensor.size_bytes for tensor in header.tensors]
    assert len(sizes) == header.block_count + 1
    assert split.gpu.weights == sum(sizes[len(sizes) - last :])


def test_a_head_is_one_more_layer_of_which_the_weights_are_in_the_file() -> None:
    size = SIZES["qwen-3.5-9b"]
    header = header_of(size, WEIGHTS, head=True)
    assert header.mtp == "embedded"
    assert header.block_count == size.shape.layers.value + 1
    assert (header.recurrent, header.keeps_states) == (True, True)
    assert need_by_formula(header, 8192, "f16", BATCH, 0).parts.weights == WEIGHTS


def test_a_drafter_adds_its_file_and_keeps_nothing_of_its_own() -> None:
    size = SIZES["gemma-4-12b"]
    header = header_of(size, WEIGHTS, head=False)
    drafter = drafter_header(size, 260_000_000)
    assert drafter.mtp == "drafter"
    assert drafter.layers
    assert drafter.layers.caches == ()
    plain = need_by_formula(header, 8192, "f16", BATCH, -1)
    drafts = need_by_formula(header, 8192, "f16", BATCH, -1, DraftNeed(MAX_DEPTH, drafter))
    more = drafts.parts.drafter
    assert (drafts.parts.weights, drafts.parts.kv) == (plain.parts.weights, plain.parts.kv)
    assert 260_000_000 < more < 1_000_000_000


def test_a_head_keeps_the_cache_of_one_layer_in_its_own_file_and_in_the_models() -> None:
    size = SIZES["qwen-3.8-27b"]
    inside = header_of(size, WEIGHTS, head=True)
    beside = drafter_header(size, 1_680_000_000)
    assert inside.layers
    assert beside.layers
    of_a_token = 2 * 4 * 256 * 2  # keys and values of four heads of 256 values, in two bytes
    for cache in (*inside.layers.head_caches, *beside.layers.head_caches):
        assert 2 * (cache.key_width + cache.value_width) == of_a_token
    assert len(inside.layers.head_caches) == len(beside.layers.head_caches) == 1
    assert beside.kind == "drafter"
