"""The KV cache: the tokens that a sequence holds, and how many of a prompt need no evaluation."""

from __future__ import annotations

import logging
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import time_ns
from typing import Any, Final, Protocol

from engines.hardware.memory import measure_memory, within_limits
from engines.llamacpp.cells import is_cell, whole_length, without_position
from engines.llamacpp.context import Context
from engines.llamacpp.model import Model
from engines.llamacpp.resume.checkpoints import StateCheckpoint, StateCheckpoints
from engines.llamacpp.resume.kept import WORTH, Kept
from engines.llamacpp.resume.native_state import NativeState
from engines.llamacpp.resume.records import StateKey, StateRecord
from engines.llamacpp.resume.states import StateFile, StateFolder

logger = logging.getLogger(__name__)

_COPIED: Final = 32
"""The tokens copied from memory or disk in the time that one takes to evaluate, or more."""


def common_prefix(held: Sequence[int], prompt: Sequence[int]) -> int:
    """Count how many tokens at the start are the same."""
    most = min(len(held), len(prompt))
    if held[:most] == prompt[:most]:
        return most
    count = 0
    for one, other in zip(held, prompt, strict=False):
        if one != other:
            break
        count += 1
    return count


def reusable(
    held: Sequence[int],
    prompt: Sequence[int],
    *,
    first_position: int,
    sliding_window: int,
    recurrent: bool,
) -> int:
    """Count how many tokens of `prompt` need no evaluation, given what the cache holds.

    At least one is always left to evaluate, for its logits, and no picture is cut in two. A
    recurrent state has no past to go back to. Sliding window layers forget the keys before
    `first_position`; asked to remove later tokens, llama.cpp does so without complaint and then
    answers from a window with a hole. So the window before the cut has to be there as a whole.
    """
    keep = whole_length(prompt, min(common_prefix(held, prompt), len(prompt) - 1))
    if keep == len(held):
        return keep
    if recurrent:
        return 0
    if sliding_window > 0:
        position = keep - without_position(prompt[:keep])
        if first_position > max(0, position - sliding_window):
            return 0
    return keep


@dataclass(frozen=True)
class Cut:
    """The number of tokens that stay, and whether a checkpoint is needed for that."""

    keep: int
    from_checkpoint: bool = False


def best_cut(
    held: Sequence[int],
    prompt: Sequence[int],
    checkpoints: Sequence[int],
    *,
    first_position: int,
    sliding_window: int,
    recurrent: bool,
) -> Cut:
    """Find how much of a sequence the prompt can go on from. checkpoints: their lengths."""
    keep = reusable(
        held,
        prompt,
        first_position=first_position,
        sliding_window=sliding_window,
        recurrent=recurrent,
    )
    if keep or not checkpoints:
        return Cut(keep)
    common = min(common_prefix(held, prompt), len(prompt) - 1)
    keep = max((length for length in checkpoints if length <= common), default=0)
    return Cut(keep, from_checkpoint=keep > 0)


class DraftingState(Protocol):
    """The state that a drafter keeps: `engines.llamacpp.speculative.drafting`."""

    def save(self) -> bytearray | None: ...

    def restore(self, saved: bytearray | None) -> None: ...


def open_caches(
    api: Any,
    context: Context,
    model: Model,
    *,
    memory_bytes: int = 0,
    folder: StateFolder | None = None,
    key: StateKey | None = None,
    keys: Mapping[str, StateKey] | None = None,
    drafting: Sequence[DraftingState] = (),
) -> list[KvCache]:
    """Make a cache for each sequence of a context.

    memory_bytes: of them all, for sequences in memory that are not live, and for checkpoints.
    folder: takes what leaves memory, if its chat has a name; under `key`, or that of its adapter in
    `keys`. drafting: one for each.
    """
    # What goes back by itself needs no checkpoints.
    for_checkpoints = memory_bytes // 2 if model.recurrent or model.sliding_window else 0
    kept = Kept(memory_bytes - for_checkpoints, folder, key, keys or {})
    caches: list[KvCache] = []
    for sequence in range(context.sequences):
        drafts = drafting[sequence] if drafting else None
        budget = for_checkpoints // context.sequences
        caches.append(KvCache(api, context, model, kept, sequence, budget, caches, drafts))
    return caches


class KvCache:
    """The KV cache of one of the context's sequences, the live one here.

    tokens: what the live sequence holds, with cells for pictures and sounds
    (`engines.llamacpp.cells`). It is the same list for as long as the cache exists.
    chat: whose it is, None for nobody's. adapter: the LoRA adapter that it was computed with.
    recurrent: whether the model has a state that cannot be cut.
    kept: sequences that were live before, in any of the caches. caches: all of them, this one
    included, whose live sequences may begin like a prompt, too.
    checkpoint_bytes: for checkpoints of the live sequence.
    drafting: keeps something of the live sequence as well. It gets that back, or None, whenever
    another sequence becomes the live one.
    """

    def __init__(
        self,
        api: Any,
        context: Context,
        model: Model,
        kept: Kept,
        sequence: int,
        checkpoint_bytes: int,
        caches: Sequence[KvCache],
        drafting: DraftingState | None,
    ) -> None:
        self._api = api
        self._context = context
        self.sequence = sequence
        # Where it is needed, each has another one for a marked state.
        self._mark = context.sequences + sequence
        self._sliding_window = model.sliding_window
        self.recurrent = model.recurrent
        self._native = NativeState(api, context, sequence)
        self._checkpoints = StateCheckpoints(checkpoint_bytes)
        self._kept = kept
        self._caches = caches
        self.chat: str | None = None
        self.adapter = ""
        self._ahead: tuple[int, ...] = ()
        self._marked: int | None = None
        self.tokens: list[int] = []
        self._counted = self._behind = 0  # of these tokens, so many have no position of their own
        self._drafting = drafting

    def begin_anew(self, chat: str | None, adapter: str = "") -> None:
        """Hold nothing, for a prompt of which every token has to be evaluated.

        The live sequence may be put into memory. See `reuse`.
        """
        self.put_aside()
        self.adapter, self.chat = adapter, chat

    def reuse(self, prompt: Sequence[int], chat: str | None = None, adapter: str = "") -> int:
        """Hold as much of what `prompt` begins with as can be had; returns how many tokens.

        The sequence that is live before may be put into memory, and one from there or from the
        disk become the live one in its place, or a copy of one that is live beside it. chat: whose
        it is from now on. adapter: what was computed with another one is of no use.
        """
        self._forget_deleted()
        if adapter != self.adapter:
            self.put_aside()
            self.adapter = adapter
        keep = self._live_cut(prompt).keep
        better = self._better(prompt, keep)
        copied = isinstance(better, KvCache)
        if isinstance(better, KvCache):
            better = better._live_record()
        if better is not None:
            self._kept.release(better)
        self._leave(keep if better is None else 0, chat)
        if better is not None and not self._make_live(better):
            better = None
        cut = self._live_cut(prompt)
        if (
            not copied
            and isinstance(better, StateRecord)
            and (better.chat not in {None, chat} or _loses_much(len(better.tokens), cut.keep))
        ):
            self._kept.add(better)
        self._cut(cut)
        self.chat, self._ahead = chat, ()
        return len(self.tokens)

    @property
    def position(self) -> int:
        """The position of the token that comes next: less than its place behind some pictures."""
        held = self.tokens
        if self._counted < len(held):
            self._behind += without_position(held[self._counted :])
            self._counted = len(held)
        return len(held) - self._behind

    def _position_at(self, length: int) -> int:
        """Return the position of the token at place `length`."""
        cut_off = self.tokens[length:]
        return self.position - len(cut_off) + without_position(cut_off)

    def _shorten(self, length: int) -> None:
        """Keep the first `length` tokens in mind, and the checkpoints among them."""
        position = self._position_at(length)
        del self.tokens[length:]
        self._counted, self._behind = len(self.tokens), len(self.tokens) - position
        self._checkpoints.cut(length)

    @property
    def needs_checkpoints(self) -> bool:
        """Whether the memory cannot simply be cut anywhere, and there is room for copies of it."""
        return self._checkpoints.fits(1)

    def expect(self, tokens: Sequence[int]) -> None:
        """Note how the conversation goes on: an answer's last token may not be evaluated."""
        held = len(self.tokens)
        self._ahead = tuple(tokens[held:]) if list(tokens[:held]) == self.tokens else ()

    def keeps(self, prompt: Sequence[int], adapter: str = "") -> int:
        """Count how many tokens of `prompt` would stay of the live sequence."""
        return self._live_cut(prompt).keep if adapter == self.adapter else 0

    def loses(self, prompt: Sequence[int], adapter: str = "") -> bool:
        """Whether to go on with `prompt` here would cost much of the live sequence."""
        return _loses_much(len(self.tokens), self.keeps(prompt, adapter))

    def known(self, chat: str | None) -> list[list[int]]:
        """The tokens of this chat's conversations that are live in any cache, or were kept."""
        live = [[*one.tokens, *one._ahead] for one in self._caches if chat == one.chat]
        return live + self._kept.known(chat)

    def checkpoint(self) -> None:
        """Save a checkpoint to come back to here, if the memory needs that; takes milliseconds."""
        length = len(self.tokens)
        if length == 0 or length in self._checkpoints.lengths:
            return
        if not self._checkpoints.fits(self._native.size(partial=True)):
            return
        state = self._native.read(partial=True)
        if state is not None:
            self._checkpoints.add(StateCheckpoint(length, state))

    def mark(self) -> None:
        """Mark the state as it is, where it goes back as a whole, before an evaluation on trial.

        Nothing is copied: the state is from now on that of a second sequence, too, so llama.cpp
        writes the next one to another place.
        """
        if self._context.marks:
            self._marked = len(self.tokens)
            here = self.position
            # Between these two positions there are no cells of the attention to share.
            self._api.llama_memory_seq_cp(
                self._context.memory, self.sequence, self._mark, here, here
            )

    def roll_back(self, length: int) -> list[int]:
        """Drop what the last evaluation added behind the first `length` tokens.

        Returns the last of these `length`, if any are no longer held either and have to be
        evaluated again: a marked state goes back to where it was marked. Others go back at most
        `n_rs_seq` tokens, and once after each evaluation.
        """
        if length >= len(self.tokens):
            return []
        held = length if self._marked is None else self._marked
        again = self.tokens[held:length]
        position = self._position_at(held)
        if self._marked is not None:
            self._api.llama_memory_seq_cp(
                self._context.memory, self._mark, self.sequence, position, position
            )
        if not self._api.llama_memory_seq_rm(self._context.memory, self.sequence, position, -1):
            raise RuntimeError("the KV cache did not give back the tokens of a draft")
        self._shorten(held)
        return again

    def recover(self, tried: Sequence[int], keep: int | None = None) -> None:
        """Find out what is held after an evaluation of `tried` ended early.

        llama.cpp keeps the parts of a batch that were done. A recurrent state, though, has taken
        in part of the one that was not, although its positions look right: it goes back to where
        it was marked, or to the last checkpoint. keep: most tokens, of all those held and tried,
        that may stay; the others are drafts that nobody has verified.
        """
        if self._marked is not None:
            self.tokens += tried
            self.roll_back(self._marked)
            return
        if self.recurrent:
            sure = len(self.tokens) if keep is None else min(keep, len(self.tokens))
            lengths = [length for length in self._checkpoints.lengths if length <= sure]
            self._cut(Cut(max(lengths, default=0), from_checkpoint=bool(lengths)))
            return
        if tried and is_cell(tried[0]):
            self._forget_unfinished_medium()
            return
        held = self._last_position() + 1 + len(self.tokens) - self.position
        self.tokens += tried
        self._shorten(max(0, min(held, len(self.tokens))))
        if keep is not None:
            self.roll_back(keep)

    def _forget_unfinished_medium(self) -> None:
        """Go back to before the picture of which not all was evaluated.

        Its rows may stand on one position, so that it cannot be told which of them are held.
        """
        length = len(self.tokens)
        while length and is_cell(self.tokens[length - 1]):
            length -= 1
        self._api.llama_memory_seq_rm(
            self._context.memory, self.sequence, self._position_at(length), -1
        )
        self._shorten(length)

    def clear(self) -> None:
        """Drop everything, belong to no chat, and have no adapter."""
        self._drop()
        self.adapter = ""

    def _drop(self) -> None:
        """Drop everything, and belong to no chat: what comes has the adapter that there was."""
        self._empty()
        self.chat, self._ahead = None, ()
        self._restore_drafting(None)

    def put_aside(self) -> None:
        """Drop the live sequence; it can become live again, if it is worth a copy."""
        self._leave(0, None)
        self.clear()

    def lift(self) -> StateRecord | None:
        """Take the live sequence out of its context, to `settle` in another of the same model.

        The context is not used any more after this; None if there is nothing to take.
        """
        record = self._live_record() if self.tokens else None
        self._shorten(0)
        return record

    def settle(
        self, context: Context, record: StateRecord | None, drafting: DraftingState | None = None
    ) -> None:
        """Go on in another context, an empty one, with what was lifted from the one before."""
        self._context = context
        self._drafting = drafting
        self._native = NativeState(self._api, context, self.sequence)
        if record is None:
            self.clear()
        else:
            self._make_live(record)

    def put_away(self) -> None:
        """Write the sequences of named chats to disk before unloading, and drop the rest.

        May take a second for each GB.
        """
        self._forget_deleted()
        if self._kept.wanted_on_disk(self.chat, array("i", self.tokens), self.adapter):
            record = self._live_record()
            if record is not None:
                self._kept.store(record)
        self._kept.put_away()

    def _live_cut(self, prompt: Sequence[int]) -> Cut:
        return best_cut(
            self.tokens,
            prompt,
            self._checkpoints.lengths,
            first_position=int(
                self._api.llama_memory_seq_pos_min(self._context.memory, self.sequence)
            ),
            sliding_window=self._sliding_window,
            recurrent=self.recurrent,
        )

    def _cut(self, cut: Cut) -> None:
        memory = self._context.memory
        self._marked = None
        if cut.keep == len(self.tokens) and not cut.from_checkpoint:
            return
        done = cut.keep > 0
        if cut.from_checkpoint:
            state = self._checkpoints.at(cut.keep).state
            done = self._native.write(state, partial=True)
        position = self._position_at(cut.keep)
        if not done or not self._api.llama_memory_seq_rm(memory, self.sequence, position, -1):
            self._drop()
            return
        self._shorten(cut.keep)

    def _better(self, prompt: Sequence[int], keep: int) -> StateRecord | StateFile | KvCache | None:
        """Find a sequence that is not live here, with so many more to keep that a copy pays."""
        most, best = keep, None
        # None without the next token of the prompt can keep more than stays as it is.
        for tokens, checkpoints, found in self._having(prompt[keep], keep):
            expected = self._expected(tokens, prompt, checkpoints)
            if expected > most and (expected - keep) * _COPIED >= len(tokens):
                most, best = expected, found
        return best

    def _having(
        self, token: int, place: int
    ) -> Iterator[tuple[Sequence[int], list[int], StateRecord | StateFile | KvCache]]:
        """Yield sequences with `token` at `place`, as `Kept.having`: first those that are live."""
        for one in self._caches:
            if one is self or one.adapter != self.adapter:
                continue
            if len(one.tokens) > place and one.tokens[place] == token:
                yield one.tokens, one._checkpoints.lengths, one
        yield from self._kept.having(token, place, self.adapter)

    def _expected(self, held: Sequence[int], prompt: Sequence[int], checkpoints: list[int]) -> int:
        """Count the prompt's tokens that stay once `held` is live: a state has just one window."""
        if len(held) >= self._context.size:
            return 0
        return best_cut(
            held,
            prompt,
            checkpoints,
            first_position=max(0, len(held) - without_position(held) - self._sliding_window),
            sliding_window=self._sliding_window,
            recurrent=self.recurrent,
        ).keep

    def _make_live(self, found: StateRecord | StateFile) -> bool:
        record = self._kept.load(found)
        if record is None:
            return False
        self._empty()
        held, expected = 0, len(record.tokens) - without_position(record.tokens)
        if self._native.write(record.state):
            held = self._last_position() + 1
        if held != expected:
            logger.warning("a state of %d tokens cannot be restored", len(record.tokens))
            self._kept.discard(found)
            self._drop()
            return False
        self.tokens.extend(record.tokens)
        self._checkpoints.replace(record.checkpoints)
        self._restore_drafting(record.extra)
        return True

    def _restore_drafting(self, saved: bytearray | None) -> None:
        if self._drafting is not None:
            self._drafting.restore(saved)

    def _empty(self) -> None:
        self._marked = None
        self._api.llama_memory_seq_rm(self._context.memory, self.sequence, -1, -1)
        if self._context.marks:
            self._api.llama_memory_seq_rm(self._context.memory, self._mark, -1, -1)
        self._shorten(0)

    def _last_position(self) -> int:
        return int(self._api.llama_memory_seq_pos_max(self._context.memory, self.sequence))

    def _leave(self, keep: int, chat: str | None) -> None:
        """Copy the live sequence if going on loses much of it, or it changes hands.

        To memory; a chat that is too large for that goes to disk, but only once another one is
        turned to, not at each change of its own.
        """
        changes_hands = self.chat is not None and chat != self.chat
        if _loses_much(len(self.tokens), keep) or (changes_hands and len(self.tokens) >= WORTH):
            size = self._native.size() + self._checkpoints.size
            takes = self._kept.takes(size, for_disk=changes_hands)
            record = self._live_record() if takes else None
            if record is not None:
                self._kept.add(record)

    def _live_record(self) -> StateRecord | None:
        """Copy the live sequence, unless that takes more than half of the free memory.

        None, too, if it ends within a picture, as after a cancel.
        """
        if self.tokens and is_cell(self.tokens[-1]):
            return None
        size = self._native.size()
        if size > within_limits(measure_memory(), Path("/")).available_bytes // 2:
            logger.info("no memory to keep a state of %d MB", size >> 20)
            return None
        state = self._native.read()
        if state is None:
            logger.warning("llama.cpp does not give the state of this model")
            return None
        return StateRecord(
            array("i", self.tokens),
            state,
            self._checkpoints.kept,
            self.chat,
            self._drafting.save() if self._drafting is not None else None,
            time_ns(),
            self._ahead,
            self.adapter,
        )

    def _forget_deleted(self) -> None:
        """Drop the sequences of chats that were deleted meanwhile."""
        self._kept.forget_deleted()
        for one in self._caches:
            if self._kept.is_deleted(one.chat):
                one.chat = None


def _loses_much(held: int, keep: int) -> bool:
    """Whether so much of a sequence would be lost that it is put away first.

    Not for an answer that is only asked for again: each would take the memory of another chat.
    """
    lost = held - keep
    return lost >= WORTH and lost * 4 >= held
