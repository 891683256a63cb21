"""An embedding or ranking model in this process: vectors of texts, and scores of documents.

It has its own kind of context: nothing is kept between calls, texts of one call share evaluations,
and llama.cpp combines all tokens into one vector as the model's file says (its pooling). A query
and a document are joined for a ranking model as llama-server does (`format_prompt_rerank` in
server-common.cpp).
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Final

from engines.base import Progress
from engines.cancel import CancelToken
from engines.errors import Cancelled, EngineFailed, MessageTooLong, Unsupported
from engines.llamacpp.context import ABORTED, EVALUATED, AbortFlag, Batch, BatchPart, NativeContext
from engines.llamacpp.model import Model, open_model
from engines.llamacpp.native import Native, release_freed_memory
from engines.models.gguf.header import GgufHeader
from engines.sentences import N_
from engines.types import LlamaPlan, LoadedModel, ModelKind, Ranking, Vectors

_UNSPECIFIED, _NONE, _MEAN, _RANK = -1, 0, 1, 4
"""Values of `enum llama_pooling_type` in llama.h."""

_TOGETHER: Final = 16
"""The most texts in one evaluation."""

_LARGEST: Final = 8192
"""The most tokens in a text, whatever the plan's context.

All of them are evaluated at once, and the memory for that grows with their number.
"""


class Embedder:
    """A loaded model that gives vectors or ranks. Any thread can use it. Close it at the end.

    Attributes:
        size: The most tokens in a text.
        kind: Whether the model gives vectors or ranks.
        dimensions: Number of values in a vector; 0 for a model that ranks.

    Raises:
        NotEnoughMemory: The context does not fit in memory. The caller must close the model.
        EngineFailed: llama.cpp cannot create the context. The caller must close the model.
    """

    def __init__(self, native: Native, model: Model, plan: LlamaPlan) -> None:
        api = self._api = native.api
        self.model = model
        self.size = max(1, min(plan.context, model.context_trained or _LARGEST, _LARGEST))
        self._flag = AbortFlag()
        self._context = self._open(native, plan, _UNSPECIFIED)
        if api.llama_pooling_type(self._context.pointer) == _NONE:
            self._context.close()
            self._context = self._open(native, plan, _MEAN)
        ranks = api.llama_pooling_type(self._context.pointer) == _RANK
        self.kind: ModelKind = "rerank" if ranks else "embedding"
        self.dimensions = 0 if ranks else int(api.llama_model_n_embd_out(model.pointer))
        self._batch = Batch(api, self.size, sequences=_TOGETHER)
        self._begin, self._end = model.vocabulary.wrapping()
        self._working = threading.Lock()
        # OpenMP gives every calling thread its own workers; those of several threads would compete
        # for the processors.
        self._thread = ThreadPoolExecutor(1, "llama.cpp")

    def embed(self, texts: Sequence[str | Sequence[int]], cancel: CancelToken) -> Vectors:
        """Return the vectors of texts, given as text or as tokens. See `Engine.embed`."""
        if self.kind != "embedding":
            raise Unsupported(
                N_("The model cannot turn texts into vectors."),
                N_("It is made to judge how well documents answer a question."),
                N_("Choose an embedding model."),
            )
        tokens = [self._tokens(text, number, cancel) for number, text in enumerate(texts, start=1)]
        vectors = self._evaluated(tokens, self.dimensions, cancel)
        return Vectors(tuple(map(_of_length_one, vectors)), sum(map(len, tokens)))

    def rerank(self, query: str, documents: Sequence[str], cancel: CancelToken) -> Ranking:
        """Score how well each document answers the query. See `Engine.rerank`."""
        if self.kind != "rerank":
            raise Unsupported(
                N_("The model cannot judge documents."),
                N_("It turns texts into vectors."),
                N_("Choose a model that is made to rank."),
            )
        pairs = [
            self._pair(query, document, at, cancel)
            for at, document in enumerate(documents, start=1)
        ]
        scores = self._evaluated(pairs, 1, cancel)
        return Ranking(tuple(score for (score,) in scores), sum(map(len, pairs)))

    def close(self) -> None:
        """End the thread, and free the context and the model."""
        self._thread.shutdown()
        self._context.close()
        self.model.close()
        release_freed_memory()

    def _open(self, native: Native, plan: LlamaPlan, pooling: int) -> NativeContext:
        params = native.api.llama_context_default_params()
        params.n_ctx = params.n_batch = params.n_ubatch = params.n_outputs_max = self.size
        params.n_seq_max = _TOGETHER
        # All texts share the cells; there are as many cells as tokens in one evaluation.
        params.kv_unified = True
        params.embeddings = True
        params.pooling_type = pooling
        params.n_threads = params.n_threads_batch = plan.batch_threads
        params.offload_kqv = params.op_offload = plan.gpu_layers != 0
        params.no_perf = True
        context = NativeContext(native, self.model.pointer, params, plan.model)
        context.watch(self._flag)
        return context

    def _tokens(self, text: str | Sequence[int], number: int, cancel: CancelToken) -> list[int]:
        vocabulary = self.model.vocabulary
        if isinstance(text, str):
            self._require_room(text, number, cancel)
            return [*self._begin, *vocabulary.plain_tokens(text), *self._end]
        return vocabulary.require_tokens(text)

    def _pair(self, query: str, document: str, number: int, cancel: CancelToken) -> list[int]:
        """Join a query and a document in the form that the model was trained on."""
        self._require_room(f"{query} {document}", number, cancel)
        vocabulary = self.model.vocabulary
        template = self._api.llama_model_chat_template(self.model.pointer, b"rerank")
        if template is None:
            query_tokens, document_tokens = (
                vocabulary.plain_tokens(query),
                vocabulary.plain_tokens(document),
            )
            return vocabulary.joined_pair(query_tokens, document_tokens)
        tokens: list[int] = []
        for part in _parts(template.decode(errors="replace")):
            filling = {"{query}": query, "{document}": document}.get(part)
            tokens += (
                vocabulary.tokenise(part) if filling is None else vocabulary.plain_tokens(filling)
            )
        return tokens

    def _require_room(self, text: str, number: int, cancel: CancelToken) -> None:
        """Refuse a text that is certainly too long, before the slow tokenising.

        Raises:
            MessageTooLong: The text is too long.
            Cancelled: `cancel` was set.
        """
        if cancel.cancelled:
            raise Cancelled
        if len(text) > self.size and (least := self.model.vocabulary.fewest(text)) > self.size:
            raise _too_long(number, least, self.size, counted=False)

    def _evaluated(
        self, texts: Sequence[Sequence[int]], width: int, cancel: CancelToken
    ) -> list[list[float]]:
        """Return the model's output for each text: `width` numbers."""
        for number, tokens in enumerate(texts, start=1):
            if len(tokens) > self.size:
                raise _too_long(number, len(tokens), self.size)
            if not tokens:
                raise Unsupported(
                    N_("There is nothing to read."),
                    N_("The text number {number} is empty.", number=number),
                    N_("Leave it out, or send some text."),
                )
        found: list[list[float]] = []
        with self._working:
            self._flag.clear()
            unregister = cancel.on_cancel(self._flag.set)
            try:
                for group in self._groups(texts):
                    if cancel.cancelled:
                        raise Cancelled
                    found += self._together(group, width)
            finally:
                unregister()
        return found

    def _groups(self, texts: Sequence[Sequence[int]]) -> Iterator[list[Sequence[int]]]:
        """Split the texts, in order, into groups that fit in one evaluation."""
        group: list[Sequence[int]] = []
        for tokens in texts:
            if len(group) == _TOGETHER or sum(map(len, group)) + len(tokens) > self.size:
                yield group
                group = []
            group.append(tokens)
        if group:
            yield group

    def _together(self, group: Sequence[Sequence[int]], width: int) -> list[list[float]]:
        api, context = self._api, self._context
        if context.memory:
            api.llama_memory_clear(context.memory, True)
        parts = [BatchPart(tokens, 0, len(tokens), number) for number, tokens in enumerate(group)]
        self._batch.fill_parts(parts)
        decode = self._thread.submit(api.llama_decode, context.pointer, self._batch.native)
        result = int(decode.result())
        if result == ABORTED:
            raise Cancelled
        if result != EVALUATED:
            raise EngineFailed(
                N_("The model could not read the texts."),
                N_("llama.cpp could not evaluate them (result {result}).", result=result),
                N_("Try again with shorter texts."),
            )
        return [self._row(number, width) for number in range(len(group))]

    def _row(self, sequence: int, width: int) -> list[float]:
        row = self._api.llama_get_embeddings_seq(self._context.pointer, sequence)
        if not row:
            raise EngineFailed(
                N_("The model returned nothing for a text."),
                N_("llama.cpp made no vector of its tokens."),
                N_("Choose another embedding model."),
            )
        return list(ctypes.cast(row, ctypes.POINTER(ctypes.c_float))[:width])


def open_embedder(
    native: Native, header: GgufHeader, plan: LlamaPlan, progress: Progress, cancel: CancelToken
) -> tuple[Embedder, LoadedModel]:
    """Load a model that gives vectors or ranks. Raises EngineError and Cancelled."""
    began = perf_counter()
    model = open_model(native, plan, progress, cancel)
    try:
        if cancel.cancelled:
            raise Cancelled
        embedder = Embedder(native, model, plan)
    except BaseException:
        model.close()
        raise
    report = LoadedModel(
        name=header.name,
        architecture=header.architecture,
        parameters=model.parameters,
        size_bytes=header.size_bytes,
        context=embedder.size,
        context_trained=model.context_trained,
        device="CPU" if not plan.gpu_layers else ", ".join(plan.devices) or "GPU",
        load_s=perf_counter() - began,
        kind=embedder.kind,
        dimensions=embedder.dimensions,
    )
    return embedder, report


def _too_long(number: int, tokens: int, size: int, *, counted: bool = True) -> MessageTooLong:
    return MessageTooLong(
        N_("A text is too long for the model."),
        N_(
            "The text number {number} takes {tokens} tokens, and the model reads {size} at once.",
            number=number,
            tokens=f"{tokens:,}",
            size=f"{size:,}",
        )
        if counted
        else N_(
            "The text number {number} takes at least {tokens} tokens, and the model reads {size} "
            "at once.",
            number=number,
            tokens=f"{tokens:,}",
            size=f"{size:,}",
        ),
        N_("Send shorter texts."),
        tokens=tokens,
        context=size,
        counted=counted,
    )


def _parts(template: str) -> list[str]:
    """Split a template at the placeholders for query and document, and keep those as parts."""
    import re

    return [part for part in re.split(r"(\{query\}|\{document\})", template) if part]


def _of_length_one(values: Sequence[float]) -> tuple[float, ...]:
    import math

    length = math.hypot(*values) or 1.0
    return tuple(value / length for value in values)
