"""The dialog that asks for the values of a text's variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtWidgets import QWidget

from app.kit.look.theme import GRID
from app.kit.widgets.action import UserAction
from app.kit.widgets.fields import LineField
from app.kit.widgets.form import FormDialog, field
from app.kit.widgets.layouts import column


class VariablesDialog(FormDialog):
    """A dialog that asks for the values of variables.

    Args:
        title: The title.
        names: The names of the variables.
        use: Called with all values, by name.
        parent: The window.
    """

    def __init__(
        self,
        title: str,
        names: Sequence[str],
        use: Callable[[Mapping[str, str]], object],
        parent: QWidget,
    ) -> None:
        save = UserAction("useVariables", "check", self.tr("Use"), self._finish)
        super().__init__("variablesDialog", title, save, "leaveVariables", parent=parent)
        self._use = use
        self._lines = {
            name: LineField(f"variable{number}", name) for number, name in enumerate(names, start=1)
        }
        lines = list(self._lines.values())
        for line in lines:
            line.returnPressed.connect(self._go_on)
        fields = [field(name[:1].upper() + name[1:], it) for name, it in self._lines.items()]
        self.lay_out(column(*fields, spacing=2 * GRID), first=lines[0])
        self.save_if(lambda: all(it.words for it in lines), *(it.textChanged for it in lines))

    def _go_on(self) -> None:
        """On Enter, move to the next empty field; if there is none, Enter finishes."""
        empty = next((it for it in self._lines.values() if not it.words), None)
        if empty is not None:
            empty.setFocus()

    def _finish(self) -> None:
        values = {name: it.words for name, it in self._lines.items()}
        self.accept()
        self._use(values)
