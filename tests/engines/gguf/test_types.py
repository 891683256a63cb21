"""Hearth's table of tensor types against the one that llama.cpp was compiled with."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from engines.llamacpp.native import load_native
from engines.models.gguf.types import TENSOR_TYPES

WITHDRAWN = {4, 5, 31, 32, 33, 36, 37, 38}


@pytest.fixture
def ggml() -> Any:
    library = load_native().api._lib
    library.ggml_type_size.restype = ctypes.c_size_t
    library.ggml_blck_size.restype = ctypes.c_int64
    library.ggml_type_name.restype = ctypes.c_char_p
    return library


@pytest.mark.parametrize("number", TENSOR_TYPES)
def test_agrees_with_the_library(ggml: Any, number: int) -> None:
    kind = TENSOR_TYPES[number]
    assert ggml.ggml_type_size(number) == kind.size
    assert ggml.ggml_blck_size(number) == kind.block
    assert ggml.ggml_type_name(number).decode().upper() == kind.name.upper()


def test_leaves_no_type_out() -> None:
    assert set(range(43)) - set(TENSOR_TYPES) == WITHDRAWN
