"""All components of the window on one page, in a theme and a zoom."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import shiboken6
from PySide6.QtWidgets import QApplication, QWidget

from app.kit.widgets.action import UserAction
from app.kit.widgets.card import empty_card
from app.kit.widgets.chip import Chip
from app.kit.widgets.column_page import PartPage
from app.kit.widgets.fields import ComboBox, DoubleSpinBox, LineField, SpinBox, TextField
from app.kit.widgets.initial import Initial
from app.kit.widgets.label import Label
from app.kit.widgets.layouts import at_start, column, fill, row
from app.kit.widgets.leading_picture import LeadingPicture
from app.kit.widgets.page_head import FixedHead, PageHead
from app.kit.widgets.panel import Panel
from app.kit.widgets.segments import Segments
from app.kit.widgets.switch import Switch
from app.kit.widgets.tick_box import TickBox
from app.kit.widgets.toast import Toast
from app.settings.pages.appearance import Appearance
from app.settings.values.fields import Settings
from tests.e2e.looks.house import settle

WEIGHTS = ("primary", "", "quiet")
CHOICES = ("By name", "By size", "Newest first")


def nothing() -> None:
    """Do nothing, as the buttons of the sheet are only looked at."""


def button(look: str, name: str, text: str) -> QWidget:
    return UserAction(name, "check", text, nothing).button(look)


def fields() -> list[QWidget]:
    search = LineField("sheetSearch", "Search", hint="Search")
    LeadingPicture("search", search)
    whole, part, choice = SpinBox(), DoubleSpinBox(), ComboBox()
    whole.setObjectName("sheetNumber")
    part.setObjectName("sheetPart")
    choice.setObjectName("sheetChoice")
    choice.addItems(CHOICES)
    return [LineField("sheetLine", "Name", "A name"), search, whole, part, choice]


class Sheet(QWidget):
    """The page with all components."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("sheet")
        page = PartPage("sheetPage")
        head = PageHead("All components", "sheetBack", nothing, button("", "sheetAdd", "Add one"))
        tabs = Segments("sheetTabs", "Part", [("a", "One", "One"), ("b", "Two", "Two")])
        weights = [button(look, f"sheet-{look or 'usual'}", "Save it") for look in WEIGHTS]
        link = button("link", "sheet-link", "More about it")
        chips = [Chip("Fits", "sheetFits", checked=True), Chip("Free", "sheetFree")]
        switch = Switch()
        switch.setAccessibleName("On")
        card = Panel(
            "card", "sheetCard", row(Initial("Cook"), Label("A card", "strong"), 1),
            Label("With a sentence that explains it.", "muted", wrap=True),
        )  # fmt: skip
        empty = empty_card(
            "sheetEmpty", "documents", "Nothing here yet", "Add a file to begin.",
            at_start(button("", "sheetBegin", "Add a file")),
        )  # fmt: skip
        toast = Toast(("It is copied.",), action="Undo", parent=page)
        fill(
            page.column, row(*weights, link, 1), column(*fields()),
            TextField("sheetText", "Text", height=72), row(*chips, 1),
            row(switch, TickBox("With pictures", "sheetTick"), 1), card, empty, toast, 1,
        )  # fmt: skip
        FixedHead(head, at_the_start(tabs)).lay_over(page, self)


def at_the_start(widget: QWidget) -> QWidget:
    holder = QWidget()
    holder.setLayout(at_start(widget))
    return holder


@contextmanager
def shown(
    app: QApplication, theme: Literal["light", "dark"], zoom: int, size: tuple[int, int]
) -> Iterator[Sheet]:
    """Show the sheet in a theme, a zoom in percent, and a size in pixels."""
    appearance = Appearance(app)
    appearance.apply(Settings(theme=theme, zoom=zoom, contrast="usual"))
    sheet = Sheet()
    sheet.resize(*size)
    sheet.show()
    sheet.activateWindow()
    settle()
    try:
        yield sheet
    finally:
        sheet.close()
        shiboken6.delete(sheet)
        shiboken6.delete(appearance)
