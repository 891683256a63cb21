"""A download: its files and its state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.models.hub.values.hub import RepoFile

DownloadState = Literal[
    "waiting", "running", "paused", "retrying", "verifying", "done", "failed", "cancelled"
]


@dataclass(frozen=True)
class Wanted:
    """Files of one repository at one commit that belong together, such as a model's parts.

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


@dataclass(frozen=True)
class Download:
    """The state of one entry of the download queue at one moment.

    Attributes:
        bytes_done: Bytes of all files that are on the disk.
        bytes_per_s: The recent speed; None while nothing comes.
        seconds_left: The remaining time at that speed.
        retry_in_s: Seconds until the next attempt, while "retrying".
        what: The error's first part; `what`, `why`, `do` and `code` hold the error of a download
            that failed, waits to retry, or was paused by that error.
        serves: For a drafter that was downloaded by itself, the names of the models here that it
            drafts for; None for everything else.
    """

    id: str
    wanted: Wanted
    state: DownloadState
    bytes_done: int = 0
    bytes_per_s: float | None = None
    seconds_left: float | None = None
    retry_in_s: float | None = None
    what: str = ""
    why: str = ""
    do: str = ""
    code: str = ""
    serves: tuple[str, ...] | None = None
