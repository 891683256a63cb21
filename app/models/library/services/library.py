"""The models that can be chosen: the built-in one, added files, and files found here."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from app.base.errors import ModelUnknown
from app.base.home import expand_home
from app.models.library.services.index import ModelIndex
from app.models.library.services.places.found_models import FoundModels
from app.models.library.services.places.scan import require_text
from app.models.library.store.models import ModelStore
from app.models.library.values.entry import RESERVED, STARTER, ModelEntry
from app.settings.values.fields import Settings
from app.settings.values.models import (
    MODEL_NAME_SETTINGS,
    builtin_settings,
    effective,
    valid_settings,
)
from engines.errors import EngineError, NotAModel, UserError
from engines.models.format import FileDetails, ModelFacts
from engines.models.formats import Formats
from engines.models.gguf.format import GgufFormat
from engines.models.gguf.header import GgufHeader
from engines.sentences import N_
from engines.types import EngineName

AnyFacts = TypeVar("AnyFacts", bound=ModelFacts)


class Library:
    """Finds models by the names that users give, and drafters by the contents of files.

    Any thread can use it.

    Args:
        collection: Models on this computer that need not be added.
        further: Returns models without files here, such as those of servers.
        draft_model: Returns the name of the draft model for models without one of their own; ""
            means the drafter that was made for each model.

    Attributes:
        formats: Reads the files.
        shelf: The list of models.
    """

    def __init__(
        self,
        store: ModelStore,
        starter: Path,
        starter_drafter: Path,
        collection: FoundModels | None = None,
        further: Callable[[], Iterable[ModelEntry]] = tuple,
        draft_model: Callable[[], str] = str,
    ) -> None:
        self._store = store
        self._draft_model = draft_model
        self._collection = collection
        self._starter = ModelEntry(
            STARTER,
            N_("Starter guide"),
            starter,
            builtin=True,
            drafter=starter_drafter,
            source="builtin",
        )
        self.formats = Formats(store.headers)
        self.shelf = ModelIndex(store, self._starter, collection, self.formats, further)

    @property
    def starter(self) -> ModelEntry:
        """The built-in model, which is always there."""
        return self._starter

    def entries(self) -> list[ModelEntry]:
        """List the models to chat with: the built-in one, added ones, then found ones.

        It reads no headers, and reads folders only if they changed, so models come without their
        drafters.
        """
        return [entry for entry in self.shelf.everything() if not entry.drafts]

    def drafters(self) -> list[ModelEntry]:
        """List the drafters that were added."""
        return [entry for entry in self.shelf.everything() if entry.drafts]

    def notes(self) -> list[str]:
        """Return a sentence for each thing on this computer that could not be listed."""
        return self._collection.notes() if self._collection else []

    def refresh(self) -> None:
        """Search for models everywhere again at the next request."""
        if self._collection is not None:
            self._collection.refresh()

    def settings_of(self, entry: ModelEntry) -> Mapping[str, object]:
        """Return the settings of this model only."""
        return valid_settings(self._store.known.settings(entry.id))

    def effective(self, entry: ModelEntry, settings: Settings) -> Settings:
        """Resolve the settings with which this model answers outside of chats."""
        return effective(settings, builtin_settings(builtin=entry.builtin), self.settings_of(entry))

    def own(self, called: str) -> Mapping[str, object]:
        """Return a model's own settings and those it is made for.

        Raises:
            ModelUnknown: There is no such model.
        """
        entry = self.shelf.named(called)
        return {**builtin_settings(builtin=entry.builtin), **self.settings_of(entry)}

    def settings_naming(
        self, settings: Settings, is_meant: Callable[[ModelEntry], bool]
    ) -> tuple[str, ...]:
        """Return the names of the settings that refer to one of these models.

        Args:
            is_meant: Returns whether a model is one of them.
        """

        def names_model(setting: str) -> bool:
            called = getattr(settings, setting).strip()
            try:
                return bool(called) and is_meant(self.shelf.named(called))
            except UserError:
                return False

        return tuple(filter(names_model, MODEL_NAME_SETTINGS))

    def own_when_listed(self, called: str) -> Mapping[str, object]:
        """Return a model's own settings without waiting, for the window.

        A model called by its name gets its own settings only once it has been listed.
        """
        model_id = self.shelf.id_of(called)
        preset = builtin_settings(builtin=self._starter.builtin) if model_id in RESERVED else {}
        return {**preset, **valid_settings(self._store.known.settings(model_id))}

    def used(self, entry: ModelEntry) -> None:
        """Record that a model has answered; a failure to save this is ignored."""
        with contextlib.suppress(UserError):
            if entry.id != str(entry.path):
                self._store.known.used(entry.id)

    def find(self, called: str) -> ModelEntry:
        """Find the model with this id or name, or the GGUF file at this path, with its drafter.

        If no drafter works, the model gets an added one that cannot be read, if there is one:
        loading the two then reports the error. A drafter can be found as well.

        Raises:
            ModelUnknown: There is no such model.
        """
        entry = self.shelf.named(called)
        if entry.builtin:
            return entry
        lost_drafter = self.formats.of(entry).lost_drafter
        return replace(
            entry, drafter=self.drafter_for(entry) or lost_drafter(entry, self._added_drafters())
        )

    def header(self, entry: ModelEntry) -> GgufHeader:
        """Read the header of a GGUF file.

        Raises:
            EngineError: The file cannot be read or is not a GGUF file.
        """
        format_ = self.formats.of(entry)
        if not isinstance(format_, GgufFormat):
            raise NotAModel(
                N_("“{name}” has no GGUF file.", name=entry.name),
                N_("It is {kind}, and llama.cpp reads GGUF files.", kind=format_.kind),
                N_("Choose a model's GGUF file for this."),
            )
        return format_.header(entry.path)

    def facts(self, entry: ModelEntry) -> ModelFacts:
        """Return a model's facts for lists, without its tensors and template.

        They are remembered between runs once `keep_facts` was called.

        Raises:
            EngineError: Its files cannot be read.
        """
        return self._with_drafter(entry, self.formats.of(entry).facts(entry))

    def details(self, entry: ModelEntry) -> FileDetails:
        """Describe a model by all its files, with its drafter.

        Raises:
            EngineError: Its files cannot be read.
        """
        return self._with_drafter(entry, self.formats.of(entry).details(entry))

    def keep_facts(self) -> None:
        """Save the facts that were read, for later runs."""
        for format_ in self.formats:
            format_.keep()

    def drafter_for(self, entry: ModelEntry) -> Path | None:
        """Find the drafter of a model: a chosen or added one, one beside it, or any other one here.

        A chosen drafter is returned even if it is gone: loading the two then reports the error.

        Returns:
            None if there is none, or if the model's own files cannot be read.
        """
        if entry.builtin:
            return entry.drafter
        if entry.on_server:
            return None
        if (chosen := self._chosen(entry)) is not None:
            return chosen
        return self.formats.of(entry).drafter_for(
            entry, self._added_drafters(), self._found_drafters()
        )

    def draft_models(self, entry: ModelEntry) -> list[ModelEntry]:
        """List the smaller models here that could draft for a model: those with its vocabulary."""
        return self.formats.of(entry).draft_models(entry, self._of_engine(entry.engine))

    def _chosen(self, entry: ModelEntry) -> Path | None:
        """Return the draft model from the settings.

        A draft model that is set for all models is used only for models of its own engine.
        """
        own = self.settings_of(entry).get("draft_model")
        called = str(self._draft_model() if own is None else own)
        if not called:
            return None
        try:
            named = self.shelf.named(called)
        except ModelUnknown:
            return Path(called)
        return named.path if own is not None or named.engine == entry.engine else None

    def add(self, path: Path) -> ModelEntry:
        """Add a file or folder in place; it is neither copied nor moved.

        A drafter is added only if it drafts for a model on this computer.

        Raises:
            EngineError: It is neither a chat model nor such a drafter.
        """
        path = expand_home(path).absolute()
        for listed in self.shelf.everything():
            if path in (listed.path, *listed.files, listed.drafter):
                return self.find(listed.id)
        drafts = self.require_addable(path)
        name = self.formats.at(path).name(path)
        return self.find(self._store.add(name, path, drafts=drafts, reserved=RESERVED))

    def require_addable(self, path: Path) -> bool:
        """Refuse a path that is neither a chat model nor a drafter for one.

        Returns:
            Whether it is a drafter.

        Raises:
            EngineError: It is neither of the two.
        """
        require_text(path)
        format_ = self.formats.at(path)
        return format_.require_addable(path, self._of_engine(format_.engine))

    def drafts_for(self, entry: ModelEntry) -> list[ModelEntry]:
        """List the models here that a drafter drafts for.

        Raises:
            EngineError: The drafter cannot be read.
        """
        return self.formats.of(entry).targets(entry.path, self._of_engine(entry.engine))

    def served_by(self) -> dict[Path, tuple[str, ...]]:
        """Return the drafters on this computer, each with the names of the models it drafts for."""
        paths = [entry.path for entry in self.drafters()]
        if self._collection is not None:
            paths += self._collection.drafters()
        return {path: self._served(path) for path in paths}

    def served_by_download(self, repo: str, file: str) -> tuple[str, ...] | None:
        """Return the names of the models that a downloaded drafter drafts for.

        Returns:
            None if the file is not a drafter.
        """
        folder = f"/models--{repo.replace('/', '--')}/"
        for path in self._collection.drafters() if self._collection else ():
            if folder in path.as_posix() and path.as_posix().endswith(f"/{file}"):
                return self._served(path)
        return None

    def remove(self, called: str) -> ModelEntry:
        """Remove a model from the list; its file stays where it is.

        Raises:
            ModelUnknown: There is no such model, or the user has not added it.
        """
        entry = self.shelf.named(called)
        if entry.builtin:
            raise ModelUnknown(
                N_("The starter guide cannot be removed."),
                N_("It is part of Hearth, so that there is always something that answers."),
                N_("Choose another model in the settings if you do not want to see it."),
            )
        if entry.source != "added":
            raise ModelUnknown(
                N_("“{name}” was not added by you.", name=entry.name),
                N_("It is on the list because it is in {parent}.", parent=entry.path.parent),
                N_("Move its file away, or delete the model."),
            )
        self._store.remove(entry.id)
        self._store.known.forget(entry.id)
        self._store.hashes.forget(entry.files)
        return entry

    def _served(self, drafter: Path) -> tuple[str, ...]:
        format_ = self.formats.at(drafter)
        try:
            return tuple(
                model.name for model in format_.targets(drafter, self._of_engine(format_.engine))
            )
        except EngineError:
            return ()

    def _with_drafter(self, entry: ModelEntry, facts: AnyFacts) -> AnyFacts:
        drafter = self.drafter_for(entry)
        return facts if drafter is None else replace(facts, mtp="drafter", drafter=drafter)

    def _of_engine(self, engine: EngineName) -> list[ModelEntry]:
        return [entry for entry in self.entries() if entry.engine == engine]

    def _added_drafters(self) -> Iterator[Path]:
        """Yield the added drafters; they are only looked up if needed, as most models have none."""
        yield from (model.path for model in self._store.models() if model.drafts)

    def _found_drafters(self) -> Iterator[Path]:
        if self._starter.drafter is not None:
            yield self._starter.drafter
        if self._collection is not None:
            yield from self._collection.drafters()
            yield from self._collection.draft_checkpoints()
