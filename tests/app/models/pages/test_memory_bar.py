"""The memory bar: its numbers, its colours and its limit."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.kit.look.stylesheet import stylesheet
from app.kit.look.theme import DARK, LIGHT, Theme, contrast, palette_of
from app.kit.widgets.legend import Legend
from app.models.library.values.memory_use import USES, MemoryUse
from app.models.pages.memory_bar import MemoryBars

GB = 1_000_000_000
FITS = MemoryUse("memory", 16 * GB, 5 * GB, 4 * GB, GB, GB, GB, GB)
TOO_BIG = MemoryUse("memory", 8 * GB, 3 * GB, 7 * GB)


def shown(qtbot: QtBot, *uses: MemoryUse, width: int = 400) -> MemoryBars:
    bars = MemoryBars()
    qtbot.addWidget(bars)
    bars.show_uses(uses)
    bars.resize(width, bars.sizeHint().height())
    bars.show()
    QApplication.processEvents()
    return bars


def strip(bars: MemoryBars, place: str = "memory") -> QWidget:
    found = bars.findChild(QWidget, f"memoryBar-{place}")
    assert isinstance(found, QWidget)
    return found


def colours(bar: QWidget) -> list[str]:
    """Return the colours along the middle of the bar, one per run, without the narrow gaps."""
    picture: QImage = bar.grab().toImage()
    row = [picture.pixelColor(x, picture.height() // 2).name() for x in range(picture.width())]
    runs: list[tuple[str, int]] = []
    for colour in row:
        if runs and runs[-1][0] == colour:
            runs[-1] = (colour, runs[-1][1] + 1)
        else:
            runs.append((colour, 1))
    return [colour for colour, length in runs if length > 4]


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_parts_stand_in_their_order_and_colours(
    qtbot: QtBot, qapp: QApplication, theme: Theme
) -> None:
    before = qapp.palette(), qapp.styleSheet()
    qapp.setPalette(palette_of(theme))
    qapp.setStyleSheet(stylesheet(theme))
    try:
        bars = shown(qtbot, FITS)
        bar = strip(bars)
        wanted = [getattr(theme, f"use_{part}") for part in USES]
        assert colours(bar) == [*wanted, theme.pressed]
    finally:
        qapp.setPalette(before[0])
        qapp.setStyleSheet(before[1])


def test_a_part_is_as_wide_as_its_share(qtbot: QtBot) -> None:
    bars = shown(qtbot, MemoryUse("memory", 10 * GB, 5 * GB))
    bar = strip(bars)
    picture = bar.grab().toImage()
    used = QColor(LIGHT.use_others).name()
    middle = picture.height() // 2
    width = sum(picture.pixelColor(x, middle).name() == used for x in range(picture.width()))
    assert abs(width / picture.width() - 0.5) < 0.02


def test_the_numbers_are_said(qtbot: QtBot) -> None:
    bars = shown(qtbot, FITS)
    bar = strip(bars)
    assert bar.accessibleName() == "Memory: 16 GB"
    assert bar.accessibleDescription() == (
        "In use 5.0 GB, Weights 4.0 GB, Context 1.0 GB, Computing 1.0 GB, Faster answers 1.0 GB, "
        "Projector 1.0 GB, Free 3.0 GB of 16 GB."
    )


def test_too_much_is_marked_and_said(qtbot: QtBot) -> None:
    bars = shown(qtbot, TOO_BIG)
    bar = strip(bars)
    assert "Missing 2.0 GB of 8.0 GB" in bar.accessibleDescription()
    picture = bar.grab().toImage()
    limit = round(picture.width() * 0.8)
    near = {picture.pixelColor(x, 0).name() for x in range(limit - 3, limit + 4)}
    assert LIGHT.danger in near


def test_graphics_and_own_memory_have_a_bar_each(qtbot: QtBot) -> None:
    bars = shown(qtbot, MemoryUse("graphics", 12 * GB, GB, 9 * GB), FITS)
    titles = [label.text() for label in bars.findChildren(QLabel, "memoryTitle")]
    assert titles == ["Graphics memory: 12 GB", "Memory: 16 GB"]
    assert strip(bars, "graphics").y() >= 0
    bars.show_uses(())
    assert not bars.isVisible()


def test_where_it_is_narrow_the_legend_takes_more_lines(qtbot: QtBot) -> None:
    entries = [("use_weights", "Weights 4.0 GB"), ("use_context", "Context 1.0 GB")]
    legend = Legend(entries)
    qtbot.addWidget(legend)
    assert legend.heightForWidth(130) == 2 * legend.heightForWidth(400)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_parts_stand_out_from_the_page(theme: Theme) -> None:
    for part in USES:
        assert contrast(getattr(theme, f"use_{part}"), theme.raised) >= 3, part
