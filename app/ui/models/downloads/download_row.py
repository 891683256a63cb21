"""One download: how far it is, and its buttons; with the focus on it, keys do the same."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from app.core.models.downloads import Download
from app.ui.look.language import translated
from app.ui.look.theme import GRID
from app.ui.models.download_words import UNDER_WAY, in_words, share
from app.ui.models.downloads.words import amount
from app.ui.widgets.elided_label import ElidedLabel
from app.ui.widgets.icon_button import IconButton
from app.ui.widgets.label import Label
from app.ui.widgets.labelled_button import LabelledButton
from app.ui.widgets.panel import Panel

_KEYS = {
    (Qt.Key.Key_Space, False): "turn",
    (Qt.Key.Key_Delete, False): "cancel",
    (Qt.Key.Key_Up, True): "up",
    (Qt.Key.Key_Down, True): "down",
}
"""With and without Ctrl."""


class DownloadRow(Panel):
    """asked(action): "pause", "resume", "cancel", "up", "down" or "use"."""

    asked = Signal(str)

    def __init__(self, download: Download, parent: QWidget | None = None) -> None:
        super().__init__(
            "card", f"download-{download.id}", margins=(2, 1.5, 1.5, 1.5), parent=parent
        )
        self._download = download
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setToolTip(
            self.tr("Space pauses and goes on, Del cancels, Ctrl+Up and Ctrl+Down move it.")
        )
        head = QHBoxLayout()
        head.setSpacing(GRID // 2)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(ElidedLabel(download.wanted.label, "strong", "downloadName"))
        texts.addWidget(ElidedLabel(download.wanted.repo, "small", "downloadRepo"))
        head.addLayout(texts, 1)
        label, name = download.wanted.label, download.id
        self._use = LabelledButton("chat", self.tr("Use it"), f"use-{name}")
        self._use.setAccessibleName(self.tr("Use {0}").format(label))
        self._again = LabelledButton("again", self.tr("Try again"), f"again-{name}")
        self._again.setAccessibleName(self.tr("Try again: {0}").format(label))
        self._turn = IconButton("pause", "", f"turn-{name}")
        self._up = IconButton("up", self.tr("Earlier: {0}").format(label), f"up-{name}")
        self._down = IconButton("lower", self.tr("Later: {0}").format(label), f"down-{name}")
        self._cancel = IconButton("close", self.tr("Cancel {0}").format(label), f"cancel-{name}")
        self._use.clicked.connect(lambda: self.asked.emit("use"))
        self._again.clicked.connect(lambda: self.asked.emit("resume"))
        self._turn.clicked.connect(lambda: self._do("turn"))
        self._up.clicked.connect(lambda: self._do("up"))
        self._down.clicked.connect(lambda: self._do("down"))
        self._cancel.clicked.connect(lambda: self._do("cancel"))
        for button in (self._use, self._again, self._turn, self._up, self._down, self._cancel):
            head.addWidget(button)
        self.box.addLayout(head)
        self._bar = QProgressBar()
        self._bar.setObjectName(f"bar-{name}")
        self._bar.setAccessibleName(self.tr("Downloading {0}").format(label))
        self._bar.setTextVisible(False)
        self.box.addWidget(self._bar)
        foot = QHBoxLayout()
        self._state = Label("", "small", name=f"state-{name}")
        self._amount = Label("", "small", name=f"amount-{name}")
        foot.addWidget(self._state)
        foot.addStretch(1)
        foot.addWidget(self._amount)
        self.box.addLayout(foot)
        self._what = Label("", "problem", name=f"what-{name}", wrap=True, selectable=True)
        self._why = Label("", "small", name=f"why-{name}", wrap=True, selectable=True)
        self._what_to_do = Label("", "small", name=f"do-{name}", wrap=True, selectable=True)
        for line in (self._what, self._why, self._what_to_do):
            self.box.addWidget(line)
        self.show_download(download, first=False, last=False)

    @property
    def download(self) -> Download:
        return self._download

    def show_download(self, download: Download, *, first: bool, last: bool) -> None:
        """first, last: of those that are under way, so that it can be moved no further."""
        self._download = download
        going, state = download.state in UNDER_WAY, download.state
        words = in_words(download)
        self._state.setText(words)
        self._amount.setText(amount(download))
        self._bar.setVisible(going)
        self._bar.setValue(round(share(download) * 100))
        label = download.wanted.label
        paused = state == "paused"
        self._turn.setVisible(going)
        self._turn.redraw("play" if paused else "pause")
        text = self.tr("Go on with {0}") if paused else self.tr("Pause {0}")
        self._turn.rename(text.format(label))
        self._up.setVisible(going)
        self._up.setEnabled(not first)
        self._down.setVisible(going)
        self._down.setEnabled(not last)
        self._cancel.setVisible(state != "done")
        self._cancel.rename(
            (self.tr("Remove {0}") if state == "failed" else self.tr("Cancel {0}")).format(label)
        )
        self._use.setVisible(state == "done")
        self._again.setVisible(state == "failed")
        for line, said in (
            (self._what, translated(download.what)),
            (self._why, translated(download.why)),
            (self._what_to_do, translated(download.do)),
        ):
            line.setText(said)
            line.setVisible(bool(said))
        self.setAccessibleName(label)
        parts = (words, translated(download.what))
        self.setAccessibleDescription(" ".join(part for part in parts if part))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        ctrl = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        action = _KEYS.get((Qt.Key(event.key()), ctrl))
        if action is None:
            super().keyPressEvent(event)
        else:
            self._do(action)

    def _do(self, action: str) -> None:
        state = self._download.state
        if action == "turn" and state in UNDER_WAY:
            self.asked.emit("resume" if state == "paused" else "pause")
        elif (action == "cancel" and state != "done") or (action != "turn" and state in UNDER_WAY):
            self.asked.emit(action)
