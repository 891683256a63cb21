"""The KV cache: the tokens that a sequence holds, and how many prompt tokens it saves."""

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
from engines.llamacpp.resume.native_state import NativeState
from engines.llamacpp.resume.records import StateKey, StateRecord
from engines.llamacpp.resume.sequence_store import LEAST_TOKENS, SequenceStore
from engines.llamacpp.resume.snapshots import StateSnapshot, StateSnapshots
from engines.llamacpp.resume.states import StateFile, StateFolder

logger = logging.getLogger(__name__)

_COPIED: Final = 32
"""At least so many tokens are copied from memory or disk in the time that evaluating one takes."""


def common_prefix(cached: Sequence[int], prompt: Sequence[int]) -> int:
    """Return how many tokens at the start are the same."""
    most = min(len(cached), len(prompt))
    if cached[:most] == prompt[:most]:
        return most
    count = 0
    for one, other in zip(cached, prompt, strict=False):
        if one != other:
            break
        count += 1
    return count


def reusable(
    cached: Sequence[int],
    prompt: Sequence[int],
    *,
    first_position: int,
    sliding_window: int,
    recurrent: bool,
) -> int:
    """Return how many tokens of `prompt` need no evaluation, given the tokens in the cache.

    At least one token is always left to evaluate, for its logits, and no picture is split. A
    recurrent state cannot go back. Layers with a sliding window forget the keys before
    `first_position`. If later tokens are removed there, llama.cpp does not complain, but then
    answers from a window with a hole. So the whole window before the cut must still be present.
    """
    keep = whole_length(prompt, min(common_prefix(cached, prompt), len(prompt) - 1))
    if keep == len(cached):
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
    """A decision about how much of a sequence to keep.

    Attributes:
        keep: Number of tokens that stay.
        from_snapshot: Whether a state snapshot must be restored for this.
    """

    keep: int
    from_snapshot: bool = False


def best_cut(
    cached: Sequence[int],
    prompt: Sequence[int],
    snapshots: Sequence[int],
    *,
    first_position: int,
    sliding_window: int,
    recurrent: bool,
) -> Cut:
    """Return how much of a sequence the prompt can continue from.

    Args:
        cached: The tokens of the sequence.
        prompt: The tokens of the prompt.
        snapshots: Lengths, in tokens, of the sequence's state snapshots.
        first_position: The lowest position that the KV cache still holds.
        sliding_window: Size of the sliding window in tokens; 0 without one.
        recurrent: Whether the model has a state that cannot be cut.
    """
    keep = reusable(
        cached,
        prompt,
        first_position=first_position,
        sliding_window=sliding_window,
        recurrent=recurrent,
    )
    if keep or not snapshots:
        return Cut(keep)
    common = min(common_prefix(cached, prompt), len(prompt) - 1)
    keep = max((length for length in snapshots if length <= common), default=0)
    return Cut(keep, from_snapshot=keep > 0)


class DraftingState(Protocol):
    """A drafter's own state, as `engines.llamacpp.speculative.drafting` keeps it."""

    def save(self) -> bytearray | None:
        """Return the drafter's state for its current sequence; None if there is none."""
        ...

    def restore(self, saved: bytearray | None) -> None:
        """Change to another sequence, with the state that was saved for it, if given."""
        ...


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
    """Create a cache for each sequence of a context.

    Args:
        api: The functions of llama.cpp.
        context: The context whose sequences are cached.
        model: The model of the context.
        memory_bytes: Memory for all caches together: for sequences that are not live, and for state
            snapshots.
        folder: Takes the sequences that leave memory if their chat has a name.
        key: The key under which `folder` stores sequences without an adapter.
        keys: The same for each adapter, by its name.
        drafting: The drafting states, one for each sequence, or empty.
    """
    # Other models can be cut anywhere without a snapshot.
    for_snapshots = memory_bytes // 2 if model.recurrent or model.sliding_window else 0
    states = SequenceStore(memory_bytes - for_snapshots, folder, key, keys or {})
    caches: list[KvCache] = []
    for sequence in range(context.sequences):
        drafts = drafting[sequence] if drafting else None
        budget = for_snapshots // context.sequences
        caches.append(KvCache(api, context, model, states, sequence, budget, caches, drafts))
    return caches


class KvCache:
    """The KV cache of one of the context's sequences, called the live sequence here.

    If there is a drafting state, it is saved with the live sequence. Whenever another sequence
    becomes live, the drafting state gets back what it saved for that sequence, or None.

    Attributes:
        tokens: The tokens of the live sequence, with cells for pictures and sounds
            (`engines.llamacpp.cells`). The list object stays the same for the life of the cache.
        sequence: The number of the sequence in the context.
        chat: The chat that owns the live sequence; None if no chat does.
        adapter: The LoRA adapter that the live sequence was computed with.
        recurrent: Whether the model has a state that cannot be cut.
    """

    def __init__(
        self,
        api: Any,
        context: Context,
        model: Model,
        states: SequenceStore,
        sequence: int,
        snapshot_bytes: int,
        caches: Sequence[KvCache],
        drafting: DraftingState | None,
    ) -> None:
        """Create an empty cache.

        Args:
            api: The functions of llama.cpp.
            context: The context of the sequence.
            model: The model of the context.
            states: Sequences that were live before, in any of the caches.
            sequence: The number of the sequence in the context.
            snapshot_bytes: Memory for state snapshots of the live sequence.
            caches: All caches of the context, including this one; their live sequences can be
                copied, too.
            drafting: State that is saved and restored with the live sequence.
        """
        self._api = api
        self._context = context
        self.sequence = sequence
        # If the context supports marks, each sequence has a second one for its marked state.
        self._mark = context.sequences + sequence
        self._sliding_window = model.sliding_window
        self.recurrent = model.recurrent
        self._native = NativeState(api, context, sequence)
        self._snapshots = StateSnapshots(snapshot_bytes)
        self.states = states
        self._caches = caches
        self.chat: str | None = None
        self.adapter = ""
        self._ahead: tuple[int, ...] = ()
        self._marked: int | None = None
        self.tokens: list[int] = []
        # Of the first `_counted` tokens, `_behind` have no position of their own.
        self._counted = self._behind = 0
        self._drafting = drafting

    def start_empty(self, chat: str | None, adapter: str = "") -> None:
        """Hold nothing, for a prompt whose tokens must all be evaluated.

        The live sequence can be put into memory. See `reuse`.
        """
        self.put_aside()
        self.adapter, self.chat = adapter, chat

    def reuse(self, prompt: Sequence[int], chat: str | None = None, adapter: str = "") -> int:
        """Hold as much of the beginning of `prompt` as possible.

        The previously live sequence can be put into memory. A sequence from memory or disk, or a
        copy of one that is live in another cache, can take its place.

        Args:
            prompt: The tokens of the prompt.
            chat: The chat that owns the sequence from now on.
            adapter: The LoRA adapter in use; sequences computed with another one are not reused.

        Returns:
            Number of tokens that are held.
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
            self.states.release(better)
        self._leave(keep if better is None else 0, chat)
        if better is not None and not self._make_live(better):
            better = None
        cut = self._live_cut(prompt)
        if (
            not copied
            and isinstance(better, StateRecord)
            and (better.chat not in {None, chat} or _loses_much(len(better.tokens), cut.keep))
        ):
            self.states.add(better)
        self._cut(cut)
        self.chat, self._ahead = chat, ()
        return len(self.tokens)

    @property
    def position(self) -> int:
        """The position of the next token: lower than its index if some pictures come before it."""
        cached = self.tokens
        if self._counted < len(cached):
            self._behind += without_position(cached[self._counted :])
            self._counted = len(cached)
        return len(cached) - self._behind

    def _position_at(self, length: int) -> int:
        """Return the position of the token at index `length`."""
        cut_off = self.tokens[length:]
        return self.position - len(cut_off) + without_position(cut_off)

    def _shorten(self, length: int) -> None:
        """Keep only the first `length` tokens on record, and the state snapshots among them."""
        position = self._position_at(length)
        del self.tokens[length:]
        self._counted, self._behind = len(self.tokens), len(self.tokens) - position
        self._snapshots.cut(length)

    @property
    def needs_snapshots(self) -> bool:
        """True if the KV cache cannot be cut anywhere and there is memory for snapshots."""
        return self._snapshots.fits(1)

    def expect(self, tokens: Sequence[int]) -> None:
        """Note how the conversation continues, as an answer's last token can be unevaluated."""
        cached = len(self.tokens)
        self._ahead = tuple(tokens[cached:]) if list(tokens[:cached]) == self.tokens else ()

    def kept_tokens(self, prompt: Sequence[int], adapter: str = "") -> int:
        """Return how many tokens of the live sequence would stay for `prompt`."""
        return self._live_cut(prompt).keep if adapter == self.adapter else 0

    def loses_much(self, prompt: Sequence[int], adapter: str = "") -> bool:
        """Return whether continuing with `prompt` here would lose much of the live sequence."""
        return _loses_much(len(self.tokens), self.kept_tokens(prompt, adapter))

    def known(self, chat: str | None) -> list[list[int]]:
        """Return the tokens of this chat's sequences that are live in any cache or were kept."""
        live = [[*one.tokens, *one._ahead] for one in self._caches if chat == one.chat]
        return live + self.states.known(chat)

    def save_snapshot(self) -> None:
        """Save a state snapshot to return to, if this model needs one; takes milliseconds."""
        length = len(self.tokens)
        if length == 0 or length in self._snapshots.lengths:
            return
        if not self._snapshots.fits(self._native.size(partial=True)):
            return
        state = self._native.read(partial=True)
        if state is not None:
            self._snapshots.add(StateSnapshot(length, state))

    def mark(self) -> None:
        """Mark the current state before a trial evaluation, if it can only be restored whole.

        Nothing is copied: the state now belongs to a second sequence as well, so llama.cpp writes
        the next state to another place.
        """
        if self._context.marks:
            self._marked = len(self.tokens)
            position = self.position
            # This range has no cells of attention, so only the recurrent state is shared.
            self._api.llama_memory_seq_cp(
                self._context.memory, self.sequence, self._mark, position, position
            )

    def roll_back(self, length: int) -> list[int]:
        """Drop the tokens that the last evaluation added after the first `length` tokens.

        A marked state returns to where it was marked. Other states can go back at most `n_rs_seq`
        tokens, once after each evaluation.

        Returns:
            The last of these `length` tokens, as far as they are no longer held and must be
            evaluated again.
        """
        if length >= len(self.tokens):
            return []
        cached = length if self._marked is None else self._marked
        again = self.tokens[cached:length]
        position = self._position_at(cached)
        if self._marked is not None:
            self._api.llama_memory_seq_cp(
                self._context.memory, self._mark, self.sequence, position, position
            )
        if not self._api.llama_memory_seq_rm(self._context.memory, self.sequence, position, -1):
            raise RuntimeError("the KV cache did not give back the tokens of a draft")
        self._shorten(cached)
        return again

    def recover(self, tried: Sequence[int], keep: int | None = None) -> None:
        """Find out which tokens are held after an evaluation of `tried` ended early.

        llama.cpp keeps the parts of a batch that were finished. A recurrent state, however, has
        also absorbed some of the unfinished part, although its positions look right. It returns to
        where it was marked, or to the last state snapshot.

        Args:
            tried: The tokens of the evaluation.
            keep: The most tokens, of all held and tried, that may stay; the others are drafts that
                were not verified. None means that all may stay.
        """
        if self._marked is not None:
            self.tokens += tried
            self.roll_back(self._marked)
            return
        if self.recurrent:
            sure = len(self.tokens) if keep is None else min(keep, len(self.tokens))
            lengths = [length for length in self._snapshots.lengths if length <= sure]
            self._cut(Cut(max(lengths, default=0), from_snapshot=bool(lengths)))
            return
        if tried and is_cell(tried[0]):
            self._forget_unfinished_medium()
            return
        cached = self._last_position() + 1 + len(self.tokens) - self.position
        self.tokens += tried
        self._shorten(max(0, min(cached, len(self.tokens))))
        if keep is not None:
            self.roll_back(keep)

    def _forget_unfinished_medium(self) -> None:
        """Go back to before the picture that was only partly evaluated.

        Its rows can share one position, so the positions do not show which of them are held.
        """
        length = len(self.tokens)
        while length and is_cell(self.tokens[length - 1]):
            length -= 1
        self._api.llama_memory_seq_rm(
            self._context.memory, self.sequence, self._position_at(length), -1
        )
        self._shorten(length)

    def clear(self) -> None:
        """Drop all tokens, the chat and the adapter."""
        self._drop()
        self.adapter = ""

    def _drop(self) -> None:
        """Drop all tokens and the chat; the adapter stays for the next tokens."""
        self._empty()
        self.chat, self._ahead = None, ()
        self._restore_drafting(None)

    def put_aside(self) -> None:
        """Drop the live sequence, and keep a copy to restore later if it is worth one."""
        self._leave(0, None)
        self.clear()

    def detach(self) -> StateRecord | None:
        """Take the live sequence out of its context, to `attach` it in another one.

        The other context must belong to the same model. Do not use the old context afterwards.

        Returns:
            The sequence, or None if there is nothing to take or it cannot be copied.
        """
        record = self._live_record() if self.tokens else None
        self._shorten(0)
        return record

    def attach(
        self, context: Context, record: StateRecord | None, drafting: DraftingState | None = None
    ) -> None:
        """Continue in another, empty context with the sequence lifted from the previous one."""
        self._context = context
        self._drafting = drafting
        self._native = NativeState(self._api, context, self.sequence)
        if record is None:
            self.clear()
        else:
            self._make_live(record)

    def save_to_disk(self) -> None:
        """Write the sequences of named chats to disk before unloading, and drop the rest.

        This can take a second for each GB.
        """
        self._forget_deleted()
        if self.states.belongs_on_disk(self.chat, array("i", self.tokens), self.adapter):
            record = self._live_record()
            if record is not None:
                self.states.store(record)
        self.states.save_all()

    def _live_cut(self, prompt: Sequence[int]) -> Cut:
        return best_cut(
            self.tokens,
            prompt,
            self._snapshots.lengths,
            first_position=int(
                self._api.llama_memory_seq_pos_min(self._context.memory, self.sequence)
            ),
            sliding_window=self._sliding_window,
            recurrent=self.recurrent,
        )

    def _cut(self, cut: Cut) -> None:
        memory = self._context.memory
        self._marked = None
        if cut.keep == len(self.tokens) and not cut.from_snapshot:
            return
        done = cut.keep > 0
        if cut.from_snapshot:
            state = self._snapshots.at(cut.keep).state
            done = self._native.write(state, partial=True)
        position = self._position_at(cut.keep)
        if not done or not self._api.llama_memory_seq_rm(memory, self.sequence, position, -1):
            self._drop()
            return
        self._shorten(cut.keep)

    def _better(self, prompt: Sequence[int], keep: int) -> StateRecord | StateFile | KvCache | None:
        """Find a sequence that is not live here and keeps enough more tokens to be worth a copy."""
        most, best = keep, None
        # A sequence without the prompt's next token keeps no more than the live sequence does.
        for tokens, snapshots, found in self._with_token(prompt[keep], keep):
            expected = self._expected(tokens, prompt, snapshots)
            if expected > most and (expected - keep) * _COPIED >= len(tokens):
                most, best = expected, found
        return best

    def _with_token(
        self, token: int, place: int
    ) -> Iterator[tuple[Sequence[int], list[int], StateRecord | StateFile | KvCache]]:
        """Yield the sequences that have `token` at index `place`.

        The live sequences come first, then those of `SequenceStore.with_token`.
        """
        for one in self._caches:
            if one is self or one.adapter != self.adapter:
                continue
            if len(one.tokens) > place and one.tokens[place] == token:
                yield one.tokens, one._snapshots.lengths, one
        yield from self.states.with_token(token, place, self.adapter)

    def _expected(self, cached: Sequence[int], prompt: Sequence[int], snapshots: list[int]) -> int:
        """Return how many prompt tokens would stay if `cached` became live.

        A saved state holds only one sliding window, the last.
        """
        if len(cached) >= self._context.size:
            return 0
        return best_cut(
            cached,
            prompt,
            snapshots,
            first_position=max(0, len(cached) - without_position(cached) - self._sliding_window),
            sliding_window=self._sliding_window,
            recurrent=self.recurrent,
        ).keep

    def _make_live(self, found: StateRecord | StateFile) -> bool:
        record = self.states.load(found)
        if record is None:
            return False
        self._empty()
        cached, expected = 0, len(record.tokens) - without_position(record.tokens)
        if self._native.write(record.state):
            cached = self._last_position() + 1
        if cached != expected:
            logger.warning("a state of %d tokens cannot be restored", len(record.tokens))
            self.states.discard(found)
            self._drop()
            return False
        self.tokens.extend(record.tokens)
        self._snapshots.replace(record.snapshots)
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

    @property
    def size_bytes(self) -> int:
        """The size of a copy of the live sequence, with its snapshots."""
        return self._native.size() + self._snapshots.size

    def _leave(self, keep: int, chat: str | None) -> None:
        """Keep a copy of the live sequence if much of it would be lost, or if its chat changes.

        The copy goes to memory. A sequence that is too large for memory goes to disk, but only when
        another chat takes over, not at every change within its own chat.
        """
        changes_hands = self.chat is not None and chat != self.chat
        if _loses_much(len(self.tokens), keep) or (
            changes_hands and len(self.tokens) >= LEAST_TOKENS
        ):
            takes = self.states.can_keep(self.size_bytes, for_disk=changes_hands)
            record = self._live_record() if takes else None
            if record is not None:
                self.states.add(record)

    def _live_record(self) -> StateRecord | None:
        """Copy the live sequence.

        Returns:
            The copy, or None if it would take more than half of the free memory, if the sequence
            ends within a picture (as after a cancel), or if llama.cpp does not give out the state.
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
            self._snapshots.all,
            self.chat,
            self._drafting.save() if self._drafting is not None else None,
            time_ns(),
            self._ahead,
            self.adapter,
        )

    def _forget_deleted(self) -> None:
        """Forget the sequences of chats that have been deleted."""
        self.states.forget_deleted()
        for one in self._caches:
            if self.states.is_deleted(one.chat):
                one.chat = None


def _loses_much(cached: int, keep: int) -> bool:
    """Return whether so much of a sequence would be lost that it should be kept first.

    Asking for an answer again does not count: each repetition would take memory from another chat.
    """
    lost = cached - keep
    return lost >= LEAST_TOKENS and lost * 4 >= cached
