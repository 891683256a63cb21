"""Zooming everything in the window, and undoing that to the pixel."""

from __future__ import annotations

from collections import Counter

import pytest
import shiboken6
from PySide6.QtCore import QEvent, QObject, QPoint, QRect
from PySide6.QtWidgets import QApplication, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.kit.look.measures import measures_of
from app.kit.look.theme import BASE, GRID
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.label import Label
from app.kit.widgets.picture import Picture
from tests.support.suite import sampled
from tests.support.window import Ui
from tests.support.windows import built_window


def sizes(root: QWidget) -> dict[str, int]:
    """Return every measure of a widget and its descendants and their layouts, by place."""
    found = {}
    for at, widget in enumerate([root, *root.findChildren(QWidget)]):
        for name, measure in measures_of(widget).items():
            found[f"{at} {widget.objectName()} {name}"] = measure.read()
        layout = widget.layout()
        if layout is not None:
            for name, measure in measures_of(layout).items():
                found[f"{at} {widget.objectName()} layout {name}"] = measure.read()
    return found


@pytest.mark.parametrize("percent", sampled([60, 80, 150, 200], [60, 200]))
def test_the_window_comes_back_to_the_pixel(ui: Ui, percent: int) -> None:
    ui.window.resize(2000, 1600)  # high enough for its whole content at 100 %
    ui.ask("Hi")
    before, wide = sizes(ui.window.sidebar), ui.window.sidebar.width()
    assert len(before) > 50
    ui.presenters.settings.set("zoom", percent)
    during = sizes(ui.window.sidebar)
    assert during != before
    ui.presenters.settings.set("zoom", 100)
    assert sizes(ui.window.sidebar) == before
    assert abs(ui.window.sidebar.width() - wide) <= 1


def test_fonts_icons_and_margins_grow(ui: Ui) -> None:
    button = ui.find(IconButton, "send")
    picture = ui.window.sidebar.findChildren(Picture)[0]
    label = ui.window.sidebar.findChildren(Label)[0]
    small = label.fontInfo().pixelSize()
    ui.presenters.settings.set("zoom", 200)
    assert ui.edit.fontInfo().pixelSize() == 2 * BASE
    assert label.fontInfo().pixelSize() == 2 * small
    assert button.iconSize().width() == 40
    assert button.icon().availableSizes()[0].width() == 40
    assert picture.width() == 44
    assert picture.pixmap().width() == 44
    layout = ui.window.sidebar.layout()
    assert layout is not None
    assert layout.contentsMargins().left() == 24


def test_messages_grow_with_their_text(ui: Ui) -> None:
    ui.ask("Hi")
    height = ui.last.view.height()
    ui.presenters.settings.set("zoom", 200)
    ui.qtbot.waitUntil(lambda: ui.last.view.height() > 1.6 * height)
    assert ui.last.view.document().size().height() <= ui.last.view.height()
    ui.presenters.settings.set("zoom", 100)
    ui.qtbot.waitUntil(lambda: ui.last.view.height() == height)


def test_a_bubble_comes_back_to_its_height(ui: Ui) -> None:
    ui.ask("Is this right?")
    bubble = ui.find(QWidget, "bubble")
    height = bubble.height()
    for percent in (60, 200, 150, 100):
        ui.presenters.settings.set("zoom", percent)
    ui.qtbot.waitUntil(lambda: bubble.height() == height)


class Restylings(QObject):
    """Counts how often each widget is told of a new style."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[QObject] = Counter()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.StyleChange:
            self.counts[watched] += 1
        return False


def test_a_zoom_styles_each_widget_few_times(ui: Ui, qapp: QApplication) -> None:
    """Qt can style a widget once for every widget around it, which are 20 in a message."""
    ui.ask("Hi")
    restylings = Restylings()
    qapp.installEventFilter(restylings)
    ui.presenters.settings.set("zoom", 120)
    qapp.removeEventFilter(restylings)
    assert len(restylings.counts) > 50
    assert max(restylings.counts.values()) <= 4


LONG = "A sentence that is long enough to fill several lines of a bubble. " * 4
CODE = "Look:\n\n```python\nprint(1)\n```\n\n- one\n- two"


def places(window: QWidget) -> list[tuple[str, QRect]]:
    """Return each visible widget with its place in the window."""
    seen = [it for it in window.findChildren(QWidget) if it.isVisible()]
    return [
        (it.objectName() or type(it).__name__, QRect(it.mapTo(window, QPoint()), it.size()))
        for it in seen
    ]


def near(one: QRect, other: QRect) -> bool:
    apart = one.topLeft() - other.topLeft()
    larger = one.size() - other.size()
    return max(*map(abs, apart.toTuple()), *map(abs, larger.toTuple())) <= 2


@pytest.mark.parametrize("steps", [(150,), (80,), (200, 150), (110, 200, 100)])
def test_a_zoom_leaves_all_where_a_new_window_has_it(ui: Ui, steps: tuple[int, ...]) -> None:
    ui.window.resize(1400, 900)
    ui.engine.pieces = (CODE,)
    for text in ("Hi", LONG):
        ui.ask(text)
    chat_id = ui.page.chat_id
    ui.window.open_chat(None)
    ui.window.open_chat(chat_id)
    ui.settle()
    for percent in steps:
        ui.presenters.settings.set("zoom", percent)
    new = built_window(ui.presenters, repr)
    try:
        new.resize(1400, 900)
        new.show()
        new.open_chat(chat_id)
        ui.settle()

        def alike() -> bool:
            there, here = places(new), places(ui.window)
            assert sorted(name for name, _ in here) == sorted(name for name, _ in there)
            moved = [
                (name, rect, other)
                for (name, rect), (_, other) in zip(here, there, strict=True)
                if not near(rect, other)
            ]
            assert not moved
            return True

        ui.qtbot.waitUntil(alike)
    finally:
        new.close()
        shiboken6.delete(new)


def test_what_is_made_later_has_the_zoom_once(ui: Ui) -> None:
    ui.presenters.settings.set("zoom", 150)
    late = QWidget(ui.window)
    column = QVBoxLayout(late)
    column.setContentsMargins(GRID, 2 * GRID, 0, 0)
    column.setSpacing(GRID)
    inner = QHBoxLayout()
    inner.setSpacing(10)
    button = QPushButton("Late")
    button.setFixedWidth(100)
    inner.addWidget(button)
    column.addLayout(inner)
    late.show()
    margins = column.contentsMargins()
    assert (margins.left(), margins.top(), margins.bottom()) == (12, 24, 0)
    assert (column.spacing(), inner.spacing(), button.width()) == (12, 15, 150)
    late.hide()
    late.show()
    assert column.spacing() == 12
    ui.presenters.settings.set("zoom", 100)
    assert (column.spacing(), inner.spacing(), button.width()) == (8, 10, 100)


def test_a_size_that_a_widget_worked_out_is_left_to_it(ui: Ui) -> None:
    ui.presenters.settings.set("zoom", 150)
    late = QWidget(ui.window)
    late.setFixedHeight(40)
    late.show()
    assert late.height() == 60
    late.setFixedHeight(77)
    ui.presenters.settings.set("zoom", 200)
    assert late.height() == 77
