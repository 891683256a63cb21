"""Opens the scratch chat, and closes it with the main window."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget

from app.chats.pages.switch_controller import EngineSwitchController
from app.connections.pages.going_online import GoingOnline
from app.kit.navigation import Navigation
from app.models.library.pages.chooser import ModelChooser
from app.window.presenters.window import WindowPresenters

if TYPE_CHECKING:
    from app.window.scratch.pages.scratch_window import ScratchWindow


class ScratchController(QObject):
    """The controller that opens and closes the scratch chat.

    Attributes:
        shown: The window of the scratch chat, while it is open.
    """

    def __init__(
        self,
        window: QWidget,
        presenters: WindowPresenters,
        chooser: ModelChooser,
        switching: EngineSwitchController,
        online: GoingOnline,
        report: Callable[[BaseException], str],
        navigation: Navigation,
    ) -> None:
        """Watch the main window.

        Args:
            window: The main window; the scratch chat closes with it.
            report: Returns the text of a report about an internal error.
        """
        super().__init__(window)
        self.shown: ScratchWindow | None = None
        self._window = window
        self._presenters = presenters
        self._chooser = chooser
        self._switching = switching
        self._online = online
        self._report = report
        self._navigation = navigation
        window.installEventFilter(self)

    def open(self) -> None:
        """Open the scratch chat, or bring it to the front."""
        if self.shown is None:
            from app.exchange.pages.exporter import Exporter
            from app.window.scratch.pages.scratch_window import ScratchWindow

            presenters = self._presenters
            self.shown = ScratchWindow(
                presenters.open_scratch(),
                presenters,
                self._online,
                self._report,
                self._switching.place_of,
            )
            self.shown.page.fixes.wanted.connect(self._switching.apply_fix)
            saving = Exporter(
                presenters.chats, presenters.exporting, self.shown.notifier, self.shown
            )
            self.shown.page.transcript.save.connect(saving.ask_for_code)
            self._chooser.announced.connect(self.shown.show_place)
            self.shown.documents.connect(self._show_documents)
            self.shown.closed.connect(self._forget_window)
        self.shown.show()
        self.shown.raise_()
        self.shown.activateWindow()

    def without_chat_text(self, error: BaseException) -> BaseException:
        """Return the error for the log, without its message while a scratch chat is open."""
        if self.shown is None:
            return error
        from app.window.scratch.pages.scratch_window import without_words

        return without_words(error)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Close the scratch chat with the main window; keep both open if it has to ask first."""
        if watched is self._window and event.type() is QEvent.Type.Close and self.shown:
            self.shown.close()
            if self.shown is not None:
                self.open()
                event.ignore()
                return True
        return super().eventFilter(watched, event)

    def _show_documents(self) -> None:
        """Show the documents page in the main window."""
        self._window.activateWindow()
        self._navigation.go_to("documents")

    def _forget_window(self) -> None:
        self.shown = None
