"""The first page: what comes later does not move what is there."""

from __future__ import annotations

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QPushButton

from tests.app.ui.conftest import Ui


def test_the_offer_comes_below_the_questions_and_leaves_them_where_they_are(ui: Ui) -> None:
    question = ui.find(QPushButton, "suggestion2")
    assert not ui.has("offer-default")  # which also lays out what has just been shown
    before = question.mapToGlobal(QPoint())
    ui.qtbot.waitUntil(lambda: ui.has("offer-default"))
    ui.settle()
    assert question.mapToGlobal(QPoint()) == before
