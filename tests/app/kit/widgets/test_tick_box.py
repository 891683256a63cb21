"""Tick boxes: using mouse and keys, and contrast in every theme."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.kit.look.theme import DARK, HIGH_DARK, HIGH_LIGHT, LIGHT, Theme, contrast, palette_of
from app.kit.widgets.tick_box import TickBox

_LEAST_CONTRAST = 3.0
"""WCAG's minimum contrast between a control and its background."""


@pytest.fixture
def box(qapp: QApplication) -> Iterator[TickBox]:
    made = TickBox("Pictures too", "pictures")
    made.resize(200, 24)
    yield made
    shiboken6.delete(made)


def test_it_is_ticked_by_mouse_and_keys(box: TickBox) -> None:
    assert box.accessibleName() == "Pictures too"
    QTest.mouseClick(box, Qt.MouseButton.LeftButton, pos=box.rect().center() / 4)
    assert box.isChecked()
    QTest.keyClick(box, Qt.Key.Key_Space)
    assert not box.isChecked()


@pytest.mark.parametrize("theme", [LIGHT, DARK, HIGH_LIGHT, HIGH_DARK])
@pytest.mark.parametrize("ticked", [False, True])
def test_it_is_seen_in_every_theme(box: TickBox, theme: Theme, ticked: bool) -> None:
    box.setPalette(palette_of(theme))
    box.setChecked(ticked)
    picture = box.grab().toImage()
    row = [QColor(picture.pixel(x, picture.height() // 2)).name() for x in range(20)]
    most = max(contrast(colour, theme.raised) for colour in row)
    assert most >= _LEAST_CONTRAST
