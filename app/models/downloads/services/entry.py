"""One download of the queue in progress: the files that have come, and its state."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.models.downloads.store import KeptDownload
from app.models.downloads.values.downloads import Download, DownloadState
from app.models.hub.fetch import WantedFile
from app.models.hub.transfer import Checking, Receiving, Retrying, StartedAnew, Step
from app.models.hub.values.hub import RepoFile
from engines.cancel import CancelToken

_SETTLES_S = 4.0
_KNOWN_AFTER_S = 1.5
"""Before that a speed is mostly that of the first buffers."""


class Rate:
    """The speed of a download: bytes over seconds, older ones with less weight."""

    def __init__(self) -> None:
        self._last: tuple[int, float] | None = None
        self._bytes = self._seconds = 0.0

    def update(self, done: int, now: float) -> None:
        """Measure: `done` bytes are here at `now` seconds. Fewer than before begin anew."""
        if self._last is not None and done < self._last[0]:
            self.stop()
        if self._last is not None:
            seconds = now - self._last[1]
            kept = math.exp(-seconds / _SETTLES_S)
            self._bytes = self._bytes * kept + (done - self._last[0])
            self._seconds = self._seconds * kept + seconds
        self._last = (done, now)

    def stop(self) -> None:
        """Note that nothing comes at the moment."""
        self._last = None
        self._bytes = self._seconds = 0.0

    @property
    def bytes_per_s(self) -> float | None:
        return self._bytes / self._seconds if self._seconds >= _KNOWN_AFTER_S else None

    def seconds_left(self, left: int) -> float | None:
        """Return the seconds until so many bytes have come; None if nobody can tell."""
        rate = self.bytes_per_s
        return left / rate if rate else None


@dataclass
class FileWork:
    """A file that a thread is at work on. retry_at: by the monotonic clock."""

    cancel: CancelToken = field(default_factory=CancelToken)
    step: Step | None = None
    retry_at: float = 0.0


@dataclass
class QueuedDownload:
    """A download in progress, guarded by the queue's lock but for what its threads count.

    kept: as the database has it. done: bytes that are here, by path. work: files at work.
    paths: files that are whole. began: it has been found that there is room for it.
    elsewhere: another process is at work on it. unsaved: the database does not have it yet.
    """

    kept: KeptDownload
    done: dict[str, int]
    work: dict[str, FileWork] = field(default_factory=dict)
    paths: dict[str, Path] = field(default_factory=dict)
    rate: Rate = field(default_factory=Rate)
    began: bool = False
    elsewhere: bool = False
    unsaved: bool = False

    @property
    def live(self) -> bool:
        return self.kept.state == "waiting"

    @property
    def whole(self) -> bool:
        return len(self.paths) == len(self.kept.wanted.files)

    def next_file(self) -> RepoFile | None:
        """Return the first file that nobody is at work on."""
        for file in self.kept.wanted.files:
            if file.path not in self.work and file.path not in self.paths:
                return file
        return None

    def begin(self, file: RepoFile) -> None:
        self.work[file.path] = FileWork()

    def item(self, file: RepoFile) -> WantedFile:
        wanted = self.kept.wanted
        return WantedFile(wanted.repo, wanted.revision, file, wanted.ref)

    def ordered_paths(self) -> list[Path]:
        """Return the paths of the whole files, in the order in which they were wanted."""
        files = self.kept.wanted.files
        return [self.paths[file.path] for file in files if file.path in self.paths]

    def take(self, path: str, step: Step, now: float) -> None:
        work = self.work[path]
        work.step = step
        match step:
            case Receiving(done):
                self.done[path] = done
            case Retrying(seconds=seconds):
                work.retry_at = now + seconds
            case StartedAnew():
                self.done[path] = 0
            case Checking():
                pass  # what is read again was here before

    def measure(self, now: float) -> None:
        """Bring the rate up to date; it stands still while no byte is on its way."""
        if any(isinstance(work.step, Receiving) for work in self.work.values()):
            self.rate.update(sum(self.done.values()), now)
        else:
            self.rate.stop()

    def stop(self) -> None:
        for work in self.work.values():
            work.cancel.cancel()

    def snapshot(self) -> Download:
        kept = self.kept
        done = sum(self.done.values())
        value = Download(kept.id, kept.wanted, self._state(), done)
        value = replace(value, what=kept.what, why=kept.why, do=kept.do, code=kept.code)
        if value.state == "running":
            rate = self.rate
            left = rate.seconds_left(kept.wanted.bytes_total - done)
            return replace(value, bytes_per_s=rate.bytes_per_s, seconds_left=left)
        waits = [
            (work.retry_at, work.step.error)
            for work in self.work.values()
            if isinstance(work.step, Retrying)
        ]
        if value.state != "retrying" or not waits:
            return value
        at, error = min(waits, key=lambda wait: wait[0])
        left = max(0.0, at - time.monotonic())
        return replace(
            value, retry_in_s=left, what=error.what, why=error.why, do=error.do, code=error.code
        )

    def _state(self) -> DownloadState:
        if not self.live:
            return self.kept.state
        steps = [work.step for work in self.work.values()]
        if any(isinstance(step, Receiving | StartedAnew) for step in steps) or self.elsewhere:
            return "running"
        if any(isinstance(step, Retrying) for step in steps):
            return "retrying"
        if any(isinstance(step, Checking) for step in steps):
            return "verifying"
        return "running" if steps else "waiting"
