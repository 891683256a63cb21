"""The list of the model formats, each created once; a new format is a class and a line here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from engines.models.checkpoint import CheckpointFormat
from engines.models.format import ListedModel, ModelFormat
from engines.models.gguf.format import GgufFormat
from engines.models.gguf.headers import Headers, HeaderStore
from engines.models.served import ServedFormat


class Formats:
    """The formats, found by model or by path.

    Args:
        store: The headers that earlier runs have read.
    """

    def __init__(self, store: HeaderStore) -> None:
        self._formats: tuple[ModelFormat, ...] = (
            CheckpointFormat(),
            ServedFormat(),
            GgufFormat(Headers(store)),
        )
        self._by_engine = {format_.engine: format_ for format_ in self._formats}

    def __iter__(self) -> Iterator[ModelFormat]:
        return iter(self._formats)

    def of(self, model: ListedModel) -> ModelFormat:
        """Return the format of a listed model, by its engine."""
        return self._by_engine[model.engine]

    def at(self, path: Path) -> ModelFormat:
        """Return the format that recognises a path, else GGUF, whose errors say what is wrong."""
        return next(
            (format_ for format_ in self._formats if format_.recognises(path)), self._formats[-1]
        )
