"""Runs the window: its first painting, the loading afterwards, and its end."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication

from app.base.errors import DatabaseDamaged
from app.kit.look.language import install_language
from app.settings.pages.appearance import Appearance
from app.settings.values.fields import Settings
from app.start.end_signals import EndSignals
from app.start.loading import Loading, save_typed_text
from app.window.pages.application import Application
from app.window.pages.main_window import MainWindow
from app.window.pages.signal_buffer import FirstPainting
from app.window.pages.single_instance import LOCK, SingleInstance
from app.window.presenters.app_nap import stay_awake
from app.window.store import WindowStateFile
from app.window.values.launch_request import LaunchRequest
from app.wiring.opening import first_presenters
from engines.errors import UserError
from engines.private import close_to_others

if TYPE_CHECKING:
    from app.wiring.opening import OpenStores

_Hook = Callable[[type[BaseException], BaseException, TracebackType | None], object]


def run(app: QApplication, opened: OpenStores, offline: bool, request: LaunchRequest) -> int:
    """Show the window until it is closed; return the exit status.

    Raises:
        Exception: An error kept the window from opening.
    """
    instance = SingleInstance(opened.folder.root, request)
    close_to_others(opened.folder.root / LOCK)
    try:
        first = first_presenters(opened)
        install_language(app, first.settings.current.language)
        appearance = Appearance(app)
        appearance.apply(first.settings.current)
        first.settings.changed.connect(appearance.apply)
        window = MainWindow(first.chats, first.settings.current)
        state = WindowStateFile(opened.folder.root / "window.json")
        window.restore(state.read())
        loading = Loading(opened, first, window, offline)
        start = _Start(app, window, instance, request)
        loading.ready.connect(lambda: start.finish(loading.hindered))
        loading.failed.connect(start.fail)
        FirstPainting(window.composer.edit).painted.connect(loading.start)
        # Not `quit`, which a window that closes to the tray can refuse.
        signals = EndSignals(lambda: QApplication.exit(0))
        try:
            window.show()
            stay_awake()
            status = app.exec()
        finally:
            signals.close()
            instance.stop_listening()
            start.close()
            save_typed_text(window, first.chats.drafts)
            first.tasks.close()
            _save_state(state, window)
            loading.close()
            window.deleteLater()
        if start.error is not None:
            raise start.error
        return status
    finally:
        instance.close()


class _Start:
    """The last step of a start, when the window is complete or has failed."""

    def __init__(
        self,
        app: QApplication,
        window: MainWindow,
        instance: SingleInstance,
        request: LaunchRequest,
    ) -> None:
        self.error: Exception | None = None
        self._app = app
        self._window = window
        self._instance = instance
        self._request = request
        self._hook = sys.excepthook

    def finish(self, hindered: UserError | None) -> None:
        """Finish the start.

        Args:
            hindered: Why nothing can be saved at present; None if it can.
        """
        # These objects stay alive, so the garbage collector need not go through them again.
        gc.freeze()
        gc.enable()
        desktop = self._window.desktop
        sys.excepthook = reporter(self._window)
        self._instance.requested.connect(desktop.carry_out)
        self._instance.listen()
        if hindered is not None:
            self._window.notifier.error(hindered)
        if self._request != LaunchRequest():
            desktop.carry_out(self._request)
        if isinstance(self._app, Application):
            self._app.requested.connect(desktop.carry_out)
            self._app.start_receiving()

    def fail(self, error: Exception) -> None:
        """End the event loop because of this error."""
        self.error = error
        QApplication.exit(1)

    def close(self) -> None:
        """Restore the hook for exceptions."""
        sys.excepthook = self._hook


def show_startup_error(app: QApplication, error: UserError) -> str:
    """Show in a window of its own why Hearth cannot start; return when it is closed.

    Returns:
        The name of the copy of the chats that the user wants to restore; "" for none.
    """
    from app.kit.notify import startup_dialog

    Appearance(app).apply(Settings())
    copy = error.copy if isinstance(error, DatabaseDamaged) else ""
    dialog = startup_dialog(error, with_copy=bool(copy))
    answers: list[str] = []
    dialog.answered.connect(answers.append)
    dialog.exec()
    return copy if answers == ["putBack"] else ""


def reporter(window: MainWindow) -> _Hook:
    """Return the hook that logs and shows uncaught exceptions.

    The log is a file, so it must not contain any text of a scratch chat.
    """

    def report(
        kind: type[BaseException], error: BaseException, _trace: TracebackType | None
    ) -> None:
        if issubclass(kind, KeyboardInterrupt):
            QApplication.quit()
            return
        error = window.scratch.without_chat_text(error)
        import logging

        log = logging.getLogger(__name__)
        log.error("An internal error", exc_info=(type(error), error, error.__traceback__))
        window.notifier.error(error)

    return report


def _save_state(state: WindowStateFile, window: MainWindow) -> None:
    try:
        state.write(window.state())
    except UserError as error:
        import logging

        logging.getLogger(__name__).warning("The window's state was not saved: %s", error)
