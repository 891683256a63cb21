"""The window of a scratch chat, which is never saved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QCloseEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QMainWindow, QSizePolicy, QVBoxLayout, QWidget

from app.assistants.pages.prompt_insertion import PromptInsertion
from app.chats.composer.pages.chat_collections import ChatCollections
from app.chats.pages.chat_page import ChatPage
from app.chats.pages.page_actions import page_actions
from app.chats.presenters.scratch import Scratch
from app.chats.transcript.pages.pictures import Pictures
from app.connections.pages.going_online import GoingOnline
from app.kit.look.icons import app_icon
from app.kit.look.theme import GRID
from app.kit.notify import Notifier
from app.kit.widgets.enter import press_focused
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture
from app.models.library.pages.chooser import ModelChooser
from app.models.library.pages.model_button import ModelButton, ModelPicking
from app.settings.values.fields import Settings
from app.window.desktop.pages.drops import Drops
from app.window.desktop.pages.keys import add_actions, give_keys
from app.window.presenters.window import WindowPresenters

if TYPE_CHECKING:
    from app.models.library.values.entry import ModelEntry
    from app.servers.presenters import Destination


class ScratchWindow(QMainWindow):
    """The window of a scratch chat.

    It is a separate window, so that nothing done in it reaches the main one. Its position, size and
    title are not saved and reveal nothing about the chat.

    Signals:
        closed(): The window has closed, and its chat is forgotten.
        documents(): The user wants to see the documents page.
    """

    closed = Signal()
    documents = Signal()

    def __init__(
        self,
        scratch: Scratch,
        presenters: WindowPresenters,
        online: GoingOnline,
        report: Callable[[BaseException], str],
        place_of: Callable[[str], Destination | None],
    ) -> None:
        """Create the window with an empty chat.

        Args:
            report: Returns the text of a report about an internal error.
            place_of: Returns the destination of a model's answers; None if Hearth itself answers.
        """
        super().__init__()
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("scratchWindow")
        self.setWindowTitle(self.tr("Scratch chat"))
        self.setWindowIcon(app_icon())
        self.setMinimumSize(480, 420)
        self.resize(760, 640)
        self.scratch = scratch
        self._place_of = place_of
        self._close_is_confirmed = False
        settings = presenters.settings
        self.notifier = Notifier(
            self,
            lambda error: report(without_words(error)),
            presenters.log_file,
            lambda: online.is_offline,
        )
        chat = scratch.presenters.open_chat
        self.page = ChatPage(scratch.presenters, settings.current, self.notifier)
        Pictures(scratch.tasks, self.page.transcript)
        self._prompts = PromptInsertion(
            presenters.prompts, self.page.composer.edit, self.page.transcript
        )
        self.page.composer.add_to_menu(self._prompts.fill)
        self._documents = ChatCollections(
            self.page.composer, chat, presenters.collections, self.documents.emit
        )
        self.chooser = ModelChooser(
            presenters.models,
            presenters.loaded,
            settings,
            chat,
            self.notifier,
            self,
            this_chat_only=True,
        )
        edit = self.page.composer.edit
        drops = Drops(
            self, [edit, edit.viewport()], chat, presenters.dropped, lambda _: "scratch",
            self.notifier.error,
        )  # fmt: skip
        drops.files.connect(self.page.files.add_dropped)
        drops.text.connect(edit.insertPlainText)
        drops.models.connect(self.chooser.take_dropped)
        drops.looking.connect(self.page.composer.attached.set_looking)
        drops.dragged.connect(lambda place: self.page.show_drop_hint(bool(place)))
        edit.files.connect(lambda paths: drops.take_files(paths, "scratch"))
        button = ModelButton()
        self.picking = ModelPicking(
            button, self.chooser, presenters.loaded, lambda: presenters.overview
        )
        middle = QWidget()
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._banner(button))
        column.addWidget(self.page, 1)
        self.setCentralWidget(middle)
        settings.changed.connect(self.page.apply)
        presenters.models.listed.connect(self.chooser.announce)
        settings.changed.connect(self.chooser.announce)
        for signal in (chat.opened, chat.stored, chat.changed):
            signal.connect(self.chooser.announce)
        self.chooser.announced.connect(self._show_models)
        self._add_actions(settings.current)
        self.page.open_chat(None)
        self.page.composer.set_assistant(self.tr("the model; nothing is saved"))
        self.chooser.announce()
        self.page.composer.focus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Press the focused button on Enter."""
        if not press_focused(self, event):
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask before closing a chat with messages; otherwise delete the chat."""
        if self.scratch.has_messages and not self._close_is_confirmed:
            event.ignore()
            self._ask()
            return
        self.scratch.close()
        event.accept()
        self.closed.emit()

    def show_place(self) -> None:
        """Show where the text of this chat is sent; more can be known about the models by now."""
        self.page.show_place(self._place_of(self.chooser.current()))

    def _show_models(self, entries: Sequence[ModelEntry], current: str) -> None:
        self.page.answers.set_models(entries, current)
        self.page.queue.set_models(entries, current)
        self.show_place()

    def close_now(self) -> None:
        """Close without asking."""
        self._close_is_confirmed = True
        self.close()

    def _ask(self) -> None:
        self.notifier.confirm(
            self.tr("Close the scratch chat?"),
            self.tr("Its messages are not saved anywhere: closing deletes them."),
            ("dropScratch", self.tr("Close and delete")),
            ("keepScratch", self.tr("Keep open")),
            self.close_now,
            careful=True,
        )

    def _banner(self, button: ModelButton) -> QWidget:
        frame = QWidget()
        layout = QVBoxLayout(frame)
        layout.setContentsMargins(GRID, GRID, GRID, 0)
        banner = Panel("banner", "scratchBanner", across=True, margins=(2, 1.25, 1.25, 1.25))
        banner.box.addWidget(Picture("scratch", "accent_text", 24), 0, Qt.AlignmentFlag.AlignTop)
        title = Label(self.tr("Scratch chat"), "strong")
        title.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        close = LabelledButton("close", self.tr("Close and delete"), "closeScratch")
        close.clicked.connect(self.close)
        words = self.tr(
            "Nothing is saved: no history, no search, no draft. This chat is gone when "
            "you close it."
        )
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(FlowRow(title, button, close))
        texts.addWidget(Label(words, "small", name="scratchWords", wrap=True))
        banner.box.addLayout(texts, 1)
        layout.addWidget(banner)
        return frame

    def _add_actions(self, settings: Settings) -> None:
        page = self.page
        does: dict[str, Callable[[], object]] = {
            **page_actions(page),
            "escape": page.stop_seen,
            "insert_prompt": self._prompts.open,
            "chat_documents": self._documents.open_menu,
        }
        add_actions(self, does)
        give_keys(self, settings.shortcuts)
        close_action = QAction(self)
        close_action.setObjectName("closeScratchNow")
        close_action.setShortcuts([QKeySequence("Ctrl+W")])
        close_action.triggered.connect(self.close)
        self.addAction(close_action)


def without_words(error: BaseException) -> BaseException:
    """Return the error without its message, which can quote the chat, as reports are kept."""
    bare = RuntimeError(f"{type(error).__name__} (its words are left out: a scratch chat is open)")
    return bare.with_traceback(error.__traceback__)
