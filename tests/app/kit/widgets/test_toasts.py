"""Toasts: leaving by themselves, staying while they are used, and covering nothing."""

from __future__ import annotations

import threading

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit, QPlainTextEdit, QWidget

from app.base.errors import NoConnection
from app.kit.widgets import toast as toasts
from app.kit.widgets.panel import Panel
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


CONTROLS = (QAbstractButton, QLineEdit, QPlainTextEdit, QComboBox)


def controls(ui: Ui) -> dict[QWidget, QRect]:
    """Where the controls can be seen that are not a toast's own."""
    toasts = ui.window.findChildren(Toast)
    return {
        control: control.visibleRegion()
        .boundingRect()
        .translated(control.mapTo(ui.window, QPoint()))
        for control in ui.window.findChildren(QWidget)
        if isinstance(control, CONTROLS) and control.isVisible() and control.window() is ui.window
        if not control.visibleRegion().isEmpty()
        if not any(toast.isAncestorOf(control) for toast in toasts)
    }


def say_much(ui: Ui) -> None:
    ui.window.notifier.offer_undo("“Packing list” was deleted.", lambda: None)
    ui.window.notifier.error(PROBLEM)
    ui.settle()
    assert shown(ui)


def over_controls(ui: Ui) -> list[str]:
    seen = controls(ui).items()
    return [
        widget.objectName()
        for widget, area in seen
        if any(place(ui, toast).intersects(area) for toast in shown(ui))
    ]


def be_silent(ui: Ui) -> None:
    for toast in shown(ui):
        toast.dismiss()
    ui.settle()


@pytest.mark.parametrize("size", [(540, 480), (900, 600), (1280, 800)])
def test_in_a_chat_toasts_cover_no_control_and_move_none(
    ui: Ui, hold: threading.Event, size: tuple[int, int]
) -> None:
    ui.window.resize(*size)
    ui.engine.pieces = ("A line.\n\n" * 30, "The end.")
    for text in ("One", "Two"):
        ui.ask(text)
    ui.settle()
    be_silent(ui)
    # The last answer with its buttons, and messages above the composer that were not sent.
    hold.clear()
    ui.ask("Three", wait=False)
    ui.qtbot.waitUntil(lambda: ui.last.message.state == "streaming")
    ui.wait_for_text("A line.")
    for text in ("Four", "Five"):
        ui.ask(text, wait=False)
    ui.qtbot.waitUntil(lambda: ui.has("waitingRemove2"))
    ui.press("Esc")
    hold.set()
    ui.qtbot.waitUntil(lambda: ui.has("queueSend") and ui.has("regenerate"))
    ui.settle()
    bar = ui.page.transcript.verticalScrollBar()
    for scrolled in (bar.maximum(), bar.maximum() // 2):
        bar.setValue(scrolled)
        ui.settle()
        before = controls(ui)
        say_much(ui)
        assert over_controls(ui) == []
        after = controls(ui)
        moved = {it.objectName() for it in after if it in before and after[it] != before[it]}
        assert not [it for it in moved if it.startswith(("waiting", "send", "message"))]
        below = {it for it in before if before[it].top() > place(ui, shown(ui)[-1]).bottom()}
        assert {it: before[it] for it in below} == {it: after.get(it) for it in below}
        middle = place(ui, part(ui.page, Panel, "composer")).center().x()
        assert all(abs(place(ui, it).center().x() - middle) <= 1 for it in shown(ui))
        be_silent(ui)
        assert controls(ui) == before


def test_elsewhere_toasts_cover_no_control_either(ui: Ui) -> None:
    for size in ((540, 480), (1000, 640)):
        ui.window.resize(*size)
        # The last one takes the place of the page in the narrow window.
        for keys in ("Ctrl+N", "", "Ctrl+M", "Ctrl+Shift+A", "Ctrl+K"):
            ui.press(keys or "Ctrl+N")
            if not keys:
                ui.ask("A short chat")
            ui.settle()
            be_silent(ui)
            say_much(ui)
            assert over_controls(ui) == []
            assert all(ui.window.rect().contains(place(ui, it)) for it in shown(ui))
            # A change of the page takes them along.
            ui.press("Shift+F1")
            ui.settle()
            assert over_controls(ui) == []
            be_silent(ui)


def test_what_the_page_says_already_is_not_said_over_it(ui: Ui) -> None:
    card = ProblemCard(PROBLEM, parent=ui.window)
    card.show()
    ui.window.notifier.error(PROBLEM)
    assert shown(ui) == []
    card.hide()
    ui.window.notifier.error(PROBLEM)
    assert len(shown(ui)) == 1
