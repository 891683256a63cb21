"""The llama.cpp engine: loads a GGUF file into this process and answers with it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Final

from engines.adapters import adapter_of
from engines.base import Progress, nothing_loaded
from engines.cancel import CancelToken
from engines.errors import (
    Cancelled,
    EngineError,
    EngineFailed,
    ModelRefused,
    NotAChatModel,
    NotEnoughMemory,
    Unsupported,
)
from engines.guard import ModelInUseGuard, UseGuard
from engines.hardware.memory import resident_bytes
from engines.llamacpp.answer import answer
from engines.llamacpp.embedder import Embedder, open_embedder
from engines.llamacpp.load_guard import require_memory
from engines.llamacpp.loaded import Loaded, prepare_loaded
from engines.llamacpp.model import open_model
from engines.llamacpp.native import load_native
from engines.llamacpp.projector import open_projector
from engines.llamacpp.resume.states import StateFolder
from engines.llamacpp.sizing.account import allocated, read_account
from engines.llamacpp.speculative.compare import check_mtp
from engines.llamacpp.speculative.cost_book import CostBook
from engines.llamacpp.vocabulary import Vocabulary
from engines.models.gguf.header import GgufHeader, read_header, require_chat
from engines.models.gguf.projector import read_projector
from engines.models.pairing import require_pair
from engines.sentences import N_
from engines.types import (
    ChatRequest,
    EngineStatus,
    Event,
    LlamaPlan,
    LoadedModel,
    Measured,
    MtpCheck,
    Ranking,
    Vectors,
)

if TYPE_CHECKING:
    # The probe's process runs this engine, so a runtime import here would be circular.
    from engines.llamacpp.probe import Probe


logger = logging.getLogger(__name__)

_TEXTS_AT_ONCE: Final = 256
"""The most simultaneous calls for vectors or ranks; they take turns."""


class LlamaCppEngine:
    """The llama.cpp engine, an `engines.base.Engine`.

    Args:
        book: Measured costs of drafting; without it, they are measured again.
        states: Saved states from which chats continue after a restart; without it, chats are
            evaluated again.
        probe: Tries each file in another process first; without it, files are trusted.
        left_out: Returns a sentence for each device that failed its trial and is not used.
    """

    name = "llamacpp"

    def __init__(
        self,
        book: CostBook | None = None,
        states: StateFolder | None = None,
        probe: Probe | None = None,
        left_out: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        self._book = book or CostBook(None)
        self._states = states
        self._probe = probe
        self._left_out = left_out
        self._loaded: Loaded | None = None
        self._embedder: Embedder | None = None
        self._loading: float | None = None
        self._guard = UseGuard()
        self._in_use = ModelInUseGuard()

    def load(self, plan: LlamaPlan, progress: Progress, cancel: CancelToken) -> LoadedModel:
        """Load the plan's model in place of the current one. See `Engine.load`.

        A model that does not load on a graphics card is loaded on the processor, and `notes` says
        so.
        """

        def report_progress(share: float) -> None:
            self._loading = share
            progress(share)

        with self._guard.exclusive():
            self._unload()
            self._loading = 0.0
            try:
                loaded, notes = self._load(plan, report_progress, cancel), self._left_out()
            except (EngineFailed, ModelRefused, NotEnoughMemory) as error:
                if not plan.gpu_layers:
                    raise
                logger.warning("not loaded on %s: %s", plan.devices, error)
                processor = replace(plan, gpu_layers=0, devices=(), experts_in_ram=0)
                loaded = self._load(processor, report_progress, cancel)
                notes = (
                    N_("It runs on the processor. On the graphics card: {why}", why=error.why),
                )
            finally:
                self._loading = None
            refused = self._loaded.model.adapters.notes if self._loaded is not None else ()
            return replace(loaded, notes=(*notes, *loaded.notes, *refused))

    def _load(self, plan: LlamaPlan, progress: Progress, cancel: CancelToken) -> LoadedModel:
        began = perf_counter()
        header = read_header(plan.model)
        if header.kind == "embedding":
            return self._load_embedder(header, plan, progress, cancel)
        require_chat(plan.model, header)
        drafter = read_header(plan.drafter) if plan.drafter is not None else None
        if drafter is not None:
            require_pair(header, drafter)
        plan, notes = self._safe(header, plan, drafter, cancel)
        native = load_native()
        mtp = header.mtp == "embedded" and plan.draft_max > 0
        before_bytes = resident_bytes()
        with native.log.listen() as lines, ExitStack() as opened:
            model = open_model(native, plan, progress, cancel, mtp=mtp)
            opened.callback(model.close)
            projector = None
            if plan.projector is not None:
                try:
                    projector = open_projector(native, model, plan, cancel)
                except EngineError as error:
                    notes = (_without_media_note(error),)
                else:
                    opened.callback(projector.close)
            if cancel.cancelled:
                raise Cancelled
            self._loaded = prepare_loaded(
                native, model, header, plan, self._book, self._states, progress, cancel, began,
                trusted=self._probe is not None and self._probe.trusts(plan), projector=projector,
            )  # fmt: skip
            opened.pop_all()
        progress(1.0)
        return replace(
            self._loaded.report,
            notes=(*self._loaded.report.notes, *notes),
            buffers=allocated(read_account(lines)),
            grown_bytes=max(0, resident_bytes() - before_bytes),
        )

    def _safe(
        self,
        header: GgufHeader,
        plan: LlamaPlan,
        drafter: GgufHeader | None,
        cancel: CancelToken,
    ) -> tuple[LlamaPlan, tuple[str, ...]]:
        """Check the memory for the plan, and try its files in another process.

        Returns:
            The plan that can be loaded, and notes on what it lacks: a projector that fails costs
            only pictures and sounds, not the chat.
        """
        try:
            projector = read_projector(plan.projector) if plan.projector is not None else None
            require_memory(header, plan, drafter, projector)
            if self._probe is not None:
                self._probe.require_safe(plan, cancel)
        except EngineError as error:
            if plan.projector is None:
                raise
            without_projector, _ = self._safe(
                header, replace(plan, projector=None), drafter, cancel
            )
            return without_projector, (_without_media_note(error),)
        return plan, ()

    def _load_embedder(
        self, header: GgufHeader, plan: LlamaPlan, progress: Progress, cancel: CancelToken
    ) -> LoadedModel:
        plan = replace(plan, drafter=None, draft_max=0, parallel=1, kept_bytes=0)
        require_memory(header, plan)
        if self._probe is not None:
            self._probe.require_safe(plan, cancel)
        self._embedder, report = open_embedder(load_native(), header, plan, progress, cancel)
        progress(1.0)
        return report

    def chat(self, request: ChatRequest, cancel: CancelToken) -> Generator[Event, None, None]:
        """Answer the request. See `Engine.chat`."""
        return answer(self._lend(request), request, cancel)

    def measure(self, request: ChatRequest, cancel: CancelToken) -> Measured:
        """Count the tokens of the request. See `Engine.measure`."""
        with self._in_use.using():
            return self.chat_model.prompter.measure(request, cancel)

    def tokenize(self, text: str, _cancel: CancelToken, *, special: bool = True) -> tuple[int, ...]:
        """Return the text's tokens. See `Engine.tokenize`."""
        with self._in_use.using():
            vocabulary = self._vocabulary()
            if self._embedder is not None and special:
                before, behind = vocabulary.wrapping()
                return (*before, *vocabulary.plain_tokens(text), *behind)
            return tuple(vocabulary.whole_text(text) if special else vocabulary.plain_tokens(text))

    def detokenize(self, tokens: Sequence[int], _cancel: CancelToken) -> str:
        """Return the tokens' text. See `Engine.detokenize`."""
        with self._in_use.using():
            vocabulary = self._vocabulary()
            pieces = map(vocabulary.display_bytes, vocabulary.require_tokens(tokens))
            return b"".join(pieces).decode(errors="replace")

    def embed(self, texts: Sequence[str | Sequence[int]], cancel: CancelToken) -> Vectors:
        """Return the vectors of texts. See `Engine.embed`."""
        with self._guard.answering(_TEXTS_AT_ONCE):
            return self._reading(N_("turn texts into vectors")).embed(texts, cancel)

    def rerank(self, query: str, documents: Sequence[str], cancel: CancelToken) -> Ranking:
        """Score how well documents answer the query. See `Engine.rerank`."""
        with self._guard.answering(_TEXTS_AT_ONCE):
            return self._reading(N_("judge documents")).rerank(query, documents, cancel)

    def check_mtp(self, request: ChatRequest, depth: int, cancel: CancelToken) -> MtpCheck:
        """Compare answers with and without drafts. See `Engine.check_mtp`."""
        with self._guard.exclusive():
            loaded = self.chat_model
            try:
                loaded.switch_context("on")
            except BaseException:
                self._unload()
                raise
            return check_mtp(loaded, request, depth, cancel)

    def status(self) -> EngineStatus:
        """Return the progress of a load, or whether a model is loaded. See `Engine.status`."""
        loading = self._loading
        if loading is not None:
            return EngineStatus("loading", share=loading)
        ready = self._loaded is not None or self._embedder is not None
        return EngineStatus("ready" if ready else "stopped")

    def cache_used(self) -> float | None:
        """Return the share of the context that conversations fill. See `Engine.cache_used`."""
        loaded = self._loaded
        if loaded is None:
            return None
        used = sum(len(slot.cache.tokens) for slot in loaded.slots)
        return used / (loaded.report.context * len(loaded.slots))

    def close(self) -> None:
        """Unload the model. See `Engine.close`."""
        with self._guard.exclusive():
            self._unload()

    @property
    def adapters(self) -> tuple[str, ...]:
        """The LoRA adapters that the loaded model can answer with."""
        return self._loaded.model.adapters.names if self._loaded is not None else ()

    @contextmanager
    def _lend(self, request: ChatRequest) -> Iterator[Loaded]:
        """Lend the loaded model to one answer until it ends; other answers can use it, too."""
        loaded = self._loaded
        if loaded is not None and (adapter := adapter_of(request, loaded.plan.adapters)):
            loaded.model.adapters.require(adapter)
        try:
            with self._guard.answering(len(loaded.slots) if loaded else 1):
                yield self.chat_model if loaded is None else loaded
        finally:
            if loaded is not None and loaded.lost:
                # The last of several answers to end is alone here.
                with suppress(RuntimeError), self._guard.exclusive():
                    self._unload()

    @property
    def chat_model(self) -> Loaded:
        """The loaded chat model, with its slots. Raises an error if none is loaded."""
        if self._loaded is not None:
            return self._loaded
        if self._embedder is None:
            raise nothing_loaded()
        raise NotAChatModel(
            N_("The model cannot answer."),
            N_("It is an embedding model, or one that ranks texts: it writes none."),
            N_("Choose a chat model."),
        )

    def _reading(self, ability: str) -> Embedder:
        """Return the loaded model for vectors or ranks. Raises an error if none is loaded."""
        if self._embedder is not None:
            return self._embedder
        if self._loaded is None:
            raise nothing_loaded()
        raise Unsupported(
            N_("The model cannot {what}.", what=ability),
            N_("It is made for chats."),
            N_("Choose a model that is made for this."),
        )

    def _vocabulary(self) -> Vocabulary:
        if self._embedder is not None:
            return self._embedder.model.vocabulary
        return self.chat_model.model.vocabulary

    def _unload(self) -> None:
        if self._loaded is not None:
            # Closing ends the rendering of chat templates at once; tokenising must be waited for.
            self._loaded.dialect.close()
        with self._in_use.unloading():
            loaded, self._loaded = self._loaded, None
            embedder, self._embedder = self._embedder, None
        for owner in (loaded, embedder):
            if owner is not None:
                owner.close()


def _without_media_note(error: EngineError) -> str:
    """Say that the model was loaded without its projector, and why."""
    return N_(
        "This model cannot take pictures or sounds. {what} {why}", what=error.what, why=error.why
    )
