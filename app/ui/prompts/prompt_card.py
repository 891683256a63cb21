"""One prompt in the library: its name, its beginning, and what can be done with it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core.chats.prompts import SavedPrompt
from app.ui.look.theme import GRID
from app.ui.widgets.icon_button import IconButton
from app.ui.widgets.label import Label
from app.ui.widgets.panel import Panel

_SHOWN = 140


class PromptCard(Panel):
    """asked(action, id): "edit" or "remove"."""

    asked = Signal(str, str)

    def __init__(self, prompt: SavedPrompt, parent: QWidget | None = None) -> None:
        super().__init__(
            "card", f"prompt-{prompt.id}", across=True, margins=(2, 1.5, 1.5, 1.5), parent=parent
        )
        self.setAccessibleName(prompt.name)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(Label(f"/{prompt.name}", "strong", wrap=True))
        line = " ".join(prompt.text.split())
        words = line if len(line) <= _SHOWN else f"{line[:_SHOWN].rsplit(' ', 1)[0]}…"
        texts.addWidget(Label(words, "muted", wrap=True))
        self.box.addLayout(texts, 1)
        buttons = QHBoxLayout()
        buttons.setSpacing(GRID // 2)
        for drawing, text, action in (
            ("pencil", self.tr("Change {0}"), "edit"),
            ("trash", self.tr("Remove {0}"), "remove"),
        ):
            button = IconButton(drawing, text.format(prompt.name), f"{action}Prompt", size=18)
            button.clicked.connect(lambda _=False, act=action: self.asked.emit(act, prompt.id))
            buttons.addWidget(button)
        self.box.addLayout(buttons)
        self.box.setAlignment(buttons, Qt.AlignmentFlag.AlignTop)
