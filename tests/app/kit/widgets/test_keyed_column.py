"""Columns of rows: a row is kept as long as its item."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter

import pytest
import shiboken6
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.kit.widgets.keyed_column import KeyedColumn

Item = tuple[str, str]
Rows = KeyedColumn[Item, QLineEdit]


@pytest.fixture
def page(qtbot: QtBot) -> Iterator[QWidget]:
    page = QWidget()
    page.show()
    yield page
    shiboken6.delete(page)


def made(item: Item) -> QLineEdit:
    return QLineEdit(item[1])


def texts(rows: Rows) -> list[str]:
    """Return the texts in the order of the layout, from the top."""
    items = (rows.layout.itemAt(it) for it in range(rows.layout.count()))
    widgets = [it.widget() for it in items if it is not None]
    return [it.text() for it in widgets if isinstance(it, QLineEdit)]


def test_rows_stay_move_and_go_with_their_items(qtbot: QtBot, page: QWidget) -> None:
    rows: Rows = KeyedColumn(itemgetter(0), made)
    page.setLayout(rows.layout)
    rows.show([("a", "A"), ("b", "B"), ("c", "C")])
    before = dict(rows.rows)
    qtbot.waitUntil(before["c"].isVisible)
    before["c"].setFocus()
    rows.show([("c", "C"), ("a", "A"), ("d", "D")])
    assert texts(rows) == ["C", "A", "D"]
    assert rows.rows["c"] is before["c"]
    assert page.focusWidget() is before["c"]
    assert before["b"].isHidden()


def test_a_changed_item_gets_a_new_row(page: QWidget) -> None:
    rows: Rows = KeyedColumn(itemgetter(0), made)
    page.setLayout(rows.layout)
    rows.show([("a", "A"), ("b", "B")])
    assert rows.rows["a"].parent() is page
    before = dict(rows.rows)
    rows.show([("a", "A"), ("b", "Other")])
    assert texts(rows) == ["A", "Other"]
    assert rows.rows["a"] is before["a"]
    assert rows.rows["b"] is not before["b"]


def test_an_item_is_shown_in_its_row_where_that_can_be_done(page: QWidget) -> None:
    rows: Rows = KeyedColumn(itemgetter(0), made, lambda row, it: row.setText(f"{it[1]}!"))
    page.setLayout(rows.layout)
    rows.show([("a", "A")])
    before = rows.rows["a"]
    assert before.parent() is page
    rows.show([("a", "Other")])
    assert rows.rows["a"] is before
    assert texts(rows) == ["Other!"]


def test_tab_goes_through_the_rows_as_they_lie(qtbot: QtBot, page: QWidget) -> None:
    rows: Rows = KeyedColumn(itemgetter(0), made)
    above, below = QLineEdit("above"), QLineEdit("below")
    column = QVBoxLayout(page)
    column.addWidget(above)
    column.addLayout(rows.layout)
    rows.show([("b", "B"), ("c", "C")])
    column.addWidget(below)
    rows.show([("a", "A"), ("b", "Other"), ("c", "C"), ("d", "D")])
    qtbot.waitUntil(lambda: below.isVisible() and rows.rows["d"].isVisible())
    above.setFocus()
    reached = [above.text()]
    while page.focusNextChild() and page.focusWidget() is not above:
        stop = page.focusWidget()
        assert isinstance(stop, QLineEdit)
        reached.append(stop.text())
    assert reached == ["above", "A", "Other", "C", "D", "below"]
