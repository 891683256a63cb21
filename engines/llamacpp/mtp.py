"""The drafters of a model, which guess tokens for the model to check together.

A model that evaluates k + 1 tokens in one call needs less than k + 1 times the time of one token,
most of all if memory bandwidth limits it. So a drafter guesses k tokens, the model evaluates them
on trial, and keeps those that it would have drawn itself (`decoder`). `depth` decides when to guess
and how many tokens; this module contains how.

Multi-token prediction runs in a second context (`draft_context`). It takes a token together with
the hidden state that the target model had one position before. It gives the logits of the next
token, and a hidden state from which the next guess continues:

- a separate drafter (gemma4-assistant) reads the keys and values of its target and writes none.
  It has no tokens to catch up on, and all guesses of a draft have the same position;
- a head, in the target's file or in its own, has its own keys and values. It must receive every
  token that the target evaluates, with the target's hidden states, before it can guess the next;
- of several heads in a file, each guesses one token further than the one before. All of them
  receive every token, and each also receives the guesses of the heads before it;
- an Eagle-3 drafter computes its hidden states from the inputs of three of the target's layers.

A DFlash or DSpark drafter receives the inputs of target layers instead of tokens, and guesses a
whole block in one call. A smaller model with the same vocabulary needs no hidden states: it reads
the text and continues it.

Source: llama.h, and common/speculative.cpp of llama.cpp for the order of the calls.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from struct import Struct
from typing import Final, Protocol

from engines.llamacpp.cache import common_prefix
from engines.llamacpp.context import EVALUATED
from engines.llamacpp.resume.native_state import NativeState
from engines.llamacpp.speculative.draft_context import (
    BlockContext,
    DraftContext,
    EagleContext,
    ModelContext,
    NotEncodedError,
)
from engines.models.gguf.features import Block
from engines.types import MtpKind

More = Callable[[int, int], bool]
"""Called after each guess with the token and its confidence (0 to 7); returns whether to go on."""


_LENGTH: Final = Struct("<q")


class Drafter(Protocol):
    """Guesses tokens after it was told which tokens the target has evaluated.

    Positions count tokens from the beginning of the sequence.

    Attributes:
        kind: The kind of drafter.
        at_once: Whether all guesses of a draft come from one call.
    """

    kind: MtpKind
    at_once: bool

    def join(self, cached: Sequence[int]) -> None:
        """Start an answer to a prompt of which the target has evaluated `cached` before.

        A drafter that was not used for a while can catch up, as far as tokens alone suffice.
        """
        ...

    def observe(self, tokens: Sequence[int], start: int) -> None:
        """Note that the target evaluated `tokens` from position `start` on, and that they stay.

        That was in the target's last call.
        """
        ...

    def prepare(self) -> None:
        """Get ready to guess, after a whole prompt was observed."""
        ...

    def propose(self, token: int, position: int, more: More) -> list[int]:
        """Guess the tokens after `token`, which is next at `position` and not yet evaluated."""
        ...

    def roll_back(self, length: int) -> None:
        """Forget what was observed after the first `length` tokens."""
        ...

    def save(self) -> bytearray | None:
        """Return the state for the observed tokens, for `restore`; None if there is none."""
        ...

    def restore(self, saved: bytearray | None) -> None:
        """Change to another sequence, with the state that was saved for it, if given."""
        ...


class SharedDrafter:
    """A drafter in its own file that reads its target's keys and values."""

    kind: MtpKind = "drafter"
    at_once = False

    def __init__(self, draft: DraftContext) -> None:
        self._draft = draft
        self._reading = False
        self._last = 0

    def join(self, cached: Sequence[int]) -> None:  # noqa: ARG002  what the target holds is read
        """Start reading a prompt; guesses need its last hidden state only."""
        self._reading = True

    def observe(self, tokens: Sequence[int], start: int) -> None:  # noqa: ARG002  it reads them itself
        """Remember which row of the target's last call is the newest."""
        self._last = len(tokens) - 1
        # There are no hidden states within a prompt.
        if not self._reading:
            self._take()

    def prepare(self) -> None:
        """Keep the hidden state at the end of the prompt."""
        self._reading = False
        self._take()

    def propose(self, token: int, position: int, more: More) -> list[int]:
        """Guess one token after the other from the target's keys and values."""
        draft = self._draft
        guesses: list[int] = []
        while draft.evaluate((token,), position, outputs=1) == EVALUATED:
            token, sure = draft.guess()
            guesses.append(token)
            if not more(token, sure):
                break
            draft.take_from_draft(into=0)
        return guesses

    def roll_back(self, length: int) -> None:
        """Do nothing: no state is kept here, and the owner rolls back the target's memory."""

    def save(self) -> bytearray | None:
        """Return None: no state is kept here."""
        return None

    def restore(self, saved: bytearray | None) -> None:
        """Do nothing, as in `roll_back`."""

    def _take(self) -> None:
        """Keep the state of the last token: the target's next call may be for other sequences."""
        self._draft.take_from_target(self._last, into=0)


class HeadDrafter:
    """A head in the target's own file, with its own KV cache.

    Pairs that are not evaluated yet wait in the batch: `_waiting`, from position `_length` on. They
    are evaluated when the next guess is requested: in the same call, if that call then gives the
    hidden state of the last pair rather than the first.
    """

    kind: MtpKind = "embedded"
    at_once = False
    _first = 0
    """The position of the first token that it receives."""

    def __init__(self, draft: DraftContext, state: NativeState) -> None:
        self._draft = draft
        self._state = state
        self._waiting: list[int] = []
        self._length = self._first

    @property
    def length(self) -> int:
        """The position after the last token that it knows."""
        return self._length + len(self._waiting)

    def join(self, cached: Sequence[int]) -> None:
        """Do nothing: the hidden states of those tokens are gone."""

    def observe(self, tokens: Sequence[int], start: int) -> None:
        """Pair the tokens with the target's hidden states, and let the pairs wait."""
        draft = self._draft
        known = self.length
        if not start <= known <= start + len(tokens):
            # It was not used for a while, and there is a gap after its known tokens.
            draft.clear()
            self._waiting.clear()
            self._length = known = max(start, self._first)
            draft.blank(into=0)
        fresh = tokens[known - start :]
        while True:
            at = len(self._waiting)
            part = fresh[: draft.batch_size - 1 - at]
            # Each pair takes the state of the position before it, and one more state waits for the
            # next pair. The state for the first position of this call is already there, from the
            # previous call.
            if known > start:
                draft.take_from_target(known - start - 1, into=at, count=len(part) + 1)
            else:
                draft.take_from_target(0, into=at + 1, count=len(part))
            self._waiting += part
            known += len(part)
            fresh = fresh[len(part) :]
            if not fresh or not self._catch_up():
                return

    def prepare(self) -> None:
        """Evaluate the waiting pairs of the prompt."""
        if self._waiting:
            self._catch_up()

    def propose(self, token: int, position: int, more: More) -> list[int]:
        """Evaluate the waiting pairs, and guess one token after the other."""
        draft = self._draft
        guesses: list[int] = []
        if self._waiting and not draft.every_row and not self._catch_up():
            return guesses
        pairs = [*self._waiting, token]
        if draft.evaluate(pairs, self._length, outputs=1) != EVALUATED:
            self.restore(None)
            return guesses
        self._waiting.clear()
        self._length = position + 1
        while True:
            token, sure = draft.guess()
            guesses.append(token)
            if not more(token, sure):
                break
            draft.take_from_draft(into=0)
            if draft.evaluate((token,), position + len(guesses), outputs=1) != EVALUATED:
                break
        if len(guesses) > 1:
            draft.trim(self._length)
        return guesses

    def roll_back(self, length: int) -> None:
        """Forget the pairs after the first `length` tokens, evaluated or waiting."""
        if length < self._length:
            self._draft.trim(length)
            self._waiting.clear()
            self._length = max(length, self._first)
            self._draft.blank(into=0)
        else:
            del self._waiting[length - self._length :]

    def save(self) -> bytearray | None:
        """Evaluate the waiting pairs; return the position, a hidden state and the cache."""
        if self._waiting:
            self._catch_up()
        state = self._state.read()
        if state is None or self._length == self._first:
            return None
        return bytearray(_LENGTH.pack(self._length)) + self._draft.pending() + state

    def restore(self, saved: bytearray | None) -> None:
        """Clear the head's cache, and load the saved one if it fits."""
        self._draft.clear()
        self._waiting.clear()
        self._length = self._first
        self._draft.blank(into=0)
        if saved is not None:
            hidden = _LENGTH.size + self._draft.width * 4
            if self._state.write(saved[hidden:]):
                (self._length,) = _LENGTH.unpack(saved[: _LENGTH.size])
                self._draft.put(saved[_LENGTH.size : hidden])
            else:
                self._draft.clear()

    def _catch_up(self) -> bool:
        """Evaluate the waiting pairs, and keep the state that the next pair needs.

        Returns:
            False if that fails; then everything is forgotten until the next tokens are observed.
        """
        count = len(self._waiting)
        if not self._evaluate_waiting():
            self.restore(None)
            return False
        self._draft.move(count, into=0)
        self._length += count
        self._waiting.clear()
        return True

    def _evaluate_waiting(self) -> bool:
        return self._draft.evaluate(self._waiting, self._length, outputs=0) == EVALUATED


class ChainDrafter(HeadDrafter):
    """Several heads in the target's own file, which give at most one guess each.

    The heads are layers of one KV cache, and a call fills one layer. So tokens are evaluated once
    for each head, each time in the same cells, which are emptied before. All pairs give logits,
    although only the last are used: otherwise some graphs give the hidden state of the first pair.
    """

    def __init__(self, draft: DraftContext, state: NativeState, heads: int) -> None:
        super().__init__(draft, state)
        self._heads = heads

    def propose(self, token: int, position: int, more: More) -> list[int]:
        """Guess at most one token with each head."""
        if self._waiting and not self._catch_up():
            return []
        draft, pairs = self._draft, [token]
        for head in range(self._heads):
            draft.trim(position)
            draft.choose_head(head)
            if draft.evaluate(pairs, position, outputs=len(pairs)) != EVALUATED:
                break
            guess, sure = draft.guess()
            pairs.append(guess)
            if not more(guess, sure):
                break
            draft.take_from_draft(into=len(pairs) - 1)
        draft.trim(position)
        draft.choose_head(0)
        return pairs[1:]

    def _evaluate_waiting(self) -> bool:
        draft, done = self._draft, True
        for head in range(self._heads):
            draft.trim(self._length)
            draft.choose_head(head)
            done = done and super()._evaluate_waiting()
        draft.choose_head(0)
        return done


class EagleDrafter(HeadDrafter):
    """An Eagle-3 drafter: a head in its own file, which needs no pair for the first token."""

    kind: MtpKind = "drafter"
    _first = 1

    def __init__(self, draft: EagleContext, state: NativeState) -> None:
        super().__init__(draft, state)

    def observe(self, tokens: Sequence[int], start: int) -> None:
        """Pair the tokens with encoded hidden states; forget all if encoding fails."""
        try:
            super().observe(tokens, start)
        except NotEncodedError:
            self.restore(None)


class BlockDrafter:
    """A DFlash or DSpark drafter, which guesses a block of tokens in one call.

    The layer inputs of `_waiting` tokens, from position `_length` on, wait for the next guess. A
    block has room for as many guesses as were used the last time, or for twice as many if more were
    wanted.

    Args:
        draft: The drafter's context.
        state: Copies the drafter's KV cache.
        block: The properties of a block.
        most: The most tokens that can be evaluated on trial.
    """

    kind: MtpKind = "drafter"
    at_once = True

    def __init__(self, draft: BlockContext, state: NativeState, block: Block, most: int) -> None:
        self._draft = draft
        self._state = state
        self._block = block
        self._most = self._room = min(block.most, most)
        self._waiting = 0
        self._length = 0

    @property
    def length(self) -> int:
        """The position after the last token that it knows."""
        return self._length + self._waiting

    def join(self, cached: Sequence[int]) -> None:  # noqa: ARG002  what they were has gone
        """Allow the largest block again for the first guess."""
        self._room = self._most

    def observe(self, tokens: Sequence[int], start: int) -> None:
        """Copy the tokens' layer inputs, which wait for the next guess."""
        draft, end = self._draft, start + len(tokens)
        known = self.length
        if not start <= known <= end:
            self.restore(None)
            self._length = known = start
        while known < end:
            count = min(draft.batch_size - self._waiting, end - known)
            draft.take_from_target(known - start, into=self._waiting, count=count)
            self._waiting += count
            known += count
            if self._waiting == draft.batch_size and not self._catch_up():
                return

    def prepare(self) -> None:
        """Put the prompt's layer inputs into memory."""
        self._catch_up()

    def propose(self, token: int, position: int, more: More) -> list[int]:
        """Guess a whole block of tokens in one call."""
        draft, first = self._draft, self._block.first
        guesses: list[int] = []
        rows = range(first, first + self._room)
        tokens = [token, *[self._block.mask] * (rows.stop - 1)]
        if self._catch_up() and draft.evaluate(tokens, position, outputs=len(tokens)) == EVALUATED:
            wants_more = True
            for guess, sure in draft.guesses(rows):
                guesses.append(guess)
                if not (wants_more := more(guess, sure)):
                    break
            self._room = min(self._most, len(guesses) * (2 if wants_more else 1))
        draft.trim(position)
        return guesses

    def roll_back(self, length: int) -> None:
        """Forget the layer inputs after the first `length` tokens."""
        if length < self._length:
            self._draft.trim(length)
            self._length = length
        self._waiting = min(self._waiting, length - self._length)

    def save(self) -> bytearray | None:
        """Put the waiting inputs into memory; return the position and the memory."""
        self._catch_up()
        state = self._state.read()
        if state is None or not self._length:
            return None
        return bytearray(_LENGTH.pack(self._length)) + state

    def restore(self, saved: bytearray | None) -> None:
        """Clear the memory, and load the saved one if it fits."""
        self._draft.clear()
        self._waiting = self._length = 0
        if saved is not None and self._state.write(saved[_LENGTH.size :]):
            (self._length,) = _LENGTH.unpack(saved[: _LENGTH.size])

    def _catch_up(self) -> bool:
        """Put all waiting layer inputs into memory.

        Returns:
            False if that fails; then the memory holds nothing.
        """
        if self._waiting and self._draft.remember(self._length, self._waiting) != EVALUATED:
            self.restore(None)
            return False
        self._length += self._waiting
        self._waiting = 0
        return True


class ModelDrafter:
    """A smaller model with the same vocabulary, which reads the same text and continues it.

    `_cells` are the tokens in its KV cache, including wrong guesses until the next draft.
    """

    kind: MtpKind = "drafter"
    at_once = False

    def __init__(self, draft: ModelContext, state: NativeState) -> None:
        self._draft = draft
        self._state = state
        self._text: list[int] = []
        self._cells: list[int] = []
        self._same = 0

    def join(self, cached: Sequence[int]) -> None:
        """Take over the target's text; the equal beginning of the cache stays."""
        self._text[:] = cached
        self._same = common_prefix(self._cells, cached)

    def observe(self, tokens: Sequence[int], start: int) -> None:
        """Add the tokens to the text, which is evaluated before the next guess."""
        self.roll_back(start)
        self._text += tokens

    def prepare(self) -> None:
        """Evaluate the prompt."""
        self._catch_up(self._text)

    def propose(self, token: int, position: int, more: More) -> list[int]:
        """Catch up with the text, and guess one token after the other."""
        draft, cells = self._draft, self._cells
        guesses: list[int] = []
        self.roll_back(position)
        self._text.append(token)
        if not self._catch_up(self._text, outputs=1):
            return guesses
        while True:
            token, sure = draft.guess()
            guesses.append(token)
            if not more(token, sure):
                return guesses
            if draft.evaluate((token,), len(cells), outputs=1) != EVALUATED:
                self.restore(None)
                return guesses
            cells.append(token)

    def roll_back(self, length: int) -> None:
        """Drop the text after the first `length` tokens."""
        del self._text[length:]
        self._same = min(self._same, length)

    def save(self) -> bytearray | None:
        """Forget the guesses, and return the tokens and the state of the cache."""
        self._catch_up(self._text)
        state = self._state.read()
        if state is None or not self._cells:
            return None
        tokens = array("i", self._cells).tobytes()
        return bytearray(_LENGTH.pack(len(self._cells))) + tokens + state

    def restore(self, saved: bytearray | None) -> None:
        """Clear the cache, and load the saved tokens and state if they fit."""
        self._draft.clear()
        self._text, self._cells, self._same = [], [], 0
        if saved is None:
            return
        (count,) = _LENGTH.unpack(saved[: _LENGTH.size])
        cells = array("i")
        state = _LENGTH.size + count * cells.itemsize
        cells.frombytes(saved[_LENGTH.size : state])
        if self._state.write(saved[state:]):
            self._cells, self._text, self._same = list(cells), list(cells), count
        else:
            self._draft.clear()

    def _catch_up(self, tokens: Sequence[int], outputs: int = 0) -> bool:
        """Make the cache hold exactly these tokens; with `outputs`, the last one gives logits.

        Returns:
            False if that fails; then everything is forgotten until the next draft.
        """
        draft, cells = self._draft, self._cells
        same = self._same
        while same < min(len(cells), len(tokens)) and cells[same] == tokens[same]:
            same += 1
        # If logits are needed, the last token is evaluated again even if it is already held.
        same = min(same, len(tokens) - outputs)
        if same < len(cells):
            draft.trim(same)
            del cells[same:]
        for start in range(same, len(tokens), draft.batch_size):
            part = tokens[start : start + draft.batch_size]
            last = start + len(part) == len(tokens)
            if draft.evaluate(part, start, outputs=outputs if last else 0) != EVALUATED:
                self.restore(None)
                return False
            cells += part
        self._same = len(cells)
        return True
