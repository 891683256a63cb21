"""Very long lines without a space, such as a picture in base64: they are laid out in pieces."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QTextCursor, QTextDocument
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from app.chats.composer.pages.message_edit import MessageEdit
from app.chats.history.values.conversation import StoredMessage
from app.chats.transcript.pages.bubble import Bubble
from app.chats.transcript.pages.message_view import MessageView
from app.chats.transcript.pages.quoting import selected_markdown
from app.chats.transcript.pages.reasoning import Reasoning
from app.kit.text.markdown_view import MarkdownView
from app.kit.text.selected_text import plain_text
from app.kit.widgets.fields import LONGEST_WORDS, LineField, TextField
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.markdown.parser import Parser
from app.settings.pages.long_text import LongText
from tests.support.window import part

LINE = "abcdefghi\N{GRINNING FACE}" * 40_000
TEXT = f"Look:\n{LINE}\nand {LINE[:5_000]}."
LAID_OUT_AT_ONCE = 5_000
"""Characters that Qt lays out within a few milliseconds, whatever they are."""


def longest(document: QTextDocument) -> int:
    """The most that Qt lays out as a whole."""
    block, most = document.begin(), 0
    while block.isValid():
        most = max(most, block.length())
        block = block.next()
    return most


@pytest.mark.parametrize(
    "make",
    [
        MessageEdit,
        lambda: TextField("promptText", "Text", height=200),
        lambda: LongText("system prompt"),
    ],
)
def test_an_editor_gives_back_what_was_pasted_whole_and_lays_out_little(
    qtbot: QtBot, make: Callable[[], QPlainTextEdit]
) -> None:
    """With the whole line in one piece, each key took two seconds."""
    edit = make()
    qtbot.addWidget(edit.window())
    edit.setPlainText(TEXT)
    assert edit.toPlainText() == TEXT
    assert longest(edit.document()) < LAID_OUT_AT_ONCE
    QGuiApplication.clipboard().setText(TEXT)
    edit.clear()
    edit.paste()
    QTest.keyClicks(edit, "xy")
    assert edit.toPlainText() == f"{TEXT}xy"
    cursor = edit.textCursor()
    cursor.setPosition(3_000)
    edit.setTextCursor(cursor)
    edit.paste()
    assert longest(edit.document()) < LAID_OUT_AT_ONCE
    edit.undo()
    assert edit.toPlainText() == f"{TEXT}xy"
    edit.selectAll()
    edit.copy()
    assert QGuiApplication.clipboard().text() == f"{TEXT}xy"
    assert not any(edit.fontMetrics().horizontalAdvance(sign) for sign in marks_in(edit))


def marks_in(edit: QPlainTextEdit) -> set[str]:
    """The characters that the editor added; nobody may see them."""
    cursor = QTextCursor(edit.document())
    cursor.select(QTextCursor.SelectionType.Document)
    return set(cursor.selectedText()) - set(edit.toPlainText()) - {"\N{PARAGRAPH SEPARATOR}"}


def test_a_new_line_within_a_long_one_stays(qtbot: QtBot) -> None:
    edit = MessageEdit()
    qtbot.addWidget(edit)
    edit.setPlainText("a" * 5_000)
    cursor = edit.textCursor()
    cursor.movePosition(QTextCursor.MoveOperation.NextBlock)
    edit.setTextCursor(cursor)
    QTest.keyClick(edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert sorted(map(len, edit.toPlainText().split("\n"))) == [2_000, 3_000]


def test_a_message_shows_its_beginning_and_all_of_it_on_demand(qtbot: QtBot) -> None:
    bubble = Bubble(TEXT, Parser(), 14)
    qtbot.addWidget(bubble)
    bubble.resize(600, 400)
    bubble.show()
    assert 1_000 < bubble.view.document().characterCount() < 50_000
    part(bubble, LabelledButton, "showAll").click()
    document = bubble.view.document()
    assert longest(document) < LAID_OUT_AT_ONCE
    cursor = QTextCursor(document)
    cursor.select(QTextCursor.SelectionType.Document)
    assert plain_text(cursor) == TEXT
    assert selected_markdown(cursor) == TEXT


def test_a_message_of_millions_of_characters_says_that_it_goes_on(qtbot: QtBot) -> None:
    bubble = Bubble("many words " * 200_000, Parser(), 14)
    qtbot.addWidget(bubble)
    bubble.resize(600, 400)
    bubble.show()
    note = part(bubble, Label, "messageGoesOn")
    assert not note.isVisible()
    bubble.unfold()
    assert note.isVisible()
    assert bubble.view.document().characterCount() < 1_100_000


def test_code_is_copied_from_a_selection_as_it_was_written(qtbot: QtBot) -> None:
    code = f"a = 1\nb = {LINE[:9_000]!r}\nc = 3"
    host = QWidget()
    qtbot.addWidget(host)
    view = MarkdownView(Parser(), 14, host)
    view.show_blocks(Parser().parse(f"```python\n{code}\n```"))
    assert longest(view.document()) < LAID_OUT_AT_ONCE
    cursor = QTextCursor(view.document())
    cursor.select(QTextCursor.SelectionType.Document)
    assert selected_markdown(cursor) == f"```python\n{code}\n```"


def test_a_very_long_answer_is_shown_in_parts(qtbot: QtBot) -> None:
    text = "Some words that make a paragraph.\n\n" * 8_000
    answer = StoredMessage("a", "c", "q", "assistant", text, 0.0, state="complete")
    host = QWidget()
    qtbot.addWidget(host)
    view = MessageView(answer, Parser(), 14, host)
    assert not view.is_whole
    more = part(view, LabelledButton, "showRest")
    assert more.text().startswith("Show more: 80,0")
    more.click()
    assert view.is_whole


def test_reasoning_that_comes_in_pieces_is_cut_too(qtbot: QtBot) -> None:
    reasoning = Reasoning()
    qtbot.addWidget(reasoning)
    reasoning.show()
    part(reasoning, LabelledButton, "showReasoning").click()
    for _ in range(30):
        reasoning.append("x" * 1_000)
    shown = part(reasoning, QPlainTextEdit, "reasoningText")
    assert shown.toPlainText() == "x" * 30_000
    assert longest(shown.document()) < LAID_OUT_AT_ONCE


def test_a_field_of_one_line_has_a_limit_that_keeps_what_is_there(qtbot: QtBot) -> None:
    field = LineField("search", "Search")
    qtbot.addWidget(field)
    QGuiApplication.clipboard().setText(LINE)
    field.paste()
    assert len(field.text()) <= LONGEST_WORDS
    assert LineField("name", "Name", LINE, longest=80).text() == LINE
