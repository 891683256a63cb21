"""The rows of a context's logits, as arrays over llama.cpp's own memory, without copying."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from engines.llamacpp.native import giving_addresses

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Logits:
    """Reads rows of `size` logits each."""

    def __init__(self, api: Any, size: int) -> None:
        self._row = giving_addresses(api.llama_get_logits_ith)
        self._size = size
        self._views: dict[int, npt.NDArray[np.float32]] = {}

    def row(self, context: Any, number: int = -1) -> npt.NDArray[np.float32]:
        """Return the logits of a token of the last evaluation; they are valid until the next one.

        Args:
            context: The native pointer of the context.
            number: The number of the token, counted from the end if negative.
        """
        address = self._row(context, number)
        # llama.cpp keeps its rows in the same place, so a few views suffice for all steps.
        if (view := self._views.get(address)) is None:
            if not address:
                raise RuntimeError("there are no logits of that token")
            view = self._views[address] = self._view(address)
        return view

    def _view(self, address: int) -> npt.NDArray[np.float32]:
        import numpy as np

        return np.ctypeslib.as_array((ctypes.c_float * self._size).from_address(address))
