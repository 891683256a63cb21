"""The first minute: from the first start to the first answer of a downloaded model.

Everything is real but the size of the model: the window with its loading in steps, llama.cpp, the
download from a Hub on this computer, and mouse clicks at the places where the buttons are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.base.folder import DataFolder
from app.base.shipped import STARTER, STARTER_DRAFTER
from app.start.loading import Loading
from app.window.pages.main_window import MainWindow
from app.wiring import devices
from app.wiring.opening import FirstPresenters, first_presenters, open_data
from engines.hardware.bandwidth import Bandwidth, BandwidthBook
from tests.hub.faults import Stall
from tests.hub.testhub import TestHub
from tests.support.window import COMPUTER

REPO, FILE = "google/gemma-4-E2B-it-qat-q4_0-gguf", "gemma-4-E2B_q4_0-it.gguf"
"""The model that the catalogue recommends for `COMPUTER`; here its file is the starter model's."""
DRAFTERS, DRAFTER = "unsloth/gemma-4-E2B-it-qat-GGUF", "mtp-gemma-4-E2B-it.gguf"
MOST_CLICKS = 3
QUESTION = "What can you do?"


@dataclass
class NewUser:
    """A person with a mouse in front of a window that starts for the first time."""

    qtbot: QtBot
    window: MainWindow
    services: FirstPresenters
    clicks: int = 0

    def sees(self, name: str) -> bool:
        return bool(self._seen(name))

    def waits_for(self, name: str) -> None:
        self.qtbot.waitUntil(lambda: self.sees(name), timeout=60_000)

    def clicks_on(self, name: str) -> None:
        """Click on the screen where the widget is, whatever may lie over it."""
        self.waits_for(name)
        (widget,) = self._seen(name)
        handle = self.window.windowHandle()
        place = widget.mapTo(self.window, widget.rect().center())
        QTest.mouseClick(handle, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
        self.clicks += 1

    def types(self, text: str) -> None:
        focus = QApplication.focusWidget()
        assert focus is not None
        QTest.keyClicks(focus, text)

    def _seen(self, name: str) -> list[QWidget]:
        QApplication.processEvents()
        return [part for part in self.window.findChildren(QWidget, name) if part.isVisible()]


@pytest.fixture
def user(
    qtbot: QtBot, hub: TestHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[NewUser]:
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub-cache"))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr(devices, "hardware_detector", lambda *_, **__: lambda: COMPUTER)
    monkeypatch.setattr(BandwidthBook, "of", lambda *_: Bandwidth(30e9))
    opened = open_data(DataFolder.default())
    services = first_presenters(opened)
    window = MainWindow(services.chats, services.settings.current)
    window.resize(1280, 800)
    loading = Loading(opened, services, window, offline=False)
    with qtbot.waitExposed(window):
        window.show()
    yield NewUser(qtbot, window, services)
    hub.release()
    window.close()
    services.tasks.close()
    loading.close()
    opened.database.close()
    shiboken6.delete(window)
    QApplication.processEvents()


def test_three_clicks_lead_from_the_first_start_to_an_answer_of_a_downloaded_model(
    user: NewUser, hub: TestHub
) -> None:
    hub.add(REPO, {FILE: STARTER}, licence="apache-2.0", tags=["gguf"])
    hub.add(DRAFTERS, {DRAFTER: STARTER_DRAFTER}, tags=["gguf"])
    hub.fault(Stall(after=1_000_000, path=f"*{FILE}", times=1))
    assert not user.sees("composer"), "nothing flashes before the first screen"
    loading = user.window.findChild(Loading)
    assert loading is not None
    loading.start()
    user.waits_for("getFirst")
    assert user.services.settings.current.model == "starter"

    user.clicks_on("getFirst")
    user.waits_for("downloadBar")
    assert user.sees("firstScreen")
    hub.release()

    user.waits_for("composer")  # the chat begins by itself
    assert not user.sees("guideBanner")
    assert user.services.settings.current.model != "starter"
    user.clicks_on("messageEdit")
    user.types(QUESTION)
    user.clicks_on("send")
    user.waits_for("answerFacts")

    assert user.clicks <= MOST_CLICKS
    chat_id = user.window.page.chat_id
    assert chat_id is not None
    user.qtbot.waitUntil(
        lambda: user.services.chats.path(chat_id)[-1].state == "complete", timeout=60_000
    )
    question, answer = user.services.chats.path(chat_id)
    assert question.text == QUESTION
    assert answer.text.strip()
    assert answer.facts is not None
    assert "gemma-4-E2B" in answer.facts.model
    assert any(FILE in request.path for request in hub.requests)
    labels = [label.text() for label in user.window.findChildren(QLabel, "answerFacts")]
    assert any("gemma-4-E2B" in text for text in labels)
