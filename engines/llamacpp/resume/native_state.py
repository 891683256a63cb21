"""Copies a sequence of a context to bytes and back, as llama.cpp's state."""

from __future__ import annotations

import ctypes
from typing import Any, Final

from engines.llamacpp.context import NativeContext

_WHOLE: Final = 0
_PARTIAL: Final = 1
"""LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY of llama.h: only the part that cannot be rolled back.

This part is the cells of sliding window layers, or the recurrent state. Plain attention has no such
part, and gives everything.
"""


class NativeState:
    """Copies one sequence between a context's memory and the host's."""

    def __init__(self, api: Any, context: NativeContext, sequence: int = 0) -> None:
        self._api = api
        self._context = context
        self._sequence = sequence

    def size(self, *, partial: bool = False) -> int:
        """Return the size of a copy in bytes."""
        flags = _PARTIAL if partial else _WHOLE
        return int(
            self._api.llama_state_seq_get_size_ext(self._context.pointer, self._sequence, flags)
        )

    def read(self, *, partial: bool = False) -> bytearray | None:
        """Return a copy of the sequence; None if llama.cpp gives none."""
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
        """Replace the sequence, or its part, with a copy; return whether llama.cpp accepted it.

        After False, the sequence can be a mixture of both, and the cache must be cleared. llama.cpp
        trusts the bytes: they must come from `read`, in a context of the same model and KV type.
        """
        accepted_bytes = self._api.llama_state_seq_set_data_ext(
            self._context.pointer,
            (ctypes.c_uint8 * len(blob)).from_buffer(blob),
            len(blob),
            self._sequence,
            _PARTIAL if partial else _WHOLE,
        )
        return bool(accepted_bytes == len(blob))
