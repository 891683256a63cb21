"""The models that can be chosen: the built-in guide and the files that the user added."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from app.core.errors import ModelUnknown
from app.core.models import STARTER, ModelEntry
from app.services.headers import Headers
from app.store.models import ModelStore
from engines.errors import DrafterMismatch, EngineError
from engines.gguf_header import GgufHeader, require_chat
from engines.pairing import TARGETS, best, pairs, require_pair, require_runnable


class Library:
    """Finds models by what the user calls them, and their drafters by what their files say.

    May be used from any thread.
    """

    def __init__(self, store: ModelStore, starter: Path, starter_drafter: Path) -> None:
        self._store = store
        self._starter = ModelEntry(
            STARTER, "Starter guide", starter, builtin=True, drafter=starter_drafter
        )
        self._headers = Headers()

    def entries(self) -> list[ModelEntry]:
        """All models to chat with, the built-in guide first.

        No file is looked at: a user's model comes without its drafter here.
        """
        return [self._starter, *(it for it in self._store.models() if not it.drafts)]

    def drafters(self) -> list[ModelEntry]:
        """The drafters that were added."""
        return [it for it in self._store.models() if it.drafts]

    def find(self, called: str) -> ModelEntry:
        """The model with this id or name, or the GGUF file at this path; with its drafter.

        Where none can draft, it comes with one that was added and cannot be read, if there is
        one: who loads the two says what is wrong with it. A drafter is found as well. Raises
        ModelUnknown.
        """
        entry = self._named(called)
        if entry.builtin:
            return entry
        return replace(entry, drafter=self.drafter_for(entry) or self._lost_drafter(entry))

    def header(self, entry: ModelEntry) -> GgufHeader:
        """What the file says of itself. Raises EngineError."""
        return self._headers.read(entry.path)

    def drafter_for(self, entry: ModelEntry) -> Path | None:
        """The file that drafts for a model: one that was added, or else one in its folder.

        Where several do, it is the one quantised like the model, or the most exact one. None if
        there is none, or the model's own file cannot be read.
        """
        if entry.builtin:
            return entry.drafter
        if self._headers.architecture(entry.path) not in TARGETS.values():
            return None
        try:
            target = self._headers.read(entry.path)
        except EngineError:
            return None
        added = [it.path for it in self.drafters()]
        beside = [it for it in sorted(entry.path.parent.glob("*.gguf")) if self._drafts(it)]
        if self._starter.drafter is not None:
            beside.append(self._starter.drafter)
        readable = self._headers.readable
        return best(target, readable(added)) or best(target, readable(beside))

    def add(self, path: Path) -> ModelEntry:
        """Add a file where it lies; it is neither copied nor moved.

        A drafter is added if there is a model here that it drafts for. Raises EngineError.
        """
        path = path.expanduser().absolute()
        for known in (self._starter, *self._store.models()):
            if path in (known.path, known.drafter):
                return self.find(known.id)
        header = self._headers.read(path)
        drafts = header.kind == "drafter"
        if drafts:
            self._require_target(header)
        else:
            require_chat(path, header)
        entry = ModelEntry(self._free_id(path.stem), path.stem, path, drafts=drafts)
        self._store.add(entry)
        return self.find(entry.id)

    def drafts_for(self, entry: ModelEntry) -> list[ModelEntry]:
        """The models here that a drafter can draft for. Raises EngineError if it is unreadable."""
        drafter = self._headers.read(entry.path)
        return [it for it, target in self._targets() if pairs(target, drafter)]

    def remove(self, called: str) -> ModelEntry:
        """Take a model off the list; its file stays where it is. Raises ModelUnknown."""
        entry = self._named(called)
        if entry.builtin:
            raise ModelUnknown(
                "The starter guide cannot be removed.",
                "It is part of Hearth, so that there is always something that answers.",
                "Choose another model in the settings if you do not want to see it.",
            )
        self._store.remove(entry.id)
        return entry

    def _named(self, called: str) -> ModelEntry:
        for entry in (self._starter, *self._store.models()):
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

    def _lost_drafter(self, entry: ModelEntry) -> Path | None:
        if self._headers.architecture(entry.path) not in TARGETS.values():
            return None
        added = [it.path for it in self.drafters()]
        readable = {path for path, _ in self._headers.readable(added)}
        return next((path for path in added if path not in readable), None)

    def _require_target(self, drafter: GgufHeader) -> None:
        """Raises DrafterMismatch, with the reason if there is only one model that it may be for."""
        require_runnable(drafter)
        targets = self._targets()
        if any(pairs(target, drafter) for _, target in targets):
            return
        users = [target for entry, target in targets if not entry.builtin]
        if len(users) == 1:
            require_pair(users[0], drafter)
        raise DrafterMismatch(
            f"“{drafter.name}” was not added.",
            "It is a drafter, and none of the models here is the one that it drafts for.",
            "Add its model first, then the drafter.",
        )

    def _targets(self) -> list[tuple[ModelEntry, GgufHeader]]:
        """The models for which there are drafters at all."""
        families = TARGETS.values()
        return [
            (entry, header)
            for entry in self.entries()
            if self._headers.architecture(entry.path) in families
            for _, header in self._headers.readable([entry.path])
        ]

    def _drafts(self, path: Path) -> bool:
        return self._headers.architecture(path) in TARGETS

    def _free_id(self, stem: str) -> str:
        base = re.sub(r"[^a-z0-9.]+", "-", stem.lower()).strip("-") or "model"
        taken = {entry.id for entry in (self._starter, *self._store.models())}
        candidate, number = base, 2
        while candidate in taken:
            candidate, number = f"{base}-{number}", number + 1
        return candidate
