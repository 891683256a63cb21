"""Opens the drafters of a model: the head in the model's own file, or a separate file."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from hashlib import blake2b
from pathlib import Path
from struct import Struct
from typing import Any, Final

from engines.base import Progress
from engines.cancel import CancelToken
from engines.errors import MtpUnavailable
from engines.llamacpp.context import AbortFlag, Context
from engines.llamacpp.file_identity import file_identity
from engines.llamacpp.model import Model, load_weights
from engines.llamacpp.mtp import (
    BlockDrafter,
    ChainDrafter,
    Drafter,
    EagleDrafter,
    HeadDrafter,
    ModelDrafter,
    SharedDrafter,
)
from engines.llamacpp.native import Native
from engines.llamacpp.resume.native_state import NativeState
from engines.llamacpp.speculative.draft_context import (
    BlockContext,
    DraftContext,
    EagleContext,
    GuessContext,
    Guessing,
    ModelContext,
)
from engines.models.gguf.header import GgufHeader, read_header
from engines.sentences import N_
from engines.types import HEAD_BATCH, LlamaPlan

_ONE_AT_A_TIME: Final = 1
_LENGTH: Final = Struct("<q")
_MARK: Final = 32
"""Number of bytes before a drafter's saved state that identify the drafter."""
# Heads whose graph has the hidden states of all pairs, whichever of them give logits. If only the
# states of pairs with logits are requested, llama.cpp gives the first ones instead.
_EVERY_ROW: Final = {"qwen35", "qwen35moe"}


class Drafting:
    """One drafter of a model for one of its sequences, with its context.

    Close it before the target's context, with which it may share memory.

    Attributes:
        drafter: The drafter; None if the model has none.
        context: The context that the drafter evaluates in.
        restored: Whether another sequence has become the current one; `Speculation` resets it.
    """

    def __init__(
        self,
        native: Native,
        target: Context,
        context: GuessContext | None = None,
        drafter: Drafter | None = None,
        weights: Any = None,
        file: str = "",
        sequence: int = 0,
    ) -> None:
        """Take over an opened drafter.

        Args:
            native: The llama.cpp library.
            target: The context of the model that checks the drafts.
            context: The context of the drafter.
            drafter: The drafter.
            weights: The native model that `close` must free, if any.
            file: Identifies the drafter's file; "" if it is the model's own.
            sequence: The number of the sequence.
        """
        self._sequence = sequence
        self._api = native.api
        self._mark = file.encode().ljust(_MARK)[:_MARK]
        self._target = target
        self._weights = weights
        self.context = context
        self.drafter = drafter
        self.restored = False

    def expose(self) -> None:
        """Let the target keep what the drafter starts from."""
        if self.context is not None:
            self.context.expose()

    def hide(self) -> None:
        """Let the target keep nothing, which saves part of the last layer's work on prompts."""
        self._target.hide(self._sequence)

    def save(self) -> bytearray | None:
        """Return the drafter's state for the current sequence."""
        state = self.drafter.save() if self.drafter is not None else None
        return None if state is None else bytearray(self._mark) + state

    def owns(self, saved: bytes) -> bool:
        """Return whether this drafter's `save` returned these bytes."""
        return saved.startswith(self._mark)

    def restore(self, saved: bytes | None) -> None:
        """Give the drafter its saved state, or None for a sequence that it has not seen."""
        if self.drafter is not None:
            self.drafter.restore(bytearray(saved[_MARK:]) if saved is not None else None)
        self.restored = True

    def watch(self, flag: AbortFlag) -> None:
        """Let `flag` abort drafts from now on."""
        if self.context is not None:
            self.context.context.watch(flag)

    def close(self) -> None:
        """Free the drafter's context and its weights, if it owns them."""
        if self.context is not None:
            self.context.close()
        if self._weights:
            self._api.llama_model_free(self._weights)
            self._weights = None


class Draftings:
    """All drafters of one sequence; without any, only the text itself can draft."""

    def __init__(self, each: Sequence[Drafting]) -> None:
        self.each = tuple(each)

    def watch(self, flag: AbortFlag) -> None:
        """Let `flag` abort drafts from now on."""
        for drafting in self.each:
            drafting.watch(flag)

    def save(self) -> bytearray | None:
        """Return the states of all drafters for the current sequence."""
        saved = [state for drafting in self.each if (state := drafting.save()) is not None]
        return bytearray().join(_LENGTH.pack(len(state)) + state for state in saved) or None

    def restore(self, saved: bytearray | None) -> None:
        """Give each drafter its saved state, or None for a sequence that it has not seen.

        The state of another drafter is ignored.
        """
        rest, parts = bytes(saved or b""), list[bytes]()
        while rest:
            (length,) = _LENGTH.unpack_from(rest)
            parts.append(rest[_LENGTH.size : _LENGTH.size + length])
            rest = rest[_LENGTH.size + length :]
        for drafting in self.each:
            drafting.restore(next(filter(drafting.owns, parts), None))

    def close(self) -> None:
        """Free all drafters of this sequence."""
        for drafting in self.each:
            drafting.close()


def open_draftings(
    native: Native,
    header: GgufHeader,
    model: Model,
    target: Context,
    plan: LlamaPlan,
    progress: Progress,
    cancel: CancelToken,
) -> list[Draftings]:
    """Open the plan's drafter, and the head in the model's own file if it has one.

    Returns:
        The drafters of each sequence of the target; close the first sequence's last.

    Raises:
        DrafterMismatch: The drafter does not fit the model; nothing stays open.
        MtpUnavailable: llama.cpp cannot connect the drafter; nothing stays open.
        EngineError: A drafter cannot be loaded; nothing stays open.
        Cancelled: `cancel` was set; nothing stays open.
    """
    found: list[list[Drafting]] = []
    with ExitStack() as opened:
        if target.drafts and plan.drafter is not None:
            found.append(_open_file(native, plan.drafter, target, plan, progress, cancel))
            opened.callback(found[-1][0].close)
        if target.drafts and header.mtp == "embedded":
            found.append(_open_embedded(native, header, model, target, plan))
        opened.pop_all()
    sequences = range(target.sequences)
    found = found or [[Drafting(native, target, sequence=sequence) for sequence in sequences]]
    return [Draftings([each[sequence] for each in found]) for sequence in sequences]


def _open_file(
    native: Native,
    path: Path,
    target: Context,
    plan: LlamaPlan,
    progress: Progress,
    cancel: CancelToken,
) -> list[Drafting]:
    """Open the drafter in a separate file for each sequence; the first owns the weights."""
    header = read_header(path)
    file = blake2b(file_identity(path).encode(), digest_size=_MARK // 2).hexdigest()
    draftings: list[Drafting] = []
    with ExitStack() as opened:
        weights = load_weights(native, path, plan, progress, cancel, mtp=header.kind != "chat")
        opened.callback(native.api.llama_model_free, weights)
        for sequence in range(target.sequences):
            first = draftings[0].context if draftings else None
            guessing = Guessing(weights, target, plan, sequence, first)
            context, drafter = _open_drafter(native, header, guessing)
            opened.callback(context.close)
            drafter.kind = "drafter"
            owned = None if draftings else weights
            draftings.append(Drafting(native, target, context, drafter, owned, file, sequence))
        opened.pop_all()
    return draftings


def _open_embedded(
    native: Native, header: GgufHeader, model: Model, target: Context, plan: LlamaPlan
) -> list[Drafting]:
    """Open the head in the model's own file for each sequence."""
    draftings: list[Drafting] = []
    for sequence in range(target.sequences):
        first = draftings[0].context if draftings else None
        context = _open_heads(
            native, header, Guessing(model.pointer, target, plan, sequence, first)
        )
        drafter = _head_drafter(native, header, context)
        draftings.append(Drafting(native, target, context, drafter, sequence=sequence))
    return draftings


def _open_drafter(
    native: Native, header: GgufHeader, guessing: Guessing
) -> tuple[GuessContext, Drafter]:
    """Open the context of a drafter in a separate file, and create the drafter."""
    features = header.features
    if header.kind == "chat":
        whole = ModelContext(native, guessing)
        return whole, ModelDrafter(whole, _state(native, whole))
    if header.heads_alone:
        heads = _open_heads(native, header, guessing)
        return heads, _head_drafter(native, header, heads)
    if features is None:
        sharing = _open_sharing(native, header, guessing)
        return sharing, SharedDrafter(sharing)
    if features.block is None:
        eagle = EagleContext(native, guessing, features)
        return eagle, EagleDrafter(eagle, _state(native, eagle))
    blocks = BlockContext(native, guessing, features, features.block)
    return blocks, BlockDrafter(
        blocks, _state(native, blocks), features.block, guessing.target.drafts
    )


def _open_heads(native: Native, header: GgufHeader, guessing: Guessing) -> DraftContext:
    """Open the context of prediction layers, in the model's file or a separate one."""
    every_row = header.architecture in _EVERY_ROW
    rows = min(guessing.target.batch_size, HEAD_BATCH)
    return DraftContext(native, guessing, rows, every_row=every_row)


def _head_drafter(native: Native, header: GgufHeader, context: DraftContext) -> Drafter:
    state = _state(native, context)
    if header.chained:
        return ChainDrafter(context, state, header.nextn_predict_layers)
    return HeadDrafter(context, state)


def _state(native: Native, context: GuessContext) -> NativeState:
    return NativeState(native.api, context.context, context.sequence)


def _open_sharing(native: Native, header: GgufHeader, guessing: Guessing) -> DraftContext:
    """Open the context of a drafter that reads the target's memory. Raises MtpUnavailable."""
    context = DraftContext(native, guessing, _ONE_AT_A_TIME)
    if not context.shares_memory:
        context.close()
        raise MtpUnavailable(
            N_("“{name}” cannot guess ahead for this model.", name=header.name),
            N_("llama.cpp did not connect the two."),
            N_("Remove the drafter; the model answers without it."),
        )
    return context
