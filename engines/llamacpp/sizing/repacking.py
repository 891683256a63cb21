"""Asks llama.cpp which matrices it copies into a layout for this processor.

The question is the same that its own loader asks (llama-model-loader.cpp, weight_buft_supported),
through ggml's C functions: would the processor multiply with a matrix of this type and shape if the
matrix were in one of its extra buffers? Nothing is allocated for this.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

from engines.llamacpp.native import Native
from engines.memory.formula.weights import Copies
from engines.models.gguf.reader import Tensor
from engines.models.gguf.types import tensor_types

_F32, _I32 = 0, 26
_TOKENS: Final = 512
_CPU: Final = 0
_ARENA: Final = 16 << 10


class _Params(ctypes.Structure):
    """`struct ggml_init_params` in ggml.h."""

    _fields_ = (
        ("size", ctypes.c_size_t),
        ("buffer", ctypes.c_void_p),
        ("no_alloc", ctypes.c_bool),
    )


class _TensorHead(ctypes.Structure):
    """The beginning of `struct ggml_tensor` in ggml.h."""

    _fields_ = (("type", ctypes.c_int), ("buffer", ctypes.c_void_p))


def copies_of(native: Native) -> Copies:
    """Return a function that tells which tensors are copied, by asking the library.

    Raises:
        AttributeError: The library lacks a function that is needed to ask.
    """
    query = _RepackQuery(native)
    numbers = {kind.name: kind.number for kind in tensor_types().values()}

    @cache
    def copied(kind: str, columns: int, rows: int, experts: int) -> bool:
        return query.takes(numbers[kind], columns, rows, experts)

    def copies(tensor: Tensor) -> bool:
        return copied(tensor.type, tensor.shape[0], tensor.shape[1], sum(tensor.shape[2:]))

    return copies


class _RepackQuery:
    """The functions of ggml that are needed to ask, and the processor's extra buffer types."""

    def __init__(self, native: Native) -> None:
        pointer, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64
        function = native.ggml_function
        self._init = function("ggml_init", pointer, _Params)
        self._free = function("ggml_free", None, pointer)
        shape = (pointer, ctypes.c_int, *[number] * 3)
        self._new = function("ggml_new_tensor_3d", pointer, *shape)
        self._multiply = function("ggml_mul_mat", pointer, *[pointer] * 3)
        self._multiply_some = function("ggml_mul_mat_id", pointer, *[pointer] * 4)
        self._buffer = function("ggml_backend_buft_alloc_buffer", pointer, pointer, size)
        self._free_buffer = function("ggml_backend_buffer_free", None, pointer)
        self._can = function("ggml_backend_dev_supports_op", ctypes.c_bool, pointer, pointer)
        by_type = function("ggml_backend_dev_by_type", pointer, ctypes.c_int)
        registry = function("ggml_backend_dev_backend_reg", pointer, pointer)
        address = function("ggml_backend_reg_get_proc_address", pointer, pointer, ctypes.c_char_p)
        self._device = by_type(_CPU)
        self._types: list[int] = []
        found = address(registry(self._device), b"ggml_backend_dev_get_extra_bufts")
        if found:
            types = ctypes.CFUNCTYPE(ctypes.POINTER(pointer), pointer)(found)(self._device)
            while types and types[len(self._types)]:
                self._types.append(types[len(self._types)])

    def takes(self, kind: int, columns: int, rows: int, experts: int) -> bool:
        """Return whether the processor would copy a matrix of this type and shape."""
        with self._arena() as arena:
            matrix = self._new(arena, kind, columns, rows, experts or 1)
            if experts:
                ids = self._new(arena, _I32, 1, _TOKENS, 1)
                values = self._new(arena, _F32, columns, 1, _TOKENS)
                product = self._multiply_some(arena, matrix, values, ids)
            else:
                product = self._multiply(arena, matrix, self._new(arena, _F32, columns, _TOKENS, 1))
            return any(self._in(matrix, product, extra) for extra in self._types)

    def _in(self, matrix: int, product: int, extra: int) -> bool:
        head = _TensorHead.from_address(matrix)
        head.buffer = self._buffer(extra, 0)
        try:
            return bool(self._can(self._device, product))
        finally:
            self._free_buffer(head.buffer)

    @contextmanager
    def _arena(self) -> Iterator[Any]:
        """Yield a ggml context whose tensors have no data."""
        arena = self._init(_Params(_ARENA, None, True))
        try:
            yield arena
        finally:
            self._free(arena)
