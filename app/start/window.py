"""Opens Hearth's window: from the data folder to the end of the event loop.

The window's modules are imported only by `open_window`, because a start that passes its request to
an open window does not need them.
"""

from __future__ import annotations

import gc

from PySide6.QtWidgets import QApplication

from app import APP_ID, __version__
from app.base.errors import AlreadyOpen
from app.base.folder import DataFolder, as_user_errors
from app.settings.values.fields import Settings
from app.window.pages.single_instance import pass_on
from app.window.values.launch_request import LaunchRequest
from engines.errors import UserError


def open_window(folder: DataFolder, offline: bool, request: LaunchRequest) -> int:
    """Show the window until it is closed; return the exit status.

    An error that ends Hearth, even an internal one, is shown in a window of its own first. If the
    chats are damaged, the user can restore a copy of them there.

    Raises:
        UserError: Hearth could not start, and the user has seen why.
        AlreadyOpen: The data folder is open in another window, which comes to the front.
    """
    from app.start.running import show_startup_error
    from app.wiring.opening import put_back

    copy = ""
    try:
        while True:
            try:
                if copy:
                    put_back(folder, copy)
                return _open(folder, offline, request)
            except AlreadyOpen:
                raise
            except Exception as error:
                from app.base.reports import as_user_error

                user_error = error if isinstance(error, UserError) else as_user_error(error, folder)
                copy = show_startup_error(_application(), user_error)
                if not copy:
                    raise user_error from error
    finally:
        gc.enable()


def _open(folder: DataFolder, offline: bool, request: LaunchRequest) -> int:
    from app.start.running import run
    from app.wiring.opening import open_data

    opened = open_data(folder)
    try:
        return run(_application(), opened, offline, request)
    finally:
        opened.database.close()


def pass_to_open_window(folder: DataFolder, request: LaunchRequest) -> bool:
    """Pass a request to the window that has this data folder open; return whether there was one.

    Raises:
        NotADataFolder: The folder belongs to another program.
    """
    if request == LaunchRequest():
        return False
    with as_user_errors(folder.root):
        folder.require_own()
    return pass_on(folder.root, request)


def _application() -> QApplication:
    from app.kit.look.icons import app_icon
    from app.kit.look.language import install_language
    from app.window.pages.application import Application

    existing = QApplication.instance()
    if isinstance(existing, QApplication):
        return existing
    app = Application(["hearth", "-style", "fusion"])
    app.setApplicationName("Hearth")
    app.setApplicationVersion(__version__)
    app.setDesktopFileName(APP_ID)
    app.setWindowIcon(app_icon())
    install_language(app, Settings().language)
    return app
