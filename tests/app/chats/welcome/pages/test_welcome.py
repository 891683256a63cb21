"""The welcome page: later additions leave the rest in place, and questions start a chat."""

from __future__ import annotations

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QPushButton

from tests.support.window import Ui


def test_the_offer_comes_below_the_questions_and_leaves_them_where_they_are(ui: Ui) -> None:
    question = ui.find(QPushButton, "suggestion2")
    assert not ui.has("offer-default")  # `has` also lays out new widgets
    before = question.mapToGlobal(QPoint())
    ui.qtbot.waitUntil(lambda: ui.has("offer-default"))
    ui.settle()
    # The page has its new height once all events are processed.
    ui.qtbot.waitUntil(lambda: question.mapToGlobal(QPoint()) == before)


def test_the_next_message_is_typed_at_once_after_a_suggested_question(ui: Ui) -> None:
    ui.click("suggestion1")
    ui.wait_for_answer()
    ui.qtbot.waitUntil(ui.edit.hasFocus)
