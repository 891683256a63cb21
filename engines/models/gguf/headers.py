"""The headers of model files, read once for as long as the files do not change."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Protocol

from engines.errors import EngineError, UserError
from engines.models.gguf.features import Block, DrafterInputs
from engines.models.gguf.header import GgufHeader, read_architecture, read_header
from engines.models.gguf.layers import CacheLayer, Layers

_CACHES = {"caches", "head_caches"}

File = tuple[Path, int, int]
"""A file's present state: its path, its size in bytes and its modification time in nanoseconds."""


class HeaderStore(Protocol):
    """A store that keeps headers as JSON between runs. Both methods raise UserError on failure."""

    def get(self, file: File) -> str | None:
        """Return the stored JSON of a file in exactly this state, or None."""
        ...

    def keep(self, headers: Mapping[File, str]) -> None:
        """Store the headers of several files as JSON."""
        ...


def to_json(header: GgufHeader) -> str:
    """Return a header, already without its tensors, as JSON."""
    return json.dumps(asdict(header))


def from_json(text: str) -> GgufHeader:
    """Parse a header. Raises ValueError if `to_json` did not write it."""
    try:
        values = json.loads(text)
        layers, features = values.pop("layers"), values.pop("features")
        fields = {**values, "tensors": (), "can": tuple(values["can"])}
        return GgufHeader(
            **fields,
            layers=_layers(layers) if layers else None,
            features=_features(features) if features else None,
        )
    except (TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"not a header: {error}") from error


def _layers(values: dict[str, Any]) -> Layers:
    """Turn lists into tuples, so that the result equals the original."""
    plain: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in values.items()
        if name not in _CACHES
    }
    caches: dict[str, Any] = {
        name: tuple(CacheLayer(**cache) for cache in values[name]) for name in _CACHES
    }
    return Layers(**plain, **caches)


def _features(values: dict[str, Any]) -> DrafterInputs:
    block = values.pop("block")
    layers = tuple(values.pop("layers"))
    return DrafterInputs(layers, **values, block=Block(**block) if block else None)


class Headers:
    """A reader of headers, which reads each once while its file does not change.

    Any thread can use it; at worst, two threads read the same file.

    Args:
        store: A store that outlives this run.
    """

    def __init__(self, store: HeaderStore) -> None:
        self._store = store
        self._headers: dict[File, GgufHeader] = {}
        self._facts: dict[File, GgufHeader] = {}
        self._new: dict[File, str] = {}
        self._architectures: dict[File, str] = {}

    def read(self, path: Path) -> GgufHeader:
        """Read the whole header (half a second for a large vocabulary). Raises EngineError."""
        file = _file_state(path)
        if file is None:
            return read_header(path)
        if file not in self._headers:
            self._headers[file] = read_header(path)
        return self._headers[file]

    def facts(self, path: Path) -> GgufHeader:
        """Return the header without tensors and template, from earlier runs if it was kept.

        Raises EngineError.
        """
        file = _file_state(path)
        if file is None:
            return read_header(path)
        if file not in self._facts:
            self._facts[file] = self._stored(file) or self._read_facts(file)
        return self._facts[file]

    def keep(self) -> None:
        """Store the headers read since the last call; if that fails, they are read again."""
        new, self._new = self._new, {}
        if new:
            with contextlib.suppress(UserError):
                self._store.keep(new)

    def architecture(self, path: Path) -> str:
        """Return a model's architecture from its first bytes; "" if that fails."""
        file = _file_state(path)
        if file is None:
            return ""
        if file in self._facts:
            return self._facts[file].architecture
        if file not in self._architectures:
            self._architectures[file] = read_architecture(path)
        return self._architectures[file]

    def readable(self, paths: Iterable[Path]) -> Iterator[tuple[Path, GgufHeader]]:
        """Yield the headers that can be read; errors of the others are reported elsewhere."""
        for path in paths:
            try:
                header = self.facts(path)
            except EngineError:
                continue
            yield path, header

    def _stored(self, file: File) -> GgufHeader | None:
        try:
            text = self._store.get(file)
            return from_json(text) if text else None
        except (UserError, ValueError):
            return None  # a header that is not in the store is read again

    def _read_facts(self, file: File) -> GgufHeader:
        """Read a header and drop its tensors and template: a list can have thousands."""
        header = self._headers.get(file) or read_header(file[0])
        facts = replace(header, tensors=(), chat_template=None)
        # The other parts of a model can change while the first does not.
        if header.parts == 1:
            self._new[file] = to_json(facts)
        return facts


def _file_state(path: Path) -> File | None:
    try:
        facts = path.stat()
    except (OSError, ValueError):
        return None
    return path, facts.st_size, facts.st_mtime_ns
