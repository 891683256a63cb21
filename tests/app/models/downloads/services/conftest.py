"""Download queues with the loopback Hub."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from app.base.db import Database
from app.models.downloads.services.queue import DownloadLimits, DownloadQueue
from app.models.downloads.store import DownloadStore
from app.models.hub.fetch import Fetcher
from app.models.hub.limiter import Limiter
from app.models.hub.transfer import Terms
from app.net import Gate
from tests.app.models.downloads.services.queues import QUICK, REPO, MakeQueue, content, name
from tests.hub.testhub import TestHub


@pytest.fixture
def full(hub: TestHub, monkeypatch: pytest.MonkeyPatch) -> TestHub:
    """Fill a Hub with a repository of four models."""
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    hub.add(REPO, {name(number): content(number) for number in range(4)} | {"config.json": b"{}"})
    return hub


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with closing(Database(tmp_path / "chats.db")) as database:
        yield database


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate(lambda connection: None, lambda: True)
    yield gate
    gate.close()


@pytest.fixture
def make(tmp_path: Path, database: Database, gate: Gate) -> Iterator[MakeQueue]:
    """Yield a function that makes queues on one database and cache, as successive processes do."""
    made: list[DownloadQueue] = []

    def make(pace: DownloadLimits | None = None) -> DownloadQueue:
        terms = Terms(Limiter(), QUICK, connect_s=60.0, stall_s=60.0)
        fetcher = Fetcher(gate, tmp_path / "hub", lambda: None, terms)
        now = pace or DownloadLimits(patience=QUICK)
        queue = DownloadQueue(DownloadStore(database), lambda: fetcher, lambda: now)
        made.append(queue)
        return queue

    yield make
    for queue in made:
        queue.close()
