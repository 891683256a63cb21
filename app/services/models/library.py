"""The models that can be chosen: the guide, the files that were added, and what lies here."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from app.core.errors import ModelUnknown
from app.core.home import from_home
from app.core.models.entry import RESERVED, STARTER, ModelEntry
from app.core.settings.fields import Settings
from app.core.settings.models import effective, made_for, valid
from app.core.settings.resolved import NO_LAYERS, Layers, ResolvedSettings, resolve
from app.services.models.checkpoints import Checkpoints
from app.services.models.collection.collection import Collection
from app.services.models.collection.found import require_text
from app.services.models.headers import Headers
from app.services.models.index import ModelIndex
from app.store.models import ModelStore
from engines.errors import DrafterMismatch, EngineError, NotAModel, UserError
from engines.models.gguf.header import GgufHeader, require_chat
from engines.models.pairing import TARGETS, best, pairs, require_pair, require_runnable


class Library:
    """Finds models by what the user calls them, and their drafters by what their files say.

    May be used from any thread. collection: what lies on this computer without being added.
    further: models that lie nowhere here, such as those of servers. checkpoints: read by vLLM.
    shelf: the list itself.
    """

    def __init__(
        self,
        store: ModelStore,
        starter: Path,
        starter_drafter: Path,
        collection: Collection | None = None,
        further: Callable[[], Iterable[ModelEntry]] = tuple,
    ) -> None:
        self._store = store
        self._collection = collection
        self._starter = ModelEntry(
            STARTER,
            "Starter guide",
            starter,
            builtin=True,
            drafter=starter_drafter,
            source="builtin",
        )
        self._headers = Headers(store.headers)
        self.checkpoints = Checkpoints()
        self.shelf = ModelIndex(store, self._starter, collection, further)

    @property
    def starter(self) -> ModelEntry:
        """The built-in guide, which is always there."""
        return self._starter

    def entries(self) -> list[ModelEntry]:
        """All models to chat with: the built-in guide, what was added, then what was found.

        No header is read, and folders only where they have changed: a model comes without its
        drafter here.
        """
        return [it for it in self.shelf.everything() if not it.drafts]

    def drafters(self) -> list[ModelEntry]:
        """The drafters that were added."""
        return [it for it in self.shelf.everything() if it.drafts]

    def notes(self) -> list[str]:
        """What lies here and could not be listed, one sentence each with the reason."""
        return self._collection.notes() if self._collection else []

    def refresh(self) -> None:
        """Look for models everywhere again."""
        if self._collection is not None:
            self._collection.refresh()

    def settings_of(self, entry: ModelEntry) -> Mapping[str, object]:
        """The settings that were made for this model alone."""
        return valid(self._store.known.settings(entry.id))

    def effective(
        self, entry: ModelEntry, settings: Settings, *layers: Mapping[str, object]
    ) -> Settings:
        """The settings that hold where this model answers.

        layers: what the chat has set, then what is asked for this once; None leaves a setting.
        """
        return effective(settings, made_for(entry), self.settings_of(entry), *layers)

    def resolve(self, entry: ModelEntry, settings: Settings, layers: Layers) -> ResolvedSettings:
        """As `effective`, for an answer in a chat."""
        own = {**made_for(entry), **self.settings_of(entry)}
        return resolve(settings, lambda _: own, layers)

    def settings_for(self, called: str, settings: Settings, layers: Layers = NO_LAYERS) -> Settings:
        """Those that hold where the model of this name answers; at once. Raises ModelUnknown."""
        return self.resolve(self.shelf.named(called), settings, layers).settings

    def own_at_once(self, called: str) -> Mapping[str, object]:
        """What a model has of its own, and is made for; for a window, which cannot wait.

        A model that is called by its name has its own settings here once it was listed.
        """
        model_id = self.shelf.id_of(called)
        made = made_for(self._starter) if model_id in RESERVED else {}
        return {**made, **valid(self._store.known.settings(model_id))}

    def used(self, entry: ModelEntry) -> None:
        """It has answered. Nobody is told when that cannot be kept: the answer is there."""
        with contextlib.suppress(UserError):
            if entry.id != str(entry.path):
                self._store.known.used(entry.id)

    def find(self, called: str) -> ModelEntry:
        """The model with this id or name, or the GGUF file at this path; with its drafter.

        Where none can draft, it comes with one that was added and cannot be read, if there is
        one: who loads the two says what is wrong with it. A drafter is found as well. Raises
        ModelUnknown.
        """
        entry = self.shelf.named(called)
        if entry.builtin or entry.engine == "remote":
            return entry
        if entry.engine == "vllm":
            return replace(entry, drafter=self.drafter_for(entry))
        return replace(entry, drafter=self.drafter_for(entry) or self._lost_drafter(entry))

    def header(self, entry: ModelEntry) -> GgufHeader:
        """What a GGUF file says of itself. Raises EngineError, also for what is none."""
        _require_gguf(entry)
        return self._headers.read(entry.path)

    def facts(self, entry: ModelEntry) -> GgufHeader:
        """What a list shows of it: its header without tensors and template. Raises EngineError.

        Remembered between runs, once `keep_facts` was called. See `about` for models of every
        engine.
        """
        _require_gguf(entry)
        return self._headers.facts(entry.path)

    def keep_facts(self) -> None:
        self._headers.keep()

    def drafter_for(self, entry: ModelEntry) -> Path | None:
        """The file that drafts for a model: one that was added, one in its folder, or any here.

        Where several do, it is the one quantised like the model, or the most exact one. None if
        there is none, or the model's own file cannot be read. For a checkpoint it is a folder.
        """
        if entry.builtin or entry.engine == "remote":
            return entry.drafter
        if entry.engine == "vllm":
            added = [it.path for it in self._store.models() if it.drafts and it.path.is_dir()]
            found = self._collection.assistants() if self._collection else []
            return self.checkpoints.drafter_for(entry, [*added, *found])
        if self._headers.architecture(entry.path) not in TARGETS.values():
            return None
        try:
            target = self._headers.facts(entry.path)
        except EngineError:
            return None
        added = [it.path for it in self._store.models() if it.drafts]
        beside = [it for it in sorted(entry.path.parent.glob("*.gguf")) if self._drafts(it)]
        if self._starter.drafter is not None:
            beside.append(self._starter.drafter)
        found = self._collection.drafters() if self._collection else []
        readable = self._headers.readable
        return (
            best(target, readable(added))
            or best(target, readable(beside))
            or best(target, readable(found))
        )

    def add(self, path: Path) -> ModelEntry:
        """Add a file where it lies; it is neither copied nor moved.

        A drafter is added if there is a model here that it drafts for. Raises EngineError.
        """
        path = from_home(path).absolute()
        for known in self.shelf.everything():
            if path in (known.path, *known.files, known.drafter):
                return self.find(known.id)
        if path.is_dir():
            require_text(path)
            drafts = self.checkpoints.require_addable(path, self.entries()).mtp == "drafter"
            return self.find(self._store.add(path.name, path, drafts=drafts, reserved=RESERVED))
        drafts = self.require_addable(path).kind == "drafter"
        return self.find(self._store.add(path.stem, path, drafts=drafts, reserved=RESERVED))

    def require_addable(self, path: Path) -> GgufHeader:
        """Raises EngineError for what is neither a chat model nor a drafter for one of them."""
        require_text(path)
        header = self._headers.read(path)
        if header.kind == "drafter":
            self._require_target(header)
        else:
            require_chat(path, header)
        return header

    def drafts_for(self, entry: ModelEntry) -> list[ModelEntry]:
        """The models here that a drafter can draft for. Raises EngineError if it is unreadable."""
        if entry.engine == "vllm":
            return self.checkpoints.targets(entry.path, self.entries())
        drafter = self._headers.read(entry.path)
        return [it for it, target in self._targets() if pairs(target, drafter)]

    def remove(self, called: str) -> ModelEntry:
        """Take a model off the list; its file stays where it is. Raises ModelUnknown."""
        entry = self.shelf.named(called)
        if entry.builtin:
            raise ModelUnknown(
                "The starter guide cannot be removed.",
                "It is part of Hearth, so that there is always something that answers.",
                "Choose another model in the settings if you do not want to see it.",
            )
        if entry.source != "added":
            raise ModelUnknown(
                f"“{entry.name}” was not added by you.",
                f"It is on the list because it lies in {entry.path.parent}.",
                "Move its file away, or delete the model.",
            )
        self._store.remove(entry.id)
        self._store.known.forget(entry.id)
        self._store.hashes.forget(entry.files)
        return entry

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
            if entry.engine == "llamacpp" and self._headers.architecture(entry.path) in families
            for _, header in self._headers.readable([entry.path])
        ]

    def _drafts(self, path: Path) -> bool:
        return self._headers.architecture(path) in TARGETS


def _require_gguf(entry: ModelEntry) -> None:
    """Raises NotAModel for a model without a GGUF file."""
    if entry.engine != "llamacpp":
        kind = "a checkpoint for vLLM" if entry.engine == "vllm" else "a model on another server"
        raise NotAModel(
            f"“{entry.name}” has no GGUF file.",
            f"It is {kind}, and llama.cpp reads GGUF files.",
            "Choose a model's GGUF file for this.",
        )
