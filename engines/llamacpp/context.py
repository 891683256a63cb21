"""A context of a loaded model: evaluates tokens."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engines.llamacpp.failures import context_failure
from engines.llamacpp.model import Model
from engines.llamacpp.native import Native, c_strlen
from engines.models.gguf.types import cache_type
from engines.types import LoadPlan

EVALUATED, NO_ROOM, ABORTED = 0, 1, 2
"""Results of llama_decode; negative ones are failures."""

_FLASH_ATTENTION_AUTO = -1
_POSITIONS = 4
"""Most parts of a position."""


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


def context_params(api: Any, plan: LoadPlan) -> Any:
    """Fill llama_context_params with what the contexts of a model and of its drafter share."""
    params = api.llama_context_default_params()
    params.n_ctx = plan.context
    params.n_batch = params.n_ubatch = min(plan.batch, plan.context)
    params.n_seq_max = params.n_outputs_max = 1
    params.n_threads = plan.threads
    params.n_threads_batch = plan.batch_threads
    params.flash_attn_type = _FLASH_ATTENTION_AUTO
    params.type_k = params.type_v = cache_type(plan.kv_type).number
    params.offload_kqv = params.op_offload = plan.gpu_layers != 0
    params.swa_full = False
    params.no_perf = True
    return params


class Batch:
    """Tokens of one sequence for llama_decode, in arrays that belong to Python.

    llama_batch_free must never see it. width: values of the hidden state that goes with each
    token, 0 for none. tokens: whether there are tokens at all, or hidden states alone.
    """

    def __init__(self, api: Any, size: int, width: int = 0, *, tokens: bool = True) -> None:
        self._tokens = (ctypes.c_int32 * size)()
        self._positions = (ctypes.c_int32 * (size if tokens else _POSITIONS * size))()
        self._outputs: Any = (ctypes.c_int8 * size)()
        self._sequence = (ctypes.c_int32 * 1)(0)
        pointer = ctypes.POINTER(ctypes.c_int32)
        self._sequence_counts = (ctypes.c_int32 * size)(*[1] * size)
        self._sequences = (pointer * size)(*[ctypes.cast(self._sequence, pointer)] * size)
        self.hidden = (ctypes.c_float * (size * width))()
        self.native = api.llama_batch(
            0,
            self._tokens if tokens else None,
            self.hidden if width else None,
            self._positions,
            self._sequence_counts,
            self._sequences,
            self._outputs,
        )

    def fill(self, tokens: Sequence[int], start: int, outputs: int) -> None:
        """Hold `tokens` from position `start` on; the last `outputs` of them give logits."""
        count = len(tokens)
        self.native.n_tokens = count
        if count == 1:
            # Most calls are for one, and by slices it takes three times as long.
            self._tokens[0], self._positions[0], self._outputs[0] = tokens[0], start, outputs
            return
        self._tokens[:count] = list(tokens)
        self._positions[:count] = list(range(start, start + count))
        self._outputs[:count] = bytes(count - outputs) + b"\1" * outputs

    def fill_states(self, start: int, count: int) -> None:
        """Hold `count` hidden states from position `start` on, which give no logits."""
        positions = range(start, start + count)
        self.native.n_tokens = count
        # Only models whose positions have four parts read all of them: text is the same in three.
        self._positions[: _POSITIONS * count] = [*positions, *positions, *positions, *[0] * count]


class NativeContext:
    """The one owner of a native llama_context; close it before the model with the weights.

    pointer, memory: what llama.cpp knows it by, None once it is closed. path: the model, for the
    message if it cannot be made. Raises NotEnoughMemory or EngineFailed.
    """

    def __init__(self, native: Native, weights: Any, params: Any, path: Path) -> None:
        api = self._api = native.api
        self._strlen = ctypes.cast(c_strlen(), api.ggml_abort_callback)
        with native.log.watch() as complaints:
            self.pointer: Any = api.llama_init_from_model(weights, params)
        if not self.pointer:
            raise context_failure(path, params.n_ctx, complaints)
        self.memory: Any = api.llama_get_memory(self.pointer)
        self.watch(AbortFlag())

    def watch(self, flag: AbortFlag) -> None:
        """Let `flag` abort evaluations from now on."""
        self._flag = flag
        self._api.llama_set_abort_callback(self.pointer, self._strlen, flag.address)

    def close(self) -> None:
        if self.pointer:
            self._api.llama_free(self.pointer)
            self.pointer = self.memory = None


class Context(NativeContext):
    """One sequence of tokens being evaluated by a model; sizes in tokens.

    drafts: most tokens that can be evaluated on trial and taken back. marks: whether a recurrent
    state goes back as a whole, to where it was marked, and not token by token (`KvCache.mark`).
    """

    def __init__(self, native: Native, model: Model, plan: LoadPlan) -> None:
        api = native.api
        self._llama_decode = api.llama_decode
        self._keep_hidden = native.extra.llama_set_embeddings_nextn
        self._keep_layer = native.layers.keep
        self._kept: tuple[int, ...] = ()
        params = context_params(api, plan)
        # llama.cpp ends the process where a batch asks for more rows of logits than it was told,
        # and where the way back of a recurrent state does not fit a batch with a token before it.
        drafts = max(0, min(plan.draft_max, params.n_batch - (2 if model.recurrent else 1)))
        params.n_outputs_max = 1 + drafts
        guessed = plan.drafter is not None or model.predicts
        states = model.keeps_states and guessed
        params.n_rs_seq = drafts if states else 0
        self.marks = model.recurrent and drafts > 0 and not states
        if self.marks:
            # A second sequence has the marked state, and shares the cells of the attention.
            params.n_seq_max, params.kv_unified = 2, True
        super().__init__(native, model.pointer, params, plan.model)
        self.size = int(api.llama_n_ctx(self.pointer))
        self.batch_size = int(api.llama_n_batch(self.pointer))
        self.drafts = int(api.llama_n_rs_seq(self.pointer)) if states else drafts
        self._batch = Batch(api, self.batch_size)
        self._threads = (plan.threads, plan.batch_threads)
        self._trial = False
        self.hide()

    def expose(self, *, every_row: bool) -> None:
        """Keep the hidden states that a drafter starts from: of all tokens, or with logits only."""
        self._keep_hidden(self.pointer, True, not every_row)

    def expose_layers(self, layers: tuple[int, ...]) -> None:
        """Keep what goes into these layers, of all tokens."""
        # With every change llama.cpp plans its memory anew.
        if layers != self._kept:
            for layer in {*layers, *self._kept}:
                self._keep_layer(self.pointer, layer, layer in layers)
            self._kept = layers

    def hide(self) -> None:
        """Keep no hidden states. The last layer then works on the rows with logits only."""
        self._keep_hidden(self.pointer, False, True)
        self.expose_layers(())

    def evaluate(self, tokens: Sequence[int], start: int, *, outputs: int) -> int:
        """Evaluate at most `batch_size` tokens from position `start` on; returns the result code.

        The last `outputs` of them, at most 1 + `drafts`, get logits to draw from. Raises ValueError
        for more: llama.cpp would end the process.
        """
        if outputs > 1 + self.drafts:
            raise ValueError(f"{outputs} rows of logits; there is room for {1 + self.drafts}")
        if (outputs > 1) != self._trial:
            # llama.cpp takes every call with several tokens for a prompt, with the threads for it.
            self._trial = outputs > 1
            few, many = self._threads
            self._api.llama_set_n_threads(self.pointer, few, few if self._trial else many)
        self._batch.fill(tokens, start, outputs)
        return int(self._llama_decode(self.pointer, self._batch.native))
