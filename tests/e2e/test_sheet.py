"""One set of components: measured sizes and colours, which are the same on every computer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Literal

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QDialog, QLineEdit, QSpinBox, QWidget
from pytestqt.qtbot import QtBot

from app.kit.look.theme import COLUMN, DARK, LIGHT, Theme, contrast
from app.kit.widgets.column_page import PartPage
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.leading_picture import LeadingPicture
from app.kit.widgets.page_head import BackLink, FixedHead, PageHead
from tests.e2e.looks import rules
from tests.e2e.looks.house import settle
from tests.e2e.looks.sheet import CHOICES, WEIGHTS, Sheet, shown

THEMES: Mapping[Literal["light", "dark"], Theme] = {"light": LIGHT, "dark": DARK}
SIZES = ((1280, 800), (900, 600))
FIELDS = ("sheetLine", "sheetSearch", "sheetNumber", "sheetPart", "sheetChoice")

Open = Callable[..., Sheet]


@pytest.fixture
def opened(qtbot: QtBot, qapp: QApplication) -> Iterator[Open]:
    """Return a function that shows the sheet, one at a time."""
    open_now: list[AbstractContextManager[Sheet]] = []

    def close() -> None:
        while open_now:
            open_now.pop().__exit__(None, None, None)

    def show(
        theme: Literal["light", "dark"] = "light", zoom: int = 100, size: tuple[int, int] = SIZES[0]
    ) -> Sheet:
        close()
        open_now.append(shown(qapp, theme, zoom, size))
        return open_now[-1].__enter__()

    yield show
    close()


def part(sheet: QWidget, name: str) -> QWidget:
    found = sheet.findChild(QWidget, name)
    assert isinstance(found, QWidget), name
    return found


def edge_of(widget: QWidget) -> str:
    """Return the colour in the middle of the left edge, as it is drawn."""
    picture = widget.grab().toImage()
    return picture.pixelColor(0, picture.height() // 2).name()


def colours_across(picture: QImage) -> list[str]:
    """Return the colours of the left half just above the text, each run once."""
    row = picture.height() // 3
    colours = [picture.pixelColor(x, row).name() for x in range(picture.width() // 2)]
    return [colour for at, colour in enumerate(colours) if at == 0 or colours[at - 1] != colour]


def test_all_components_can_be_read_in_both_themes_and_sizes(opened: Open) -> None:
    for theme in THEMES:
        for zoom in (100, 150):
            for size in SIZES:
                sheet = opened(theme, zoom, size)
                parts = rules.Shown.of(sheet)
                found = [*rules.misplaced(parts), *rules.deviating(parts)]
                if zoom == 100:  # contrasts are the same in every zoom
                    found += rules.unreadable(parts)
                assert found == [], f"{theme}, {zoom} %, {size}"


@pytest.mark.parametrize("theme", THEMES)
def test_outlines_are_lighter_than_text_and_those_of_fields_can_be_seen(
    opened: Open, theme: Literal["light", "dark"]
) -> None:
    sheet, colours = opened(theme), THEMES[theme]
    button, field = edge_of(part(sheet, "sheet-usual")), edge_of(part(sheet, "sheetLine"))
    assert button == colours.outline
    assert {edge_of(part(sheet, name)) for name in FIELDS} == {field}
    text, seen, quiet = (contrast(it, colours.base) for it in (colours.text, field, button))
    assert quiet < seen < text / 3
    assert seen >= 3, "WCAG 1.4.11: nothing else shows where a field is"


def test_what_stands_side_by_side_is_of_one_height(opened: Open) -> None:
    for zoom in (100, 150):
        sheet = opened(zoom=zoom)
        buttons = [part(sheet, f"sheet-{look or 'usual'}") for look in WEIGHTS]
        assert len({it.height() for it in buttons}) == 1
        assert len({it.geometry().center().y() for it in buttons}) == 1
        fields = {part(sheet, name).height() for name in FIELDS}
        assert max(fields) - min(fields) <= 1, fields


@pytest.mark.parametrize("look", WEIGHTS)
def test_a_focused_button_of_a_dialog_has_one_ring(qtbot: QtBot, opened: Open, look: str) -> None:
    """The system's style draws a second one into the main button."""
    opened()
    dialog = QDialog()
    qtbot.addWidget(dialog)
    button = LabelledButton("", "Save it", "save", look=look, parent=dialog)
    button.setDefault(True)
    dialog.show()
    dialog.activateWindow()
    settle()
    dialog.setAttribute(Qt.WidgetAttribute.WA_KeyboardFocusChange)  # as the Tab key does
    button.setFocus(Qt.FocusReason.TabFocusReason)
    settle()
    assert len(colours_across(dialog.grab(button.geometry()).toImage())) == 2


def test_a_drop_down_list_is_a_round_card_without_strips(opened: Open) -> None:
    box = part(opened(), "sheetChoice")
    assert isinstance(box, QComboBox)
    box.showPopup()
    settle()
    rows, around = box.view(), box.view().window()
    assert rows.geometry() == around.rect(), "no bars above and below"
    picture = around.grab().toImage()
    assert picture.pixelColor(0, 0).alpha() == 0
    assert picture.pixelColor(picture.width() // 2, 2).name() == LIGHT.raised
    last = rows.visualRect(box.model().index(len(CHOICES) - 1, 0))
    assert rows.viewport().rect().contains(last)
    box.hidePopup()


def test_a_number_is_changed_by_its_steppers(opened: Open) -> None:
    number = part(opened(), "sheetNumber")
    assert isinstance(number, QSpinBox)
    number.setValue(5)
    for y, expected in ((8, 6), (number.height() - 8, 5)):
        QTest.mouseClick(number, Qt.MouseButton.LeftButton, pos=QPoint(number.width() - 12, y))
        assert number.value() == expected


def test_the_picture_of_a_search_grows_with_the_zoom(opened: Open) -> None:
    for zoom in (100, 150, 200):
        search = part(opened(zoom=zoom), "sheetSearch")
        assert isinstance(search, QLineEdit)
        picture = search.findChild(LeadingPicture)
        assert picture is not None
        assert picture.width() == 16 * zoom // 100
        assert picture.geometry().right() < search.textMargins().left() + 8 * zoom // 100


def test_the_page_has_the_one_width_and_the_head_that_of_its_column(opened: Open) -> None:
    sheet = opened()
    head, page = sheet.findChild(PageHead), sheet.findChild(PartPage)
    assert head is not None
    assert page is not None
    assert (head.width(), page.middle.width()) == (COLUMN, COLUMN)
    assert head.mapTo(sheet, QPoint()).x() == page.middle.mapTo(sheet, QPoint()).x()


def test_pages_that_deviate_are_named(qtbot: QtBot, opened: Open) -> None:
    """A wider column, a second bright button, and a second way back."""
    opened()
    page = PartPage("wide", width=COLUMN + 80)
    link = BackLink("All", "toAll", lambda: None)
    for widget in (
        link, LabelledButton("", "One", "one", look="primary"),
        LabelledButton("", "Two", "two", look="primary"),
    ):  # fmt: skip
        page.column.addWidget(widget)
    window = QWidget()
    qtbot.addWidget(window)
    head = PageHead("Wide", "back", lambda: None)
    FixedHead(head).lay_over(page, window)
    window.resize(1280, 800)
    window.show()
    settle()
    assert not head.back.isVisible(), "the link is the way back"
    head.back.show()
    found = list(rules.deviating(rules.Shown.of(window)))
    assert [complaint.split(" ")[0] for complaint in found] == ["wide", "one", "back"], found


def test_the_head_has_its_way_back_again_after_the_part(qtbot: QtBot, opened: Open) -> None:
    sheet = opened()
    head, page = sheet.findChild(PageHead), sheet.findChild(PartPage)
    assert head is not None
    assert page is not None
    link = BackLink("All", "toAll", lambda: None)
    page.column.insertWidget(0, link)
    link.show()
    assert not head.back.isVisible()
    link.hide()
    assert head.back.isVisible()
