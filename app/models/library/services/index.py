"""The list of all models, with their ids and the names by which users can call them."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from app.base.errors import ModelAmbiguous, ModelUnknown
from app.base.home import expand_home
from app.models.library.services.places.files import find_projector
from app.models.library.services.places.found_models import FoundModels
from app.models.library.services.places.hashing import link_target
from app.models.library.services.places.scan import FoundModel, Inode, require_text
from app.models.library.store.file_hashes import FileHash
from app.models.library.store.known_models import ModelUse
from app.models.library.store.models import ModelStore
from app.models.library.values.entry import RESERVED, ModelEntry
from app.models.library.values.quantisations import quantisation_of, same_label
from app.servers.values import short_name
from engines.models.checkpoint import is_checkpoint
from engines.models.formats import Formats
from engines.sentences import N_

_LONGEST: Final = 200
"""How many characters of an unknown name are compared with the names of models."""


class ModelIndex:
    """The built-in model, added models and found ones, with each file listed once.

    Any thread can use it.

    Args:
        collection: The models found on this computer; None finds nothing.
        formats: Tells the format of a path.
        further: Returns models that are neither added nor found, such as those of servers; their
            ids are stable.
    """

    def __init__(
        self,
        store: ModelStore,
        starter: ModelEntry,
        collection: FoundModels | None,
        formats: Formats,
        further: Callable[[], Iterable[ModelEntry]],
    ) -> None:
        self._store = store
        self._formats = formats
        self._starter = starter
        self._collection = collection
        self._further = further
        self._listed: list[ModelEntry] = []
        self._found_entries: tuple[tuple[FoundModel, ...], tuple[tuple[ModelEntry, Inode], ...]] = (
            (),
            (),
        )

    def everything(self) -> list[ModelEntry]:
        """List all models and added drafters.

        It reads no headers, and reads folders only if they changed.
        """
        found_models = self._read_found()
        by_inode = {inode: entry for entry, inode in reversed(found_models)}
        listed = [self._starter]
        listed_inodes = {_inode(self._starter.path)}
        for entry in self._store.models():
            inode = _inode(entry.path)
            listed_inodes.add(inode)
            listed.append(self._merged(entry, by_inode.get(inode) if inode else None))
        listed += [entry for entry, inode in found_models if inode not in listed_inodes]
        listed += self._further()
        self._listed = self._with_facts(listed)
        return list(self._listed)

    @property
    def listed(self) -> Sequence[ModelEntry]:
        """The list as it was last made, without a new search."""
        return self._listed

    def named(self, called: str) -> ModelEntry:
        """Find a model by id, name, `owner/name[:QUANT]`, `owner/name/file.gguf`, or path.

        If the id of a missing model is now the name of another, that other one is not returned: a
        request for one model must not reach another.

        Raises:
            ModelUnknown: There is no such model.
            ModelAmbiguous: Several models match.
        """
        if called == self._starter.id:
            return self._with_facts([self._starter])[0]  # without a search
        listed = self.everything()
        for entry in listed:
            if called == entry.id:
                return entry
        matching = [entry for entry in listed if called == entry.name]
        if matching and self._store.known.has(called):
            raise ModelUnknown(
                N_("The model “{called}” is no longer on this computer.", called=called),
                N_(
                    "{matching} has that name, but may be a different model.",
                    matching=", ".join(entry.id for entry in matching),
                ),
                N_("If you mean that one, use its id."),
            )
        matching = matching or [entry for entry in listed if _is_of_repo(entry, called)]
        matching = matching or [entry for entry in listed if _is_of_server(entry, called)]
        if len(matching) > 1:
            raise ModelAmbiguous(
                N_(
                    "“{called}” could be one of {count} models on this computer.",
                    called=called,
                    count=len(matching),
                ),
                N_(
                    "Their ids are {matching}.",
                    matching=", ".join(entry.id for entry in matching),
                ),
                N_("Use one of these ids."),
            )
        if matching:
            return matching[0]
        if _may_be_of_server(called):
            raise ModelUnknown(
                N_("There is no model “{called}”.", called=called),
                N_("None of your servers offered it when last asked."),
                N_("Test the server under Servers, or choose another model."),
                terminal=N_(
                    "`hearth servers test {called}` asks anew; `hearth models list` shows what "
                    "is there.",
                    called=called.partition(":")[0],
                ),
            )
        if called.lower().endswith(".gguf") or _is_checkpoint(called):
            path = expand_home(called).absolute()
            listed_at_path = [
                entry
                for entry in listed
                if path in (entry.path, *entry.files) and not entry.builtin
            ]
            return listed_at_path[0] if listed_at_path else self._by_path(path)
        raise self._unknown(called, listed)

    def require_listed(self, called: str) -> None:
        """Refuse a name that no model had when they were last listed; does not search.

        Raises:
            ModelUnknown: No model had this name.
        """
        listed = self._listed
        is_listed = any(
            called in (entry.id, entry.name)
            or _is_of_repo(entry, called)
            or _is_of_server(entry, called)
            for entry in listed
        )
        if listed and not is_listed and not expand_home(called).exists():
            raise self._unknown(called, listed)

    def _unknown(self, called: str, listed: Sequence[ModelEntry]) -> ModelUnknown:
        similar = _near(called, listed)
        return ModelUnknown(
            N_("There is no model “{called}”.", called=called),
            N_(
                "It is neither the name of a model on this computer nor a GGUF file. Similar names "
                "are: {near}.",
                near=", ".join(similar),
            )
            if similar
            else N_("It is neither the name of a model on this computer nor a GGUF file."),
            N_("Choose another model, or add its file."),
            terminal=N_(
                "`hearth models list` shows what is there; `hearth models import FILE` adds a file."
            ),
        )

    def id_of(self, called: str) -> str:
        """Return the id for an id or name, as last listed; does not search.

        A name that was not listed is returned unchanged.
        """
        named = (entry.id for entry in self._listed if called in (entry.id, entry.name))
        return next(named, called)

    def _by_path(self, path: Path) -> ModelEntry:
        """Make an entry for a file or folder that is not on the list."""
        require_text(path)
        format_ = self._formats.at(path)
        return ModelEntry(
            str(path),
            format_.name(path),
            path,
            parts=format_.parts(path),
            engine=format_.engine,
            projector=find_projector(path),
        )

    def _merged(self, added: ModelEntry, found_model: ModelEntry | None) -> ModelEntry:
        """Merge an added model with the facts about the same file where it was found."""
        format_ = self._formats.at(added.path)
        parts = format_.parts(added.path)
        if found_model is None:
            return replace(
                added,
                engine=format_.engine,
                parts=parts,
                size_bytes=sum(map(_size, parts)),
                projector=find_projector(added.path),
            )
        return replace(
            found_model,
            id=added.id,
            name=added.name,
            path=added.path,
            drafts=added.drafts,
            source="added",
            parts=parts,
        )

    def _with_facts(self, listed: list[ModelEntry]) -> list[ModelEntry]:
        remembered, hashes = self._store.known.remembered(), self._store.hashes.all()
        return [_with_facts(entry, remembered, hashes) for entry in listed]

    def _read_found(self) -> tuple[tuple[ModelEntry, Inode], ...]:
        if self._collection is None:
            return ()
        models = self._collection.models()
        if self._found_entries[0] is not models:
            ids = self._store.known.ids(
                [(model.identity, model.name) for model in models], RESERVED
            )
            entries = tuple(
                (_entry_of(ids[model.identity], model), model.inode) for model in models
            )
            self._found_entries = (models, entries)
        return self._found_entries[1]


def _entry_of(model_id: str, model: FoundModel) -> ModelEntry:
    return ModelEntry(
        id=model_id,
        name=model.name,
        path=model.path,
        source=model.source,
        repo=model.repo,
        revision=model.revision,
        sha256=model.sha256,
        projector=model.projector,
        file=model.file,
        parts=model.files,
        size_bytes=model.size_bytes,
        engine=model.engine,
    )


def _near(called: str, listed: Sequence[ModelEntry]) -> list[str]:
    """Return up to three ids of models whose id or name is similar."""
    by_name = {
        name.lower(): entry.id for entry in reversed(listed) for name in (entry.name, entry.id)
    }
    text = called.lower()[:_LONGEST]
    similar = difflib.get_close_matches(text, by_name, n=6, cutoff=0.5)
    similar += [name for name in by_name if len(text) > 2 and text in name]
    return list(dict.fromkeys(by_name[name] for name in similar))[:3]


def _may_be_of_server(called: str) -> bool:
    """Return whether the name looks like SERVER:MODEL.

    A single letter before the colon is a Windows drive; after `owner/name` comes a label.
    """
    server, _, model = called.partition(":")
    return bool(model) and len(server) > 1 and "/" not in server and not Path(called).exists()


def _with_facts(
    entry: ModelEntry, remembered: Mapping[str, ModelUse], hashes: Mapping[Path, FileHash]
) -> ModelEntry:
    remembered_model = remembered.get(entry.id, ModelUse())
    first_hash = hashes.get(link_target(entry.path)) if hashes else None
    return replace(
        entry,
        name=remembered_model.name or entry.name,
        last_used=remembered_model.last_used,
        sha256=entry.sha256 or (first_hash.sha256 if first_hash else None),
        verified=_verified(entry, hashes),
    )


def _verified(entry: ModelEntry, hashes: Mapping[Path, FileHash]) -> float | None:
    """Return when the model's last file was verified; None unless all were and none has changed."""
    times: list[float] = []
    for path in entry.files if hashes else ():
        file_hash = hashes.get(link_target(path))
        if file_hash is None:
            return None
        try:
            facts = path.stat()
        except OSError:
            return None
        if not file_hash.matches(facts.st_size, facts.st_mtime_ns):
            return None
        times.append(file_hash.checked)
    return max(times, default=None)


def _is_checkpoint(called: str) -> bool:
    folder = expand_home(called)
    try:
        return folder.is_dir() and is_checkpoint([path.name for path in folder.iterdir()])
    except (OSError, ValueError):
        return False


def _is_of_repo(entry: ModelEntry, called: str) -> bool:
    if entry.repo is None:
        return False
    repo, requested = entry.repo.lower(), called.lower()
    if requested == repo or requested == f"{repo}/{(entry.file or '').lower()}":
        return True
    label = quantisation_of(entry.file or entry.path.name, entry.repo).label
    return requested.startswith(f"{repo}:") and same_label(label, called[len(repo) + 1 :])


def _is_of_server(entry: ModelEntry, called: str) -> bool:
    """Return whether `called` names the server and the short name that lists show.

    The id of such a model is a path.
    """
    server = entry.id.removesuffix(entry.served)
    return entry.on_server and called == server + short_name(entry.served)


def _inode(path: Path) -> Inode | None:
    try:
        facts = path.stat()
    except (OSError, ValueError):
        return None
    return facts.st_dev, facts.st_ino


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        return 0
