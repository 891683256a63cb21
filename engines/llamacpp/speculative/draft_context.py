"""The second context, in which llama.cpp drafts with prediction layers or a smaller model."""

from __future__ import annotations

import ctypes
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from engines.llamacpp.context import EVALUATED, Batch, Context, NativeContext, context_params
from engines.llamacpp.logits import Logits
from engines.llamacpp.native import Native, giving_addresses
from engines.models.gguf.features import Block, DrafterInputs
from engines.types import HEAD_BATCH, LlamaPlan

_DEFAULT, _MTP = 0, 1
"""LLAMA_CONTEXT_TYPE_DEFAULT and LLAMA_CONTEXT_TYPE_MTP in llama.h."""

# Limits between levels of confidence, for the margin between the logits of the first and the second
# choice. A margin of x means odds of e^x : 1.
_MARGINS: Final = (0.25, 0.75, 1.5, 2.5, 4.0, 6.0, 9.0)
_FLOAT: Final = 4
_NEVER: Final = float("-inf")


@dataclass(frozen=True)
class Guessing:
    """The settings for guessing in one sequence of a target.

    Attributes:
        weights: The llama_model that guesses.
        target: The context of the model that checks the guesses.
        plan: The plan of the target.
        sequence: The number of the sequence.
        first: The guess context of the first sequence, whose native context this one shares; None
            for the first sequence itself.
    """

    weights: Any
    target: Context
    plan: LlamaPlan
    sequence: int = 0
    first: GuessContext | None = None


class GuessContext:
    """One sequence in which tokens are guessed: it evaluates tokens, and gives the likeliest next.

    All sequences of a drafter share one native context, which the first one owns.

    Args:
        native: The llama.cpp library.
        guessing: The settings.
        params: The llama_context_params.
        width: Number of values in the hidden state that each token is evaluated with; 0 for none.

    Attributes:
        batch_size: The most tokens in one evaluation.
    """

    def __init__(self, native: Native, guessing: Guessing, params: Any, width: int) -> None:
        api = self._api = native.api
        self._owned: NativeContext | None = None
        if guessing.first is None:
            path = guessing.plan.drafter or guessing.plan.model
            self._owned = self.context = NativeContext(native, guessing.weights, params, path)
        else:
            self.context = guessing.first.context
        self.sequence = guessing.sequence
        self.batch_size = int(params.n_batch)
        self._decode = api.llama_decode
        self._batch = Batch(api, self.batch_size, width, sequence=guessing.sequence)
        vocabulary = api.llama_model_get_vocab(guessing.weights)
        self._logits = Logits(api, api.llama_vocab_n_tokens(vocabulary))

    @property
    def pointer(self) -> Any:
        """The native context."""
        return self.context.pointer

    def expose(self) -> None:
        """Let the target keep what guesses start from, other than tokens."""

    def close(self) -> None:
        """Close the native context, if this is the first sequence's."""
        if self._owned is not None:
            self._owned.close()

    def evaluate(self, tokens: Sequence[int], start: int, *, outputs: int) -> int:
        """Evaluate tokens from position `start` on; return the result code."""
        self._batch.fill(tokens, start, outputs)
        return int(self._decode(self.pointer, self._batch.native))

    def guess(self, row: int = -1) -> tuple[int, int]:
        """Return the likeliest next token, and its margin to the second as a confidence of 0 to 7.

        Args:
            row: The number of the token whose logits are used, counted from the end if negative.
        """
        logits = self._logits.row(self.pointer, row)
        token = int(logits.argmax())
        best = logits.item(token)
        logits[token] = _NEVER
        return token, bisect(_MARGINS, best - logits.item(logits.argmax()))

    def trim(self, length: int) -> None:
        """Forget the tokens from position `length` on."""
        self._api.llama_memory_seq_rm(self.context.memory, self.sequence, length, -1)

    def clear(self) -> None:
        """Forget everything. Do not call it if the memory is shared with the target."""
        self.trim(-1)


class ModelContext(GuessContext):
    """The context of a whole model that drafts for another, with its own KV cache.

    Its sliding window layers keep all tokens, so any of them can be taken back.
    """

    def __init__(self, native: Native, guessing: Guessing) -> None:
        params = _params(native, guessing, min(guessing.target.batch_size, HEAD_BATCH))
        params.swa_full = True
        super().__init__(native, guessing, params, 0)


class DraftContext(GuessContext):
    """Evaluates pairs of a token and the model's hidden state one position before it.

    Creating it clears the target's KV cache if the two share one, so create it before any prompt.
    Close it before the target.

    Attributes:
        width: Number of values in a hidden state.
        every_row: Whether it gives a hidden state for each pair, or only for pairs with logits.
        shares_memory: Whether it shares the target's KV cache.
    """

    _type = _MTP

    def __init__(
        self,
        native: Native,
        guessing: Guessing,
        batch_size: int,
        *,
        every_row: bool = False,
    ) -> None:
        self._extra = native.extra
        target = guessing.target
        params = _params(native, guessing, batch_size)
        params.n_outputs_max = max(1 + target.drafts, target.sequences)
        params.ctx_type = self._type
        params.ctx_other = target.pointer
        self.width = int(native.api.llama_model_n_embd_out(guessing.weights))
        super().__init__(native, guessing, params, self.width)
        self.shares_memory = _address(self._extra.llama_get_ctx_other(self.pointer)) == _address(
            target.pointer
        )
        self._extra.llama_set_embeddings_nextn(self.pointer, True, not every_row)
        self.every_row = every_row
        self._hidden_of = giving_addresses(self._extra.llama_get_embeddings_nextn_ith)
        self._target = target
        self._hidden = ctypes.addressof(self._batch.hidden)

    def expose(self) -> None:
        """Let the target keep its hidden states for this sequence."""
        self._target.expose(every_row=not self.shares_memory, sequence=self.sequence)

    def choose_head(self, number: int) -> None:
        """Evaluate with head `number`, counted from 0, from now on."""
        self._extra.llama_set_nextn_layer_offset(self.pointer, number)

    def take_from_target(self, row: int, into: int, count: int = 1) -> None:
        """Pair tokens with hidden states of the target's last call.

        Args:
            row: The row of the first hidden state.
            into: The number of the first token.
            count: Number of tokens; more than one only if the target keeps the states of every
                token.
        """
        first = self._target.first_row(self.sequence)
        self._take(self._target.pointer, first + row, into, count)

    def take_from_draft(self, into: int) -> None:
        """Pair token number `into` with the hidden state at the end of the last evaluation."""
        row = self._batch.native.n_tokens - 1 if self.every_row else -1
        self._take(self.pointer, row, into, 1)

    def _take(self, context: Any, row: int, into: int, count: int) -> None:
        if into + count > self.batch_size:
            raise ValueError(f"{into + count} pairs; there is room for {self.batch_size}")
        size = self.width * _FLOAT
        source = self._hidden_of(context, row)
        if not source:
            raise RuntimeError("there is no hidden state of that token")
        ctypes.memmove(self._hidden + into * size, source, count * size)

    def move(self, row: int, into: int) -> None:
        """Pair token number `into` with the hidden state that now belongs to number `row`."""
        size = self.width * _FLOAT
        ctypes.memmove(self._hidden + into * size, self._hidden + row * size, size)

    def blank(self, into: int) -> None:
        """Pair token number `into` with zeros, as its hidden state is not known."""
        size = self.width * _FLOAT
        ctypes.memset(self._hidden + into * size, 0, size)

    def pending(self) -> bytes:
        """Return the hidden state that belongs to token number 0."""
        return ctypes.string_at(self._hidden, self.width * _FLOAT)

    def put(self, hidden: bytes | bytearray) -> None:
        """Pair token number 0 with a hidden state that `pending` returned before."""
        ctypes.memmove(self._hidden, bytes(hidden), self.width * _FLOAT)


class LayerRows:
    """The inputs of some of the target's layers, for each token of its last call.

    Attributes:
        batch: A batch for calls that receive these inputs instead of tokens.
    """

    def __init__(
        self, native: Native, guessing: Guessing, features: DrafterInputs, size: int
    ) -> None:
        self._target = guessing.target
        self._sequence = guessing.sequence
        self._layers = features.layers
        self._address = native.layers.address
        self._size = features.width * _FLOAT
        width = len(features.layers) * features.width
        self.batch = Batch(native.api, size, width, tokens=False, sequence=guessing.sequence)
        self._into = ctypes.addressof(self.batch.hidden)

    def expose(self) -> None:
        """Let the target keep the inputs."""
        self._target.expose_layers(self._layers, self._sequence)

    def take(self, row: int, into: int, count: int) -> None:
        """Copy the inputs of `count` tokens from row `row` on into the batch, from `into` on."""
        row += self._target.first_row(self._sequence)
        size, width = self._size, len(self._layers) * self._size
        for place, layer in enumerate(self._layers):
            source = self._address(self._target.pointer, layer) + row * size
            at = self._into + into * width + place * size
            for number in range(count):
                ctypes.memmove(at + number * width, source + number * size, size)


class EagleContext(DraftContext):
    """Evaluates pairs for an Eagle-3 drafter, whose encoder computes the hidden states.

    Each pair has the position one before its token, where its hidden state comes from, so the first
    token has no pair. The graph gives logits and a hidden state for each pair of a call.
    """

    _type = _DEFAULT

    def __init__(self, native: Native, guessing: Guessing, features: DrafterInputs) -> None:
        size = min(guessing.target.batch_size, HEAD_BATCH)
        super().__init__(native, guessing, size, every_row=True)
        # At most, the target's token table is shared.
        self.shares_memory = False
        self._encode = native.api.llama_encode
        self._rows = LayerRows(native, guessing, features, size)

    def expose(self) -> None:
        """Let the target keep the inputs of three of its layers."""
        self._rows.expose()

    def evaluate(self, tokens: Sequence[int], start: int, *, outputs: int) -> int:
        """Evaluate pairs, each at the position before its token; return the result code."""
        return super().evaluate(tokens, start - 1, outputs=len(tokens) if outputs else 0)

    def trim(self, length: int) -> None:
        """Forget the tokens from position `length` on, with the pair of the first."""
        super().trim(length - 1)

    def take_from_target(self, row: int, into: int, count: int = 1) -> None:
        """Pair tokens as in `DraftContext`. Raises NotEncodedError."""
        if not count:
            return
        # The encoder's positions have no meaning, but must continue those in memory.
        start = self._api.llama_memory_seq_pos_max(self.context.memory, self.sequence) + 1
        self._rows.take(row, 0, count)
        self._rows.batch.fill_states(start, count)
        if self._encode(self.pointer, self._rows.batch.native) != EVALUATED:
            raise NotEncodedError
        self._take(self.pointer, 0, into, count)


class NotEncodedError(Exception):
    """An Eagle-3 drafter's encoder was aborted, or failed."""


class BlockContext(GuessContext):
    """Evaluates blocks of mostly unknown tokens for a DFlash or DSpark drafter.

    Its memory is filled with inputs of the target's layers instead of tokens. The graph gives
    logits for each token of a block. The graph of DFlash 2 gives instead a few candidates for each
    token, and the worth of each candidate after each candidate of the previous place.
    """

    def __init__(
        self, native: Native, guessing: Guessing, features: DrafterInputs, block: Block
    ) -> None:
        params = _params(native, guessing, min(guessing.target.batch_size, HEAD_BATCH))
        params.ctx_other = guessing.target.pointer
        # The sliding window layers keep all tokens, so any of them can be taken back.
        params.swa_full = True
        super().__init__(native, guessing, params, 0)
        native.api.llama_set_causal_attn(self.pointer, block.causal)
        self._rows = LayerRows(native, guessing, features, self.batch_size)
        self._choices = block.choices
        if block.choices:
            native.extra.llama_set_embeddings_nextn(self.pointer, True, False)
        self._weighed_at = giving_addresses(native.extra.llama_get_embeddings_nextn_ith)
        self._weighed = ctypes.c_float * (block.choices * (1 + block.choices))

    def expose(self) -> None:
        """Let the target keep the inputs of the drafter's layers."""
        self._rows.expose()

    def evaluate(self, tokens: Sequence[int], start: int, *, outputs: int) -> int:
        """Evaluate a block from position `start` on; return the result code."""
        return super().evaluate(tokens, start, outputs=0 if self._choices else outputs)

    def guesses(self, rows: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield the guesses at these rows of the block, each as `guess` returns it."""
        if not self._choices:
            yield from map(self.guess, rows)
            return
        chosen = 0
        for row in rows:
            weighed = self._weighed.from_address(self._weighed_at(self.pointer, row))
            behind = self._choices * (1 + chosen)
            worth = weighed[behind : behind + self._choices]
            chosen = worth.index(max(worth))
            second = max((*worth[:chosen], *worth[chosen + 1 :]), default=_NEVER)
            yield int(weighed[chosen]), bisect(_MARGINS, worth[chosen] - second)

    def take_from_target(self, row: int, into: int, count: int) -> None:
        """Keep layer inputs of `count` tokens of the target's last call, from number `into` on."""
        self._rows.take(row, into, count)

    def remember(self, start: int, count: int) -> int:
        """Put the first `count` kept layer inputs into memory, from position `start` on.

        Returns:
            The result code.
        """
        self._rows.batch.fill_states(start, count)
        return int(self._decode(self.pointer, self._rows.batch.native))


def _params(native: Native, guessing: Guessing, batch_size: int) -> Any:
    """Return llama_context_params for as many sequences as the target has, of the same length."""
    params = context_params(native.api, guessing.plan)
    params.n_ctx = guessing.target.size * guessing.target.sequences
    params.n_batch = params.n_ubatch = batch_size
    params.n_threads_batch = guessing.plan.threads
    return params


def _address(pointer: Any) -> int | None:
    return ctypes.cast(pointer, ctypes.c_void_p).value
