"""The folded summary below the last message that it replaces."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.base.language import translated
from app.chats.context.values.summary import Summary
from app.kit.announcing import describe_fold
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.panel import Panel


class SummaryFold(Panel):
    """A summary that the model reads in place of messages.

    Args:
        summary: The summary.
        messages: The number of messages that it replaces.

    Signals:
        forget(): The user wants to remove the summary; the model then reads the messages again.
    """

    forget = Signal()

    def __init__(self, summary: Summary, messages: int, parent: QWidget | None = None) -> None:
        super().__init__(
            "fold", "summaryFold", margins=(1, 0.5, 1, 0.5), spacing=0.5, parent=parent
        )
        self.summary = summary
        words = self.tr("Summary of the {messages} messages above").format(messages=messages)
        self._button = LabelledButton("fold", words, "showSummary", look="quiet")
        self._button.setCheckable(True)
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        self.box.addWidget(self._button)
        text = Label(summary.text, name="summaryText", wrap=True, selectable=True)
        text.setContentsMargins(12, 0, 12, 0)
        source = self.tr("Written by {model}. The model reads this in place of those messages.")
        words = source.format(model=translated(summary.model))
        note = Label(words, "small", name="summaryNote", wrap=True)
        note.setContentsMargins(12, 0, 0, 4)
        forget = LabelledButton(
            "trash", self.tr("Remove the summary"), "forgetSummary", look="link"
        )
        forget.clicked.connect(self.forget)
        row.addWidget(note, 1)
        row.addWidget(forget)
        self._parts: tuple[QWidget, ...] = (text, note, forget)
        self.box.addWidget(text)
        self.box.addLayout(row)
        self._button.toggled.connect(self._unfold)
        self._unfold(False)

    def _unfold(self, shown: bool) -> None:
        for part in self._parts:
            part.setVisible(shown)
        describe_fold(self._button, unfolded=shown)
