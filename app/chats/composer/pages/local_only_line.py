"""The line at the composer that says that a chat stays on this computer."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app.kit.widgets.label import Label
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture


class LocalOnlyLine(Panel):
    """The line that says that a chat stays on this computer, with a button that changes that.

    Signals:
        chosen(): The user wants to send this chat to the server.
    """

    chosen = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("fold", "stayLine", across=True, margins=(1.5, 1, 1.5, 1), parent=parent)
        texts = QVBoxLayout()
        texts.setSpacing(1)
        self._headline = Label(
            self.tr("This chat stays on this computer"), "strong", name="stayLineWhat"
        )
        self._reason = Label("", "small", name="stayLineWhy", wrap=True)
        texts.addWidget(self._headline)
        texts.addWidget(self._reason)
        self._send = QPushButton(self.tr("Send it there"))
        self._send.setObjectName("sendToServer")
        self._send.setProperty("look", "link")
        self._send.clicked.connect(self.chosen)
        self.box.addWidget(Picture("screen", "muted", 24), 0, Qt.AlignmentFlag.AlignTop)
        self.box.addLayout(texts, 1)
        self.box.addWidget(self._send, 0, Qt.AlignmentFlag.AlignVCenter)
        self.setAccessibleName(self._headline.text())
        self.hide()

    def show_model(self, server: str | None) -> None:
        """Show that the chat is not sent to this server; None hides the line."""
        if server is not None:
            words = self.tr(
                "You did not choose {server} for this chat, so a model on this computer answers."
            )
            self._reason.setText(words.format(server=server))
            self.setAccessibleDescription(self._reason.text())
            self._send.setAccessibleName(
                self.tr("Send this chat to {server}").format(server=server)
            )
        self.setVisible(server is not None)
