"""A context of a loaded model: evaluates tokens. The one owner of a native llama_context."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from engines.gguf.types import KV_TYPES
from engines.llamacpp.failures import context_failure
from engines.llamacpp.model import Model
from engines.llamacpp.native import Native, c_strlen
from engines.types import LoadPlan

EVALUATED, NO_ROOM, ABORTED = 0, 1, 2
"""Results of llama_decode; negative ones are failures."""

_FLASH_ATTENTION_AUTO = -1


class AbortFlag:
    """Stops an evaluation from any thread, between two operations of llama.cpp's graph.

    llama.cpp asks before each of them, from its own threads. The C library's strlen over one
    byte gives the answer without the interpreter: 0 while the byte is 0, and 1 once it is set.
    """

    def __init__(self) -> None:
        self._bytes = ctypes.create_string_buffer(2)

    def set(self) -> None:
        self._bytes[0] = b"\1"

    @property
    def address(self) -> int:
        return ctypes.addressof(self._bytes)


class Context:
    """One sequence of tokens being evaluated by a model; sizes in tokens.

    Raises NotEnoughMemory or EngineFailed when it cannot be made. Close it before the model.
    """

    def __init__(self, native: Native, model: Model, plan: LoadPlan) -> None:
        api = native.api
        self._api = api
        self._llama_decode = api.llama_decode
        params = api.llama_context_default_params()
        params.n_ctx = plan.context
        params.n_batch = params.n_ubatch = min(plan.batch, plan.context)
        params.n_seq_max = params.n_outputs_max = 1
        params.n_threads = plan.threads
        params.n_threads_batch = plan.batch_threads
        params.flash_attn_type = _FLASH_ATTENTION_AUTO
        params.type_k = params.type_v = KV_TYPES[plan.kv_type]
        params.offload_kqv = params.op_offload = plan.gpu_layers != 0
        params.swa_full = False
        params.no_perf = True
        with native.log.watch() as complaints:
            self.pointer: Any = api.llama_init_from_model(model.pointer, params)
        if not self.pointer:
            raise context_failure(plan.model, plan.context, complaints)
        self.memory: Any = api.llama_get_memory(self.pointer)
        self.size = int(api.llama_n_ctx(self.pointer))
        self.batch_size = int(api.llama_n_batch(self.pointer))
        self._strlen = ctypes.cast(c_strlen(), api.ggml_abort_callback)
        self._make_batch()
        self.watch(AbortFlag())

    def _make_batch(self) -> None:
        """A batch whose arrays belong to Python: llama_batch_free must never see it."""
        size = self.batch_size
        self._tokens = (ctypes.c_int32 * size)()
        self._positions = (ctypes.c_int32 * size)()
        self._outputs = (ctypes.c_int8 * size)()
        self._sequence = (ctypes.c_int32 * 1)(0)
        pointer = ctypes.POINTER(ctypes.c_int32)
        self._sequence_counts = (ctypes.c_int32 * size)(*[1] * size)
        self._sequences = (pointer * size)(*[ctypes.cast(self._sequence, pointer)] * size)
        self._batch = self._api.llama_batch(
            0,
            self._tokens,
            None,
            self._positions,
            self._sequence_counts,
            self._sequences,
            self._outputs,
        )

    def watch(self, flag: AbortFlag) -> None:
        """From now on `flag` aborts evaluations."""
        self._flag = flag
        self._api.llama_set_abort_callback(self.pointer, self._strlen, flag.address)

    def evaluate(self, tokens: Sequence[int], start: int, *, output: bool) -> int:
        """Evaluate at most `batch_size` tokens from position `start` on; returns the result code.

        With `output` the last token's logits are there to sample from.
        """
        count = len(tokens)
        self._tokens[:count] = list(tokens)
        self._positions[:count] = list(range(start, start + count))
        self._outputs[:count] = [0] * count
        self._outputs[count - 1] = output
        self._batch.n_tokens = count
        return int(self._llama_decode(self.pointer, self._batch))

    def close(self) -> None:
        if self.pointer:
            self._api.llama_free(self.pointer)
            self.pointer = self.memory = None
