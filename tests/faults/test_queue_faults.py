"""A whole queue of downloads over a bad network: all arrive, and none is listed too early.

The faults, and the moments when a download is paused or the queue is closed, are random.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from app.base.db import Database
from app.models.downloads.services.queue import DownloadLimits, DownloadQueue
from app.models.downloads.store import DownloadStore
from app.models.downloads.values.downloads import Download, DownloadRequest
from app.models.hub.fetch import Fetcher
from app.models.hub.limiter import Limiter
from app.models.hub.retry import Patience
from app.models.hub.transfer import Terms
from app.models.hub.values.hub import RepoFile
from app.models.library.services.places.hub_cache import scan_hub
from app.net import Gate
from app.net.values.connections import LoggedConnection
from tests.hub.contents import GGUF_START, Made
from tests.hub.faults import (
    CaptivePortal,
    CdnStatus,
    Drop,
    Fault,
    Multipart,
    NoRange,
    Status,
    Trickle,
    Unsized,
    WrongContentRange,
)
from tests.hub.testhub import Cdn, TestHub

REPOS = 5
PARTS = 2
BYTES = 300_000
SEED = 20_261_121
PATIENCE = Patience(first_s=0.001, most_s=0.01)


def content(repo: int, part: int) -> Made:
    return Made(BYTES, seed=repo * PARTS + part, head=GGUF_START)


def path(repo: int, part: int) -> str:
    return f"m{repo}-Q4_K_M-0000{part + 1}-of-0000{PARTS}.gguf"


def bad_network(random: Random) -> list[Fault]:
    """Return passing faults, for all files, in any order."""
    faults: list[Fault] = []
    for repo in range(REPOS):
        for part in range(PARTS):
            after = random.randrange(BYTES)
            kinds: list[Fault] = [
                Drop(after=after, reset=random.random() < 0.5),
                Drop(after=-1),
                Unsized(after=after),
                NoRange(),
                Multipart(),
                WrongContentRange(off=-100),
                CdnStatus(status=503),
                Trickle(bytes_per_s=3_000_000),
            ]
            chosen = random.sample(kinds, 4)
            at_hub = [Status(status=random.choice([429, 502])), CaptivePortal(times=1)]
            address = f"*/{path(repo, part)}"
            chosen.append(random.choice(at_hub))
            faults += [replace(fault, path=address) for fault in chosen]
    return faults


class Household:
    """A database, a cache, and one run of the app after another over them."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "cache"
        self.database = folder / "hearth.db"
        self.arrived: Counter[str] = Counter()
        self.listed_early: list[str] = []
        self.moved = threading.Event()

    @contextmanager
    def running(self) -> Iterator[DownloadQueue]:
        connections: list[LoggedConnection] = []
        gate = Gate(connections.append, lambda: False)
        database = Database(self.database)
        terms = Terms(Limiter(), PATIENCE)
        fetcher = Fetcher(gate, self.root, lambda: None, terms)
        queue = DownloadQueue(
            DownloadStore(database), lambda: fetcher, lambda: DownloadLimits(0.0, 3, PATIENCE)
        )
        queue.changed = self._look
        queue.on_done = self._arrive
        queue.start()
        try:
            yield queue
        finally:
            queue.close()
            gate.close()
            database.close()

    def _look(self) -> None:
        """Check at every change that each listed model is complete."""
        for model in scan_hub(self.root).models:
            if any(file.stat().st_size != BYTES for file in model.files):
                self.listed_early.append(model.name)
        self.moved.set()

    def _arrive(self, download: Download, paths: list[Path]) -> None:
        self.arrived[download.wanted.repo] += 1
        self.moved.set()


@pytest.mark.parametrize("seed", [SEED, SEED + 1, SEED + 2])
def test_all_arrive_whatever_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    random = Random(seed)
    home = Household(tmp_path)
    with TestHub(cdn=Cdn()) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        wanted = []
        for repo in range(REPOS):
            files = {path(repo, part): content(repo, part) for part in range(PARTS)}
            commit = hub.add(f"ada/m{repo}", dict(files))
            listed = tuple(
                RepoFile(name, BYTES, hub.sha256(f"ada/m{repo}", name)) for name in files
            )
            wanted.append(DownloadRequest(f"ada/m{repo}", commit, listed, f"M{repo}"))
        hub.fault(*bad_network(random))
        with home.running() as queue:
            for each in wanted:
                queue.add(each)
        for _ in range(3):  # closed at any moment, and opened again
            with home.running() as queue:
                home.moved.clear()
                home.moved.wait(random.random() / 5)
                chosen = random.choice(queue.downloads())
                queue.pause(chosen.id)
                queue.move(chosen.id, random.randrange(REPOS))
                queue.resume(chosen.id)
        with home.running() as queue:
            while any(each.state != "done" for each in queue.downloads()):
                assert not [each for each in queue.downloads() if each.state == "failed"]
                home.moved.clear()
                home.moved.wait(0.05)
    assert home.arrived == Counter({each.repo: 1 for each in wanted})
    assert home.listed_early == []
    models = {model.repo: model for model in scan_hub(home.root).models}
    for each in wanted:
        came = [hashlib.sha256(file.read_bytes()).hexdigest() for file in models[each.repo].files]
        assert came == [file.sha256 for file in each.files]
    assert not list(home.root.rglob("*part*"))
