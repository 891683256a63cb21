"""The requests that every engine passes to a server in the same way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from engines.cancel import CancelToken
from engines.openai import vectors
from engines.openai.access import ServedModelAccess
from engines.openai.answering import measure
from engines.types import ChatRequest, Measured, Ranking, Vectors


class ServedEngine(ABC):
    """The part of an `engines.base.Engine` whose model is reached by HTTP."""

    @abstractmethod
    def _loaded(self) -> ServedModelAccess:
        """Return the connection to the loaded model. Raises EngineFailed if there is none."""

    def measure(self, request: ChatRequest, cancel: CancelToken) -> Measured:
        """Count the tokens of a request, or estimate them. See `Engine.measure`."""
        return measure(request, self._loaded(), cancel)

    def tokenize(self, text: str, cancel: CancelToken, *, special: bool = True) -> tuple[int, ...]:
        """Return the tokens of a text. See `Engine.tokenize`."""
        return vectors.tokenize(self._loaded(), text, cancel, special=special)

    def detokenize(self, tokens: Sequence[int], cancel: CancelToken) -> str:
        """Return the text of tokens. See `Engine.detokenize`."""
        return vectors.detokenize(self._loaded(), tokens, cancel)

    def embed(self, texts: Sequence[str | Sequence[int]], cancel: CancelToken) -> Vectors:
        """Return the embeddings of texts. See `Engine.embed`."""
        return vectors.embed(self._loaded(), texts, cancel)

    def rerank(self, query: str, documents: Sequence[str], cancel: CancelToken) -> Ranking:
        """Rank documents for a query. See `Engine.rerank`."""
        return vectors.rerank(self._loaded(), query, documents, cancel)
