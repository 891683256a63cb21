"""Loads what the window's first painting did without, while the window lives.

What only somebody at the window needs, the messages of a chat, is loaded at the first sign of them:
then it is there before their click, and a window that is left alone does without.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from app.opening import FirstServices, Opened
from app.presenters.drafts import Drafts
from app.ui.window.main_window import MainWindow
from engines.errors import UserError

if TYPE_CHECKING:
    from app.wiring import Core
    from app.wiring.window import WindowParts

LOADING = "loading"
"""The queue on which modules are imported."""


class Loading(QObject):
    """`start` imports, and makes services and widgets, in short steps.

    PySide6 makes a type when its name is first asked for, and two threads that ask for the same one
    end the process. So modules that name Qt are imported on the window's thread alone, and only
    those without it on another.

    ready(): the window is whole. failed(error): it cannot be. The owner calls `close`, after the
    tasks.
    """

    ready = Signal()
    failed = Signal(Exception)

    def __init__(
        self, opened: Opened, first: FirstServices, window: MainWindow, offline: bool
    ) -> None:
        super().__init__(window)
        self._opened = opened
        self._first = first
        self._window = window
        self._offline = offline
        self._core: Core | None = None
        self._ends = ExitStack()
        self._parts: WindowParts | None = None
        self._steps = self._make()
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.timeout.connect(self._go_on)

    @property
    def hindered(self) -> UserError | None:
        """Why nothing can be kept just now, where that is so; once the window is whole."""
        return self._core.hindered if self._core is not None else None

    def start(self) -> None:
        tasks = self._first.tasks
        tasks.run(_import_services, lambda _: self._go_on(), self.failed.emit, on=LOADING)

    def close(self) -> None:
        self._pause.stop()
        if self._core is not None:
            self._core.close()
        self._ends.close()

    def _go_on(self) -> None:
        try:
            next(self._steps)
        except StopIteration:
            self.ready.emit()
            self._wait_for_somebody()
        except Exception as error:  # noqa: BLE001 - the owner decides what it means
            self.failed.emit(error)
        else:
            self._pause.start(0)

    def _wait_for_somebody(self) -> None:
        from app.ui.window.preloader import Preloader

        def go_on() -> None:
            tasks = self._first.tasks
            tasks.run(_import_markdown, lambda _: _import_messages(), self.failed.emit, on=LOADING)

        Preloader(self._window, go_on)

    def _make(self) -> Iterator[None]:
        from app.wiring.window import open_services

        yield
        from app.ui.window.build import build_window

        yield
        from app.reports import describe, keep_log
        from app.wiring import complete

        self._ends.enter_context(keep_log(self._opened.folder))
        self._core = complete(self._opened, self._offline, outside=True)
        yield
        self._parts = open_services(self._core, self._first)
        yield
        yield from build_window(self._window, self._parts.services, describe)


def keep_words(window: MainWindow, drafts: Drafts) -> None:
    """What was written and sent in a window that closes before a page heard it: a draft now."""
    early = window.early_messages
    if early.listens:
        texts = [*(str(values[0]) for values in early.held), window.composer.text]
        drafts.keep(None, "\n\n".join(text for text in texts if text))


def _import_services() -> None:
    import app.reports
    import app.wiring  # noqa: F401 - and the one before: to have them loaded


def _import_markdown() -> None:
    import app.markdown.parser  # noqa: F401 - as above


def _import_messages() -> None:
    import app.ui.chat.transcript.message_view  # noqa: F401 - as above
