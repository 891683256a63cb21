"""The queue of downloads: its order, its threads, and its survival of a restart."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.base.errors import AppError, DiskFull, Offline
from app.models.downloads.services.entries import Entries
from app.models.downloads.store import DownloadStore
from app.models.downloads.values.downloads import Download, DownloadRequest, StoredState
from engines.errors import Cancelled, UserError
from engines.sentences import N_

if TYPE_CHECKING:
    from app.models.downloads.services.entry import QueuedDownload
    from app.models.hub.fetch import Fetcher
    from app.models.hub.retry import Patience
    from app.models.hub.transfer import Step
    from app.models.hub.values.hub import RepoFile

_ANNOUNCE_EVERY_S = 0.2
_REFRESH_EVERY_S = 1.0
_MOST_THREADS = 4
_JOIN_S = 5.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class DownloadLimits:
    """The limits that all downloads share.

    Attributes:
        limit: Speed limit in bytes/s; 0 means no limit.
        parallel: How many files are downloaded at once.
        patience: Retry limits; None leaves them to the fetcher.
    """

    limit: float = 0.0
    parallel: int = 2
    patience: Patience | None = None


class DownloadQueue:
    """Downloads files in order, from `start` until `close`; for use from any thread.

    Several processes can have the same queue open. If one of them pauses or cancels a download,
    the process that is working on it stops.

    Args:
        fetcher: Makes the fetcher, when there is something to download.

    Attributes:
        limits: Returns the limits; called about once a second, and can be replaced.
        changed: Called from any thread after a change, at most a few times a second while bytes
            come.
        on_done: Called on a thread of the queue with the download and the paths of its files, in
            the order in which they were requested.
    """

    def __init__(
        self,
        store: DownloadStore,
        fetcher: Callable[[], Fetcher],
        limits: Callable[[], DownloadLimits],
    ) -> None:
        self.changed: Callable[[], None] = _ignore
        self.on_done: Callable[[Download, list[Path]], None] = _ignore
        self.limits = limits

        def make_fetcher() -> Fetcher:
            new_fetcher = fetcher()
            _apply_limits(self.limits(), new_fetcher)
            return new_fetcher

        self._entries = Entries(store, make_fetcher)
        self._only: Collection[str] | None = None
        self._threads: list[threading.Thread] = []
        self._closed = False
        self._refreshed_at = self._announced_at = -math.inf
        self._parallel = 1
        self._lock = threading.Condition(threading.RLock())

    def downloads(self) -> list[Download]:
        """Return the downloads in their order, in their current state."""
        with self._lock:
            self._refresh()
            return [entry.snapshot() for entry in self._entries.all]

    def download(self, download: str) -> Download:
        """Return one download.

        Raises:
            DownloadUnknown: The queue has no such download.
        """
        with self._lock:
            self._refresh()
            return self._entries.find(download).snapshot()

    def paths(self, download: str) -> list[Path]:
        """Return the files that this process has downloaded, in the order of the request."""
        with self._lock:
            return self._entries.find(download).ordered_paths()

    def add(self, request: DownloadRequest) -> Download:
        """Add files to the end of the queue, or resume an unfinished download of the same files.

        Raises:
            AppError: The files cannot be saved.
        """
        with self._lock:
            self._refresh()
            entry = self._entries.unfinished_for(request)
            if entry is None:
                entry = self._entries.add(request)
                self._lock.notify_all()
            else:
                self.resume(entry.stored.id)
            added = entry.snapshot()
        self.changed()
        return added

    def pause(self, download: str) -> None:
        """Stop a download and keep its bytes.

        Raises:
            DownloadUnknown: The queue has no such download.
        """
        self._change_state(download, ("waiting",), "paused")

    def resume(self, download: str) -> None:
        """Resume a paused or failed download.

        Raises:
            DownloadUnknown: The queue has no such download.
        """
        self._change_state(download, ("paused", "failed"), "waiting")

    def cancel(self, download: str) -> None:
        """Stop a download and remove its incomplete files.

        Raises:
            DownloadUnknown: The queue has no such download.
        """
        self._change_state(download, ("waiting", "paused", "failed"), "cancelled")

    def move(self, download: str, index: int) -> None:
        """Move a download to another place in the queue; 0 is the first.

        Raises:
            DownloadUnknown: The queue has no such download.
        """
        with self._lock:
            self._entries.move(self._entries.find(download), index)
            self._lock.notify_all()
        self.changed()

    def clear_done(self) -> None:
        """Remove finished and cancelled downloads from the list; their files stay."""
        with self._lock:
            self._entries.remove_finished()
        self.changed()

    def start(self, only: Collection[str] | None = None) -> None:
        """Start all waiting downloads, or only the ids in `only`."""
        with self._lock:
            self._refresh()
            self._only = only
            for number in range(len(self._threads), _MOST_THREADS):
                thread = threading.Thread(
                    target=self._work, name=f"hearth-download-{number}", daemon=True
                )
                self._threads.append(thread)
                thread.start()

    def close(self) -> None:
        """Stop all work and keep the bytes; unfinished downloads continue after the next start."""
        with self._lock:
            self._closed = True
            for entry in self._entries.all:
                entry.stop()
            self._lock.notify_all()
        until = time.monotonic() + _JOIN_S
        for thread in self._threads:
            # A thread that is opening a connection cannot be woken; it does nothing afterwards.
            thread.join(max(0.0, until - time.monotonic()))

    def _work(self) -> None:
        while (job := self._next()) is not None:
            entry, file = job
            try:
                self._carry_out(entry, file)
            finally:
                self._release(entry, file)

    def _next(self) -> tuple[QueuedDownload, RepoFile] | None:
        """Wait for the next file to download; return None once the queue is closed."""
        with self._lock:
            while not self._closed:
                self._refresh()
                busy = sum(len(entry.work) for entry in self._entries.all)
                for entry in self._entries.all if busy < self._parallel else ():
                    file = entry.next_file() if self._may_run(entry) else None
                    if file is not None:
                        entry.begin(file)
                        self._entries.save(entry, entry.stored)
                        return entry, file
                self._lock.wait(_REFRESH_EVERY_S)
        return None

    def _may_run(self, entry: QueuedDownload) -> bool:
        if self._only is not None:
            return entry.active and entry.stored.id in self._only
        return entry.active and not entry.runs_elsewhere

    def _carry_out(self, entry: QueuedDownload, file: RepoFile) -> None:
        cancel = entry.work[file.path].cancel
        try:
            self._require_disk_space(entry)
            path = self._entries.fetcher.fetch(
                entry.stored.wanted.one(file),
                lambda step: self._record_step(entry, file.path, step),
                cancel,
            )
        except Cancelled:
            return
        except UserError as error:
            self._end_with(entry, error)
        except Exception:  # noqa: BLE001 - a mistake of ours ends this download, not the queue
            _log.exception("a download failed by a mistake of Hearth")
            self._end_with(entry, _bug_error(entry))
        else:
            self._finish_file(entry, file, path)

    def _require_disk_space(self, entry: QueuedDownload) -> None:
        """Refuse a download that does not fit on the disk beside the downloads under way.

        Raises:
            DiskFull: There is too little space.
        """
        from app.models.hub.space import require_disk_space

        with self._lock:
            if entry.space_checked:
                return
            active = [other for other in self._entries.all if other.space_checked and other.active]
            promised = sum(self._entries.remaining_bytes(other) for other in active)
            require_disk_space(
                self._entries.fetcher.root, self._entries.remaining_bytes(entry), promised
            )
            entry.space_checked = True

    def _record_step(self, entry: QueuedDownload, path: str, step: Step) -> None:
        now = time.monotonic()
        # No lock is needed: this is called for every chunk and only sets single values.
        kind = type(entry.work[path].step)
        entry.record(path, step, now)
        if now - self._announced_at < _ANNOUNCE_EVERY_S and kind is type(step):
            return
        with self._lock:
            self._announced_at = now
            for queued in self._entries.all:
                queued.measure(now)
            self._refresh()
        self.changed()

    def _finish_file(self, entry: QueuedDownload, file: RepoFile, path: Path) -> None:
        """Finish a file; after the last one, call `on_done` before the state becomes "done"."""
        with self._lock:
            entry.paths[file.path] = path
            entry.done[file.path] = file.size
            if self._closed or not entry.complete or entry.stored.state == "cancelled":
                return
        done = replace(entry.snapshot(), state="done")
        try:
            self.on_done(done, entry.ordered_paths())
        except Exception:  # noqa: BLE001 - the files are here whatever becomes of the news
            _log.exception("a finished download was not taken note of")
        with self._lock:
            self._entries.save(entry, replace(entry.stored.with_error(None), state="done"))

    def _end_with(self, entry: QueuedDownload, error: UserError) -> None:
        """Stop a download because of an error.

        If the file is not at fault, the download is paused and can continue later. Otherwise it
        fails.
        """
        state: StoredState = "paused" if isinstance(error, DiskFull | Offline) else "failed"
        with self._lock:
            if entry.active and not self._closed:
                self._entries.save(entry, replace(entry.stored.with_error(error), state=state))
                entry.stop()

    def _release(self, entry: QueuedDownload, file: RepoFile) -> None:
        with self._lock:
            entry.work.pop(file.path, None)
            entry.rate.stop()
            if not entry.work:
                entry.space_checked = False
                self._settle(entry)
            self._lock.notify_all()
        self.changed()

    def _settle(self, entry: QueuedDownload) -> None:
        """Save an entry that no thread works on any more.

        After `close` it is not saved, because the database may be closed too.
        """
        if not self._closed:
            self._entries.save(entry, entry.stored)
        try:
            self._entries.forget_parts(entry)
        except AppError as error:
            _log.warning("a part could not be removed: %s", error)

    def _change_state(self, download: str, before: Collection[str], after: StoredState) -> None:
        with self._lock:
            self._refresh()
            entry = self._entries.find(download)
            if entry.stored.state in before:
                self._entries.save(entry, replace(entry.stored.with_error(None), state=after))
                self._apply_state(entry)
        self.changed()

    def _apply_state(self, entry: QueuedDownload) -> None:
        """Make the threads follow a download's new state."""
        if entry.active:
            self._lock.notify_all()
        else:
            entry.stop()
            self._entries.forget_parts(entry)

    def _refresh(self) -> None:
        """Read the changes of other processes and of the settings, at most once a second."""
        now = time.monotonic()
        if self._closed or now - self._refreshed_at < _REFRESH_EVERY_S:
            return
        self._refreshed_at = now
        limits = self.limits()
        self._parallel = limits.parallel
        if "fetcher" in vars(self._entries):
            _apply_limits(limits, self._entries.fetcher)
        self._entries.read(self._apply_state)


def _apply_limits(limits: DownloadLimits, fetcher: Fetcher) -> None:
    fetcher.limiter.rate = limits.limit
    fetcher.patience = limits.patience or fetcher.patience


def _ignore(*_: object) -> None:
    """Do nothing; the default listener."""


def _bug_error(entry: QueuedDownload) -> AppError:
    return AppError(
        N_("{label} could not be downloaded.", label=entry.stored.wanted.label),
        N_("This is a bug in Hearth; the report is in its log."),
        N_("Resume the download; if it fails again, please send the log to the project."),
    )
