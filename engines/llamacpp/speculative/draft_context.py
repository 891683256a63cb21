"""The second context, in which llama.cpp guesses: by prediction layers, or by a smaller model."""

from __future__ import annotations

import ctypes
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from engines.llamacpp.context import EVALUATED, Batch, Context, NativeContext, context_params
from engines.llamacpp.logits import Logits
from engines.llamacpp.native import Native, giving_addresses
from engines.models.gguf.features import Block, Features
from engines.types import HEAD_BATCH, LoadPlan

_DEFAULT, _MTP = 0, 1
"""LLAMA_CONTEXT_TYPE_DEFAULT and LLAMA_CONTEXT_TYPE_MTP in llama.h."""

# Steps of the margin between the logits of the first and the second choice. A margin of x is odds
# of e^x : 1 between the two.
_MARGINS: Final = (0.25, 0.75, 1.5, 2.5, 4.0, 6.0, 9.0)
_FLOAT: Final = 4
_NEVER: Final = float("-inf")


@dataclass(frozen=True)
class Guessing:
    """What guesses for one sequence of a target.

    weights: the llama_model that guesses. beside: what does so for the first sequence, in whose
    native context this one is evaluated, too; None for the first.
    """

    weights: Any
    target: Context
    plan: LoadPlan
    sequence: int = 0
    beside: GuessContext | None = None


class GuessContext:
    """One sequence in which tokens are guessed: it evaluates some, and tells the likeliest next.

    All sequences of a drafter have one native context, which that of the first one owns. width:
    values of the hidden state that each token is evaluated with, 0 for none. batch_size: most
    tokens in one evaluation.
    """

    def __init__(self, native: Native, of: Guessing, params: Any, width: int) -> None:
        api = self._api = native.api
        self._owned: NativeContext | None = None
        if of.beside is None:
            path = of.plan.drafter or of.plan.model
            self._owned = self.context = NativeContext(native, of.weights, params, path)
        else:
            self.context = of.beside.context
        self.sequence = of.sequence
        self.batch_size = int(params.n_batch)
        self._decode = api.llama_decode
        self._batch = Batch(api, self.batch_size, width, sequence=of.sequence)
        vocabulary = api.llama_model_get_vocab(of.weights)
        self._logits = Logits(api, api.llama_vocab_n_tokens(vocabulary))

    @property
    def pointer(self) -> Any:
        """The native context."""
        return self.context.pointer

    def expose(self) -> None:
        """Have the target keep what guesses start from, beside the tokens."""

    def close(self) -> None:
        """Close the native context, if this is the first sequence's."""
        if self._owned is not None:
            self._owned.close()

    def evaluate(self, tokens: Sequence[int], start: int, *, outputs: int) -> int:
        """Evaluate tokens from position `start` on; returns the result code."""
        self._batch.fill(tokens, start, outputs)
        return int(self._decode(self.pointer, self._batch.native))

    def guess(self, row: int = -1) -> tuple[int, int]:
        """Return the likeliest next token and its margin to the second, as confidence 0 to 7.

        row: of the token whose logits tell, from the end if negative.
        """
        logits = self._logits.row(self.pointer, row)
        token = int(logits.argmax())
        best = logits.item(token)
        logits[token] = _NEVER
        return token, bisect(_MARGINS, best - logits.item(logits.argmax()))

    def trim(self, length: int) -> None:
        """Forget what was evaluated from position `length` on."""
        self._api.llama_memory_seq_rm(self.context.memory, self.sequence, length, -1)

    def clear(self) -> None:
        """Forget everything. Not where the target's memory is shared."""
        self.trim(-1)


class ModelContext(GuessContext):
    """The context of a whole model that drafts for another, with a KV cache of its own.

    Its sliding layers keep all tokens: so any of them can be taken back.
    """

    def __init__(self, native: Native, of: Guessing) -> None:
        params = _params(native, of, min(of.target.batch_size, HEAD_BATCH))
        params.swa_full = True
        super().__init__(native, of, params, 0)


class DraftContext(GuessContext):
    """Evaluates pairs: a token, and the hidden state of the model one position before it.

    Making it clears the target's KV cache where the two share one: make it before any prompt.
    Close it before the target.

    width: values of a hidden state. every_row: whether it gives a hidden state for each pair, or
    for those with logits.
    """

    _type = _MTP

    def __init__(
        self,
        native: Native,
        of: Guessing,
        batch_size: int,
        *,
        every_row: bool = False,
    ) -> None:
        self._extra = native.extra
        target = of.target
        params = _params(native, of, batch_size)
        params.n_outputs_max = max(1 + target.drafts, target.sequences)
        params.ctx_type = self._type
        params.ctx_other = target.pointer
        self.width = int(native.api.llama_model_n_embd_out(of.weights))
        super().__init__(native, of, params, self.width)
        self.shares_memory = _address(self._extra.llama_get_ctx_other(self.pointer)) == _address(
            target.pointer
        )
        self._extra.llama_set_embeddings_nextn(self.pointer, True, not every_row)
        self.every_row = every_row
        self._hidden_of = giving_addresses(self._extra.llama_get_embeddings_nextn_ith)
        self._target = target
        self._hidden = ctypes.addressof(self._batch.hidden)

    def expose(self) -> None:
        self._target.expose(every_row=not self.shares_memory, sequence=self.sequence)

    def choose_head(self, number: int) -> None:
        """Evaluate with this one of several heads from now on, counted from 0."""
        self._extra.llama_set_nextn_layer_offset(self.pointer, number)

    def take_from_target(self, row: int, into: int, count: int = 1) -> None:
        """Pair `count` tokens from number `into` on with hidden states of the target's last call.

        row: the first of them. More than one only where the target keeps them of every token.
        """
        first = self._target.first_row(self.sequence)
        self._take(self._target.pointer, first + row, into, count)

    def take_from_draft(self, into: int) -> None:
        """Pair token number `into` with the hidden state that the last evaluation ended with."""
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
        """Pair token number `into` with nothing, where the hidden state is not known."""
        size = self.width * _FLOAT
        ctypes.memset(self._hidden + into * size, 0, size)

    def pending(self) -> bytes:
        """Return the hidden state that belongs to token number 0."""
        return ctypes.string_at(self._hidden, self.width * _FLOAT)

    def put(self, hidden: bytes | bytearray) -> None:
        """Pair token number 0 with a hidden state that was `pending` before."""
        ctypes.memmove(self._hidden, bytes(hidden), self.width * _FLOAT)


class LayerRows:
    """What went into some of the target's layers, of each token of its last call.

    batch: for calls that are given it, without the tokens.
    """

    def __init__(self, native: Native, of: Guessing, features: Features, size: int) -> None:
        self._target = of.target
        self._sequence = of.sequence
        self._layers = features.layers
        self._address = native.layers.address
        self._size = features.width * _FLOAT
        width = len(features.layers) * features.width
        self.batch = Batch(native.api, size, width, tokens=False, sequence=of.sequence)
        self._into = ctypes.addressof(self.batch.hidden)

    def expose(self) -> None:
        """Have the target keep it."""
        self._target.expose_layers(self._layers, self._sequence)

    def take(self, row: int, into: int, count: int) -> None:
        """Copy that of `count` tokens from number `row` on into the batch, from `into` on."""
        row += self._target.first_row(self._sequence)
        size, width = self._size, len(self._layers) * self._size
        for place, layer in enumerate(self._layers):
            source = self._address(self._target.pointer, layer) + row * size
            at = self._into + into * width + place * size
            for number in range(count):
                ctypes.memmove(at + number * width, source + number * size, size)


class EagleContext(DraftContext):
    """Evaluates pairs for an Eagle-3 drafter, whose encoder makes the hidden states.

    Each pair stands one position before its token, where the state is from. So there is none for
    the first token. The graph gives logits and a state for each pair of a call.
    """

    _type = _DEFAULT

    def __init__(self, native: Native, of: Guessing, features: Features) -> None:
        size = min(of.target.batch_size, HEAD_BATCH)
        super().__init__(native, of, size, every_row=True)
        # What it may be lent is the target's table of tokens.
        self.shares_memory = False
        self._encode = native.api.llama_encode
        self._rows = LayerRows(native, of, features, size)

    def expose(self) -> None:
        self._rows.expose()

    def evaluate(self, tokens: Sequence[int], start: int, *, outputs: int) -> int:
        return super().evaluate(tokens, start - 1, outputs=len(tokens) if outputs else 0)

    def trim(self, length: int) -> None:
        super().trim(length - 1)

    def take_from_target(self, row: int, into: int, count: int = 1) -> None:
        """Pair tokens as above. Raises NotEncodedError."""
        if not count:
            return
        # Its positions count for nothing, but have to go on from what is in the memory.
        start = self._api.llama_memory_seq_pos_max(self.context.memory, self.sequence) + 1
        self._rows.take(row, 0, count)
        self._rows.batch.fill_states(start, count)
        if self._encode(self.pointer, self._rows.batch.native) != EVALUATED:
            raise NotEncodedError
        self._take(self.pointer, 0, into, count)


class NotEncodedError(Exception):
    """An Eagle-3 drafter's encoder was aborted, or failed."""


class BlockContext(GuessContext):
    """Evaluates blocks of tokens, most of them unknown, for a DFlash or DSpark drafter.

    Its memory is filled not with tokens, but with what they were in layers of the target. The
    graph gives logits for each token of a block; that of DFlash 2 gives a few candidates for each
    instead, and what each of them is worth behind each candidate of the place before.
    """

    def __init__(self, native: Native, of: Guessing, features: Features, block: Block) -> None:
        params = _params(native, of, min(of.target.batch_size, HEAD_BATCH))
        params.ctx_other = of.target.pointer
        # Its sliding layers keep all tokens, too: so any of them can be taken back.
        params.swa_full = True
        super().__init__(native, of, params, 0)
        native.api.llama_set_causal_attn(self.pointer, block.causal)
        self._rows = LayerRows(native, of, features, self.batch_size)
        self._choices = block.choices
        if block.choices:
            native.extra.llama_set_embeddings_nextn(self.pointer, True, False)
        self._weighed_at = giving_addresses(native.extra.llama_get_embeddings_nextn_ith)
        self._weighed = ctypes.c_float * (block.choices * (1 + block.choices))

    def expose(self) -> None:
        self._rows.expose()

    def evaluate(self, tokens: Sequence[int], start: int, *, outputs: int) -> int:
        return super().evaluate(tokens, start, outputs=0 if self._choices else outputs)

    def guesses(self, rows: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield what is guessed at these places of the block, as `guess` does."""
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
        """Keep what `count` tokens of the target's last call were, as numbers `into` and on."""
        self._rows.take(row, into, count)

    def remember(self, start: int, count: int) -> int:
        """Put the first `count` that were kept into the memory, as of position `start` and on.

        Returns the result code.
        """
        self._rows.batch.fill_states(start, count)
        return int(self._decode(self.pointer, self._rows.batch.native))


def _params(native: Native, of: Guessing, batch_size: int) -> Any:
    """Fill llama_context_params for as many sequences as the target has, each as long."""
    params = context_params(native.api, of.plan)
    params.n_ctx = of.target.size * of.target.sequences
    params.n_batch = params.n_ubatch = batch_size
    params.n_threads_batch = of.plan.threads
    return params


def _address(pointer: Any) -> int | None:
    return ctypes.cast(pointer, ctypes.c_void_p).value
