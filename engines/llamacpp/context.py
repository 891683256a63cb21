"""A llama.cpp context: evaluates the tokens of a loaded model's sequences."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engines.llamacpp.failures import context_failure
from engines.llamacpp.model import Model
from engines.llamacpp.native import Native, c_strlen
from engines.llamacpp.projector import Encoded
from engines.models.gguf.types import cache_type
from engines.types import LlamaPlan

EVALUATED, NO_ROOM, ABORTED = 0, 1, 2
"""Results of llama_decode; negative ones are failures."""

_FLASH_ATTENTION_AUTO = -1
_POSITIONS = 4
"""The most parts that a position has."""


class AbortFlag:
    """A flag that stops an evaluation between two operations of llama.cpp's graph.

    Any thread can set it. llama.cpp checks it before each operation, from its own threads. The C
    library's strlen over one byte answers without the Python interpreter: 0 while the byte is 0,
    and 1 once it is set.
    """

    def __init__(self) -> None:
        self._bytes = ctypes.create_string_buffer(2)

    def set(self) -> None:
        """Abort the current evaluation, and every later one until `clear`."""
        self._bytes[0] = b"\1"

    def clear(self) -> None:
        """Let evaluations run again."""
        self._bytes[0] = b"\0"

    @property
    def address(self) -> int:
        """The address of the byte, as a number."""
        return ctypes.addressof(self._bytes)


def context_params(api: Any, plan: LlamaPlan) -> Any:
    """Return the llama_context_params that the contexts of a model and of its drafter share.

    Each sequence has its own stream in the KV cache, with room for the plan's context. In one
    stream for all, each token would be compared with the cells of all sequences.
    """
    params = api.llama_context_default_params()
    params.n_seq_max = sequences = max(1, plan.parallel)
    params.n_ctx = plan.context * sequences
    params.kv_unified = False
    params.n_batch = params.n_ubatch = max(sequences, min(plan.batch, plan.context))
    # llama.cpp ends the process if a sequence could get no row of logits.
    params.n_outputs_max = sequences
    params.n_threads = plan.threads
    params.n_threads_batch = plan.batch_threads
    params.flash_attn_type = _FLASH_ATTENTION_AUTO
    params.type_k = params.type_v = cache_type(plan.kv_type).number
    params.offload_kqv = params.op_offload = plan.gpu_layers != 0
    params.swa_full = False
    params.no_perf = True
    return params


@dataclass(frozen=True, slots=True)
class BatchPart:
    """The tokens of one sequence in one evaluation.

    Attributes:
        tokens: The tokens to evaluate.
        start: The index of the first token in the sequence.
        outputs: Number of tokens, counted from the end, that get logits to draw from.
        sequence: The number of the sequence in the context.
        position: The position of the first token, if pictures in the sequence take fewer positions
            than tokens; None if it equals `start`.
        encoded: The embeddings that the tokens stand for if they are cells of a picture or a sound.
    """

    tokens: Sequence[int]
    start: int
    outputs: int = 0
    sequence: int = 0
    position: int | None = None
    encoded: Encoded | None = None

    @property
    def first_position(self) -> int:
        """The position of the first token."""
        return self.start if self.position is None else self.position


class Batch:
    """Tokens of one or more sequences for llama_decode, in arrays that Python owns.

    Never pass it to llama_batch_free.

    Args:
        api: The functions of llama.cpp.
        size: The most tokens in the batch.
        width: Number of values in the hidden state that goes with each token; 0 for none.
        tokens: Whether there are tokens at all, or only hidden states.
        sequences: Number of sequences.
        sequence: The sequence that all tokens belong to at first.
    """

    def __init__(
        self,
        api: Any,
        size: int,
        width: int = 0,
        *,
        tokens: bool = True,
        sequences: int = 1,
        sequence: int = 0,
    ) -> None:
        self._tokens = (ctypes.c_int32 * size)()
        self._positions = (ctypes.c_int32 * (size if tokens else _POSITIONS * size))()
        self._outputs: Any = (ctypes.c_int8 * size)()
        numbers = range(max(sequences, sequence + 1))
        self._numbers = (ctypes.c_int32 * len(numbers))(*numbers)
        pointer = ctypes.POINTER(ctypes.c_int32)
        self._sequence_counts = (ctypes.c_int32 * size)(*[1] * size)
        self._sequences = (pointer * size)()
        # The pointers are written as numbers: creating pointer objects takes longer than a call.
        self._sequence_at = (ctypes.c_size_t * size).from_buffer(self._sequences)
        self._sequence_at[:] = [self._address_of(sequence)] * size
        self._laid = [sequence] * size
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
        """Fill in `tokens` from position `start` on; the last `outputs` of them give logits."""
        self.native.n_tokens = len(tokens)
        self._put(0, tokens, start, outputs)

    def fill_parts(self, parts: Iterable[BatchPart]) -> None:
        """Fill in the tokens of several sequences, one part after the other."""
        at = 0
        for part in parts:
            count = len(part.tokens)
            end = at + count
            if self._laid[at:end] != (laid := [part.sequence] * count):
                self._laid[at:end] = laid
                self._sequence_at[at:end] = [self._address_of(part.sequence)] * count
            self._put(at, part.tokens, part.first_position, part.outputs)
            at = end
        self.native.n_tokens = at

    def fill_states(self, start: int, count: int) -> None:
        """Fill in `count` hidden states from position `start` on, which give no logits."""
        positions = range(start, start + count)
        self.native.n_tokens = count
        # Only models whose positions have four parts read all four; for text, three are equal.
        self._positions[: _POSITIONS * count] = [*positions, *positions, *positions, *[0] * count]

    def fill_encoded(self, part: BatchPart, encoded: Encoded) -> None:
        """Point to rows of a picture or a sound without copying them."""
        count, first = len(part.tokens), part.start - encoded.start
        self.native.n_tokens = count
        self._sequence_at[:count] = [self._address_of(part.sequence)] * count
        for at, section in enumerate(encoded.sections):
            self._positions[at * count : (at + 1) * count] = list(section[first : first + count])
        self._outputs[:count] = bytes(count - part.outputs) + b"\1" * part.outputs
        row = encoded.width * ctypes.sizeof(ctypes.c_float)
        rows = ctypes.byref(encoded.values, first * row)
        self.native.embd = ctypes.cast(rows, ctypes.POINTER(ctypes.c_float))

    def _put(self, at: int, tokens: Sequence[int], start: int, outputs: int) -> None:
        count = len(tokens)
        if count == 1:
            # Most calls have one token, for which slices take three times as long.
            self._tokens[at], self._positions[at], self._outputs[at] = tokens[0], start, outputs
            return
        self._tokens[at : at + count] = list(tokens)
        self._positions[at : at + count] = list(range(start, start + count))
        self._outputs[at : at + count] = bytes(count - outputs) + b"\1" * outputs

    def _address_of(self, sequence: int) -> int:
        return ctypes.addressof(self._numbers) + sequence * ctypes.sizeof(ctypes.c_int32)


class NativeContext:
    """The owner of a native llama_context. Close it before the model that holds the weights.

    Attributes:
        pointer: The native context; None once it is closed.
        memory: Its native memory, the KV cache; None once it is closed.

    Args:
        native: The llama.cpp library.
        weights: The native model.
        params: The llama_context_params.
        path: The model file, named in the error message.

    Raises:
        NotEnoughMemory: The context does not fit in memory.
        EngineFailed: llama.cpp cannot create the context.
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
        """Let `flag` abort evaluations from now on, in place of the previous flag."""
        self._flag = flag
        self._api.llama_set_abort_callback(self.pointer, self._strlen, flag.address)

    def close(self) -> None:
        """Free the native context, once."""
        if self.pointer:
            self._api.llama_free(self.pointer)
            self.pointer = self.memory = None


class Context(NativeContext):
    """Sequences of tokens that a model evaluates.

    Attributes:
        size: The most tokens in each sequence.
        sequences: Number of sequences.
        batch_size: The most tokens in one evaluation.
        drafts: The most tokens of a sequence that can be evaluated on trial and taken back.
        marks: Whether a recurrent state is restored as a whole to where it was marked, rather than
            token by token (`KvCache.mark`).

    Args:
        native: The llama.cpp library.
        model: The model.
        plan: The plan that the model was loaded with.
        least_batch: Number of tokens that one evaluation must have room for, whatever the plan
            says.
    """

    def __init__(
        self, native: Native, model: Model, plan: LlamaPlan, *, least_batch: int = 0
    ) -> None:
        api = native.api
        self._api = api
        self._llama_decode = api.llama_decode
        self._keep_hidden = native.extra.llama_set_embeddings_nextn
        self._keep_layer = native.layers.keep
        self._every_row: dict[int, bool] = {}
        self._layers: dict[int, tuple[int, ...]] = {}
        self._kept_layers: set[int] = set()
        self._rows = {0: 0}
        params = context_params(api, plan)
        params.n_batch = params.n_ubatch = max(params.n_batch, min(least_batch, plan.context))
        self.sequences = int(params.n_seq_max)
        # llama.cpp ends the process if a batch asks for more rows of logits than announced, or if
        # the rollback of a recurrent state plus one token before it does not fit in a batch.
        drafts = max(0, min(plan.draft_max, params.n_batch - (2 if model.recurrent else 1)))
        self._most_outputs = params.n_outputs_max = min(
            params.n_batch, self.sequences * (1 + drafts)
        )
        guessed = plan.drafter is not None or model.predicts
        states = model.keeps_states and guessed
        params.n_rs_seq = drafts if states else 0
        self.marks = model.recurrent and drafts > 0 and not states
        if self.marks:
            # Each sequence has a second one for the marked state, which shares the attention's
            # cells.
            params.n_seq_max, params.kv_unified = 2 * self.sequences, True
        super().__init__(native, model.pointer, params, plan.model)
        cells = int(api.llama_n_ctx_seq(self.pointer))
        self.size = cells // self.sequences if self.marks else cells
        self.batch_size = int(api.llama_n_batch(self.pointer))
        self.drafts = int(api.llama_n_rs_seq(self.pointer)) if states else drafts
        self._batch = Batch(api, self.batch_size, sequences=self.sequences)
        self._rows_batch: Batch | None = None
        self._threads = (plan.threads, plan.batch_threads)
        self._trial = False
        self._adapters = model.adapters
        self._adapter = ""
        self._apply_exposure()

    def adapt(self, name: str) -> None:
        """Evaluate with one of the model's LoRA adapters from now on; "" for none."""
        if name == self._adapter:
            return
        api, count = self._api, 1 if name else 0
        chosen = (api.llama_adapter_lora_p_ctypes * 1)()
        if name:
            chosen[0] = self._adapters.pointer(name)
        if api.llama_set_adapters_lora(self.pointer, chosen, count, (ctypes.c_float * 1)(1.0)):
            raise RuntimeError(f"llama.cpp does not work with the adapter {name!r}")
        self._adapter = name

    def expose(self, *, every_row: bool, sequence: int = 0) -> None:
        """Keep the hidden states that a sequence's drafter starts from.

        Args:
            every_row: Whether to keep them for all tokens, or only for those with logits.
            sequence: The number of the sequence.
        """
        self._every_row[sequence] = every_row
        self._apply_exposure()

    def expose_layers(self, layers: tuple[int, ...], sequence: int = 0) -> None:
        """Keep the inputs of these layers for all tokens, for a sequence's drafter."""
        self._layers[sequence] = layers
        self._apply_exposure()

    def hide(self, sequence: int = 0) -> None:
        """Keep nothing for this sequence.

        If no sequence needs anything, the last layer computes only the rows with logits.
        """
        self._every_row.pop(sequence, None)
        self._layers.pop(sequence, None)
        self._apply_exposure()

    def first_row(self, sequence: int) -> int:
        """Return the first row of a sequence's tokens in the last evaluation that included some."""
        return self._rows[sequence]

    def evaluate(self, tokens: Sequence[int], start: int, *, outputs: int) -> int:
        """Evaluate tokens of the first sequence alone. See `evaluate_parts`."""
        return self.evaluate_parts((BatchPart(tokens, start, outputs),))

    def evaluate_parts(self, parts: Sequence[BatchPart]) -> int:
        """Evaluate at most `batch_size` tokens.

        Args:
            parts: At most one part for each sequence, ordered by sequence number, because llama.cpp
                evaluates sequences together if their numbers are consecutive. Each part has at most
                1 + `drafts` outputs. A part of a picture or a sound must be the only one.

        Returns:
            The result code of llama_decode.

        Raises:
            ValueError: There are too many outputs, for which llama.cpp would end the process.
        """
        if any(part.encoded is not None for part in parts):
            (part,) = parts
            return self._evaluate_encoded(part)
        rows, outputs, few_each, places = 0, 0, True, dict[int, int]()
        for part in parts:
            if part.outputs > 1 + self.drafts:
                raise ValueError(
                    f"{part.outputs} rows of logits; there is room for {1 + self.drafts}"
                )
            places[part.sequence] = rows
            rows += len(part.tokens)
            outputs += part.outputs
            few_each = few_each and (len(part.tokens) == 1 or part.outputs > 1)
        if outputs > self._most_outputs:
            raise ValueError(f"{outputs} rows of logits; there is room for {self._most_outputs}")
        trial = rows > 1 and few_each
        if trial != self._trial:
            # llama.cpp treats every call with several tokens as a prompt and uses the threads for
            # prompts.
            self._trial = trial
            few, many = self._threads
            self._api.llama_set_n_threads(self.pointer, few, few if trial else many)
        self._rows = places
        self._batch.fill_parts(parts)
        return int(self._llama_decode(self.pointer, self._batch.native))

    def _evaluate_encoded(self, part: BatchPart) -> int:
        """Evaluate rows of a picture or a sound, all at once if they attend to each other."""
        encoded = part.encoded
        if encoded is None or (encoded.whole and len(part.tokens) != encoded.count):
            raise ValueError("a picture whose rows attend to each other must come in one part")
        if self._trial:
            self._trial = False
            self._api.llama_set_n_threads(self.pointer, *self._threads)
        if self._rows_batch is None:
            self._rows_batch = Batch(
                self._api, self.batch_size, tokens=False, sequences=self.sequences
            )
        self._rows = {part.sequence: 0}
        self._rows_batch.fill_encoded(part, encoded)
        self._api.llama_set_causal_attn(self.pointer, not encoded.whole)
        try:
            return int(self._llama_decode(self.pointer, self._rows_batch.native))
        finally:
            self._api.llama_set_causal_attn(self.pointer, True)

    def _apply_exposure(self) -> None:
        self._keep_hidden(self.pointer, bool(self._every_row), not any(self._every_row.values()))
        exposed = {layer for layers in self._layers.values() for layer in layers}
        # llama.cpp plans its memory again at every change.
        if exposed != self._kept_layers:
            for layer in exposed | self._kept_layers:
                self._keep_layer(self.pointer, layer, layer in exposed)
            self._kept_layers = exposed
