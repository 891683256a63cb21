"""The switch at the composer for whether, and how hard, the model thinks."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from app.chats.answers.presenters.model_thinking import ThinkingFacts
from app.kit.widgets.chip import Chip
from app.kit.widgets.menu import Menu
from app.kit.widgets.menu_button import pop_up

OFF = "off"
ON = "on"


class ThinkingSwitch(Chip):
    """The switch for thinking.

    It is visible only if the model's chat template lets the user choose. If the template has
    levels of effort, the switch opens a menu.

    Signals:
        chosen(key): The user chose "off", "on", or a level of effort.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Think"), "thinking", parent=parent)
        tip = self.tr("Takes longer, and is better at hard questions.")
        self.setToolTip(tip)
        self.setAccessibleDescription(tip)
        self.setAccessibleName(self.tr("Think before answering"))
        self._choices: dict[str, str] = {}
        self._choice = ""
        self.clicked.connect(self._press)
        self.hide()

    @property
    def choice(self) -> str:
        """The visible choice; "" if there is nothing to choose."""
        return self._choice

    def nextCheckState(self) -> None:
        """Do nothing on a press; `show_facts` shows the choice after it was stored."""

    def show_facts(self, facts: ThinkingFacts | None, choice: str) -> None:
        """Show the choices that a model has.

        Args:
            facts: The model's abilities; None if they are not known.
            choice: The choice of the chat; "" for the model's default.
        """
        self._choices = self._choices_of(facts)
        self.setVisible(bool(self._choices))
        self._choice = ""
        if facts is not None and self._choices:
            default = facts.effort or list(self._choices)[-1] if facts.thinks else OFF
            self._choice = choice if choice in self._choices else default
        self.setChecked(self._choice not in {"", OFF})
        level = self._choices.get(self._choice, "") if self._choice not in {"", OFF, ON} else ""
        self.setText(self.tr("Think: {level}").format(level=level) if level else self.tr("Think"))

    def fill(self, menu: QMenu) -> None:
        """Add a submenu with the choices to a menu, for when the switch has no room."""
        submenu = menu.addMenu(self.tr("Think"))
        self._fill_choices(submenu)

    def _press(self) -> None:
        if set(self._choices) == {OFF, ON}:
            self.chosen.emit(OFF if self._choice == ON else ON)
            return
        menu = Menu(self)
        menu.aboutToHide.connect(menu.deleteLater)
        self._fill_choices(menu)
        pop_up(menu, self)

    def _fill_choices(self, menu: QMenu) -> None:
        menu.setObjectName("thinkingChoices")
        group = QActionGroup(menu)
        for key, text in self._choices.items():
            action = menu.addAction(text)
            action.setObjectName(f"think-{key}")
            action.setCheckable(True)
            action.setChecked(key == self._choice)
            action.triggered.connect(lambda _=False, key=key: self.chosen.emit(key))
            group.addAction(action)

    def _choices_of(self, facts: ThinkingFacts | None) -> dict[str, str]:
        """Return the choices by their keys; empty if the model offers none."""
        if facts is None:
            return {}
        names = {
            "minimal": self.tr("Minimal"),
            "low": self.tr("Low"),
            "medium": self.tr("Medium"),
            "high": self.tr("High"),
            "max": self.tr("Max"),
        }
        levels = {key: names[key] for key in facts.efforts if key in names}
        if facts.thinking == "switch":
            return {OFF: self.tr("Off"), **(levels or {ON: self.tr("On")})}
        return levels
