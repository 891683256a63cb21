"""A few choices side by side, one of which is selected."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QBoxLayout, QButtonGroup, QPushButton, QSizePolicy, QWidget

from app.kit.widgets.panel import Panel

_BACK = (Qt.Key.Key_Left, Qt.Key.Key_Up)
_ON = (Qt.Key.Key_Right, Qt.Key.Key_Down)


class Segments(Panel):
    """A row of choices, one of which is selected.

    As with radio buttons, Tab moves the focus to the selected choice, and the arrow keys select
    its neighbours.

    Args:
        name: The object name.
        title: The accessible name.
        choices: The key, the text of the button and the accessible name of each choice.

    Signals:
        chosen(key): The user selected another choice with the mouse or the arrow keys.
    """

    chosen = Signal(str)

    def __init__(
        self,
        name: str,
        title: str,
        choices: Sequence[tuple[str, str, str]],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(
            "segments", name, across=True, margins=(0.25, 0.25, 0.25, 0.25), spacing=0.25,
            parent=parent,
        )  # fmt: skip
        self.setAccessibleName(title)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._buttons: dict[str, QPushButton] = {}
        self._group = QButtonGroup(self)
        for key, text, spoken in choices:
            button = QPushButton(text)
            button.setObjectName(f"{name}-{key}")
            button.setAccessibleName(spoken)
            button.setProperty("look", "segment")
            button.setCheckable(True)
            button.setAutoExclusive(True)  # to screen readers it is a radio button
            button.setAutoDefault(False)
            button.setCursor(Qt.CursorShape.PointingHandCursor)
            button.clicked.connect(lambda _=False, key=key: self._choose(key))
            button.installEventFilter(self)
            self._buttons[key] = button
            self._group.addButton(button)
            self.box.addWidget(button)
        self._choice = choices[0][0]
        self.show_choice(self._choice)

    @property
    def choice(self) -> str:
        """The key of the selected choice."""
        return self._choice

    def show_choice(self, key: str) -> None:
        """Select a choice without emitting a signal."""
        self._choice = key
        self._buttons[key].setChecked(True)
        self.setFocusProxy(self._buttons[key])
        if any(button.hasFocus() for button in self._buttons.values()):
            self._buttons[key].setFocus()
        policy = Qt.FocusPolicy
        for other, button in self._buttons.items():
            button.setFocusPolicy(policy.StrongFocus if other == key else policy.ClickFocus)

    def fit_into(self, width: int) -> None:
        """Place the choices side by side, or one below the other if the width is too small.

        Args:
            width: The available width in pixels.
        """
        gaps = self.box.spacing() * (len(self._buttons) - 1)
        margins = self.box.contentsMargins()
        across = sum(button.sizeHint().width() for button in self._buttons.values()) + gaps
        fits = across + margins.left() + margins.right() + 2 <= width
        direction = QBoxLayout.Direction
        self.box.setDirection(direction.LeftToRight if fits else direction.TopToBottom)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Select the neighbour of the selected choice on an arrow key."""
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.KeyPress:
            step = (event.key() in _ON) - (event.key() in _BACK)
            if step:
                keys = list(self._buttons)
                place = keys.index(self._choice) + step
                if 0 <= place < len(keys):
                    self._choose(keys[place])
                    self._buttons[keys[place]].setFocus(Qt.FocusReason.TabFocusReason)
                return True
        return super().eventFilter(watched, event)

    def _choose(self, key: str) -> None:
        if key != self._choice:
            self.show_choice(key)
            self.chosen.emit(key)
