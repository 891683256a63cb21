"""A download and its state."""

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

    label: what a person calls it. ref: the branch or tag that led to the commit, by which other
    tools will ask for the files. bytes_total: of all files.
    """

    repo: str
    revision: str
    files: tuple[RepoFile, ...]
    label: str
    ref: str = "main"

    @property
    def bytes_total(self) -> int:
        return sum(file.size for file in self.files)


@dataclass(frozen=True)
class Download:
    """An entry of the download queue, at one moment.

    bytes_done: on the disk, of all files. bytes_per_s: lately; None while nothing comes.
    seconds_left: at that rate. retry_in_s: until the next attempt, while "retrying".
    what, why, do, code: the error in its parts, of a download that failed, that waits to try again,
    or that was paused because of it. serves: of a drafter that has come by itself, the names of the
    models here that it guesses ahead for; None for everything else.
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
