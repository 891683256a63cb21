"""Helpers for tests of the download queue: its models on the Hub, and waiting for a state."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from app.models.downloads.services.queue import DownloadQueue
from app.models.downloads.values.downloads import Download, DownloadRequest
from app.models.hub.part import SUFFIX
from app.models.hub.retry import Patience
from app.models.hub.values.hub import RepoFile
from tests.hub.contents import Made
from tests.hub.testhub import TestHub
from tests.support import waiting

REPO = "ada/Small-GGUF"
QUICK = Patience(attempts=5, first_s=0.01, most_s=0.05)
SIZE = 2_000_000

MakeQueue = Callable[..., DownloadQueue]


def name(number: int) -> str:
    return f"model-{number}.gguf"


def content(number: int) -> Made:
    return Made(SIZE, seed=number, head=b"GGUF")


def wanted(hub: TestHub, *numbers: int) -> DownloadRequest:
    files = tuple(
        RepoFile(name(number), SIZE, hub.sha256(REPO, name(number))) for number in numbers
    )
    return DownloadRequest(REPO, hub.commit(REPO), files, f"{REPO} {numbers}")


def until(queue: DownloadQueue, download: str, *states: str) -> Download:
    """Wait until a download has one of these states."""
    waiting.until(lambda: queue.download(download).state in states)
    return queue.download(download)


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def part_of(hub: TestHub, tmp_path: Path, count: int) -> Path:
    """Write a part of the first model, as left by a process that was killed."""
    blobs = tmp_path / "hub" / "models--ada--Small-GGUF" / "blobs"
    blobs.mkdir(parents=True)
    part = blobs / f"{hub.sha256(REPO, name(0))}{SUFFIX}"
    part.write_bytes(content(0).read(0, count))
    return part
