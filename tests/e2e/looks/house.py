"""The real window over real presenters on made chats, with a scripted engine and a scripted Hub."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from unittest.mock import patch

import shiboken6
from PySide6.QtCore import QEventLoop, QRect, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from app.base.folder import DataFolder
from app.kit.widgets.toast import Toast
from app.models.downloads.services.queue import DownloadQueue
from app.models.hub import client
from app.settings.pages.appearance import Appearance
from app.window.pages.main_window import MainWindow
from app.wiring import devices
from app.wiring.app import App, open_app
from app.wiring.window import WindowApp
from engines.hardware import Cpu, Hardware, Memory
from engines.hardware.bandwidth import Bandwidth, BandwidthBook
from engines.llamacpp import engine as llamacpp
from tests.e2e.looks.contents import fill, scripted_hub
from tests.support.scripted import ScriptedEngine
from tests.support.windows import built_window

COMPUTER = Hardware(
    os="Linux 6.12",
    cpu=Cpu("Eight-core processor", 8, 16, 16, 8, 8),
    memory=Memory(32_000_000_000, 21_000_000_000),
)
SHOWN_FOLDER = Path("~/.local/share/hearth")
"""The data folder that the window shows, so that pictures do not reveal this computer."""
PATIENCE_MS = 30_000
SOON_MS = 200
"""Typed and laid out things are shown by then; a longer timer saves a draft or closes a toast."""
TURNS_AT_REST, MOST_TURNS = 4, 2_000

W = TypeVar("W", bound=QWidget)


@dataclass
class House:
    """A window with its parts, as tests and pictures use it.

    Attributes:
        hold: Clear it to stop an answer from continuing.
        closers: Widgets that undo the changes of a page.
    """

    app: QApplication
    window: MainWindow
    hearth: App
    presenters: WindowApp
    engine: ScriptedEngine
    hold: threading.Event
    closers: list[QWidget] = field(default_factory=list)

    def part(self, kind: type[W], name: str = "") -> W:
        """Return a visible widget of any window, the newest if there are several."""
        found = self._visible(kind, name)
        assert found, f"{kind.__name__} {name} is not shown"
        return found[-1]

    def has(self, name: str) -> bool:
        return bool(self._visible(QWidget, name))

    def until(self, name: str) -> None:
        """Wait for a widget with this name."""
        waited = 0
        while not self.has(name):
            assert waited < PATIENCE_MS, f"{name} did not come"
            rest(20)
            waited += 20

    def until_calm(self) -> None:
        """Wait until no work is under way and no timer is about to fire, so everything is shown."""
        waited = 0
        settle()
        while self._is_busy():
            assert waited < PATIENCE_MS, "there is no end of the work"
            rest(10)
            waited += 10

    def _is_busy(self) -> bool:
        timers = self.window.findChildren(QTimer)
        return self.presenters.tasks.is_busy or any(
            it.isActive() and it.isSingleShot() and it.interval() <= SOON_MS for it in timers
        )

    def do(self, command: str) -> None:
        """Run one of the window's commands."""
        action = next(it for it in self.window.actions() if it.objectName() == command)
        action.trigger()
        settle()

    def set(self, **settings: object) -> None:
        self.presenters.settings.set_model_check(
            lambda _: None
        )  # those of made servers are in no list
        for name, value in settings.items():
            self.presenters.settings.set(name, value)
        settle()

    def tidy(self) -> None:
        """Close everything that lies over the window."""
        for widget in QApplication.topLevelWidgets():
            if widget is not self.window and widget.isVisible() and widget.isWindow():
                close = getattr(widget, "close_now", widget.close)
                close()
        for toast in self.window.findChildren(Toast):
            if toast.isVisible():
                toast.dismiss()
        settle()

    def _visible(self, kind: type[W], name: str) -> list[W]:
        """Return the visible widgets of this kind and name, windows included; "" is any name."""
        found: list[W] = []
        for window in QApplication.topLevelWidgets():
            if not window.isVisible():
                continue
            if isinstance(window, kind) and name in ("", window.objectName()):
                found.append(window)
            parts = window.findChildren(kind, name) if name else window.findChildren(kind)
            found += [widget for widget in parts if widget.isVisible()]
        return found


@contextmanager
def opened(app: QApplication, data: Path, *, full: bool, real: bool = False) -> Iterator[House]:
    """Open a window on its own data folder.

    Args:
        app: The application.
        data: The data folder.
        full: True to fill it with chats, models, assistants and prompts.
        real: True if answers come from the guide on llama.cpp, and not from a script.
    """
    hold = threading.Event()
    hold.set()
    engine = ScriptedEngine(("A first sentence, ", "and another."), hold=hold)
    with ExitStack() as patches:
        if not real:
            patches.enter_context(patch.object(llamacpp, "LlamaCppEngine", lambda *_, **__: engine))
        for target, name, value in (
            (devices, "hardware_detector", lambda *_, **__: lambda: COMPUTER),
            (client, "Hub", lambda *_: scripted_hub()),
            (BandwidthBook, "of", lambda *_: Bandwidth(30e9)),
            (DownloadQueue, "start", lambda *_: None),
        ):
            patches.enter_context(patch.object(target, name, value))
        hearth = open_app(DataFolder(data))
        if full:
            fill(hearth, data)
        presenters = WindowApp(hearth)
        presenters.data_folder = SHOWN_FOLDER
        presenters.settings.set("auto_titles", False)
        presenters.settings.set("motion", "reduced")
        appearance = Appearance(app)
        appearance.apply(presenters.settings.current)
        presenters.settings.changed.connect(appearance.apply)
        window = built_window(presenters, lambda error: f"Report: {error!r}")
        window.show()
        window.activateWindow()
        house = House(app, window, hearth, presenters, engine, hold)
        settle()
        try:
            yield house
        finally:
            hold.set()
            house.tidy()
            window.close()
            presenters.tasks.close()
            hearth.close()
            shiboken6.delete(window)
            shiboken6.delete(appearance)
            QApplication.processEvents()


def settle(turns: int = 4) -> None:
    """Let layouts, timers of no length and queued signals finish."""
    for _ in range(turns):
        QApplication.sendPostedEvents()
        QApplication.processEvents()


def come_to_rest(window: QWidget) -> None:
    """Wait until nothing in a window moves; each level of its layout may take a turn."""
    places: dict[QWidget, QRect] = {}
    still = 0
    for _ in range(MOST_TURNS):
        settle(1)
        rest(1)
        parts = (it for it in window.findChildren(QWidget) if it.isVisible())
        now = {it: it.geometry() for it in parts}
        still = still + 1 if now == places else 0
        if still == TURNS_AT_REST:
            return
        places = now
    raise AssertionError(f"{window.objectName()} does not come to rest")


def rest(milliseconds: int) -> None:
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()
