"""Loads everything that the window's first painting did not need, while the window responds.

Modules that only an active user needs, such as those for the display of messages, are loaded at the
first activity. Then they are ready before the first click, and a window left alone does not load
them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from app.chats.history.presenters.drafts import Drafts
from app.window.pages.main_window import MainWindow
from app.wiring.opening import FirstPresenters, OpenStores
from engines.errors import UserError

if TYPE_CHECKING:
    from app.wiring.app import App
    from app.wiring.window import WindowApp

LOADING = "loading"
"""The queue of the tasks that import modules."""


class Loading(QObject):
    """The second part of a start: imports, services and widgets, in short steps.

    PySide6 creates a type when its name is first used, and two threads that use the same one at
    once crash the process. So modules that import Qt are imported only on the window's thread, and
    other threads import only modules without Qt.

    The owner calls `close`, after closing the tasks.

    Signals:
        ready(): The window is complete.
        failed(error): The window cannot be completed.
    """

    ready = Signal()
    failed = Signal(Exception)

    def __init__(
        self, opened: OpenStores, first: FirstPresenters, window: MainWindow, offline: bool
    ) -> None:
        super().__init__(window)
        self._opened = opened
        self._first = first
        self._window = window
        self._offline = offline
        self._app: App | None = None
        self._ends = ExitStack()
        self._presenters: WindowApp | None = None
        self._steps = self._make()
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.timeout.connect(self._next_step)

    @property
    def hindered(self) -> UserError | None:
        """Why nothing can be saved at present; None if it can, or before the window is complete."""
        return self._app.hindered if self._app is not None else None

    def start(self) -> None:
        """Begin to load."""
        tasks = self._first.tasks
        tasks.run(_import_services, lambda _: self._next_step(), self.failed.emit, on=LOADING)

    def close(self) -> None:
        """Stop loading, and close everything that was opened."""
        self._pause.stop()
        if self._app is not None:
            self._app.close()
        self._ends.close()

    def _next_step(self) -> None:
        try:
            next(self._steps)
        except StopIteration:
            self.ready.emit()
            self._wait_for_activity()
        except Exception as error:  # noqa: BLE001 - the owner handles it
            self.failed.emit(error)
        else:
            self._pause.start(0)

    def _wait_for_activity(self) -> None:
        from app.window.pages.preloader import Preloader

        def go_on() -> None:
            tasks = self._first.tasks
            tasks.run(_import_markdown, lambda _: _import_messages(), self.failed.emit, on=LOADING)

        Preloader(self._window, go_on)

    def _make(self) -> Iterator[None]:
        from app.wiring.window import WindowApp

        yield
        from app.base.reports import describe, keep_log
        from app.wiring.app import App

        self._ends.enter_context(keep_log(self._opened.folder))
        self._app = App(self._opened, offline=self._offline, lists_devices_in_child=True)
        yield
        self._presenters = WindowApp(self._app, self._first)
        yield
        yield from self._window.build(self._presenters, describe)


def save_typed_text(window: MainWindow, drafts: Drafts) -> None:
    """Save the typed text as a draft if the window closes before a page received it."""
    early = window.early_messages
    if early.is_recording:
        texts = [*(str(values[0]) for values in early.recorded), window.composer.text]
        drafts.set_text(None, "\n\n".join(text for text in texts if text))


def _import_services() -> None:
    import app.base.reports
    import app.wiring.app  # noqa: F401 - imported to have it loaded


def _import_markdown() -> None:
    import app.markdown.parser  # noqa: F401 - imported to have it loaded


def _import_messages() -> None:
    import app.chats.transcript.pages.message_view  # noqa: F401 - imported to have it loaded
