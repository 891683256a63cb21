"""A download: its files and its state."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from app.models.hub.values.hub import FileRequest, RepoFile
from engines.errors import UserError

StoredState = Literal["waiting", "paused", "done", "failed", "cancelled"]
"""The state in the database; a running download is "waiting", so that it resumes after a crash."""

DownloadState = StoredState | Literal["running", "retrying", "verifying"]


@dataclass(frozen=True)
class DownloadRequest:
    """A request for files of one repository at one commit, such as the parts of a model.

    Attributes:
        label: The name that the user sees.
        ref: The branch or tag that led to the commit; other tools will look for the files by it.
    """

    repo: str
    revision: str
    files: tuple[RepoFile, ...]
    label: str
    ref: str = "main"

    @property
    def bytes_total(self) -> int:
        """The size of all files, in bytes."""
        return sum(file.size for file in self.files)

    def one(self, file: RepoFile) -> FileRequest:
        """Return the request for one of the files."""
        return FileRequest(self.repo, self.revision, file, self.ref)


@dataclass(frozen=True)
class Download:
    """One entry of the download queue.

    The database keeps its files, its state, its error and its runner. The queue adds the progress
    at one moment.

    Attributes:
        bytes_done: Bytes of all files that are on the disk.
        bytes_per_s: The recent speed; None while nothing comes.
        seconds_left: The remaining time at that speed.
        retry_in_s: Seconds until the next attempt, while "retrying".
        what: The error's first part; `what`, `why`, `do` and `code` hold the error of a download
            that failed, waits to retry, or was paused by that error.
        serves: For a drafter that was downloaded by itself, the names of the models here that it
            drafts for; None for everything else.
        runner: Names the process that is working on it; see `processes`.
    """

    id: str
    wanted: DownloadRequest
    state: DownloadState = "waiting"
    bytes_done: int = 0
    bytes_per_s: float | None = None
    seconds_left: float | None = None
    retry_in_s: float | None = None
    what: str = ""
    why: str = ""
    do: str = ""
    code: str = ""
    serves: tuple[str, ...] | None = None
    runner: str | None = None

    def with_error(self, error: UserError | None) -> Download:
        """Return a copy with the parts of an error, or without any error."""
        if error is None:
            return replace(self, what="", why="", do="", code="")
        return replace(self, what=error.what, why=error.why, do=error.do, code=error.code)
