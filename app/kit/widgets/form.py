"""Forms: labelled fields, and *Save*, which is enabled once they can be saved."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, Qt, SignalInstance
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.base.language import in_full
from app.kit.look.theme import GRID
from app.kit.tasks.error_handling import error_handler
from app.kit.widgets.action import UserAction
from app.kit.widgets.composing import commit_composed
from app.kit.widgets.dialog import Dialog
from app.kit.widgets.fields import LineField
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.layouts import Part, column, fill, row
from app.kit.widgets.panel import Panel
from engines.errors import UserError


def field(title: str, *parts: Part, note: str = "", look: str = "strong") -> QVBoxLayout:
    """Return a field with its title above it.

    Args:
        title: The title.
        parts: The widget, and the parts below it.
        note: A sentence between the title and the widget.
        look: The look of the title.
    """
    notes = [Label(note, "small", wrap=True)] if note else []
    label = Label(title, look)
    if parts and isinstance(parts[0], QWidget):
        label.setBuddy(parts[0])
    return column(label, *notes, *parts, spacing=GRID // 2)


class _Saving:
    """The buttons of a form.

    Attributes:
        save: The main button.
        leave: The button to cancel.
    """

    save: LabelledButton
    leave: LabelledButton
    _test: Callable[[], object] = staticmethod(lambda: True)
    _is_saving = False

    def save_if(self, test: Callable[[], object], *changes: SignalInstance) -> None:
        """Enable *Save* while a test is passed.

        Args:
            test: Returns whether the form can be saved.
            changes: The signals after which the test can have another result.
        """
        self._test = test
        for change in changes:
            change.connect(lambda: self.check())  # noqa: PLW0108 - signals have arguments
        self.check()

    def check(self) -> None:
        """Enable *Save* if the form can be saved."""
        self.save.setEnabled(not self._is_saving and bool(self._test()))

    def _make_buttons(self, save: UserAction, leave: UserAction) -> None:
        self._do = save.do
        self.save = UserAction(save.name, save.icon, save.text, self._submit).button("primary")
        self.leave = leave.button()

    def _submit(self) -> None:
        commit_composed()
        self._do()


class FormCard(_Saving, Panel):
    """A form on a page.

    Args:
        name: The object name.
        save: The main button and its action.
        leave: The button to cancel.
    """

    def __init__(self, name: str, save: UserAction, leave: UserAction) -> None:
        super().__init__("card", name, margins=(3, 2.5, 3, 2.5), spacing=2)
        self._make_buttons(save, leave)

    def lay_out(self, *parts: Part) -> None:
        """Add the parts of the form, and the buttons below them."""
        fill(self.box, *parts, row(1, self.leave, self.save))


class FormDialog(_Saving, Dialog):
    """A form in a dialog, which stays open until `accept`, and shows problems in place.

    After *Save*, the button is disabled until `show_problem`.

    Attributes:
        problem: The line for problems; the dialog's owner puts it among the parts.
        is_open: Whether the user has not closed the dialog.

    Args:
        name: The object name.
        title: The title.
        save: The main button and its action.
        leave: The object name of the button to cancel.
        problem: The object name of the line for problems.
        width: The minimum width in pixels.
        aside: A button at the opposite end of the row of buttons.
        parent: The parent widget.
    """

    def __init__(
        self,
        name: str,
        title: str,
        save: UserAction,
        leave: str,
        *,
        problem: str = "problem",
        width: int = 420,
        aside: QWidget | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(name, width=width, parent=parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.set_title(title)
        self.is_open = True
        self.problem = Label("", name=problem, wrap=True, selectable=True, parent=self)
        self.problem.hide()
        drawing = "close" if save.icon else ""
        self._make_buttons(save, UserAction(leave, drawing, self.tr("Cancel"), self.reject))
        self.save.setDefault(True)
        self.add_buttons(self.leave, self.save, aside=aside)

    def lay_out(self, *parts: Part, first: QWidget) -> None:
        """Add the parts of the form.

        Args:
            parts: The parts, from the top.
            first: The field that has the focus, now and after a problem.
        """
        fill(self.column, *parts, 1)
        self._first = first
        first.setFocus()

    def done(self, result: int) -> None:
        """Close the dialog; later errors are shown elsewhere."""
        self.is_open = False
        super().done(result)

    def finish(self) -> None:
        """Close the dialog as saved, unless the user has closed it."""
        if self.is_open:
            self.accept()

    def show_problem(self, error: UserError) -> None:
        """Show why the form was not saved, and let the user try again."""
        self.say(in_full(error))
        self.wait(False)
        self._first.setFocus()

    def say(self, text: str, look: str = "problem") -> None:
        """Show a text in the line for problems."""
        self.problem.show_text(text, look)
        self.fit()

    def wait(self, waits: bool) -> None:
        """Disable *Save* while the form is being saved."""
        self._is_saving = waits
        self.check()

    def failure_handler(
        self, crashed: Callable[[Exception], object]
    ) -> Callable[[Exception], None]:
        """Return a `failed` callback: it shows errors in the dialog while that is open.

        Args:
            crashed: Shows other errors, and all errors after the dialog was closed.
        """
        return error_handler(
            lambda error: self.show_problem(error) if self.is_open else crashed(error), crashed
        )

    def _submit(self) -> None:
        self.wait(True)
        super()._submit()


def ask_name(
    window: QWidget,
    name: str,
    title: str,
    do: Callable[[str, Callable[[], None], Callable[[Exception], None]], object],
    crashed: Callable[[Exception], object],
    *,
    longest: int,
    text: str = "",
) -> None:
    """Ask for a name in a dialog.

    Args:
        window: The window that the dialog belongs to.
        name: The object name.
        title: The title.
        do: Called with the name, with *done*, which closes the dialog, and with *failed*.
        crashed: Shows errors that are no `UserError`, and those that come too late.
        longest: The largest number of characters.
        text: The present name.
    """
    translate = QCoreApplication.translate

    def submit() -> None:
        do(line.line, dialog.finish, dialog.failure_handler(crashed))

    line = LineField("otherName", translate("form", "Name"), text, longest=longest)
    save = UserAction("saveRename", "check", translate("form", "Save"), submit)
    dialog = FormDialog(name, title, save, "leaveRename", problem="renameProblem", parent=window)
    line.textEdited.connect(dialog.problem.hide)
    dialog.lay_out(line, dialog.problem, first=line)
    dialog.save_if(lambda: line.line, line.textChanged)
    line.selectAll()
    dialog.open()
