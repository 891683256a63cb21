"""The page of a model in a narrow German window."""

from __future__ import annotations

from PySide6.QtWidgets import QScrollArea, QWidget

from tests.support.window import Ui, part


def test_in_a_narrow_german_window_nothing_runs_out_of_the_page(german: None, ui: Ui) -> None:
    ui.presenters.settings.set("zoom", 130)
    ui.window.set_sidebar(False)
    ui.window.resize(540, 700)
    ui.press("Ctrl+M")
    ui.qtbot.waitUntil(lambda: ui.has("details-starter"))
    ui.click("details-starter")
    ui.qtbot.waitUntil(lambda: ui.has("modelActions"))
    actions = part(ui.window, QWidget, "modelActions")
    (area,) = (it for it in ui.window.findChildren(QScrollArea) if it.isAncestorOf(actions))
    room = area.viewport()
    ui.qtbot.waitUntil(lambda: actions.width() <= room.width())
    for button in actions.findChildren(QWidget):
        if button.isVisible():
            right = button.mapTo(room, button.rect().topRight()).x()
            assert right < room.width(), button.objectName()
