"""The daily copy of the database while the window is open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.base.errors import DataFolderReadOnly
from app.base.snapshots import Snapshots
from app.chats.history.presenters.snapshots import DailySnapshots
from app.kit.tasks.tasks import Tasks
from app.settings.presenters import SettingsService
from app.settings.store import SettingsFile
from tests.support.services import Services


class Daily:
    def __init__(self, folder: Path, again_ms: int = 3_600_000) -> None:
        self.folder = folder / "snapshots"
        self.tasks = Tasks()
        self.settings = SettingsService(SettingsFile(folder / "settings.json"))
        snapshots = Snapshots(self.folder, folder / "chats.db")
        self.seen = 0
        self.service = DailySnapshots(snapshots, self.settings, self.tasks, self.see, again_ms)

    def see(self) -> None:
        self.seen += 1


@pytest.fixture
def daily(services: Services, qtbot: QtBot, tmp_path: Path) -> Iterator[Daily]:
    daily = Daily(tmp_path)
    yield daily
    daily.tasks.close()


def test_there_is_one_copy_a_day(daily: Daily, qtbot: QtBot) -> None:
    with qtbot.waitSignal(daily.service.created) as taken:
        daily.service.check()
    (path,) = daily.folder.iterdir()
    assert taken.args == [path]
    with qtbot.assertNotEmitted(daily.service.created, wait=300):
        daily.service.check()


def test_none_is_made_where_none_is_wanted(daily: Daily, qtbot: QtBot) -> None:
    daily.settings.set("snapshots", 0)
    with qtbot.assertNotEmitted(daily.service.created, wait=300):
        daily.service.check()
    assert not daily.folder.exists()


def test_a_window_that_stays_open_sees_the_days_go_by(daily: Daily, qtbot: QtBot) -> None:
    daily.settings.set("snapshots", 0)
    daily.service.check()
    qtbot.waitUntil(lambda: daily.seen == 1)
    daily.service.check()
    qtbot.waitUntil(lambda: daily.seen == 2)


def test_a_failure_is_told_once(services: Services, qtbot: QtBot, tmp_path: Path) -> None:
    daily = Daily(tmp_path, again_ms=20)
    with closing(daily.tasks):
        daily.folder.write_text("a file is in the way")
        with qtbot.waitSignal(daily.service.failed) as failed:
            daily.service.check()
        assert isinstance(failed.args[0], DataFolderReadOnly)
        with qtbot.assertNotEmitted(daily.service.failed, wait=300):
            pass
