"""One download of the queue in progress: the files that are here, and its state."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.models.downloads.values.downloads import Download, DownloadState
from app.models.hub.transfer import Checking, Receiving, Retrying, StartedAnew, Step
from app.models.hub.values.hub import RepoFile
from engines.cancel import CancelToken

_SETTLES_S = 4.0
_KNOWN_AFTER_S = 1.5
"""Earlier, the speed is mostly that of the first buffers."""


class Rate:
    """The speed of a download, as an average in which older bytes weigh less."""

    def __init__(self) -> None:
        self._last: tuple[int, float] | None = None
        self._bytes = self._seconds = 0.0

    def update(self, done: int, now: float) -> None:
        """Measure the speed; start again if there are fewer bytes than before.

        Args:
            done: Bytes that are here.
            now: The time of the measurement, in seconds.
        """
        if self._last is not None and done < self._last[0]:
            self.stop()
        if self._last is not None:
            seconds = now - self._last[1]
            weight = math.exp(-seconds / _SETTLES_S)
            self._bytes = self._bytes * weight + (done - self._last[0])
            self._seconds = self._seconds * weight + seconds
        self._last = (done, now)

    def stop(self) -> None:
        """Reset the speed, because no bytes come at the moment."""
        self._last = None
        self._bytes = self._seconds = 0.0

    @property
    def bytes_per_s(self) -> float | None:
        """The speed; None until it has been measured long enough."""
        return self._bytes / self._seconds if self._seconds >= _KNOWN_AFTER_S else None

    def seconds_left(self, remaining: int) -> float | None:
        """Return how many seconds `remaining` more bytes take; None if the speed is unknown."""
        rate = self.bytes_per_s
        return remaining / rate if rate else None


@dataclass
class FileWork:
    """A file that a thread is working on.

    Attributes:
        retry_at: When the next attempt begins, by the monotonic clock.
    """

    cancel: CancelToken = field(default_factory=CancelToken)
    step: Step | None = None
    retry_at: float = 0.0


@dataclass
class QueuedDownload:
    """A download in progress.

    The queue's lock guards it, except for the progress that the threads record.

    Attributes:
        stored: The download as it is in the database, without its progress.
        done: Bytes that are here, by path.
        work: Files that threads are working on, by path.
        paths: Complete files, by path in the repository.
        space_checked: Whether the disk was found to have room for it.
        runs_elsewhere: Whether another process is working on it.
        unsaved: Whether `stored` still has to be written to the database.
    """

    stored: Download
    done: dict[str, int]
    work: dict[str, FileWork] = field(default_factory=dict)
    paths: dict[str, Path] = field(default_factory=dict)
    rate: Rate = field(default_factory=Rate)
    space_checked: bool = False
    runs_elsewhere: bool = False
    unsaved: bool = False

    @property
    def active(self) -> bool:
        """True if it is in progress or waits for its turn."""
        return self.stored.state == "waiting"

    @property
    def complete(self) -> bool:
        """True if all its files are here."""
        return len(self.paths) == len(self.stored.wanted.files)

    def next_file(self) -> RepoFile | None:
        """Return the first file that no thread is working on; None if there is none."""
        for file in self.stored.wanted.files:
            if file.path not in self.work and file.path not in self.paths:
                return file
        return None

    def begin(self, file: RepoFile) -> None:
        """Record that a thread is working on a file."""
        self.work[file.path] = FileWork()

    def ordered_paths(self) -> list[Path]:
        """Return the paths of the complete files, in the order in which they were requested."""
        files = self.stored.wanted.files
        return [self.paths[file.path] for file in files if file.path in self.paths]

    def record(self, path: str, step: Step, now: float) -> None:
        """Record a step of the transfer of one file."""
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
                pass  # these bytes are counted already

    def measure(self, now: float) -> None:
        """Update the rate; reset it while no bytes are coming."""
        if any(isinstance(work.step, Receiving) for work in self.work.values()):
            self.rate.update(sum(self.done.values()), now)
        else:
            self.rate.stop()

    def stop(self) -> None:
        """Cancel the work of all threads; they end soon afterwards."""
        for work in self.work.values():
            work.cancel.cancel()

    def snapshot(self) -> Download:
        """Return the download as it is now."""
        done = sum(self.done.values())
        now = replace(self.stored, state=self._state(), bytes_done=done)
        if now.state == "running":
            seconds_left = self.rate.seconds_left(now.wanted.bytes_total - done)
            return replace(now, bytes_per_s=self.rate.bytes_per_s, seconds_left=seconds_left)
        waits = [
            (work.retry_at, work.step.error)
            for work in self.work.values()
            if isinstance(work.step, Retrying)
        ]
        if now.state != "retrying" or not waits:
            return now
        at, error = min(waits, key=lambda wait: wait[0])
        return replace(now.with_error(error), retry_in_s=max(0.0, at - time.monotonic()))

    def _state(self) -> DownloadState:
        if not self.active:
            return self.stored.state
        steps = [work.step for work in self.work.values()]
        if any(isinstance(step, Receiving | StartedAnew) for step in steps) or self.runs_elsewhere:
            return "running"
        if any(isinstance(step, Retrying) for step in steps):
            return "retrying"
        if any(isinstance(step, Checking) for step in steps):
            return "verifying"
        return "running" if steps else "waiting"
