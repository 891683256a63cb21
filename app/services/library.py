"""The models that can be chosen: the built-in guide and the files that the user added."""

from __future__ import annotations

import re
from pathlib import Path

from app.core.errors import ModelUnknown
from app.core.models import STARTER, ModelEntry
from app.store.models import ModelStore
from engines.gguf_header import GgufHeader, read_header, require_chat


class Library:
    """Finds models by what the user calls them. May be used from any thread."""

    def __init__(self, store: ModelStore, starter: Path, starter_drafter: Path) -> None:
        self._store = store
        self._starter = ModelEntry(
            STARTER, "Starter guide", starter, builtin=True, drafter=starter_drafter
        )

    def entries(self) -> list[ModelEntry]:
        """All models, the built-in guide first."""
        return [self._starter, *self._store.models()]

    def find(self, called: str) -> ModelEntry:
        """The model with this id or name, or the GGUF file at this path. Raises ModelUnknown."""
        for entry in self.entries():
            if called in (entry.id, entry.name):
                return entry
        if called.lower().endswith(".gguf"):
            path = Path(called).expanduser().absolute()
            return ModelEntry(str(path), path.stem, path)
        raise ModelUnknown(
            f"There is no model “{called}”.",
            "It is neither the name of a model on this computer nor a GGUF file.",
            "`hearth models list` shows what is there; `hearth models import FILE` adds a file.",
        )

    def header(self, entry: ModelEntry) -> GgufHeader:
        """What the file says of itself. Raises EngineError."""
        return read_header(entry.path)

    def add(self, path: Path) -> ModelEntry:
        """Add a file where it lies; it is neither copied nor moved. Raises EngineError."""
        path = path.expanduser().absolute()
        for known in self.entries():
            if known.path == path:
                return known
        require_chat(path, read_header(path))
        entry = ModelEntry(self._free_id(path.stem), path.stem, path)
        self._store.add(entry)
        return entry

    def remove(self, called: str) -> ModelEntry:
        """Take a model off the list; its file stays where it is. Raises ModelUnknown."""
        entry = self.find(called)
        if entry.builtin:
            raise ModelUnknown(
                "The starter guide cannot be removed.",
                "It is part of Hearth, so that there is always something that answers.",
                "Choose another model in the settings if you do not want to see it.",
            )
        self._store.remove(entry.id)
        return entry

    def _free_id(self, stem: str) -> str:
        base = re.sub(r"[^a-z0-9.]+", "-", stem.lower()).strip("-") or "model"
        taken = {entry.id for entry in self.entries()}
        candidate, number = base, 2
        while candidate in taken:
            candidate, number = f"{base}-{number}", number + 1
        return candidate
