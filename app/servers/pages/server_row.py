"""A server in the list: its name, its address, the result of its test, and its models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.base.language import in_full
from app.kit.look.theme import GRID
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.emptying import empty
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture
from app.servers.pages.words import found, models
from engines.errors import UserError

if TYPE_CHECKING:
    from app.models.library.values.entry import ModelEntry
    from app.servers.presenters import Destination
    from app.servers.values import ServerInfo, ServerProfile

_MOST = 8


class ServerRow(Panel):
    """A server in the list.

    Signals:
        test(), change(), remove(): The user pressed this button.
        use(model id): The user wants answers from this model.
    """

    test = Signal()
    change = Signal()
    remove = Signal()
    use = Signal(str)

    def __init__(
        self,
        number: int,
        profile: ServerProfile,
        place: Destination,
        entries: Sequence[ModelEntry],
        current: str,
        parent: QWidget | None = None,
    ) -> None:
        """Create the row.

        Args:
            entries: The server's models among those that the user can choose.
            current: The id or name of the model in use.
        """
        super().__init__("card", f"server{number}", margins=(2.5, 2, 2, 2), parent=parent)
        self.setAccessibleName(profile.name)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(Picture("server", "accent_text", 24), 0, Qt.AlignmentFlag.AlignTop)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(Label(profile.name, "title", wrap=True))
        texts.addWidget(ElidedLabel(profile.address, "small", f"serverAddress{number}"))
        row.addLayout(texts, 1)
        self._test = LabelledButton("again", self.tr("Test"), f"testServer{number}")
        self._test.clicked.connect(self._try)
        change = IconButton(
            "pencil", self.tr("Edit {name}").format(name=profile.name), f"changeServer{number}"
        )
        change.clicked.connect(self.change)
        remove = IconButton(
            "trash", self.tr("Remove {name}").format(name=profile.name), f"removeServer{number}"
        )
        remove.clicked.connect(self.remove)
        for button in (self._test, change, remove):
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        self.box.addLayout(row)
        leaves = place.leaves
        where = self.tr("Text leaves this computer") if leaves else self.tr("On this computer")
        mark = QHBoxLayout()
        mark.setSpacing(6)
        mark.addWidget(Picture("leaves" if leaves else "check", "warn" if leaves else "good", 18))
        mark.addWidget(Label(where, "warn" if leaves else "good", name=f"serverPlace{number}"), 1)
        self.box.addLayout(mark)
        self._result = Label("", name=f"serverFound{number}", wrap=True, selectable=True)
        self._result.hide()
        self.box.addWidget(self._result)
        self._models = QVBoxLayout()
        self._models.setSpacing(4)
        self.box.addLayout(self._models)
        self._show_models(entries, current)

    def show_found(self, info: ServerInfo) -> None:
        """Show what the test of the server found."""
        self._say("\n".join([found(info), *models(info)]), "")
        self._test.setEnabled(True)

    def show_problem(self, error: UserError) -> None:
        self._say(in_full(error), "problem")
        self._test.setEnabled(True)

    def _show_models(self, entries: Sequence[ModelEntry], current: str) -> None:
        empty(self._models)
        for entry in entries[:_MOST]:
            line = QHBoxLayout()
            line.setSpacing(GRID)
            line.addWidget(Picture("box", "muted", 16))
            line.addWidget(ElidedLabel(entry.name_at_server), 1)
            if current in (entry.id, entry.name):
                line.addWidget(Label(self.tr("In use"), "chosen"))
            else:
                use = LabelledButton("chat", self.tr("Use"), f"use-{entry.id}", look="quiet")
                use.setAccessibleName(self.tr("Use {name_of}").format(name_of=entry.name_at_server))
                use.clicked.connect(lambda _=False, chosen=entry.id: self.use.emit(chosen))
                line.addWidget(use)
            self._models.addLayout(line)
        if len(entries) > _MOST:
            more = self.tr("And {count} more, in the model menu above a chat.")
            self._models.addWidget(
                Label(more.format(count=len(entries) - _MOST), "small", wrap=True)
            )

    def _try(self) -> None:
        self._test.setEnabled(False)
        self._say(self.tr("Testing the server…"), "muted")
        self.test.emit()

    def _say(self, text: str, look: str) -> None:
        self._result.setProperty("look", look)
        self._result.style().unpolish(self._result)
        self._result.style().polish(self._result)
        self._result.setText(text)
        self._result.show()
