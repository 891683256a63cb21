"""One assistant in the list: what it is, and what can be done with it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core.chats.assistants import Assistant
from app.core.chats.prompts import filled, variables
from app.ui.look.theme import GRID
from app.ui.widgets.icon_button import IconButton
from app.ui.widgets.label import Label
from app.ui.widgets.labelled_button import LabelledButton
from app.ui.widgets.panel import Panel
from app.ui.widgets.picture import Picture

_SHOWN = 170
"""Characters of the system prompt; more is in the form."""


class AssistantCard(Panel):
    """asked(action, id): "chat", "edit", "copy" or "remove"; of a suggestion "add".

    model: the name of its model, "" for none.
    """

    asked = Signal(str, str)

    def __init__(
        self,
        assistant: Assistant,
        *,
        model: str = "",
        suggested: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(
            "card", f"assistant-{assistant.id}", across=True, margins=(2, 2, 2, 2), spacing=1.5,
            parent=parent,
        )  # fmt: skip
        self._id = assistant.id
        name = shown_name(assistant)
        self.setAccessibleName(name)
        self.box.addWidget(Picture("assistant", "accent_text", 24), 0, Qt.AlignmentFlag.AlignTop)
        texts = QVBoxLayout()
        texts.setSpacing(4)
        texts.addWidget(Label(name, "strong", name="assistantTitle", wrap=True))
        words = shortened(assistant.system_prompt) or self.tr("No system prompt of its own.")
        texts.addWidget(Label(words, "muted", wrap=True))
        if model:
            texts.addWidget(Label(self.tr("With {0}").format(model), "small"))
        self.box.addLayout(texts, 1)
        buttons = QHBoxLayout()
        buttons.setSpacing(GRID // 2)
        if suggested:
            self._button(buttons, "plus", self.tr("Add"), "add", name)
        else:
            self._button(buttons, "chat", self.tr("Chat"), "chat", name)
            for drawing, text, action in (
                ("pencil", self.tr("Change {0}"), "edit"),
                ("copy", self.tr("Make a copy of {0}"), "copy"),
                ("trash", self.tr("Remove {0}"), "remove"),
            ):
                button = IconButton(drawing, text.format(name), f"{action}Assistant", size=18)
                button.clicked.connect(lambda _=False, act=action: self.asked.emit(act, self._id))
                buttons.addWidget(button)
        self.box.addLayout(buttons)
        self.box.setAlignment(buttons, Qt.AlignmentFlag.AlignTop)

    def _button(self, row: QHBoxLayout, drawing: str, text: str, action: str, name: str) -> None:
        button = LabelledButton(drawing, text, f"{action}Assistant")
        button.setAccessibleName(f"{text}: {name}")
        button.clicked.connect(lambda: self.asked.emit(action, self._id))
        row.addWidget(button)


def shown_name(assistant: Assistant) -> str:
    """With dots in place of what is asked for when it is added."""
    return filled(assistant.name, dict.fromkeys(variables(assistant.name), "…"))


def shortened(text: str) -> str:
    """The beginning of a text in one line, cut at a word."""
    line = " ".join(filled(text, {it: f"[{it}]" for it in variables(text)}).split())
    if len(line) <= _SHOWN:
        return line
    return line[:_SHOWN].rsplit(" ", 1)[0].rstrip(",.;:") + "…"
