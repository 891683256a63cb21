"""Preloading at the first sign of a user, and not before."""

from __future__ import annotations

from PySide6.QtCore import QPoint
from PySide6.QtGui import QCursor, QEnterEvent
from PySide6.QtWidgets import QApplication, QWidget

from app.window.pages.preloader import Preloader
from tests.support.window import Ui


def enter(widget: QWidget, where: QPoint) -> None:
    at = where.toPointF()
    QApplication.sendEvent(widget, QEnterEvent(at, at, at))


def test_a_pointer_that_moves_is_a_sign_and_counts_once(ui: Ui) -> None:
    told: list[str] = []
    Preloader(ui.window, lambda: told.append("somebody"))
    rests = QCursor.pos()
    enter(ui.window, rests)
    assert told == []
    enter(ui.window.sidebar, rests + QPoint(30, 40))
    enter(ui.window, rests + QPoint(30, 40))
    assert told == ["somebody"]


def test_a_key_is_a_sign_and_so_is_what_was_written_before(ui: Ui) -> None:
    told: list[str] = []
    Preloader(ui.window, lambda: told.append("key"))
    assert told == []
    ui.type("Hello")
    assert told == ["key"]
    Preloader(ui.window, lambda: told.append("there"))
    assert told == ["key", "there"]
