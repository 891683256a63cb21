"""The card of one collection in the list: its name, its reading progress, and its actions."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QProgressBar, QVBoxLayout, QWidget

from app.documents.collections.pages.words import is_at_work, share, standing
from app.documents.collections.values import CollectionState, IndexProgress
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.live_line import LiveLine
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture


class CollectionCard(Panel):
    """The card of one collection; a click anywhere opens it.

    Signals:
        asked(action, id): The user wants "open", "chat", "pause" or "resume".
    """

    asked = Signal(str, str)

    def __init__(
        self,
        state: CollectionState,
        progress: IndexProgress | None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(
            "card", f"collection-{state.collection.id}", across=True, margins=(2, 1.5, 1.25, 1.5),
            spacing=1.5, parent=parent,
        )  # fmt: skip
        self._id = state.collection.id
        self._paused = False
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.box.addWidget(Picture("documents", "accent_text", 24))
        texts = QVBoxLayout()
        texts.setSpacing(5)
        self._name = ElidedLabel("", "strong", "collectionName")
        self._line = LiveLine(self.tr("State"), "muted", "collectionStanding")
        self._bar = QProgressBar()
        self._bar.setObjectName("collectionBar")
        self._bar.setTextVisible(False)
        texts.addWidget(self._name)
        texts.addWidget(self._line)
        texts.addWidget(self._bar)
        self.box.addLayout(texts, 1)
        self._halt = IconButton("pause", "", f"pause-{self._id}", size=18)
        self._halt.clicked.connect(lambda: self._ask("resume" if self._paused else "pause"))
        self._chat = LabelledButton("chat", self.tr("Chat"), f"chatAbout-{self._id}")
        self._chat.clicked.connect(lambda: self._ask("chat"))
        self._open = IconButton("forward", "", f"open-{self._id}")
        self._open.clicked.connect(lambda: self._ask("open"))
        for button in (self._halt, self._chat, self._open):
            self.box.addWidget(button)
        self.show_state(state, progress)

    def show_state(self, state: CollectionState, progress: IndexProgress | None) -> None:
        at_work = is_at_work(state, progress)
        name = state.collection.name
        self._paused = state.collection.paused
        self._name.setText(name)
        self.setAccessibleName(name)
        self._line.say(standing(state, progress), at_once=not at_work)
        self._bar.setValue(share(state, progress))
        self._bar.setAccessibleName(self.tr("Reading {name}").format(name=name))
        self._bar.setVisible(at_work)
        words = self.tr("Go on reading {name}") if self._paused else self.tr("Pause reading {name}")
        self._halt.redraw("play" if self._paused else "pause")
        self._halt.rename(words.format(name=name))
        self._halt.setVisible(at_work or self._paused)
        self._chat.setAccessibleName(self.tr("New chat about {name}").format(name=name))
        self._open.rename(self.tr("Open {name}").format(name=name))

    def focus(self) -> None:
        self._open.setFocus(Qt.FocusReason.OtherFocusReason)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        inside = self.rect().contains(event.position().toPoint())
        if event.button() is Qt.MouseButton.LeftButton and inside:
            self._ask("open")

    def _ask(self, action: str) -> None:
        self.asked.emit(action, self._id)
