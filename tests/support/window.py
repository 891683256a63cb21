"""The real window over real presenters and a real database, with a scripted engine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

import pytest
import shiboken6
from PySide6.QtCore import QLocale, QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QMenu,
    QPushButton,
    QStackedWidget,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.base.folder import DataFolder
from app.chats.composer.pages.message_edit import MessageEdit
from app.chats.pages.chat_page import ChatPage
from app.chats.sidebar.pages.chat_list import ChatList
from app.chats.transcript.pages.message_view import MessageView
from app.chats.transcript.pages.transcript import Transcript
from app.kit.look.language import install_language
from app.kit.tasks.tasks import Tasks
from app.kit.widgets.icon_button import IconButton
from app.settings.pages.appearance import Appearance
from app.window.pages.main_window import MainWindow
from app.wiring import devices
from app.wiring.app import App, open_app
from app.wiring.window import WindowApp
from engines.hardware import Cpu, Hardware, Memory
from engines.hardware.bandwidth import Bandwidth, BandwidthBook
from engines.llamacpp import engine as llamacpp_engine
from tests.support.calm import until_calm
from tests.support.scripted import ScriptedEngine
from tests.support.windows import built_window

COMPUTER = Hardware(
    os="Test OS 1",
    cpu=Cpu("Test CPU", 4, 8, 8, 4, 4),
    memory=Memory(16_000_000_000, 9_000_000_000),
)

W = TypeVar("W", bound=QWidget)
Q = TypeVar("Q", bound=QObject)


def part(root: QWidget, kind: type[Q], name: str) -> Q:
    """Return the part of a widget with this name, visible or not."""
    found = root.findChild(kind, name)
    assert found is not None, name
    return found


def is_active(window: QWidget) -> bool:
    """Return whether keys reach a window.

    Activate it again if a closing window has taken the focus away.
    """
    if QApplication.activeWindow() is None:
        (QApplication.activeModalWidget() or window).activateWindow()
    return QApplication.activeWindow() is not None


@dataclass
class Ui:
    """The window as its user sees it, with the user's actions as methods."""

    qtbot: QtBot
    window: MainWindow
    app: App
    presenters: WindowApp
    engine: ScriptedEngine
    tasks: Tasks

    def settle(self) -> None:
        """Wait until the window no longer changes by itself."""
        until_calm(self.qtbot, self.tasks)

    def show_transcript(self) -> None:
        """Show the messages in place of the welcome, though the chat may have none."""
        stack = self.page.transcript.parentWidget()
        assert isinstance(stack, QStackedWidget)
        stack.setCurrentWidget(self.page.transcript)

    def find(self, kind: type[W], name: str = "") -> W:
        """Return the one visible widget of a kind and, if given, a name."""
        self.qtbot.waitUntil(lambda: len(self._all(kind, name)) == 1)
        return self._all(kind, name).pop()

    def has(self, name: str) -> bool:
        """Return whether a widget of this name is visible."""
        QApplication.processEvents()
        return bool(self._all(QWidget, name))

    def _all(self, kind: type[W], name: str) -> set[W]:
        return {
            widget
            for window in QApplication.topLevelWidgets()
            for widget in (window, *window.findChildren(kind))
            if isinstance(widget, kind) and widget.isVisible()
            if not name or widget.objectName() == name
        }

    def click(self, name: str) -> None:
        button: QWidget = self.find(QWidget, name)
        assert isinstance(button, QPushButton | QToolButton)
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    def open_mtp(self) -> None:
        """Open the card *Faster answers* by the menu at the composer.

        The menu goes with the card: the offscreen window system would close both with the menu.
        """
        self.click("moreForMessage")
        menu = self.find(QMenu, "messageOptions")
        part(menu, QAction, "openMtp").trigger()
        self.qtbot.waitUntil(lambda: self.has("mtpCard"))
        part(self.window, QWidget, "mtpCard").destroyed.connect(menu.close)

    def press(self, keys: str, on: QWidget | None = None) -> None:
        """Press keys such as "Ctrl+N" where the focus is.

        The offscreen window system may take the focus away for the window of the test before.
        """
        self.qtbot.waitUntil(lambda: is_active(self.window))
        self.qtbot.keySequence(on or QApplication.focusWidget() or self.window, keys)

    def type(self, text: str) -> None:
        QTest.keyClicks(self.edit, text)

    def ask(self, text: str, *, wait: bool = True) -> None:
        """Write a question and send it with Enter."""
        self.type(text)
        self.press("Return", self.edit)
        if wait:
            self.wait_for_answer()

    def wait_for_answer(self) -> None:
        """Wait until the button says “Send” again instead of “Stop”."""
        button = self.find(IconButton, "send")
        self.qtbot.waitUntil(lambda: button.accessibleName() == "Send")

    def wait_for_text(self, text: str) -> None:
        self.qtbot.waitUntil(lambda: text in self.last.view.toPlainText())

    @property
    def page(self) -> ChatPage:
        return self.window.findChild(ChatPage)  # type: ignore[return-value]

    @property
    def edit(self) -> MessageEdit:
        return self.find(MessageEdit)

    @property
    def chats(self) -> ChatList:
        return self.find(ChatList)

    @property
    def titles(self) -> list[str]:
        """The titles of the chats in the sidebar, or of the hits there, without the headings."""
        QApplication.processEvents()
        hits = self.window.sidebar.hits
        if hits.isVisible():
            return [hit.chat.title for hit in hits.hits]
        chats = (self.chats.chats.chat_at(row) for row in range(self.chats.chats.rowCount()))
        return [chat.title for chat in chats if chat]

    @property
    def texts(self) -> list[str]:
        """The texts of the visible messages, oldest first."""
        QApplication.processEvents()
        found = self.find(Transcript).findChildren(MessageView)
        shown = [view for view in found if view.isVisible()]
        return [view.view.toPlainText() for view in sorted(shown, key=lambda view: view.y())]

    @property
    def last(self) -> MessageView:
        view = self.page.transcript.last()
        assert view is not None
        return view


@pytest.fixture
def hold() -> threading.Event:
    """Return an event; while it is cleared, the engine waits after its first piece."""
    event = threading.Event()
    event.set()
    return event


@pytest.fixture
def first_screen() -> None:
    """The window stays on its first screen, which another test leaves for the guide."""


@pytest.fixture
def german(qapp: QApplication) -> Iterator[None]:
    before = QLocale()
    install_language(qapp, "deutsch")
    yield
    install_language(qapp, "english")
    QLocale.setDefault(before)


@pytest.fixture
def no_flashes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail if a part is shown before it lies in a window, as it would be a window for a moment.

    That flashes on the screen, takes the focus and closes an open list.
    """
    flashed: list[str] = []

    def checked(widget: QWidget, visible: bool) -> None:
        if visible and widget.parentWidget() is None and not widget.windowTitle():
            flashed.append(f"{type(widget).__name__} {widget.objectName()}")
        set_visible(widget, visible)

    set_visible = QWidget.setVisible
    monkeypatch.setattr(QWidget, "setVisible", checked)
    monkeypatch.setattr(QWidget, "setHidden", lambda widget, hidden: checked(widget, not hidden))
    yield
    assert not flashed


@pytest.fixture
def ui(
    qtbot: QtBot,
    qapp: QApplication,
    monkeypatch: pytest.MonkeyPatch,
    hold: threading.Event,
    no_flashes: None,
    request: pytest.FixtureRequest,
) -> Iterator[Ui]:
    engine = ScriptedEngine(("Hello", " there"), hold=hold)
    monkeypatch.setattr(llamacpp_engine, "LlamaCppEngine", lambda *_, **__: engine)
    monkeypatch.setattr(devices, "hardware_detector", lambda *_, **__: lambda: COMPUTER)
    monkeypatch.setattr(BandwidthBook, "of", lambda *_: Bandwidth(30e9))
    folder = DataFolder.default()
    app = open_app(folder)
    presenters = WindowApp(app)
    appearance = Appearance(qapp)
    appearance.apply(presenters.settings.current)
    presenters.settings.changed.connect(appearance.apply)
    window = built_window(presenters, lambda error: f"report: {error!r}")
    if "first_screen" not in request.fixturenames:
        window.page.write()
    with qtbot.waitExposed(window):
        window.show()
    qtbot.waitUntil(lambda: is_active(window) and QApplication.focusWidget() is not None)
    yield Ui(qtbot, window, app, presenters, engine, presenters.tasks)
    hold.set()
    window.close()
    presenters.tasks.close()
    app.close()
    shiboken6.delete(window)
    QApplication.processEvents()
