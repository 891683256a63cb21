"""At the composer: the switch for whether, and how hard, the model thinks."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.core.chats.thinking import why_fixed
from app.presenters.model_thinking import ThinkingFacts
from app.ui.look.language import translated
from app.ui.look.theme import GRID
from app.ui.widgets.label import Label
from app.ui.widgets.segments import Segments

OFF = "off"
ON = "on"
_HIGH = 28
"""Pixels, as high as the switch beside it, so that they stand in one line."""


class ThinkingSwitch(QWidget):
    """chosen(key): "off", "on", or a level of effort.

    Where the model's chat template has no switch, it says so instead of having one.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("thinking")
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(GRID)
        self._title = Label(self.tr("Think"), "small", name="thinkingTitle")
        self._fixed = Label("", "badge", name="thinkingFixed")
        self._row.addWidget(self._title)
        self._row.addWidget(self._fixed, 0, Qt.AlignmentFlag.AlignVCenter)
        self._row.addStretch(1)
        self._row.addStrut(_HIGH)
        self._segments: Segments | None = None
        self._facts: ThinkingFacts | None = None
        self.hide()

    @property
    def choice(self) -> str:
        """The choice that is marked; "" where there is nothing to choose."""
        return self._segments.choice if self._segments else ""

    def show_facts(self, facts: ThinkingFacts | None, choice: str) -> None:
        """Show the choices; None where nothing is known. choice: "" marks the usual one."""
        if facts != self._facts:
            self._facts = facts
            self._rebuild(facts)
        self.setVisible(facts is not None)
        keys = [key for key, *_ in self._choices(facts)]
        if self._segments is not None and facts is not None:
            usual = facts.effort or (keys[-1] if facts.thinks else OFF)
            if not facts.thinks:
                usual = OFF
            self._segments.show_choice(choice if choice in keys else usual)

    def _rebuild(self, facts: ThinkingFacts | None) -> None:
        if self._segments is not None:
            self._segments.hide()
            self._segments.deleteLater()
            self._segments = None
        choices = self._choices(facts)
        tip = self.tr(
            "A model that thinks first takes longer, and is better at what has to be worked out."
        )
        if choices:
            self._segments = Segments("think", self.tr("Thinking before the answer"), choices)
            self._segments.setAccessibleDescription(tip)
            self._segments.chosen.connect(self.chosen)
            self._row.insertWidget(1, self._segments)
        elif facts is not None:
            tip = translated(why_fixed(facts.thinking))
            always = facts.thinking == "always"
            self._fixed.setText(self.tr("always") if always else self.tr("never"))
            self._fixed.setAccessibleName(tip)
        self._fixed.setVisible(facts is not None and not choices)
        self._title.setToolTip(tip)
        self._fixed.setToolTip(tip)

    def _choices(self, facts: ThinkingFacts | None) -> list[tuple[str, str, str]]:
        """Key, text, and what a screen reader says."""
        if facts is None:
            return []
        found = []
        if facts.thinking == "switch":
            found.append((OFF, self.tr("Off"), self.tr("Answer without thinking")))
        names = {
            "minimal": (self.tr("Minimal"), self.tr("Think as little as possible")),
            "low": (self.tr("Low"), self.tr("Think a little")),
            "medium": (self.tr("Medium"), self.tr("Think an average amount")),
            "high": (self.tr("High"), self.tr("Think hard")),
            "max": (self.tr("Max"), self.tr("Think as hard as possible")),
        }
        levels = [(key, *names[key]) for key in facts.efforts if key in names]
        if facts.thinking == "switch" and not levels:
            levels = [(ON, self.tr("On"), self.tr("Think before answering"))]
        return found + levels
