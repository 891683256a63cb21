"""The model formats that there are, each made once: a further one is a class and a line here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from engines.models.checkpoint import CheckpointFormat
from engines.models.format import ListedModel, ModelFormat
from engines.models.gguf.format import GgufFormat
from engines.models.gguf.headers import Headers, HeaderStore
from engines.models.served import ServedFormat


class Formats:
    """Finds the format of a model or a path. known: what was read in earlier runs."""

    def __init__(self, known: HeaderStore) -> None:
        self._formats: tuple[ModelFormat, ...] = (
            CheckpointFormat(),
            ServedFormat(),
            GgufFormat(Headers(known)),
        )
        self._by_engine = {it.engine: it for it in self._formats}

    def __iter__(self) -> Iterator[ModelFormat]:
        return iter(self._formats)

    def of(self, model: ListedModel) -> ModelFormat:
        return self._by_engine[model.engine]

    def at(self, path: Path) -> ModelFormat:
        """Return the format of what lies there; GGUF says what is wrong with the unknown."""
        return next((it for it in self._formats if it.recognises(path)), self._formats[-1])
