"""Edits the metadata of a model's GGUF file, in a copy or in the file itself."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from contextlib import closing, suppress
from itertools import chain
from pathlib import Path
from typing import Final

from app.base.errors import ModelDiffers, ModelNotOurs
from app.base.folder import as_user_errors
from app.models.library.services.library import Library
from app.models.library.services.places.copying import ABANDONED_S, new_folder, require_disk_space
from app.models.library.services.places.found_models import FoundModels
from app.models.library.services.places.hashing import (
    Progress,
    Share,
    link_target,
    open_model,
    pieces_of,
    write_hashed,
)
from app.models.library.store.file_hashes import FileHashes
from app.models.library.values.editable import EditableMetadata
from app.models.library.values.entry import ModelEntry
from engines.cancel import CancelToken
from engines.errors import MetadataRefused
from engines.models.gguf.edit import Edit, Metadata, prepare
from engines.private import replace_file, replacing, unfinished_of
from engines.sentences import N_
from engines.text import SEAM
from engines.types import Message

_SAMPLE: Final = (
    Message("user", "Hello"),
    Message("assistant", "Hi"),
    Message("user", "Hello"),
)


class MetadataEditor:
    """Edits metadata.

    Every method blocks, can be called from any thread, and takes any name of a model.

    Args:
        unload: Unloads a model from its engine, after the answers that are being written.
    """

    def __init__(
        self,
        library: Library,
        hashes: FileHashes,
        collection: FoundModels,
        unload: Callable[[ModelEntry], object],
    ) -> None:
        self._library = library
        self._hashes = hashes
        self._collection = collection
        self._unload = unload

    def read(self, called: str) -> EditableMetadata:
        """Read a model's metadata.

        Raises:
            ModelNotOurs: It is the built-in model, or has no GGUF file.
            EngineError: Its file cannot be read.
            ModelUnknown: There is no such model.
        """
        entry = self._editable(called)
        header = self._library.header(entry)
        parts = [path.stat().st_size for path in entry.files]
        return EditableMetadata(
            entry,
            header.name,
            header.chat_template or "",
            header.context_max,
            parts[0],
            sum(parts),
            self._why_not(entry),
        )

    def change(
        self, called: str, changes: Metadata, progress: Progress, cancel: CancelToken
    ) -> ModelEntry:
        """Write the changed file beside the old one, then replace the old one in a single step.

        If an error is raised, the old file is unchanged and no other file is left.

        Raises:
            ModelNotOurs: The file cannot be changed.
            DiskFull: There is too little space; writing can raise other errors too.
            Cancelled: The user cancelled.
        """
        entry = self._editable(called)
        if why := self._why_not(entry):
            raise ModelNotOurs(
                N_("“{name}” was not changed.", name=entry.name), why, N_("Save a copy instead.")
            )
        path = entry.path
        edit = prepare(path, changes)
        require_disk_space(edit.size_bytes, path.parent)
        _tidy(path)
        with as_user_errors(path), replacing(path) as unfinished:
            digest = _write(edit, unfinished, Share(edit.size_bytes, progress), cancel)
            self._unload(entry)
            shutil.copymode(path, unfinished)
        facts = path.stat()
        self._hashes.save(path, facts.st_size, facts.st_mtime_ns, digest)
        self._library.refresh()
        return self._library.find(entry.id)

    def save_copy(
        self, called: str, changes: Metadata, name: str, progress: Progress, cancel: CancelToken
    ) -> ModelEntry:
        """Write a copy with the changes into Hearth's own folder, and add it to the list.

        Args:
            name: Name of the copy, on the list and of its files.

        Raises:
            MetadataRefused: The name is not allowed.
            The errors of `change`.
        """
        entry = self._editable(called)
        stem = _file_name(name)
        edit = prepare(entry.path, changes)
        other_parts = entry.files[1:]
        sizes = [edit.size_bytes, *(path.stat().st_size for path in other_parts)]
        own = self._collection.own
        require_disk_space(sum(sizes), own)
        share = Share(sum(sizes), progress)
        folder = new_folder(own, stem)
        edits = [edit, *(Edit(path, b"", 0, 0) for path in other_parts)]
        try:
            for number, part_edit in enumerate(edits, 1):
                part_number = f"-{number:05}-of-{len(edits):05}" if other_parts else ""
                target = folder / f"{folder.name}{part_number}.gguf"
                part = target.with_name(f"{target.name}.part")
                digest = _write(part_edit, part, share, cancel)
                with as_user_errors(target):
                    replace_file(part, target)
                facts = target.stat()
                self._hashes.save(target, facts.st_size, facts.st_mtime_ns, digest)
        except BaseException:
            shutil.rmtree(folder)
            raise
        self._library.refresh()
        first = f"-00001-of-{len(edits):05}" if other_parts else ""
        return self._library.add(folder / f"{folder.name}{first}.gguf")

    def _editable(self, called: str) -> ModelEntry:
        entry = self._library.find(called)
        if entry.builtin or self._library.starter.path.parent in entry.path.parents:
            raise ModelNotOurs(
                N_("“{name}” cannot be edited.", name=entry.name),
                N_("It is part of Hearth and has been made for it."),
                N_("Choose a model of your own."),
            )
        if entry.engine != "llamacpp":
            raise ModelNotOurs(
                N_("“{name}” cannot be edited.", name=entry.name),
                N_("Only GGUF files can be edited here, and it has none."),
                N_("Choose a model with a GGUF file."),
            )
        return entry

    def _why_not(self, entry: ModelEntry) -> str:
        """Return why a model's own file cannot be changed; empty if it can."""
        sources = {model.path: model.source for model in self._collection.models()}
        source = sources.get(entry.path, entry.source)
        if source == "hub" or self._collection.hub in link_target(entry.path).parents:
            return N_("It is in the Hub's cache, where each file is named after its checksum.")
        if source not in ("added", "folder"):
            return N_(
                "It belongs to another program, and Hearth changes nothing of other programs."
            )
        if entry.path.is_symlink():
            return N_("It is a link to a file elsewhere, and other programs may rely on it.")
        return ""


def sample_prompt(template: str, cancel: CancelToken) -> str:
    """Render a short chat with a template, in a process of its own.

    Raises:
        TemplateFailed: The template cannot be used; the error says why.
        MetadataRefused, EngineUnavailable, Cancelled
    """
    from engines.dialect.dialect import Dialect

    Metadata(template=template)
    with closing(Dialect(template, bos="<s>", eos="</s>")) as dialect:
        return dialect.render(_SAMPLE, cancel=cancel).text.replace(SEAM, "")


def _file_name(name: str) -> str:
    """Turn a model's name into a file name.

    Raises:
        MetadataRefused: The name is not allowed.
    """
    Metadata(name=name)
    stem = "".join(letter if letter.isalnum() or letter in "-_.+ " else "-" for letter in name)
    stem = stem.strip(" .").removesuffix(".gguf")
    if not stem.strip("-") or len(stem.encode()) > 200:
        raise MetadataRefused(
            N_("The copy was not made."),
            N_("“{name}” cannot be the name of a file.", name=name),
            N_("Give the copy another name; letters and digits are safe."),
        )
    return stem


def _tidy(path: Path) -> None:
    """Remove unfinished files of processes that were killed; a live process writes constantly."""
    for unfinished in unfinished_of(path):
        with suppress(OSError):
            if time.time() - unfinished.stat().st_mtime > ABANDONED_S:
                unfinished.unlink()


def _write(edit: Edit, part: Path, share: Share, cancel: CancelToken) -> str:
    """Write a new file to the disk, piece by piece; return its SHA-256.

    Raises:
        ModelDiffers: The old file changed meanwhile.
    """
    with open_model(edit.source) as file:
        before = os.fstat(file.fileno())
        file.seek(edit.data)
        pieces = chain([edit.head], pieces_of(file, edit.source, cancel))
        digest = write_hashed(part, pieces, share)
        after = os.fstat(file.fileno())
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise ModelDiffers(
            N_("“{name}” was not edited.", name=edit.source.name),
            N_("Another program has changed the file in the meantime."),
            N_("Wait until that is done; then try again."),
        )
    return digest
