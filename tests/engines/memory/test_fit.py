"""The estimates of memory, compared with llama.cpp's own allocations for the same model."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from gguf import GGMLQuantizationType as Type

from engines.llamacpp.native import Native, load_native
from engines.memory.buffers import CPU
from engines.memory.fit import DraftNeed, judge, need_by_formula
from engines.memory.formula.caches import kv_bytes
from engines.memory.formula.compute import compute_bytes, graph_bytes
from engines.memory.formula.weights import weights
from engines.models.gguf.header import GgufHeader, read_header
from engines.text import amount
from engines.types import HEAD_BATCH, KvType
from tests.engines.gguf_files import (
    Values,
    write_assistant,
    write_gemma3,
    write_gemma4,
    write_lfm2,
    write_llama,
    write_qwen35,
)
from tests.support.made_apart import cut_off
from tests.support.made_fed import write_dflash, write_eagle
from tests.support.made_gguf import STARTER
from tests.support.mtp_models import QWEN_NEXT, write_qwen

STARTER_DRAFTER = STARTER.with_name("starter-mtp.gguf")
MIB = 1 << 20
CACHE_SIZE = r"(?:kv_cache|memory_recurrent): size = +([\d.]+) MiB"
KV_TYPES: dict[KvType, int] = {"f16": 1, "q8_0": 8, "q4_0": 2}

# Shapes of real models: Llama 3 8B, Llama 3.2 1B, and models like Gemma 4 E2B and 31B.
LLAMA_8B: Values = {
    "block_count": 32, "embedding_length": 4096, "feed_forward_length": 14336,
    "attention.head_count": 32, "attention.head_count_kv": 8, "rope.dimension_count": 128,
    "vocab_size": 128256, "context_length": 131072,
}  # fmt: skip
LLAMA_1B: Values = {
    **LLAMA_8B, "block_count": 16, "embedding_length": 2048, "feed_forward_length": 8192,
    "rope.dimension_count": 64,
}  # fmt: skip
GEMMA_E2B: Values = {
    "block_count": 35, "embedding_length": 1536, "embedding_length_per_layer_input": 256,
    "feed_forward_length": [6144] * 15 + [12288] * 20, "attention.head_count": 8,
    "attention.key_length": 512, "attention.value_length": 512, "attention.key_length_swa": 256,
    "attention.value_length_swa": 256, "attention.shared_kv_layers": 20,
    "attention.sliding_window_pattern": [(layer + 1) % 5 != 0 for layer in range(35)],
    "rope.dimension_count": 512, "rope.dimension_count_swa": 256, "vocab_size": 262144,
    "context_length": 131072,
}  # fmt: skip
GEMMA_31B: Values = {
    **GEMMA_E2B, "block_count": 60, "embedding_length": 5376, "feed_forward_length": 21504,
    "embedding_length_per_layer_input": 0, "attention.head_count": 32,
    "attention.head_count_kv": [16 if (layer + 1) % 6 else 4 for layer in range(60)],
    "attention.sliding_window": 1024, "attention.shared_kv_layers": 0,
    "attention.sliding_window_pattern": [(layer + 1) % 6 != 0 for layer in range(60)],
}  # fmt: skip
MODELS: dict[str, tuple[Callable[..., Path], Type, Values]] = {
    "llama small": (write_llama, Type.F16, {}),
    "llama 8b": (write_llama, Type.Q4_0, LLAMA_8B),
    "llama 1b": (write_llama, Type.Q8_0, LLAMA_1B),
    "gemma 3": (write_gemma3, Type.F16, {}),
    "qwen 3.5": (write_qwen35, Type.F32, {}),
    "lfm 2": (write_lfm2, Type.F32, {}),
    "gemma 4 small": (write_gemma4, Type.F16, {}),
    "gemma 4 e2b": (write_gemma4, Type.Q8_0, GEMMA_E2B),
    "gemma 4 31b": (write_gemma4, Type.Q4_0, GEMMA_31B),
}
SETUPS: tuple[tuple[int, int, KvType], ...] = (
    (512, 512, "f16"),
    (700, 512, "f16"),
    (4096, 512, "q8_0"),
    (4096, 128, "q4_0"),
    (32768, 512, "f16"),
)


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    write, matrix, values = MODELS[request.param]
    return write(
        tmp_path / "m.gguf", matrix, **{key.replace(".", "__"): it for key, it in values.items()}
    )


@pytest.fixture
def native() -> Native:
    return load_native()


def load(native: Native, model: Path, *, mtp: bool = False) -> Any:
    """Load the model as the engine does, but allocate nothing: only the log is needed."""
    params = native.api.llama_model_default_params()
    params.no_alloc, params.load_mode, params.n_gpu_layers, params.load_mtp = True, 0, 0, mtp
    return native.api.llama_model_load_from_file(str(model).encode(), params)


def open_context(
    native: Native,
    loaded: Any,
    context: int,
    batch: int,
    kv: KvType = "f16",
    depth: int = 0,
    *,
    marks: bool = False,
) -> Any:
    params = native.api.llama_context_default_params()
    params.n_ctx, params.n_batch, params.n_ubatch = context, batch, batch
    params.n_seq_max, params.n_outputs_max, params.n_rs_seq = 1, 1 + depth, depth
    if marks:
        params.n_seq_max, params.n_rs_seq, params.kv_unified = 2, 0, True
    params.type_k = params.type_v = KV_TYPES[kv]
    params.swa_full = False
    opened = native.api.llama_init_from_model(loaded, params)
    assert opened
    return opened


def open_draft_context(
    native: Native, loaded: Any, target: Any, context: int, batch: int, *, fed: bool = False
) -> Any:
    params = native.api.llama_context_default_params()
    params.n_ctx, params.n_batch, params.n_ubatch = context, batch, batch
    params.n_seq_max = params.n_outputs_max = 1
    params.swa_full = fed
    params.ctx_type, params.ctx_other = 0 if fed else 1, target
    opened = native.api.llama_init_from_model(loaded, params)
    assert opened
    return opened


def open_and_close(native: Native, model: Path, context: int, batch: int, kv: KvType) -> None:
    loaded = load(native, model)
    native.api.llama_free(open_context(native, loaded, context, batch, kv))
    native.api.llama_model_free(loaded)


def mebibytes(log: list[str], pattern: str) -> float:
    return sum(float(found[1]) for line in log if (found := re.search(pattern, line)))


@pytest.mark.parametrize(("context", "batch", "kv"), SETUPS)
def test_kv_is_exact_and_compute_an_upper_estimate(
    native: Native,
    model: Path,
    context: int,
    batch: int,
    kv: KvType,
    caplog: pytest.LogCaptureFixture,
) -> None:
    header = read_header(model)
    with caplog.at_level(logging.DEBUG, "engines.llamacpp"):
        open_and_close(native, model, context, batch, kv)
    log = caplog.messages
    assert header.layers is not None
    mine = kv_bytes(header.layers, context, kv, batch) / MIB
    # llama.cpp prints two decimals of each of its two caches.
    assert mine == pytest.approx(mebibytes(log, CACHE_SIZE), abs=0.011)
    theirs = mebibytes(log, r"compute buffer size = +([\d.]+) MiB")
    assert 0.99 * theirs <= compute_bytes(header, context, batch) / MIB <= 1.3 * theirs


def test_weights_are_what_llama_cpp_counts(native: Native, model: Path) -> None:
    loaded_size = native.api.llama_model_size
    params = native.api.llama_model_default_params()
    params.no_alloc, params.load_mode = True, 0
    loaded = native.api.llama_model_load_from_file(str(model).encode(), params)
    assert read_header(model).weight_bytes == loaded_size(loaded)
    native.api.llama_model_free(loaded)


@pytest.fixture
def small(tmp_path: Path) -> GgufHeader:
    return read_header(write_llama(tmp_path / "m.gguf"))


def test_nothing_on_the_card_without_layers(small: GgufHeader) -> None:
    assert need_by_formula(small, 2048, "f16", 512, 0).gpu.total == 0


def test_a_card_takes_the_last_layers_first(small: GgufHeader) -> None:
    splits = [need_by_formula(small, 2048, "f16", 512, layers) for layers in range(6)]
    token_table = next(t.size_bytes for t in small.tensors if t.name == "token_embd.weight")
    # The first "layer" is the output: here the token table, once more.
    assert splits[1].gpu.kv == 0
    assert splits[1].gpu.weights == pytest.approx(token_table, rel=0.01)
    assert splits[3].gpu.kv == splits[5].gpu.kv / 2
    assert splits[5].ram.weights == token_table
    assert splits[5].ram.kv == 0
    assert need_by_formula(small, 2048, "f16", 512, -1) == splits[5]
    for split in splits:
        assert split.parts.kv == splits[0].parts.kv


def test_each_part_of_a_split_model_is_mapped_from_its_first_tensor(small: GgufHeader) -> None:
    """A part begins where the offsets begin; the space between two parts is not mapped."""

    def mapped(header: GgufHeader) -> int:
        return weights(header, lambda _: CPU, mmap=True, heads=False)[CPU].mapped

    assert mapped(small) == small.weight_bytes
    assert mapped(replace(small, tensors=small.tensors * 2)) == 2 * small.weight_bytes


def test_verdicts() -> None:
    assert judge(90, 100) == "fits"
    assert judge(91, 100) == "tight"
    assert judge(100, 100) == "tight"
    assert judge(101, 100) == "no"


def test_amounts() -> None:
    assert amount(5_240_000_000) == "5.2 GB"
    assert amount(18_400_000) == "18 MB"


DRAFTER_E2B: Values = {
    **{key: GEMMA_E2B[key] for key in GEMMA_E2B if "attention." in key or "rope." in key},
    "embedding_length": 256, "embedding_length_out": 1536, "feed_forward_length": 2048,
    "attention.head_count": 4, "attention.sliding_window_pattern": [True, True, True, False],
    "attention.shared_kv_layers": 4, "vocab_size": 262144, "context_length": 131072,
}  # fmt: skip
COMPUTE = r"compute buffer size = +([\d.]+) MiB"


def named(values: Values) -> dict[str, object]:
    return {key.replace(".", "__"): value for key, value in values.items()}


@pytest.fixture(
    scope="module",
    params=[
        "starter", "gemma 4 small", "gemma 4 e2b", "qwen 3.5", "made qwen", "qwen apart",
        "eagle", "dflash", "dflash 2", "dspark", "qwen next",
    ],
)  # fmt: skip
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path | None]:
    folder = tmp_path_factory.mktemp("pair")
    model, drafter = folder / "m.gguf", folder / "d.gguf"
    match request.param:
        case "starter":
            return STARTER, STARTER_DRAFTER
        case "gemma 4 small":
            return write_gemma4(model), write_assistant(drafter)
        case "gemma 4 e2b":
            write_gemma4(model, Type.Q8_0, **named(GEMMA_E2B))
            return model, write_assistant(drafter, Type.Q8_0, **named(DRAFTER_E2B))
        case "qwen 3.5":
            return write_qwen35(model), None
        case "qwen apart":
            return cut_off(write_qwen(folder / "whole.gguf"), model, drafter)
        case "eagle":
            return write_qwen(model, drafts=False), write_eagle(drafter)
        case "dflash" | "dflash 2" | "dspark" as kind:
            how = {"markov": kind == "dspark", "second": kind == "dflash 2"}
            return write_qwen(model, drafts=False), write_dflash(drafter, **how)
        case "qwen next":
            return write_qwen(model, QWEN_NEXT), None
    return write_qwen(model), None


class TestDrafting:
    """The memory for drafting, compared with the library's figures for both its contexts."""

    @pytest.mark.parametrize(("context", "batch"), [(4096, 512), (8192, 512), (2048, 64)])
    @pytest.mark.parametrize("depth", [1, 4, 8])
    def test_it_is_an_upper_estimate(
        self,
        native: Native,
        pair: tuple[Path, Path | None],
        context: int,
        batch: int,
        depth: int,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        header = read_header(pair[0])
        drafter = read_header(pair[1]) if pair[1] else None
        plain, log = self.opened(native, pair, context, batch, depth, caplog)
        mine = need_by_formula(header, context, "f16", batch, 0, DraftNeed(depth, drafter)).parts
        without = need_by_formula(header, context, "f16", batch, 0).parts
        assert replace(mine, drafter=0) == without
        weights = drafter.weight_bytes if drafter else header.weight_bytes - without.weights
        # A drafter's context names the cache that it shares, which is not a new one.
        features = drafter.features if drafter else None
        shares = drafter is not None and not drafter.heads_alone and features is None
        caches = 0.0 if shares else mebibytes(log, CACHE_SIZE) - mebibytes(plain, CACHE_SIZE)
        compute = mebibytes(log, COMPUTE) - mebibytes(plain, COMPUTE)
        # The log lacks the logits of all rows, and the hidden states that go to the drafter.
        its_batch = 1 if shares else min(batch, HEAD_BATCH)
        states = 2 + depth if shares else batch + 4 * its_batch
        rows = 4 * (1 + depth) * header.vocab_size + 4 * states * header.embedding_length
        if features is not None:
            made = its_batch if features.block is None else 1 + depth
            fed = 4 * len(features.layers) * features.width
            rows = 4 * (depth + made) * header.vocab_size + 4 * 4 * its_batch * features.width
            # Twice in the model, in its graph and as a result.
            rows += (2 * batch + 3 * its_batch) * fed
        theirs = weights + (caches + compute) * MIB + rows
        tables = 512 * drafter.vocab_size if drafter else 0
        beside = tables + graph_bytes(drafter or header, its_batch)
        assert 0.99 * theirs <= mine.drafter - beside <= 1.25 * theirs

    @pytest.mark.parametrize("depth", [1, 8])
    def test_copies_of_the_state_and_the_heads_cache_are_exact(
        self, native: Native, tmp_path: Path, depth: int, caplog: pytest.LogCaptureFixture
    ) -> None:
        model = write_qwen35(tmp_path / "m.gguf")
        _, log = self.opened(native, (model, None), 4096, 512, depth, caplog)
        layers = read_header(model).layers
        assert layers is not None
        states = mebibytes(log, r"memory_recurrent: size = +([\d.]+) MiB")
        assert (1 + depth) * layers.recurrent_bytes / MIB == pytest.approx(states, abs=0.006)
        head = replace(layers, caches=layers.head_caches, recurrent_bytes=0)
        caches = mebibytes(log, r"kv_cache: size = +([\d.]+) MiB")
        own = replace(layers, recurrent_bytes=0)
        mine = kv_bytes(own, 4096, "f16", 512) + kv_bytes(head, 4096, "f16", 512)
        assert mine / MIB == pytest.approx(caches, abs=0.011)

    def test_a_card_takes_the_drafter_with_the_model(self, tmp_path: Path) -> None:
        header = read_header(write_gemma4(tmp_path / "m.gguf"))
        drafts = DraftNeed(8, read_header(write_assistant(tmp_path / "d.gguf")))
        none = need_by_formula(header, 2048, "f16", 512, 0, drafts)
        every = need_by_formula(header, 2048, "f16", 512, -1, drafts)
        assert none.gpu.drafter == 0
        assert drafts.drafter is not None
        assert every.gpu.drafter > drafts.drafter.weight_bytes
        assert every.ram.drafter < none.ram.drafter

    def test_no_depth_needs_no_room(self, tmp_path: Path) -> None:
        header = read_header(write_qwen35(tmp_path / "m.gguf"))
        plain = need_by_formula(header, 2048, "f16", 512, 0, mmap=False)
        head = sum(t.size_bytes for t in header.tensors if t.name.startswith("blk.8."))
        assert plain.parts.drafter == 0
        assert plain.parts.weights == header.weight_bytes - head

    @staticmethod
    def opened(
        native: Native,
        pair: tuple[Path, Path | None],
        context: int,
        batch: int,
        depth: int,
        caplog: pytest.LogCaptureFixture,
    ) -> tuple[list[str], list[str]]:
        """Return the library's log without drafting, and with it."""
        api = native.api
        loaded = load(native, pair[0], mtp=True)
        with caplog.at_level(logging.DEBUG, "engines.llamacpp"):
            api.llama_free(open_context(native, loaded, context, batch))
            plain = list(caplog.messages)
            caplog.clear()
            header = read_header(pair[0])
            marks = header.recurrent and not header.keeps_states
            target = open_context(native, loaded, context, batch, depth=depth, marks=marks)
            weights = load(native, pair[1], mtp=True) if pair[1] else loaded
            drafter = read_header(pair[1]) if pair[1] else None
            fed = drafter is not None and drafter.features is not None
            shares = drafter is not None and not drafter.heads_alone and not fed
            its_batch = 1 if shares else min(batch, HEAD_BATCH)
            draft = open_draft_context(native, weights, target, context, its_batch, fed=fed)
            log = list(caplog.messages)
        api.llama_free(draft)
        api.llama_free(target)
        if pair[1]:
            api.llama_model_free(weights)
        api.llama_model_free(loaded)
        return plain, log
