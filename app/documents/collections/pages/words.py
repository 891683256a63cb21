"""Texts about collections: their reading progress, their files, and the places of passages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from PySide6.QtCore import QCoreApplication

from app.base.language import translated
from app.documents.collections.values import CollectionState, IndexedFile, IndexProgress
from app.documents.pages.words import parts_words, place_words
from app.documents.values.documents import Location, LocationKind
from app.kit.look.format import figure, small_size


def _tr(text: str) -> str:
    return QCoreApplication.translate("documents", text)


def is_at_work(state: CollectionState, progress: IndexProgress | None) -> bool:
    """Return whether part of a collection is still to be read, so that it can be paused."""
    reads = progress is not None and (progress.doing != "looking" or state.looked is None)
    return reads or state.waiting > 0 or _lacks_vectors(state)


def standing(state: CollectionState, progress: IndexProgress | None) -> str:
    """Describe in one line how far a collection has been read."""
    if state.collection.paused or state.waiting:
        return _part(state)
    if state.looked is None and state.collection.paths:
        return _tr("Looking through the folders…")
    if not state.files:
        return _tr("No files yet")
    files = count_of_files(state.files)
    if is_at_work(state, progress):
        percent = share(state, progress)
        return _tr("{files}, all read. Search by meaning: {percent} % ready").format(
            files=files, percent=percent
        )
    if state.not_all_read:
        return ", ".join([files, *not_read(state)])
    return _tr("{files}, all read").format(files=files)


def _part(state: CollectionState) -> str:
    """Describe which part of an unfinished collection has been read."""
    read, files = figure(state.files - state.waiting), figure(state.files)
    if not state.collection.paused:
        return _tr("Reading: {read} of {files} files").format(read=read, files=files)
    if state.waiting:
        return _tr("Paused: {read} of {files} files are read").format(read=read, files=files)
    return _tr("Paused")


def share(state: CollectionState, progress: IndexProgress | None) -> int:
    """Return the progress of the current work on a collection, in percent."""
    if state.waiting:
        return _percent(state.files - state.waiting, state.files)
    if progress is not None and progress.doing == "vectors":
        return _percent(progress.done, progress.total)
    return _percent(state.with_vectors, state.passages)


def reading_of(states: Sequence[CollectionState]) -> str:
    """Describe how many files answers can use; "" if all are read."""
    lacking = sum(state.waiting + state.not_all_read for state in states)
    files = sum(state.files for state in states)
    if not lacking:
        return ""
    read = figure(files - lacking)
    return _tr("{read} of {files} files have been read; answers can use those.").format(
        read=read, files=figure(files)
    )


def facts(state: CollectionState) -> list[str]:
    """Return other facts about a collection, one per line."""
    lines = [f"{trouble.path}: {translated(trouble.why)}" for trouble in state.troubles]
    if state.left_out:
        words = _tr("Left out because they are not documents: {left_out}.")
        lines.append(words.format(left_out=count_of_files(state.left_out)))
    if state.files:
        words = _tr("The index uses {index_bytes} of disk space.")
        lines.append(words.format(index_bytes=small_size(state.index_bytes)))
    return lines


def count_of_files(count: int) -> str:
    """Return the text for a number of files."""
    return _tr("1 file") if count == 1 else _tr("{files} files").format(files=figure(count))


def not_read(state: CollectionState) -> list[str]:
    """List how many files are not fully read, by reason."""
    reasons = (
        (state.unreadable, _tr("1 could not be read"), _tr("{count} could not be read")),
        (state.scans, _tr("1 is a scan without text"), _tr("{count} are scans without text")),
        (state.partly_read, _tr("1 is read in part"), _tr("{count} are read in part")),
        (state.empty, _tr("1 has no text"), _tr("{count} have no text")),
    )
    return [
        one if count == 1 else many.format(count=figure(count))
        for count, one, many in reasons
        if count
    ]


def file_state(file: IndexedFile) -> str:
    """Return the text for the state of a file."""
    words = {
        "waiting": _tr("Waiting"),
        "read": _tr("Read"),
        "scan": _tr("Not read: a scan without text"),
        "empty": _tr("No text in it"),
        "unreadable": _tr("Not read"),
    }
    if file.state == "partly_read":
        if file.scanned == 1:
            return _tr("Read in part, 1 page is a picture")
        return _tr("Read in part, {scanned} pages are pictures").format(
            scanned=figure(file.scanned)
        )
    if file.state == "read" and file.unread:
        return _tr("Read without {unread}").format(unread=parts_words(file.unread))
    return words[file.state]


def passage_place(file: str, place: Location) -> str:
    """Return the file name and the place of a passage."""
    name = PurePath(file).name
    if place.kind is LocationKind.WHOLE:
        return name
    return _tr("{name}, {source}").format(name=name, source=place_words(place))


def _lacks_vectors(state: CollectionState) -> bool:
    return bool(state.next_model) or (bool(state.model) and state.with_vectors < state.passages)


def _percent(part: int, whole: int) -> int:
    return min(100, round(100 * part / whole)) if whole else 0
