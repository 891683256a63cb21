"""The activity page in the real window, with recorded requests."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QTimer
from PySide6.QtGui import QColor, QHelpEvent, QImage
from PySide6.QtWidgets import QLabel, QPushButton, QTableView, QWidget

from app.activity.pages.plot import Plot, round_up
from app.activity.pages.words import number, plots, seconds, share
from app.kit.look.theme import theme_of
from app.runtime.values.request_records import SPAN_S
from tests.support.control_names import all_named
from tests.support.made_activity import made_record, note_requests
from tests.support.window import Ui

PLOTS = [f"{it.name}Plot" for it in plots()]


def opened(ui: Ui, count: int = 40) -> None:
    note_requests(ui.app.runtime.requests, count)
    ui.press("Ctrl+Shift+R")
    ui.qtbot.waitUntil(lambda: ui.has("runningPlot"))


def test_without_requests_it_says_what_to_do(ui: Ui) -> None:
    ui.press("Ctrl+Shift+R")
    ui.qtbot.waitUntil(lambda: ui.has("noActivity"))
    assert "in the last ten minutes" in ui.find(QLabel, "noActivity").text()
    assert not ui.has("runningPlot")
    assert not ui.find(QPushButton, "activityAsTable").isEnabled()
    ui.click("activityChat")
    assert not ui.has("activityPage")


def test_all_plots_are_there_with_names_and_words(ui: Ui) -> None:
    opened(ui)
    assert len(PLOTS) == 8
    for name in PLOTS:
        plot = ui.find(Plot, name)
        assert plot.accessibleName()
        assert "in ten minutes" in plot.accessibleDescription(), name
    assert "40 answers since Hearth was opened" in ui.find(QLabel, "activitySummary").text()
    all_named(ui, ui.window)


def test_the_page_of_engines_leads_here(ui: Ui) -> None:
    ui.press("Ctrl+Shift+G")
    ui.click("enginesActivity")
    assert ui.has("activityPage")
    assert not ui.has("enginesPage")


def test_a_request_that_ends_is_seen_within_a_look(ui: Ui) -> None:
    opened(ui)
    ui.app.runtime.requests.note(made_record(ui.app.runtime.requests.now(), 3))
    ui.qtbot.waitUntil(lambda: "41 answers" in ui.find(QLabel, "activitySummary").text())


def test_the_table_says_the_same_minute_by_minute(ui: Ui) -> None:
    opened(ui)
    ui.click("activityAsTable")
    assert not ui.has("runningPlot")
    table = ui.find(QTableView, "activityTable")
    model = table.model()
    heads = [str(model.headerData(it, table.horizontalHeader().orientation())) for it in range(9)]
    assert heads[:3] == ["Minutes ago", "Requests at work", "Requests waiting"]
    assert [model.index(row, 0).data() for row in (0, 9)] == ["0–1", "9–10"]
    assert (model.rowCount(), model.columnCount()) == (SPAN_S / 60, 9)
    written = [str(model.index(row, 3).data()) for row in range(model.rowCount())]
    assert any(float(it) > 5 for it in written), written
    ui.click("activityAsTable")
    assert ui.has("runningPlot")


def test_nothing_is_asked_while_the_page_is_hidden(ui: Ui, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(ui)
    page = ui.find(QWidget, "activityPage")
    [tick] = [it for it in page.findChildren(QTimer) if it.interval() == 1000]
    assert tick.isActive()
    ui.click("activityBack")
    assert not tick.isActive()


def test_a_pointer_that_rests_tells_the_value(ui: Ui) -> None:
    opened(ui)
    plot = ui.find(Plot, "runningPlot")
    assert {"0", "1"} <= {plot.value_at(x) for x in range(plot.width())}
    middle = plot.rect().center()
    help_event = QHelpEvent(QEvent.Type.ToolTip, middle, plot.mapToGlobal(middle))
    assert plot.event(help_event)


def test_a_curve_is_drawn_in_the_themes_colour(ui: Ui) -> None:
    opened(ui)
    plot = ui.find(Plot, "runningPlot")
    image = plot.grab().toImage()
    assert pixels(image, theme_of(plot.palette()).use_context) > 20


def pixels(image: QImage, colour: str) -> int:
    wanted = QColor(colour).rgb()
    places = ((x, y) for x in range(image.width()) for y in range(image.height()))
    return sum(image.pixel(x, y) == wanted for x, y in places)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.0, 1.0), (1.0, 1.0), (1.2, 2.0), (41.0, 50.0), (0.03, 0.05), (6e8, 1e9)],
)
def test_the_scale_ends_at_a_round_value(value: float, expected: float) -> None:
    assert round_up(value) == pytest.approx(expected)


def test_values_are_written_as_people_read_them() -> None:
    assert [number(it) for it in (0.0, 0.01, 2.0, 2.26, 9.99, 41.4, 1234.0)] == [
        "0", "0", "2", "2.3", "10", "41", "1,234",
    ]  # fmt: skip
    assert (seconds(0.5), seconds(12.0), share(0.614)) == ("0.50 s", "12 s", "61 %")
