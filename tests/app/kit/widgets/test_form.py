"""Forms: enabling *Save*, and showing problems."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.base.errors import AppError
from app.kit.widgets.action import UserAction
from app.kit.widgets.fields import LineField
from app.kit.widgets.form import FormDialog
from app.kit.widgets.label import Label
from tests.support.window import Ui, part

TAKEN = AppError("That name is taken.", "Another one has it.", "Choose another name.")


class NameForm(FormDialog):
    """A form with one field, which must not be empty."""

    def __init__(self, ui: Ui) -> None:
        self.saved: list[str] = []
        self.crashes: list[Exception] = []
        save = UserAction("save", "check", "Save", lambda: self.saved.append(self.name.text()))
        super().__init__("nameForm", "A name", save, "leave", parent=ui.window)
        self.name = LineField("name", "Name")
        self.lay_out(self.name, self.problem, first=self.name)
        self.save_if(lambda: self.name.words, self.name.textChanged)
        self.open()

    def fail(self, error: Exception) -> None:
        self.failure_handler(self.crashes.append)(error)


def test_it_can_be_saved_once_it_is_complete_and_not_twice(ui: Ui) -> None:
    form = NameForm(ui)
    assert form.focusWidget() is form.name
    QTest.keyClick(form.name, Qt.Key.Key_Return)
    assert form.saved == []
    QTest.keyClicks(form.name, "Ada")
    QTest.keyClick(form.name, Qt.Key.Key_Return)
    QTest.keyClicks(form.name, " Lovelace")
    QTest.keyClick(form.name, Qt.Key.Key_Return)
    assert form.saved == ["Ada"], "it is being saved"
    assert form.isVisible()
    form.finish()
    assert not form.isVisible()


def test_a_problem_is_shown_in_place_and_can_be_corrected(ui: Ui) -> None:
    form = NameForm(ui)
    QTest.keyClicks(form.name, "Ada")
    ui.click("save")
    form.fail(TAKEN)
    assert "taken" in part(form, Label, "problem").text()
    assert form.focusWidget() is form.name
    assert part(form, QPushButton, "save").isEnabled()
    assert form.crashes == []
    form.reject()


def test_after_it_was_closed_an_error_goes_elsewhere(ui: Ui) -> None:
    form = NameForm(ui)
    ui.click("leave")
    form.fail(TAKEN)
    form.finish()
    assert form.crashes == [TAKEN]


def test_enter_on_cancel_leaves(ui: Ui) -> None:
    form = NameForm(ui)
    QTest.keyClicks(form.name, "Ada")
    form.leave.setFocus()
    QTest.keyClick(form.leave, Qt.Key.Key_Return)
    assert not form.isVisible()
    assert form.saved == []


def test_an_action_is_called_without_what_a_click_says(qtbot: QtBot) -> None:
    given: list[tuple[object, ...]] = []
    action = UserAction("act", "check", "Act", lambda *args: given.append(args))
    for button in (action.button(), action.icon_button()):
        qtbot.addWidget(button)
        assert (button.objectName(), button.accessibleName()) == ("act", "Act")
        button.click()
    assert given == [(), ()]
