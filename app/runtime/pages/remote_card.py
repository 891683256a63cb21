"""The card of other servers: their names, and a button to their page."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.runtime.pages.engine_card import EngineCard


class RemoteCard(EngineCard):
    """The card of other servers.

    Signals:
        servers(): The user wants to see the page of servers.
    """

    servers = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(
            "remoteCard",
            "server",
            self.tr("Another server"),
            self.tr(
                "A vLLM, llama-server, LM Studio, Ollama, SGLang or a gateway on your "
                "network. What you write to its models leaves this computer, and each of "
                "these chats says so."
            ),
            parent,
        )
        self._words = Label("", name="remoteWords", wrap=True)
        self._button = LabelledButton("server", self.tr("Servers…"), "openServers")
        self._button.clicked.connect(self.servers)
        self.body.addWidget(self._words)
        self.body.addWidget(self._button, 0, Qt.AlignmentFlag.AlignLeft)

    def show_servers(self, names: Sequence[str]) -> None:
        """Show the names of the user's servers."""
        if names:
            self._words.setText(", ".join(names))
            self._button.redraw("server", self.tr("Servers…"))
        else:
            self._words.setText(self.tr("No server has been added yet."))
            self._button.redraw("plus", self.tr("Add a server…"))
        self.show_status(str(len(names)) if names else "")
