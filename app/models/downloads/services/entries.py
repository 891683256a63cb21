"""The entries of the download queue, kept in memory and in the database."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from app.base.errors import AppError, DownloadUnknown
from app.base.ids import new_id
from app.base.processes import is_alive, this_process
from app.models.downloads.store import DownloadStore
from app.models.downloads.values.downloads import Download, DownloadRequest
from engines.sentences import N_

if TYPE_CHECKING:
    from app.models.downloads.services.entry import QueuedDownload
    from app.models.hub.fetch import Fetcher
    from app.models.hub.values.hub import RepoFile

_OVER = ("done", "cancelled")

_log = logging.getLogger(__name__)


class Entries:
    """The queue's entries in order, guarded by the queue's lock.

    Args:
        make: Makes the fetcher when it is first needed.
    """

    def __init__(self, store: DownloadStore, make: Callable[[], Fetcher]) -> None:
        self._store = store
        self._make = make
        self._runner = this_process()
        self.all: list[QueuedDownload] = []

    @cached_property
    def fetcher(self) -> Fetcher:
        """The fetcher of all downloads."""
        return self._make()

    def find(self, download: str) -> QueuedDownload:
        """Return the entry with this id.

        Raises:
            DownloadUnknown: The queue has no such entry.
        """
        for entry in self.all:
            if entry.stored.id == download:
                return entry
        raise DownloadUnknown(
            N_("There is no download “{download}”.", download=download),
            N_("It may have been cleared from the list since."),
            N_("Look at the list of downloads."),
            terminal=N_("`hearth downloads list` shows all of them."),
        )

    def unfinished_for(self, request: DownloadRequest) -> QueuedDownload | None:
        """Return the unfinished entry for the same files, and remove finished ones.

        Returns:
            None if there is none.
        """
        same = [entry for entry in self.all if _same(entry.stored.wanted, request)]
        self.remove([entry for entry in same if entry.stored.state in _OVER])
        return next((entry for entry in same if entry.stored.state not in _OVER), None)

    def add(self, request: DownloadRequest) -> QueuedDownload:
        """Add an entry at the end."""
        entry = self._queued(Download(new_id()[:12], request))
        self._store.add(entry.stored)
        self.all.append(entry)
        return entry

    def move(self, entry: QueuedDownload, index: int) -> None:
        """Move an entry to another place in the queue, and save the order."""
        self.all.remove(entry)
        self.all.insert(max(0, index), entry)
        self._store.order([entry.stored.id for entry in self.all])

    def remove(self, entries: list[QueuedDownload]) -> None:
        """Remove entries from the queue and from the database."""
        self._store.remove([entry.stored.id for entry in entries])
        self.all = [entry for entry in self.all if entry not in entries]

    def remove_finished(self) -> None:
        """Remove the entries that are done or cancelled, unless a thread still works on them."""
        self.remove([entry for entry in self.all if entry.stored.state in _OVER and not entry.work])

    def save(self, entry: QueuedDownload, stored: Download) -> None:
        """Save an entry, with a note if this process is working on it.

        If it cannot be saved, because the disk is full for example, a later call tries again.
        """
        stored = replace(stored, runner=self._runner if entry.work else None)
        if stored == entry.stored and not entry.unsaved:
            return
        entry.stored = stored
        try:
            self._store.update(stored)
        except AppError as error:
            entry.unsaved = True
            _log.warning("the queue could not be saved: %s", error)
        else:
            entry.unsaved = False

    def read(self, on_change: Callable[[QueuedDownload], None]) -> None:
        """Read the changes that other processes made.

        Args:
            on_change: Called with each entry whose state has changed.
        """
        try:
            rows = self._store.downloads()
        except AppError as error:
            _log.warning("the queue could not be read: %s", error)
            return
        vanished = {entry.stored.id: entry for entry in self.all}
        self.all = [self._updated(vanished.pop(row.id, None), row, on_change) for row in rows]
        for entry in vanished.values():
            entry.stop()

    def remaining_bytes(self, entry: QueuedDownload) -> int:
        """Return how many more bytes of disk a download will take."""
        request = entry.stored.wanted
        missing = [file for file in request.files if file.path not in entry.paths]
        return sum(
            max(0, file.size - self.fetcher.arrived(request.one(file))[1]) for file in missing
        )

    def forget_parts(self, entry: QueuedDownload) -> None:
        """Remove the parts of a cancelled download, once no thread writes them.

        Parts that another download also needs are kept.
        """
        if entry.stored.state != "cancelled" or entry.work:
            return
        needed: set[tuple[str, RepoFile]] = set()
        for other in self.all:
            if other.stored.state not in _OVER:
                needed |= {(other.stored.wanted.repo, file) for file in other.stored.wanted.files}
        for file in entry.stored.wanted.files:
            if (entry.stored.wanted.repo, file) not in needed:
                self.fetcher.forget(entry.stored.wanted.one(file))
        entry.done = self._arrived_bytes(entry.stored)

    def _updated(
        self,
        entry: QueuedDownload | None,
        row: Download,
        on_change: Callable[[QueuedDownload], None],
    ) -> QueuedDownload:
        if entry is None:
            entry = self._queued(row)
        elif entry.unsaved:
            self.save(entry, entry.stored)
        elif row != entry.stored:
            before, entry.stored = entry.stored.state, row
            if row.state != before:
                on_change(entry)
        runner = entry.stored.runner
        entry.runs_elsewhere = runner not in (None, self._runner) and is_alive(runner or "")
        if entry.runs_elsewhere:
            entry.done = self._arrived_bytes(row)
        return entry

    def _queued(self, stored: Download) -> QueuedDownload:
        from app.models.downloads.services.entry import QueuedDownload

        return QueuedDownload(stored, self._arrived_bytes(stored))

    def _arrived_bytes(self, stored: Download) -> dict[str, int]:
        request = stored.wanted
        return {file.path: self.fetcher.arrived(request.one(file))[0] for file in request.files}


def _same(first: DownloadRequest, second: DownloadRequest) -> bool:
    """Return whether two requests are for the same files, whatever their labels."""
    return (first.repo, first.revision, first.files) == (second.repo, second.revision, second.files)
