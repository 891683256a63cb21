"""Passing the queue's news from any thread to the window's, at a limited rate."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.base.db import Database
from app.base.shipped import STARTER, STARTER_DRAFTER
from app.kit.tasks.tasks import Tasks
from app.models.downloads.presenters import EVERY_MS, DownloadList, model_of
from app.models.downloads.values.downloads import Download, DownloadRequest
from app.models.hub.values.hub import RepoFile
from app.models.library.services.library import Library
from app.models.library.store.models import ModelStore
from app.models.library.values.entry import ModelEntry
from tests.support.scripted_hub import ScriptedQueue

WANTED = DownloadRequest(
    "ada/Tiny", "c" * 40, (RepoFile("tiny.gguf", 100, "0" * 64),), "Tiny Q4_K_M"
)


class Queue(ScriptedQueue):
    """A scripted queue that counts how often it is read."""

    def __init__(self) -> None:
        super().__init__()
        self.changed = lambda: None
        self.on_done = lambda *_: None
        self.reads = 0
        self.resumed: list[str] = []

    def downloads(self) -> list[Download]:
        self.reads += 1
        return super().downloads()

    def start(self, only: object = None) -> None:
        """Do nothing: no download starts by itself."""

    def resume(self, download: str) -> None:
        self.resumed.append(download)


@pytest.fixture
def queue() -> Queue:
    return Queue()


@pytest.fixture
def listed(qtbot: QtBot, queue: Queue, tmp_path: Path) -> Iterator[DownloadList]:
    database = Database(tmp_path / "chats.db")
    tasks = Tasks()
    library = Library(ModelStore(database), STARTER, STARTER_DRAFTER)
    yield DownloadList(queue, library, lambda: True, tasks)
    tasks.close()
    database.close()


def test_a_flood_from_another_thread_is_read_a_few_times(
    qtbot: QtBot, queue: Queue, listed: DownloadList
) -> None:
    queue.add(WANTED)
    told: list[object] = []
    listed.changed.connect(told.append)
    ends = threading.Event()

    def flood() -> None:
        while not ends.wait(0.001):
            queue.changed()

    thread = threading.Thread(target=flood)
    began = time.monotonic()
    thread.start()
    qtbot.waitUntil(lambda: queue.reads >= 4)
    took_ms = (time.monotonic() - began) * 1000
    ends.set()
    thread.join()
    # At least three pauses came before. Qt's timers may be early by a twentieth.
    assert took_ms > 3 * EVERY_MS * 0.9
    qtbot.waitUntil(lambda: len(told) == queue.reads)


def test_what_changed_last_is_told(qtbot: QtBot, queue: Queue, listed: DownloadList) -> None:
    queue.add(WANTED)
    told: list[tuple[Download, ...]] = []
    listed.changed.connect(told.append)
    listed.look()
    queue.advance(1.0, "done")
    queue.changed()
    qtbot.waitUntil(lambda: bool(told) and told[-1][0].state == "done")


def test_only_what_this_error_has_paused_goes_on(
    qtbot: QtBot, queue: Queue, listed: DownloadList
) -> None:
    queue.add(WANTED)
    queue.add(WANTED)
    queue.items = [replace(it, state="paused") for it in queue.items]
    queue.items[1] = replace(queue.items[1], code="offline")
    listed.resume_stopped_by("offline")
    qtbot.waitUntil(lambda: queue.resumed == ["d2"])


def test_a_download_whose_model_has_gone_is_explained(
    qtbot: QtBot, queue: Queue, listed: DownloadList
) -> None:
    with qtbot.waitSignal(listed.failed) as failed:
        listed.use(queue.add(WANTED))
    assert "Tiny Q4_K_M" in str(failed.args[0])


def test_the_connection_may_be_metered(qtbot: QtBot, listed: DownloadList) -> None:
    with qtbot.waitSignal(listed.metered) as metered:
        listed.check_metered()
    assert metered.args == [True]


def test_the_model_of_a_download_is_of_its_repository_and_commit() -> None:
    download = Download("1", WANTED, "done")
    old = ModelEntry("a", "a", Path("a"), repo="ada/Tiny", file="tiny.gguf", revision="b" * 40)
    new = ModelEntry("b", "b", Path("b"), repo="ada/Tiny", file="tiny.gguf", revision="c" * 40)
    other = ModelEntry("c", "c", Path("c"), repo="bea/Tiny", file="tiny.gguf")
    assert model_of(download, [other, old, new]) == new
    assert model_of(download, [other, old]) == old
    assert model_of(download, [other]) is None
