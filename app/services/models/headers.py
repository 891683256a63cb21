"""What model files say of themselves, read once for as long as they stay as they are."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from app.store.known_headers import File, KnownHeaders
from engines.errors import EngineError, UserError
from engines.models.gguf.header import GgufHeader, read_architecture, read_header
from engines.models.gguf.layers import CacheLayer, Layers

_CACHES = {"caches", "head_caches"}


def to_json(header: GgufHeader) -> str:
    """Of a header without its tensors."""
    return json.dumps(asdict(header))


def from_json(text: str) -> GgufHeader:
    """Raises ValueError where it is not what `to_json` made."""
    try:
        values = json.loads(text)
        layers = values.pop("layers")
        return GgufHeader(**{**values, "tensors": ()}, layers=_layers(layers) if layers else None)
    except (TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"not a header: {error}") from error


def _layers(values: dict[str, Any]) -> Layers:
    """Lists become tuples, so that what comes back equals what went."""
    plain: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in values.items()
        if name not in _CACHES
    }
    caches: dict[str, Any] = {
        name: tuple(CacheLayer(**each) for each in values[name]) for name in _CACHES
    }
    return Layers(**plain, **caches)


class Headers:
    """May be used from any thread: at worst two of them read the same file.

    known: outlives this run.
    """

    def __init__(self, known: KnownHeaders) -> None:
        self._known = known
        self._headers: dict[File, GgufHeader] = {}
        self._facts: dict[File, GgufHeader] = {}
        self._new: dict[File, str] = {}
        self._architectures: dict[File, str] = {}

    def read(self, path: Path) -> GgufHeader:
        """The whole header (up to half a second for a large vocabulary). Raises EngineError."""
        file = _as_it_is(path)
        if file is None:
            return read_header(path)
        if file not in self._headers:
            self._headers[file] = read_header(path)
        return self._headers[file]

    def facts(self, path: Path) -> GgufHeader:
        """The header without tensors and template, remembered between runs once it is kept.

        Raises EngineError.
        """
        file = _as_it_is(path)
        if file is None:
            return read_header(path)
        if file not in self._facts:
            self._facts[file] = self._remembered(file) or self._learnt(file)
        return self._facts[file]

    def keep(self) -> None:
        """Remember the facts that were read since. Where that fails they are read again."""
        new, self._new = self._new, {}
        if new:
            with contextlib.suppress(UserError):
                self._known.keep(new)

    def architecture(self, path: Path) -> str:
        """What kind of model it is, from its first bytes; empty if that cannot be told."""
        file = _as_it_is(path)
        if file is None:
            return ""
        if file in self._facts:
            return self._facts[file].architecture
        if file not in self._architectures:
            self._architectures[file] = read_architecture(path)
        return self._architectures[file]

    def readable(self, paths: Iterable[Path]) -> Iterator[tuple[Path, GgufHeader]]:
        """Facts of those files that can be read; what is wrong with others is told elsewhere."""
        for path in paths:
            try:
                header = self.facts(path)
            except EngineError:
                continue
            yield path, header

    def _remembered(self, file: File) -> GgufHeader | None:
        try:
            text = self._known.get(file)
            return from_json(text) if text else None
        except (UserError, ValueError):
            return None  # what cannot be remembered is read again

    def _learnt(self, file: File) -> GgufHeader:
        """Read whole, but not held whole: a list may have thousands."""
        header = self._headers.get(file) or read_header(file[0])
        facts = replace(header, tensors=(), chat_template=None)
        # The further parts of a model may change while the first stays as it is.
        if header.parts == 1:
            self._new[file] = to_json(facts)
        return facts


def _as_it_is(path: Path) -> File | None:
    try:
        facts = path.stat()
    except (OSError, ValueError):
        return None
    return path, facts.st_size, facts.st_mtime_ns
