"""Opens what drafts for a model: the head in its file, or a drafter, heads or a model beside it."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from engines.base import Progress
from engines.cancel import CancelToken
from engines.errors import MtpUnavailable
from engines.llamacpp.context import AbortFlag, Context
from engines.llamacpp.model import Model, load_weights
from engines.llamacpp.mtp import (
    ChainDrafter,
    Drafter,
    HeadDrafter,
    ModelDrafter,
    SharedDrafter,
)
from engines.llamacpp.native import Native
from engines.llamacpp.resume.native_state import NativeState
from engines.llamacpp.resume.state_key import file_identity
from engines.llamacpp.speculative.draft_context import DraftContext, ModelContext
from engines.models.gguf.header import GgufHeader, read_header
from engines.types import HEAD_BATCH, LoadPlan

_ONE_AT_A_TIME: Final = 1
_MARK: Final = 32
"""Bytes before what a drafter keeps, which tell whose it is."""
# Heads whose graph has the hidden states of all pairs, whichever of them give logits. Asked for
# those of the pairs with logits, llama.cpp gives the first ones instead.
_EVERY_ROW: Final = {"qwen35", "qwen35moe"}


class Drafting:
    """The drafter of a model and its context.

    drafter: None if the model has none. context: the one that the drafter evaluates in. restored:
    another sequence has become the present one; for `Speculation` to take back.

    Close it before the target's context, which it may share memory with.
    """

    def __init__(
        self,
        native: Native,
        target: Context,
        context: DraftContext | ModelContext | None = None,
        weights: Any = None,
        heads: int = 1,
        file: str = "",
    ) -> None:
        """Begin. file: tells the drafter's file from any other; "" if it is the model's own."""
        self._api = native.api
        self._mark = file.encode().ljust(_MARK)[:_MARK]
        self._target = target
        self._weights = weights
        self.context = context
        self.drafter: Drafter | None = None
        self.restored = False
        if isinstance(context, ModelContext):
            self.drafter = ModelDrafter(context, NativeState(native.api, context))
        elif context is not None:
            if context.shares_memory:
                self.drafter = SharedDrafter(context)
            else:
                state = NativeState(native.api, context)
                chain = ChainDrafter(context, state, heads) if heads > 1 else None
                self.drafter = chain or HeadDrafter(context, state)
                self.drafter.kind = "drafter" if weights else "embedded"

    def expose(self) -> None:
        """Have the target keep the hidden states that the drafter starts from."""
        if isinstance(self.context, DraftContext):
            self._target.expose(every_row=not self.context.shares_memory)

    def hide(self) -> None:
        """Have the target keep none; that saves a part of the last layer's work on prompts."""
        self._target.hide()

    def save(self) -> bytearray | None:
        """Return what the drafter keeps of the present sequence."""
        kept = self.drafter.save() if self.drafter is not None else None
        return None if kept is None else bytearray(self._mark) + kept

    def restore(self, saved: bytearray | None) -> None:
        """Give the drafter back what it kept, or None for a sequence that it has not seen.

        What another drafter kept is as good as none.
        """
        if self.drafter is not None:
            its = saved is not None and saved.startswith(self._mark)
            self.drafter.restore(saved[_MARK:] if saved is not None and its else None)
        self.restored = True

    def watch(self, flag: AbortFlag) -> None:
        """Let `flag` abort drafts from now on."""
        if self.context is not None:
            self.context.watch(flag)

    def close(self) -> None:
        if self.context is not None:
            self.context.close()
        if self._weights:
            self._api.llama_model_free(self._weights)
            self._weights = None


def open_drafting(
    native: Native,
    header: GgufHeader,
    model: Model,
    target: Context,
    plan: LoadPlan,
    progress: Progress,
    cancel: CancelToken,
) -> Drafting:
    """Open the plan's drafter, or the head in the model's own file if it has one.

    Raises DrafterMismatch, MtpUnavailable and what a load may raise; then nothing stays open.
    """
    if target.drafts == 0:
        return Drafting(native, target)
    if plan.drafter is None:
        if header.mtp != "embedded":
            return Drafting(native, target)
        inside = _of_heads(native, header, model.pointer, target, plan)
        return Drafting(native, target, inside, heads=_turns(header))
    drafter = read_header(plan.drafter)
    mtp = drafter.kind != "chat"
    weights = load_weights(native, plan.drafter, plan, progress, cancel, mtp=mtp)
    try:
        context: DraftContext | ModelContext
        if drafter.kind == "chat":
            context = ModelContext(native, weights, target, plan)
        elif drafter.heads_alone:
            context = _of_heads(native, drafter, weights, target, plan)
        else:
            context = _sharing(native, plan.drafter, weights, target, plan)
    except BaseException:
        native.api.llama_model_free(weights)
        raise
    file = blake2b(file_identity(plan.drafter).encode(), digest_size=_MARK // 2).hexdigest()
    return Drafting(native, target, context, weights, _turns(drafter), file)


def _of_heads(
    native: Native, header: GgufHeader, weights: Any, target: Context, plan: LoadPlan
) -> DraftContext:
    """Open the context of prediction layers, which are in a model or in a file of their own."""
    every_row = header.architecture in _EVERY_ROW
    rows = min(target.batch_size, HEAD_BATCH)
    return DraftContext(native, weights, target, plan, rows, every_row=every_row)


def _turns(header: GgufHeader) -> int:
    """Return how many heads take turns."""
    return header.nextn_predict_layers if header.chained else 1


def _sharing(
    native: Native, path: Path, weights: Any, target: Context, plan: LoadPlan
) -> DraftContext:
    """Open the context of a drafter that reads the target's memory."""
    context = DraftContext(native, weights, target, plan, _ONE_AT_A_TIME)
    if not context.shares_memory:
        context.close()
        raise MtpUnavailable(
            f"“{path.name}” cannot guess ahead for this model.",
            "llama.cpp did not connect the two.",
            "Remove the drafter; the model answers without it.",
        )
    return context
