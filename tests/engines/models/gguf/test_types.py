"""The names and sizes in llama.cpp's package and in Hearth, compared with the pinned llama.cpp."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from ctypes import CDLL
from typing import Any

import pytest
from gguf import GGML_QUANT_SIZES, MODEL_ARCH_NAMES, Keys, LlamaFileType

from app.models.library.values.quantisations import quantisation_of
from engines.llamacpp.native import load_native
from engines.models.gguf import guards, header, heads, hyperparameters, reader
from engines.models.gguf.types import TensorType, cache_type, file_types, tensor_types

WITHDRAWN = {4, 5, 31, 32, 33, 36, 37, 38}
MIXED = ("IQ", "Q2_K", "Q3_K", "Q4_K", "Q5_K")
"""Files of these types hold other types as well, so their bits are measured, not computed."""
MIXTURE = 0.06
"""How many more bits per weight a whole file has than the blocks of its type, as a share."""


@pytest.fixture
def ggml() -> Any:
    library = CDLL(str(load_native().library))
    library.ggml_type_size.restype = ctypes.c_size_t
    library.ggml_blck_size.restype = ctypes.c_int64
    library.ggml_type_name.restype = ctypes.c_char_p
    return library


@pytest.mark.parametrize("number", tensor_types())
def test_a_types_size_is_that_of_the_library(ggml: Any, number: int) -> None:
    kind = tensor_types()[number]
    assert kind.number == number
    assert ggml.ggml_type_size(number) == kind.size
    assert ggml.ggml_blck_size(number) == kind.block
    assert ggml.ggml_type_name(number).decode().upper() == kind.name.upper()


def test_no_type_is_left_out() -> None:
    assert set(range(43)) - set(tensor_types()) == WITHDRAWN


def test_what_the_package_knows_is_not_repeated() -> None:
    """If a newer package knows the types that Hearth corrects, the corrections can go."""
    known = {kind.value: (kind.name, *size) for kind, size in GGML_QUANT_SIZES.items()}
    found = {it.number: (it.name, it.block, it.size) for it in tensor_types().values()}
    assert {number for number in found if found[number] != known.get(number)} == {9, 42}
    assert set(file_types()) - {kind.value for kind in LlamaFileType} == {41}


def test_file_types_are_named_as_people_say_them() -> None:
    named = file_types()
    assert (named[0], named[15], named[32], named[38]) == ("F32", "Q4_K_M", "BF16", "MXFP4")


@pytest.mark.parametrize("label", file_types().values())
def test_every_kind_of_file_has_words(label: str) -> None:
    found = quantisation_of(label)
    assert found.label == label
    assert found.words


@pytest.mark.parametrize("kind", tensor_types().values(), ids=lambda kind: kind.name)
def test_a_files_bits_are_those_of_its_type_and_a_little_more(kind: TensorType) -> None:
    found = quantisation_of(kind.name)
    if found.bits and not kind.name.startswith(MIXED):
        assert found.bits == pytest.approx(8 * kind.size / kind.block, rel=MIXTURE)


def test_a_caches_type_is_found_by_its_name() -> None:
    assert [cache_type(name).number for name in ("f16", "q8_0", "q4_0")] == [1, 8, 2]


def test_the_names_that_are_read_without_the_package_are_its_own() -> None:
    assert reader.ARCHITECTURE == Keys.General.ARCHITECTURE
    assert reader.TYPE == Keys.General.TYPE
    assert reader.BASENAME == Keys.General.BASENAME
    assert reader.CHAT_TEMPLATE == Keys.Tokenizer.CHAT_TEMPLATE
    assert reader.BLOCKS == Keys.LLM.BLOCK_COUNT
    assert reader.WIDTH == Keys.LLM.EMBEDDING_LENGTH
    assert reader.HEADS == Keys.LLM.NEXTN_PREDICT_LAYERS
    assert reader.POOLING == Keys.LLM.POOLING_TYPE
    assert reader.PROJECTION == (Keys.ClipVision.PROJECTION_DIM, Keys.ClipAudio.PROJECTION_DIM)
    assert reader.TOKENS == Keys.Tokenizer.LIST
    assert reader.ALIGNMENT == Keys.General.ALIGNMENT


def test_an_architecture_with_a_rule_of_its_own_is_one_that_llama_cpp_knows() -> None:
    """The package is older than the library, and lacks 20 of them; the library has the text."""
    library = load_native().library.read_bytes()
    known = set(MODEL_ARCH_NAMES.values())
    named = set(_architectures())
    assert len(named) > 70
    assert [it for it in named - known if it.encode() + b"\0" not in library] == []
    assert len(named - known) <= 20, "the rest is known to the package"


def _architectures() -> Iterator[str]:
    yield from (header.PROJECTOR, header.GEMMA4_ASSISTANT)
    yield from header.DRAFTERS | header.EMBEDDINGS | header.OTHERS
    yield from heads.ONE_HEAD | heads.CHAINED | heads.RECURRENT | heads.ROLLBACK
    yield from heads.EXTRA_TENSORS
    yield from hyperparameters.PERIODS
    yield from hyperparameters.PERIODS_DENSE_FIRST
    yield from hyperparameters.WINDOWS
    yield from hyperparameters.WINDOW_IGNORED
    yield from hyperparameters.RECURRENT_INTERVAL
    yield from guards.SHARING | guards.DELTA_NETS | guards.SLIDING
    yield from guards.NEEDS
