"""Right-to-left texts in the lines and fields of a left-to-right window."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QTextCursor
from PySide6.QtWidgets import QLabel

from app.documents.viewer.pages.text_page import TextPage
from app.kit.look.direction import isolated
from app.kit.widgets.elided_label import ElidedLabel
from tests.support.made_documents import pdf
from tests.support.window import Ui

QUESTION = "מתי השכירות?"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("When?", "When?"),
        ("123", "123"),
        (QUESTION, f"\u2068{QUESTION}\u2069"),
        ("(ما هو", "\u2068(ما هو\u2069"),
        ("שכר 2026.pdf", "\u2066שכר 2026.pdf\u2069"),
        ("Lease חוזה", "Lease חוזה"),
    ],
)
def test_a_text_has_its_own_direction_in_a_line(text: str, shown: str) -> None:
    assert isolated(text) == shown


def test_a_line_that_is_cut_ends_where_its_reader_ends(ui: Ui) -> None:
    label = ElidedLabel(QUESTION * 9, parent=ui.window)
    label.setGeometry(0, 0, 200, 30)
    label.show()
    picture = label.grab().toImage()
    cut = ElidedLabel("…", parent=ui.window)
    dots = cut.fontMetrics().horizontalAdvance("…")
    # The dots stand low; above them only the left end is empty.
    upper = range(4, picture.height() // 2)
    background = picture.pixel(199, 0)

    def is_empty(columns: range) -> bool:
        return all(picture.pixel(x, y) == background for x in columns for y in upper)

    assert is_empty(range(1, dots - 2))
    assert not is_empty(range(199 - dots, 199))


def test_what_is_written_begins_at_its_own_side(ui: Ui) -> None:
    edit = ui.edit

    def left_of_text() -> int:
        return edit.cursorRect(QTextCursor(edit.document())).left()

    ui.type("When?")
    assert left_of_text() < edit.width() // 2
    edit.clear()
    QGuiApplication.clipboard().setText(QUESTION)
    ui.press("Ctrl+V", edit)
    assert left_of_text() > edit.width() // 2
    ui.press("Return", edit)
    ui.wait_for_answer()
    assert ui.texts[0] == QUESTION
    ui.type("W")
    assert left_of_text() < edit.width() // 2


def test_a_text_of_a_file_is_read_from_its_own_side(ui: Ui) -> None:
    page = TextPage()
    page.resize(400, 200)
    for text, side in (
        (QUESTION, Qt.AlignmentFlag.AlignRight),
        ("Rent", Qt.AlignmentFlag.AlignLeft),
    ):
        page.show_text(text, [])
        assert page.document().defaultTextOption().alignment() == side


def test_the_name_of_a_file_turns_nothing_around_it(ui: Ui, tmp_path: Path) -> None:
    name = "חוזה.pdf"
    ui.page.files.add([pdf(tmp_path / name, [["Rent."], []])])
    ui.qtbot.waitUntil(lambda: bool(ui.page.files.attachments))
    ui.ask("When?")
    said = ui.find(QLabel, "toldFiles").text()
    assert said == f"The model was given all of \u2066{name}\u2069 but 1 scanned page."
