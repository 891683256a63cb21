"""The downloads for the window, with the queue's news brought to the UI thread."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from app.base.errors import ModelUnknown
from app.kit.tasks.tasks import Tasks
from app.models.downloads.services.queue import DownloadQueue
from app.models.downloads.values.downloads import Download
from app.models.library.services.library import Library
from app.models.library.values.entry import ModelEntry
from engines.errors import UserError
from engines.sentences import N_

DOWNLOADS = "downloads"
EVERY_MS = 250
"""The shortest time between two updates."""

_log = logging.getLogger(__name__)
_UNFINISHED = frozenset(("waiting", "running", "retrying", "verifying"))


class DownloadList(QObject):
    """The downloads as the window shows them.

    Attributes:
        last_downloads: The last value of `changed`; None before the first.

    Signals:
        changed: A tuple of Download; at most four times a second, however fast the bytes come.
        completed: A Download that is complete, and its ModelEntry in the library, or None.
        chosen: The ModelEntry of a download that the user wants to use.
        metered: Whether the connection is metered.
        failed: The error of a request.
    """

    changed = Signal(object)
    completed = Signal(object, object)
    chosen = Signal(object)
    metered = Signal(bool)
    failed = Signal(Exception)
    _poked = Signal()
    _finished = Signal(object)

    def __init__(
        self,
        queue: DownloadQueue,
        library: Library,
        metered: Callable[[], bool | None],
        tasks: Tasks,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.last_downloads: tuple[Download, ...] | None = None
        self._queue = queue
        self._library = library
        self._is_metered = metered
        self._tasks = tasks
        self._closed = False
        self._models: set[str] = set()
        self._reading = self._changed_meanwhile = False
        self._read_at = 0.0
        self._take_over = queue.on_done
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.look)
        self._poked.connect(self._plan)
        self._finished.connect(self._announce)
        tasks.closing.connect(self._close)
        queue.changed = self._poked.emit
        queue.on_done = self._done

    def look(self) -> None:
        """Read the state of all downloads, and start those that are waiting."""
        self._timer.stop()
        if self._closed:
            return
        if self._reading:
            self._changed_meanwhile = True
            return
        self._reading = True
        self._read_at = time.monotonic()

        def work() -> tuple[Download, ...]:
            downloads = tuple(self._queue.downloads())
            if any(download.state in _UNFINISHED for download in downloads):
                self._queue.start()
            return tuple(
                download if download.id in self._models else self._with_model(download)[0]
                for download in downloads
            )

        self._tasks.run(work, self._show, self._fail, on=DOWNLOADS)

    def check_metered(self) -> None:
        """Check whether the connection is metered, and emit `metered`."""
        self._tasks.run(
            lambda: bool(self._is_metered()), self.metered.emit, self.failed.emit, on=DOWNLOADS
        )

    def pause(self, download: str) -> None:
        """Pause a download, given by its id; its bytes stay."""
        self._run(lambda: self._queue.pause(download))

    def resume(self, download: str) -> None:
        """Resume a paused download, or retry a failed one."""
        self._run(lambda: self._queue.resume(download))

    def cancel(self, download: str) -> None:
        """Cancel a download, given by its id, and delete its incomplete files."""
        self._run(lambda: self._queue.cancel(download))

    def move(self, download: str, index: int) -> None:
        """Move a download to another place in the queue; 0 is the first."""
        self._run(lambda: self._queue.move(download, index))

    def clear_done(self) -> None:
        """Remove finished downloads from the list; their files stay."""
        self._run(self._queue.clear_done)

    def resume_stopped_by(self, code: str) -> None:
        """Resume all downloads that were paused by the error with this code."""

        def work() -> None:
            for download in self._queue.downloads():
                if download.state == "paused" and download.code == code:
                    self._queue.resume(download.id)

        self._run(work)

    def use(self, download: Download) -> None:
        """Emit `chosen` with the model of a download, or `failed` if the model is gone."""

        def work() -> ModelEntry:
            model = model_of(download, self._library.entries())
            if model is None:
                raise ModelUnknown(
                    N_("{label} is no longer on this computer.", label=download.wanted.label),
                    N_("Its file was removed, or moved away, after it was downloaded."),
                    N_("Download it again."),
                )
            return model

        self._tasks.run(work, self.chosen.emit, self.failed.emit, on=DOWNLOADS)

    def _run(self, work: Callable[[], None]) -> None:
        self._tasks.run(work, lambda _: None, self.failed.emit, on=DOWNLOADS)

    def _plan(self) -> None:
        """Schedule the next reading: now, or once `EVERY_MS` have passed since the last one."""
        if self._closed or self._timer.isActive():
            return
        since = (time.monotonic() - self._read_at) * 1000
        self._timer.start(max(0, round(EVERY_MS - since)))

    def _show(self, downloads: tuple[Download, ...]) -> None:
        self._finish_reading()
        self.last_downloads = downloads
        self.changed.emit(downloads)

    def _fail(self, error: Exception) -> None:
        self._finish_reading()
        self.failed.emit(error)

    def _finish_reading(self) -> None:
        """Mark the end of a reading; plan another one if something changed meanwhile."""
        self._reading = False
        if self._changed_meanwhile:
            self._changed_meanwhile = False
            self._plan()

    def _done(self, download: Download, paths: list[Path]) -> None:
        """Take over a finished download, on a thread of the queue."""
        try:
            self._take_over(download, paths)
        except UserError as error:
            _log.warning("what came is not noted as checked: %s", error)
        self._finished.emit(download)

    def _announce(self, download: Download) -> None:
        if self._closed:
            return
        finished = replace(download, state="done")
        self._tasks.run(
            lambda: self._with_model(finished),
            lambda result: self.completed.emit(*result),
            self.failed.emit,
            on=DOWNLOADS,
        )

    def _with_model(self, download: Download) -> tuple[Download, ModelEntry | None]:
        """Find the model that a download brought.

        Returns:
            The download and its model. For a drafter the model is None, and the download names the
                models that the drafter serves.
        """
        if download.state != "done":
            return download, None
        entry = model_of(download, self._library.entries())
        if entry is not None:
            self._models.add(download.id)
            return download, entry
        request = download.wanted
        served = (
            self._library.served_by_download(request.repo, file.path) for file in request.files
        )
        return replace(
            download, serves=next((names for names in served if names is not None), None)
        ), None

    def _close(self) -> None:
        self._closed = True
        self._timer.stop()


def model_of(download: Download, entries: list[ModelEntry]) -> ModelEntry | None:
    """Return the model that a download brought; None if it brought only a companion file."""
    files = {file.path for file in download.wanted.files}
    matching = [
        entry for entry in entries if entry.repo == download.wanted.repo and entry.file in files
    ]
    same = [entry for entry in matching if entry.revision == download.wanted.revision]
    return next(iter([*same, *matching]), None)
