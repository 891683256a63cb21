"""Hearth's window: from an open Core to the end of the event loop."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from types import TracebackType

from PySide6.QtWidgets import QApplication

from app import __version__
from app.core.settings import Settings
from app.reports import describe
from app.store.window_state import WindowStateFile
from app.ui.appearance import Appearance
from app.ui.icons import app_icon
from app.ui.main_window import MainWindow
from app.ui.notify import Notifier, startup_dialog
from app.ui.single_instance import SingleInstance
from app.wiring import Core, open_services
from engines.errors import UserError

_Hook = Callable[[type[BaseException], BaseException, TracebackType | None], object]

_log = logging.getLogger(__name__)


def run(core: Core) -> int:
    """Show the window until it is closed; the caller closes the core.

    Raises AlreadyOpen if the data folder has a window, and SettingsInvalid.
    """
    app = _application()
    instance = SingleInstance(core.folder.root)
    try:
        try:
            parts = open_services(core)
        except UserError as error:
            show_startup_error(error)
            raise
        services = parts.services
        appearance = Appearance(app)
        appearance.apply(services.settings.current)
        services.settings.changed.connect(appearance.apply)
        window = MainWindow(services, describe)
        state = WindowStateFile(core.folder.root / "window.json")
        window.restore(state.read())
        instance.asked_to_show.connect(window.come_to_front)
        hook, sys.excepthook = sys.excepthook, _reporter(window.notifier)
        try:
            window.show()
            return app.exec()
        finally:
            sys.excepthook = hook
            parts.tasks.close()
            _keep(state, window)
            window.deleteLater()
    finally:
        instance.close()


def show_startup_error(error: UserError) -> None:
    """Say in a window of its own why Hearth cannot start; returns when it is closed."""
    app = _application()
    Appearance(app).apply(Settings())
    dialog = startup_dialog(error)
    dialog.exec()


def _application() -> QApplication:
    present = QApplication.instance()
    if isinstance(present, QApplication):
        return present
    app = QApplication(["hearth"])
    app.setApplicationName("Hearth")
    app.setApplicationVersion(__version__)
    app.setDesktopFileName("hearth")
    app.setWindowIcon(app_icon())
    return app


def _reporter(notifier: Notifier) -> _Hook:
    """What becomes of an exception that nobody caught: it is logged and shown."""

    def report(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        if issubclass(kind, KeyboardInterrupt):
            QApplication.quit()
            return
        _log.error("A bug of ours", exc_info=(kind, error, trace))
        notifier.error(error)

    return report


def _keep(state: WindowStateFile, window: MainWindow) -> None:
    try:
        state.write(window.state())
    except UserError as error:
        _log.warning("The window's state was not kept: %s", error)
