"""An answer of the real engine reaches the window in batches, each drawn once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import shiboken6
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.base.folder import DataFolder
from app.base.reports import describe
from app.chats.history.values.conversation import StoredMessage
from app.chats.pages.chat_page import ChatPage
from app.kit.text.markdown_view import AT_ONCE
from app.window.pages.main_window import MainWindow
from app.wiring.app import open_app
from app.wiring.window import WindowApp
from tests.support.windows import built_window


@pytest.fixture
def presenters(qapp: QApplication) -> Iterator[WindowApp]:
    app = open_app(DataFolder.default())
    presenters = WindowApp(app)
    yield presenters
    presenters.tasks.close()
    app.close()


@pytest.fixture
def window(presenters: WindowApp) -> Iterator[MainWindow]:
    window = built_window(presenters, describe)
    window.show()
    yield window
    window.close()
    shiboken6.delete(window)


def test_tokens_come_in_batches_and_a_batch_is_drawn_once(
    presenters: WindowApp, window: MainWindow, qtbot: QtBot
) -> None:
    page = window.findChild(ChatPage)
    assert page is not None
    batches: list[str] = []
    drawn: list[int] = []
    ended: list[StoredMessage] = []

    def watch(answer: StoredMessage) -> None:
        view = page.transcript.view_of(answer.id)
        assert view is not None
        view.view.drawn.connect(lambda: drawn.append(len(view.view.toPlainText())))

    generation = presenters.generation
    generation.begun.connect(watch)
    generation.text.connect(lambda _, text: batches.append(text))
    generation.ended.connect(ended.append)
    page.ask("How do I get a bigger model?")
    qtbot.waitUntil(lambda: bool(ended), timeout=60_000)
    assert ended[0].state == "complete"
    assert "".join(batches) == ended[0].text
    last = page.transcript.last()
    assert last is not None
    qtbot.waitUntil(lambda: last.view.is_complete)
    most = len(batches) + len(ended[0].text) // AT_ONCE + 1
    assert 1 <= len(drawn) <= most
    assert drawn == sorted(drawn)
