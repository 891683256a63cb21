"""Toasts: leaving by themselves, staying while they are used, and covering nothing."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.base.errors import NoConnection
from app.kit.widgets import toast as toasts
from app.kit.widgets.problem_card import ProblemCard
from app.kit.widgets.toast import Toast, seconds_for
from tests.support.window import Ui, part

PROBLEM = NoConnection("There is no connection.", "The network is down.", "Try again later.")


def shown(ui: Ui) -> list[Toast]:
    return [it for it in ui.window.findChildren(Toast) if it.isVisible()]


def place(ui: Ui, widget: QWidget) -> QRect:
    return QRect(widget.mapTo(ui.window, QPoint()), widget.size())


def test_longer_texts_stay_longer_and_problems_stay_a_while() -> None:
    short, long = ("Copied.",), ("A sentence of some length that wants to be read. " * 5,)
    assert seconds_for(short, needs_attention=False) < seconds_for(long, needs_attention=False)
    assert seconds_for(short, needs_attention=False) < seconds_for(short, needs_attention=True)
    assert seconds_for(long, needs_attention=True) > seconds_for(short, needs_attention=True)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toasts, "seconds_for", lambda _lines, *, needs_attention: 0.05)
    monkeypatch.setattr(toasts, "AGAIN_MS", 50)
    # The pointer of the offscreen window system rests in the middle of its screen.
    monkeypatch.setattr(Toast, "underMouse", lambda _: False)


def looks(monkeypatch: pytest.MonkeyPatch, *, under_mouse: bool) -> list[Toast]:
    """Return a list that grows each time a toast checks the pointer before it leaves."""
    looked: list[Toast] = []

    def look(toast: Toast) -> bool:
        looked.append(toast)
        return under_mouse

    monkeypatch.setattr(Toast, "underMouse", look)
    return looked


@pytest.mark.usefixtures("quick")
def test_an_error_leaves_by_itself(ui: Ui) -> None:
    ui.window.notifier.error(PROBLEM)
    assert len(shown(ui)) == 1
    ui.qtbot.waitUntil(lambda: not shown(ui))


@pytest.mark.usefixtures("quick")
def test_one_that_has_the_focus_stays_until_that_is_elsewhere(
    ui: Ui, monkeypatch: pytest.MonkeyPatch
) -> None:
    ui.window.notifier.error(PROBLEM)
    [toast] = shown(ui)
    close = part(toast, QWidget, "toastClose")
    close.setFocus()
    ui.qtbot.waitUntil(close.hasFocus)
    looked = looks(monkeypatch, under_mouse=False)
    ui.qtbot.waitUntil(lambda: len(looked) == 3)
    assert shown(ui) == [toast]
    ui.edit.setFocus()
    ui.qtbot.waitUntil(lambda: not shown(ui))


@pytest.mark.usefixtures("quick")
def test_one_under_the_pointer_stays(ui: Ui, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = looks(monkeypatch, under_mouse=True)
    ui.window.notifier.error(PROBLEM)
    ui.qtbot.waitUntil(lambda: len(looked) == 3)
    assert len(shown(ui)) == 1
    monkeypatch.setattr(Toast, "underMouse", lambda _: False)
    ui.qtbot.waitUntil(lambda: not shown(ui))


def test_no_message_covers_the_composer_however_high_that_is(ui: Ui) -> None:
    ui.window.resize(800, 560)
    for number in range(5):
        ui.window.notifier.say(f"Message {number}")
    ui.window.notifier.error(PROBLEM)
    assert len(shown(ui)) == 3
    composer = part(ui.window, QWidget, "composer")
    before = composer.height()
    QTest.keyClicks(ui.edit, "many words " * 60)
    ui.qtbot.waitUntil(lambda: composer.height() > before)
    ui.qtbot.waitUntil(
        lambda: not any(place(ui, it).intersects(place(ui, composer)) for it in shown(ui))
    )
    assert all(ui.window.rect().contains(place(ui, it)) for it in shown(ui))


def test_what_the_page_says_already_is_not_said_over_it(ui: Ui) -> None:
    card = ProblemCard(PROBLEM, parent=ui.window)
    card.show()
    ui.window.notifier.error(PROBLEM)
    assert shown(ui) == []
    card.hide()
    ui.window.notifier.error(PROBLEM)
    assert len(shown(ui)) == 1
