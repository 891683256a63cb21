"""Manages models: imports, verifies, renames, configures, measures and deletes them."""

from __future__ import annotations

import contextlib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.base.errors import (
    ModelAmbiguous,
    ModelDiffers,
    ModelNotOurs,
    ModelUnknown,
    SettingsInvalid,
)
from app.base.home import expand_home
from app.models.downloads.values.downloads import Download
from app.models.library.services.library import Library
from app.models.library.services.places.copying import copy_model
from app.models.library.services.places.found_models import FoundModels
from app.models.library.services.places.hashing import (
    Progress,
    Share,
    link_target,
    read_error,
    sha256_of,
)
from app.models.library.services.places.hub_cache import hash_from_name
from app.models.library.services.places.removal import Removal, of_files, of_hub_files, remove
from app.models.library.services.places.scan import Inode
from app.models.library.store.models import ModelStore
from app.models.library.values.details import CheckedModel
from app.models.library.values.entry import ModelEntry, Source
from app.settings.values.models import parse_setting
from engines.cancel import CancelToken
from engines.sentences import N_

_OWNERS: Final[Mapping[Source, str]] = {
    "ollama": "Ollama",
    "lmstudio": N_("LM Studio"),
    "jan": "Jan",
    "gpt4all": "GPT4All",
}


_LONGEST_NAME: Final = 200


@dataclass(frozen=True)
class DeletedModel:
    """A deleted model.

    Attributes:
        frees: Bytes that emptying the trash will free.
    """

    entry: ModelEntry
    files: tuple[Path, ...]
    frees: int


@dataclass(frozen=True)
class DiskUse:
    """The disk space that models take, in bytes.

    Attributes:
        total: Of all models, with shared files counted once.
        models: Of each model, by id.
    """

    total: int
    models: Mapping[str, int]


class ModelManager:
    """Manages models.

    Every method blocks, can be called from any thread, and takes any name of a model.
    """

    def __init__(self, library: Library, store: ModelStore, collection: FoundModels) -> None:
        self._library = library
        self._store = store
        self._collection = collection

    def import_model(
        self, path: Path, *, copy: bool, progress: Progress, cancel: CancelToken
    ) -> ModelEntry:
        """Add a file or a checkpoint's folder in place, or copy it into Hearth's own folder.

        Raises:
            EngineError: It is not a model.
            The errors of `copy_model`.
        """
        path = expand_home(path).absolute()
        if not copy:
            return self._library.add(path)
        self._library.require_addable(path)
        format_ = self._library.formats.at(path)
        own = self._collection.own
        copied = copy_model(format_.files(path), own, progress, cancel, format_.name(path))
        for file in copied:
            self._save_hash(file.path, file.sha256)
        self._library.refresh()
        return self._library.add(copied[0].path.parent if path.is_dir() else copied[0].path)

    def downloaded(self, download: Download, paths: Sequence[Path]) -> None:
        """Record a download, whose files were compared with the Hub's hashes as they came.

        Args:
            paths: The paths of the files, in the order of the request.
        """
        for file, path in zip(download.wanted.files, paths, strict=True):
            if file.sha256 is not None:
                self._save_hash(path, file.sha256)
        self._library.refresh()

    def verify(self, called: str, progress: Progress, cancel: CancelToken) -> CheckedModel:
        """Compare every byte of a model with the checksum from the Hub or from its import.

        Raises:
            ModelDiffers: A file has changed.
            ModelNotRead, ModelNotOurs, ModelUnknown, Cancelled
        """
        entry = self._library.find(called)
        if entry.on_server:
            raise _has_no_files(N_("“{name}” cannot be checked here.", name=entry.name))
        share = Share(entry.size_bytes, progress)
        compared = True
        hashes: list[str] = []
        for path in entry.files:
            saved = self._store.hashes.get(link_target(path))
            expected = hash_from_name(path) or (saved.sha256 if saved else None)
            digest = sha256_of(path, share, cancel)
            if expected is not None and digest != expected:
                self._store.hashes.mark_changed(link_target(path), expected)
                raise _differs(entry, path)
            compared = compared and expected is not None
            self._save_hash(path, digest)
            hashes.append(digest)
        return CheckedModel(self._library.find(called), hashes[0], compared)

    def rename(self, called: str, name: str) -> ModelEntry:
        """Give a model another name; its id and its file stay the same."""
        entry = self._listed(called)
        name = " ".join(name.split())
        why = _why_name_refused(name)
        if why:
            raise SettingsInvalid(
                N_("“{name}” was not renamed.", name=entry.name), why, N_("Choose another name.")
            )
        for other in self._library.entries():
            if other.id != entry.id and name in (other.id, other.name):
                raise ModelAmbiguous(
                    N_("“{name}” was not renamed.", name=entry.name),
                    N_("Another model on this computer is already called “{name}”.", name=name),
                    N_("Choose another name."),
                )
        self._store.known.rename(entry.id, name)
        return self._library.find(entry.id)

    def settings(self, called: str) -> Mapping[str, object]:
        """Return the settings of this model only."""
        return self._library.settings_of(self._library.find(called))

    def set(self, called: str, name: str, value: object) -> Mapping[str, object]:
        """Change one setting of a model; None follows the app's settings again.

        Returns:
            All of the model's own settings.

        Raises:
            NoSuchSetting, SettingsInvalid
        """
        entry = self._listed(called)
        value = None if value is None else parse_setting(name, value)
        self._store.known.change_settings(entry.id, {name: value})
        return self._library.settings_of(entry)

    def disk_use(self) -> DiskUse:
        """Measure the disk space of all models."""
        seen: set[Inode] = set()
        total = 0
        models: dict[str, int] = {}
        for entry in self._library.entries():
            models[entry.id] = 0
            sidecars = [path for path in (entry.projector,) if path is not None]
            for path in (*entry.files, *sidecars):
                try:
                    facts = path.stat()
                except OSError:
                    continue  # a file that is gone takes no space
                models[entry.id] += facts.st_size
                if (facts.st_dev, facts.st_ino) not in seen:
                    seen.add((facts.st_dev, facts.st_ino))
                    total += facts.st_size
        return DiskUse(total, models)

    def removal(self, called: str, *, with_file: bool = False) -> Removal:
        """Return the plan that `delete` would carry out.

        Raises:
            ModelNotOurs: The model cannot be deleted; the error says why.
        """
        return self._removal(self._listed(called), with_file=with_file)

    def delete(self, called: str, *, with_file: bool = False) -> DeletedModel:
        """Move a model to the trash, or only remove it from the list if it was added in place.

        Args:
            with_file: Whether the file of a model added in place goes to the trash too. Files of
                other programs never do.

        Raises:
            ModelNotOurs, TrashFailed, ModelUnknown
        """
        entry = self._listed(called)
        removal = self._removal(entry, with_file=with_file)
        folder = entry.path if entry.path.is_dir() else entry.path.parent
        remove(removal)
        if entry.source == "added":
            self._library.remove(entry.id)
        self._store.hashes.forget(removal.trash)
        _remove_if_empty(folder, self._collection.own)
        self._library.refresh()
        return DeletedModel(entry, removal.trash, removal.frees)

    def _listed(self, called: str) -> ModelEntry:
        """Find a model on the list, not just any file.

        Raises:
            ModelUnknown: The model is not on the list.
        """
        entry = self._library.find(called)
        if entry.id == str(entry.path):
            raise ModelUnknown(
                N_("“{name}” is not on the list.", name=entry.path.name),
                N_("Only models on the list have names and settings in Hearth and can be deleted."),
                N_("Add it to the list first."),
                terminal=N_("Add it first: `hearth models import FILE`."),
            )
        return entry

    def _removal(self, entry: ModelEntry, *, with_file: bool) -> Removal:
        own, hub = self._collection.own, self._collection.hub
        if entry.builtin:
            raise ModelNotOurs(
                N_("“{name}” cannot be deleted.", name=entry.name),
                N_("It is part of Hearth, so that there is always something that answers."),
                N_("Choose another model in the settings if you do not want to see it."),
            )
        if entry.on_server:
            raise _has_no_files(N_("“{name}” cannot be deleted here.", name=entry.name))
        if entry.source == "added" and not (with_file or own in entry.path.parents):
            return Removal(())
        source = self._source_of_file(entry)
        if source in _OWNERS:
            owner = _OWNERS[source]
            raise ModelNotOurs(
                N_("“{name}” cannot be deleted here.", name=entry.name),
                N_(
                    "It belongs to {owner}, and Hearth changes nothing of other programs.",
                    owner=owner,
                ),
                N_("Delete it in {owner}.", owner=owner),
            )
        if source == "hub":
            return of_hub_files([*self._all_files(entry), *self._companions(entry)], hub)
        if own in entry.path.parents or with_file:
            return of_files(self._all_files(entry))
        raise ModelNotOurs(
            N_("“{name}” was not deleted.", name=entry.name),
            N_("It is in {parent}, a folder that Hearth only reads.", parent=entry.path.parent),
            N_("Delete the file there, or delete the model together with its file."),
        )

    def _source_of_file(self, entry: ModelEntry) -> Source:
        """Return the source of a model's file, even if the user has added it in place."""
        sources = (model.source for model in self._collection.models() if model.path == entry.path)
        return next(sources, entry.source)

    def _companions(self, entry: ModelEntry) -> list[Path]:
        """Return the drafters and the projector that go with the last model of a repository."""
        others_from_repo = [
            model
            for model in self._library.entries()
            if model.source == "hub" and model.repo == entry.repo and model.id != entry.id
        ]
        if others_from_repo:
            return []
        top = self._collection.hub / entry.path.relative_to(self._collection.hub).parts[0]
        companions = [*self._collection.drafters(), *([entry.projector] if entry.projector else [])]
        return [path for path in companions if top in path.parents]

    def _all_files(self, entry: ModelEntry) -> tuple[Path, ...]:
        """List a model's files, with those that describe its tensors if the model still exists."""
        format_ = self._library.formats.of(entry)
        format_files = format_.files(entry.path) if entry.path.exists() else ()
        return tuple(dict.fromkeys((*entry.files, *format_files)))

    def _save_hash(self, path: Path, sha256: str) -> None:
        try:
            facts = path.stat()
        except OSError as error:
            raise read_error(path, error) from error
        self._store.hashes.save(link_target(path), facts.st_size, facts.st_mtime_ns, sha256)


def _has_no_files(what: str) -> ModelNotOurs:
    return ModelNotOurs(
        what,
        N_("It is on another server, and has no files on this computer."),
        N_("Remove the server under Servers to remove its models."),
        terminal=N_("`hearth servers rm NAME` removes a server, with all its models."),
    )


def _remove_if_empty(folder: Path, own: Path) -> None:
    """Remove the folder of a copy, unless it is gone or not empty."""
    if own in folder.parents:
        with contextlib.suppress(OSError):
            folder.rmdir()


def _why_name_refused(name: str) -> str:
    """Return why a model cannot have this name; empty if it can."""
    if not name:
        return N_("The new name is empty.")
    if len(name) > _LONGEST_NAME:
        return N_("The new name is longer than {count} characters.", count=_LONGEST_NAME)
    if any(unicodedata.category(letter) in ("Cc", "Cs") for letter in name):
        return N_("The new name contains invalid characters.")
    return ""


def _differs(entry: ModelEntry, path: Path) -> ModelDiffers:
    if entry.source == "hub":
        do = N_("Delete the model and download it again.")
    else:
        do = N_(
            "Put the original file back. If you replaced it on purpose, remove the model "
            "from the list and add it again."
        )
    return ModelDiffers(
        N_("“{name}” is damaged or was changed.", name=entry.name),
        N_("{name} has changed since it was downloaded or added.", name=path.name),
        do,
    )
