"""Opens the scratch chat, and lets it go with the window."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget

from app.kit.navigation import Navigation
from app.models.library.pages.chooser import ModelChooser
from app.runtime.pages.switch_controller import EngineSwitchController
from app.window.presenters.window import WindowPresenters

if TYPE_CHECKING:
    from app.window.scratch.pages.scratch_window import ScratchWindow


class ScratchController(QObject):
    """Opens and closes the scratch chat.

    shown: its window, while there is one. report: makes the text about a bug.
    """

    def __init__(
        self,
        window: QWidget,
        presenters: WindowPresenters,
        chooser: ModelChooser,
        switching: EngineSwitchController,
        report: Callable[[BaseException], str],
        navigation: Navigation,
    ) -> None:
        """Begin. window: the one that the scratch chat closes with."""
        super().__init__(window)
        self.shown: ScratchWindow | None = None
        self._window = window
        self._presenters = presenters
        self._chooser = chooser
        self._switching = switching
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
                self._report,
                self._switching.place_of,
            )
            self.shown.page.fixes.wanted.connect(self._switching.mend)
            saving = Exporter(
                presenters.chats, presenters.exporting, self.shown.notifier, self.shown
            )
            self.shown.page.transcript.save.connect(saving.ask_for_code)
            self._chooser.shown.connect(self.shown.show_place)
            self.shown.documents.connect(self._show_documents)
            self.shown.gone.connect(self._gone)
        self.shown.show()
        self.shown.raise_()
        self.shown.activateWindow()

    def discreet(self, error: BaseException) -> BaseException:
        """An error as it may be written down: without its words while a scratch chat is open."""
        if self.shown is None:
            return error
        from app.window.scratch.pages.scratch_window import without_words

        return without_words(error)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Close the scratch chat with the window; it may ask to stay."""
        if watched is self._window and event.type() is QEvent.Type.Close and self.shown:
            self.shown.close()
            if self.shown is not None:
                self.open()
                event.ignore()
                return True
        return super().eventFilter(watched, event)

    def _show_documents(self) -> None:
        """Show the page of documents, in the window that has it."""
        self._window.activateWindow()
        self._navigation.go_to("documents")

    def _gone(self) -> None:
        self.shown = None
