"""Copies a sequence of a context to bytes and back: llama.cpp's state."""

from __future__ import annotations

import ctypes
from typing import Any, Final

from engines.llamacpp.context import NativeContext

_WHOLE: Final = 0
_PARTIAL: Final = 1
"""LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY of llama.h: only what cannot be rolled back.

That is the cells of sliding window layers, or the recurrent state. Plain attention knows no such
part, and gives everything.
"""


class NativeState:
    """Copies one sequence between a context's memory and the host's; sizes in bytes."""

    def __init__(self, api: Any, context: NativeContext, sequence: int = 0) -> None:
        self._api = api
        self._context = context
        self._sequence = sequence

    def size(self, *, partial: bool = False) -> int:
        flags = _PARTIAL if partial else _WHOLE
        return int(
            self._api.llama_state_seq_get_size_ext(self._context.pointer, self._sequence, flags)
        )

    def read(self, *, partial: bool = False) -> bytearray | None:
        """Copy the sequence; None where llama.cpp gives no copy."""
        size = self.size(partial=partial)
        blob = bytearray(size)
        if not size:
            return None
        written = self._api.llama_state_seq_get_data_ext(
            self._context.pointer,
            (ctypes.c_uint8 * size).from_buffer(blob),
            size,
            self._sequence,
            _PARTIAL if partial else _WHOLE,
        )
        return blob if written == size else None

    def write(self, blob: bytearray, *, partial: bool = False) -> bool:
        """Put a copy in place of the sequence, or of its part; returns whether llama.cpp took it.

        On False there may be something of both, and the cache has to be cleared. llama.cpp trusts
        the bytes: they must be what `read` gave, in a context of the same model and KV type.
        """
        taken = self._api.llama_state_seq_set_data_ext(
            self._context.pointer,
            (ctypes.c_uint8 * len(blob)).from_buffer(blob),
            len(blob),
            self._sequence,
            _PARTIAL if partial else _WHOLE,
        )
        return bool(taken == len(blob))
