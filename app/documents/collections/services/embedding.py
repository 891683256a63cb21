"""Runs the embedding model for passages and questions, beside the model that answers."""

from __future__ import annotations

import hashlib
import math
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Final

from app.base.errors import ModelUnknown
from app.documents.collections.store.collection_index import VectorModel
from app.documents.collections.store.vectors import MAKING
from app.documents.collections.values import EmbedderStatus
from app.documents.values.documents import halves
from engines.errors import EngineError
from engines.memory.load_options import LoadOptions
from engines.models.embedding import EVERYDAY, FAMILIES, EmbeddingFamily, family_of
from engines.regular import open_regular
from engines.sentences import N_

if TYPE_CHECKING:
    from app.documents.collections.store.vectors import Halves
    from app.models.library.services.library import Library
    from app.models.library.values.entry import ModelEntry
    from app.runtime.services.lease import Lease
    from app.runtime.services.runtime import Runtime
    from app.settings.values.fields import Settings
    from engines.cancel import CancelToken

OFF: Final = "off"
"""The value of the setting `embedding_model` that turns embedding off."""

_CONTEXT: Final = 2048
"""The context in tokens: a passage has about 250, and several are read together."""

_EXAMINED: Final = 4 << 20
"""Bytes at each end of a model file that identify it, together with its size."""


@dataclass(frozen=True)
class _Embedder:
    """A local embedding model and the vectors it makes.

    Attributes:
        context: Maximum tokens that it can read.
    """

    entry: ModelEntry
    family: EmbeddingFamily
    model: VectorModel
    context: int


class Embedding:
    """Owns the embedding model. Safe from any thread."""

    def __init__(
        self,
        library: Library,
        runtime: Runtime,
        settings: Callable[[], Settings],
        offers: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        """Create the service.

        Args:
            runtime: A runtime of its own, so that the chat's model stays loaded. The memory that
                one takes is counted when the other is loaded, because loading looks at the free
                memory. `close` ends it.
            settings: Returns the current settings.
            offers: Returns ids of embedding models to download, the preferred one first.
        """
        self._library = library
        self._runtime = runtime
        self._settings = settings
        self._offers = offers
        self._embedders: dict[tuple[Path, int, int], _Embedder | None] = {}
        self._lock = threading.Lock()
        self._common: dict[str, tuple[float, ...]] = {}

    def status(self) -> EmbedderStatus:
        """Return which model embeds passages, or why none does."""
        embedders = self._local_embedders()
        chosen, why = self._choice(embedders)
        return EmbedderStatus(
            chosen.entry if chosen else None,
            why,
            tuple(embedder.entry for embedder in embedders),
            tuple(self._offers()),
        )

    def model(self) -> VectorModel | None:
        """Return the embedding model in use; None if there is none."""
        chosen, _ = self._choice(self._local_embedders())
        return chosen.model if chosen else None

    def can(self, model: VectorModel) -> bool:
        """Return whether the model that made some vectors is still on this computer."""
        return any(embedder.model.key == model.key for embedder in self._local_embedders())

    def question(self, model: VectorModel, question: str, cancel: CancelToken) -> tuple[float, ...]:
        """Return the vector of a question. Raises EngineError and Cancelled."""
        known = self._of(model)
        with self._lease(known, cancel) as lease:
            return self._vectors(known, lease, [known.family.query_text(question)], cancel)[0]

    def passages(
        self, model: VectorModel, texts: Sequence[str], cancel: CancelToken
    ) -> list[Halves]:
        """Return the vectors of each passage's halves. Raises EngineError and Cancelled."""
        known = self._of(model)
        divided = [halves(text) for text in texts]
        parts = list(dict.fromkeys(part for pair in divided for part in pair))
        with self._lease(known, cancel) as lease:
            prompts = [known.family.passage_text(part) for part in parts]
            vectors = dict(zip(parts, self._vectors(known, lease, prompts, cancel), strict=True))
        return [tuple(vectors[part] for part in pair) for pair in divided]

    def _vectors(
        self, known: _Embedder, lease: Lease, texts: Sequence[str], cancel: CancelToken
    ) -> tuple[tuple[float, ...], ...]:
        """Embed texts, and subtract the vector that all of this model's texts have in common."""
        common = self._common.get(known.model.key)
        if common is None:
            everyday = [known.family.passage_text(text) for text in EVERYDAY]
            vectors = _vectors(lease, everyday, cancel)
            common = tuple(fmean(values) for values in zip(*vectors, strict=True))
            self._common[known.model.key] = common
        return tuple(_without_common(vector, common) for vector in _vectors(lease, texts, cancel))

    def close(self) -> None:
        """Unload the model."""
        self._runtime.leave()

    def _of(self, model: VectorModel) -> _Embedder:
        found = next(
            (embedder for embedder in self._local_embedders() if embedder.model.key == model.key),
            None,
        )
        if found is None:
            raise ModelUnknown(
                N_("The embedding model “{name}” is not on this computer.", name=model.name),
                N_("It made the vectors of the passages, and was deleted or moved since."),
                N_("Download it again, or let another one make new vectors."),
            )
        return found

    def _lease(self, known: _Embedder, cancel: CancelToken) -> Lease:
        settings = self._settings()
        options = LoadOptions(
            context=min(_CONTEXT, known.context),
            threads=settings.threads or None,
            gpu_layers=None if settings.gpu_layers < 0 else settings.gpu_layers,
            devices=tuple(filter(None, map(str.strip, settings.devices.split(",")))),
            mtp=False,
            kept_bytes=0,
        )
        return self._runtime.lease(known.entry, options, lambda _share: None, cancel)

    def _choice(self, embedders: Sequence[_Embedder]) -> tuple[_Embedder | None, str]:
        """Choose the model to use.

        Returns:
            The model, or None and the reason.
        """
        called = self._settings().embedding_model.strip()
        if called == OFF:
            return None, N_("Search by meaning is turned off in the settings.")
        if called:
            for embedder in embedders:
                if called in {embedder.entry.id, embedder.entry.name}:
                    return embedder, ""
            return None, N_(
                "The embedding model “{name}” from the settings is not on this computer.",
                name=called,
            )
        if not embedders:
            return None, N_("There is no embedding model on this computer yet.")
        return min(embedders, key=lambda embedder: FAMILIES.index(embedder.family)), ""

    def _local_embedders(self) -> list[_Embedder]:
        """List the local embedding models; each file is examined once."""
        found = []
        with self._lock:
            for entry in self._library.entries():
                if entry.engine != "llamacpp" or entry.builtin:
                    continue
                try:
                    facts = entry.path.stat()
                    key = (entry.path, facts.st_size, facts.st_mtime_ns)
                    if key not in self._embedders:
                        self._embedders[key] = self._embedder_of(entry, facts.st_size)
                except (OSError, EngineError):
                    continue
                if (embedder := self._embedders[key]) is not None:
                    found.append(embedder)
        return found

    def _embedder_of(self, entry: ModelEntry, size: int) -> _Embedder | None:
        if "embeds" not in (self._library.facts(entry).can or ()):
            return None
        header = self._library.header(entry)
        if header.kind != "embedding":
            return None
        name = f"{header.name} {entry.name} {entry.path.stem}"
        family = family_of(header.architecture, name)
        dimensions = family.kept_dimensions(header.embedding_length_out or header.embedding_length)
        if not dimensions:
            return None
        described = (
            f"{_fingerprint(entry.path, size)} {dimensions} {family.query!r} {family.passage!r}"
        )
        key = hashlib.sha256(f"{described} {EVERYDAY!r} {MAKING}".encode()).hexdigest()
        model = VectorModel(key, entry.name, dimensions)
        return _Embedder(entry, family, model, header.context_max or _CONTEXT)


def _fingerprint(path: Path, size: int) -> str:
    """Return a hash of a file's size and its two ends, which hold a model's metadata."""
    digest = hashlib.sha256(str(size).encode())
    with open_regular(path) as file:
        digest.update(file.read(_EXAMINED))
        file.seek(max(0, size - _EXAMINED))
        digest.update(file.read(_EXAMINED))
    return digest.hexdigest()


def _without_common(vector: Sequence[float], common: Sequence[float]) -> tuple[float, ...]:
    """Subtract the common vector and normalise to length 1."""
    difference = [value - other for value, other in zip(vector, common, strict=True)]
    length = max(math.hypot(*difference), 1e-12)
    return tuple(value / length for value in difference)


def _vectors(
    lease: Lease, texts: Sequence[str], cancel: CancelToken
) -> tuple[tuple[float, ...], ...]:
    """Embed texts; a text that is too long for the model is cut."""
    most = lease.loaded.context
    prompts = []
    for text in texts:
        tokens = lease.tokenize(text, cancel)
        prompts.append(tokens if len(tokens) <= most else (*tokens[: most - 1], tokens[-1]))
    return lease.embed(prompts, cancel).vectors
