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
from app.models.downloads.values.downloads import Download, Wanted
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
        return self._make()

    def find(self, download: str) -> QueuedDownload:
        """Return the entry with this id.

        Raises:
            DownloadUnknown: The queue has no such entry.
        """
        for entry in self.all:
            if entry.kept.id == download:
                return entry
        raise DownloadUnknown(
            N_("There is no download “{download}”.", download=download),
            N_("It may have been cleared from the list since."),
            N_("Look at the list of downloads."),
            terminal=N_("`hearth downloads list` shows all of them."),
        )

    def wanting(self, wanted: Wanted) -> QueuedDownload | None:
        """Return the unfinished entry for the same files, and remove finished ones.

        Returns:
            None if there is none.
        """
        found = [entry for entry in self.all if _same(entry.kept.wanted, wanted)]
        self.remove([entry for entry in found if entry.kept.state in _OVER])
        return next((entry for entry in found if entry.kept.state not in _OVER), None)

    def add(self, wanted: Wanted) -> QueuedDownload:
        """Add an entry at the end."""
        entry = self._made(Download(new_id()[:12], wanted))
        self._store.add(entry.kept)
        self.all.append(entry)
        return entry

    def move(self, entry: QueuedDownload, index: int) -> None:
        self.all.remove(entry)
        self.all.insert(max(0, index), entry)
        self._store.order([each.kept.id for each in self.all])

    def remove(self, entries: list[QueuedDownload]) -> None:
        self._store.remove([entry.kept.id for entry in entries])
        self.all = [entry for entry in self.all if entry not in entries]

    def remove_over(self) -> None:
        """Remove the entries that are done or cancelled, unless a thread still works on them."""
        self.remove([each for each in self.all if each.kept.state in _OVER and not each.work])

    def keep(self, entry: QueuedDownload, kept: Download) -> None:
        """Save an entry, with a note if this process is working on it.

        If it cannot be saved, because the disk is full for example, a later call tries again.
        """
        kept = replace(kept, runner=self._runner if entry.work else None)
        if kept == entry.kept and not entry.unsaved:
            return
        entry.kept = kept
        try:
            self._store.update(kept)
        except AppError as error:
            entry.unsaved = True
            _log.warning("the queue could not be saved: %s", error)
        else:
            entry.unsaved = False

    def read(self, turned: Callable[[QueuedDownload], None]) -> None:
        """Read the changes that other processes made.

        Args:
            turned: Called with each entry whose state has changed.
        """
        try:
            rows = self._store.downloads()
        except AppError as error:
            _log.warning("the queue could not be read: %s", error)
            return
        known = {entry.kept.id: entry for entry in self.all}
        self.all = [self._brought_up_to_date(known.pop(row.id, None), row, turned) for row in rows]
        for gone in known.values():
            gone.stop()

    def to_come(self, entry: QueuedDownload) -> int:
        """Return how many more bytes of disk a download will take."""
        wanted = entry.kept.wanted
        left = [file for file in wanted.files if file.path not in entry.paths]
        return sum(max(0, it.size - self.fetcher.arrived(wanted.one(it))[1]) for it in left)

    def forget_parts(self, entry: QueuedDownload) -> None:
        """Remove the parts of a cancelled download, once no thread writes them.

        Parts that another download also needs are kept.
        """
        if entry.kept.state != "cancelled" or entry.work:
            return
        wanted: set[tuple[str, RepoFile]] = set()
        for other in self.all:
            if other.kept.state not in _OVER:
                wanted |= {(other.kept.wanted.repo, file) for file in other.kept.wanted.files}
        for file in entry.kept.wanted.files:
            if (entry.kept.wanted.repo, file) not in wanted:
                self.fetcher.forget(entry.kept.wanted.one(file))
        entry.done = self._here(entry.kept)

    def _brought_up_to_date(
        self,
        entry: QueuedDownload | None,
        row: Download,
        turned: Callable[[QueuedDownload], None],
    ) -> QueuedDownload:
        if entry is None:
            entry = self._made(row)
        elif entry.unsaved:
            self.keep(entry, entry.kept)
        elif row != entry.kept:
            before, entry.kept = entry.kept.state, row
            if row.state != before:
                turned(entry)
        runner = entry.kept.runner
        entry.elsewhere = runner not in (None, self._runner) and is_alive(runner or "")
        if entry.elsewhere:
            entry.done = self._here(row)
        return entry

    def _made(self, kept: Download) -> QueuedDownload:
        from app.models.downloads.services.entry import QueuedDownload

        return QueuedDownload(kept, self._here(kept))

    def _here(self, kept: Download) -> dict[str, int]:
        wanted = kept.wanted
        return {it.path: self.fetcher.arrived(wanted.one(it))[0] for it in wanted.files}


def _same(one: Wanted, other: Wanted) -> bool:
    """Return whether two requests are for the same files, whatever their labels."""
    return (one.repo, one.revision, one.files) == (other.repo, other.revision, other.files)
