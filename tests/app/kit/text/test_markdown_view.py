"""A view of Markdown that grows and is drawn piece by piece."""

from __future__ import annotations

import random
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
import shiboken6
from PySide6.QtCore import QByteArray, Qt, QUrl
from PySide6.QtGui import QGuiApplication, QTextCursor, QTextTable
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.chats.transcript.pages.quoting import selected_markdown
from app.kit.look.theme import DARK, HIGH_DARK, HIGH_LIGHT, LIGHT, Theme, contrast, palette_of
from app.kit.text import markdown_view
from app.kit.text.formats import IS_RULE, QUOTES
from app.kit.text.markdown_view import AT_ONCE, SHORTEST_S, MarkdownView, Pace
from app.kit.text.selected_text import plain_text
from app.kit.widgets.icon_button import IconButton
from app.markdown.parser import Parser

TEXT = """# Title

Plain *text* and `code` with [a link](https://example.com).

- one
  - two
- three

| a | b |
|---|--:|
| 1 | 2 |

```python
def f():
    return "😀"  # done
```

> quoted

1. a

   ```
   inside
   ```
2. b

| last |
|------|
| table |
"""


@pytest.fixture
def view(qtbot: QtBot, qapp: QApplication) -> Iterator[MarkdownView]:
    host = QWidget()
    host.resize(700, 900)
    shown = MarkdownView(Parser(), 14, host)
    shown.resize(700, 100)
    host.show()
    yield shown
    shiboken6.delete(host)


def whole(view: MarkdownView) -> str:
    other = MarkdownView(Parser(), 14, view.parentWidget())
    other.resize(700, 100)
    other.show_markdown(TEXT)
    return other.toHtml()


def test_pieces_end_as_the_whole(view: MarkdownView, qtbot: QtBot) -> None:
    expected = whole(view)
    choose = random.Random(7)
    for _ in range(5):
        view.begin()
        place = 0
        while place < len(TEXT):
            size = choose.randint(1, 40)
            view.append(TEXT[place : place + size])
            view.draw()
            place += size
        view.end()
        assert view.toHtml() == expected


@pytest.mark.parametrize(
    "text", ["> quoted\n\n---\n\nafter", "---\n\n> quoted", "> a\n>\n> ---\n>\n> b", "- a\n-\n- b"]
)
def test_a_rule_stays_one_while_the_text_behind_it_grows(view: MarkdownView, text: str) -> None:
    view.show_markdown(text)
    whole = shapes(view)
    view.begin()
    for letter in text:
        view.append(letter)
        view.draw()
    view.end()
    assert shapes(view) == whole
    assert any(is_rule for is_rule, _ in whole) == ("---" in text)


def shapes(view: MarkdownView) -> list[tuple[bool, int]]:
    """Return for each line if it is a rule, and its depth in quotations."""
    found = []
    block = view.document().begin()
    while block.isValid():
        shape = block.blockFormat()
        found.append((shape.hasProperty(IS_RULE), shape.intProperty(QUOTES)))
        block = block.next()
    return found


def test_many_pieces_are_drawn_together(view: MarkdownView, qtbot: QtBot) -> None:
    view.begin()
    drawn: list[int] = []
    view.drawn.connect(lambda: drawn.append(1))
    for _ in range(200):
        view.append("word ")
    assert not drawn
    qtbot.waitUntil(lambda: view.toPlainText().count("word") == 200)
    assert len(drawn) == 1
    view.end()


def test_a_great_amount_is_drawn_in_parts(view: MarkdownView, qtbot: QtBot) -> None:
    drawn: list[int] = []
    view.drawn.connect(lambda: drawn.append(len(view.toPlainText())))
    view.show_markdown("word " * (AT_ONCE // 5) * 4)
    assert drawn[0] <= AT_ONCE
    qtbot.waitUntil(lambda: view.is_complete)
    assert len(drawn) == 4


@pytest.mark.parametrize(
    ("cost", "interval"), [(0.0005, SHORTEST_S), (0.002, 0.064), (0.01, 0.1), (0.05, 0.2)]
)
def test_the_dearer_a_drawing_the_longer_the_pause(cost: float, interval: float) -> None:
    pace = Pace()
    assert pace.interval == SHORTEST_S
    for _ in range(50):
        pace.record(cost)
    assert pace.interval == pytest.approx(interval, rel=0.01)


def test_a_drawing_pays_for_its_own_painting_and_for_no_other(
    view: MarkdownView, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]

    def paint(*_: object) -> None:
        now[0] += 0.05

    monkeypatch.setattr(markdown_view, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    monkeypatch.setattr(markdown_view, "paint_decorations", paint)
    view.begin("one")
    for _ in range(50):
        view.viewport().repaint()
    for _ in range(30):
        view.append(" more")
        view.draw()
        view.viewport().repaint()
        view.viewport().repaint()
    cost = Pace()
    for _ in range(50):
        cost.record(0.05)
    assert view.pace.interval == pytest.approx(cost.interval, rel=0.01)
    view.end()


def test_only_what_is_new_is_written(view: MarkdownView) -> None:
    view.begin("one\n\ntwo\n\n")
    first = view.document().firstBlock()
    revision = first.revision()
    view.append("three\n\nfour")
    view.draw()
    assert view.document().firstBlock().revision() == revision
    view.end()


def test_code_is_coloured_when_it_is_complete(view: MarkdownView, qtbot: QtBot) -> None:
    view.begin("```python\nx = 'y'")
    view.draw()
    line = view.document().findBlockByNumber(1)
    assert line.text() == "x = 'y'"
    assert not line.layout().formats()
    view.append("\n```\n")
    view.draw()
    qtbot.waitUntil(lambda: bool(view.document().findBlockByNumber(1).layout().formats()))
    view.end()


def test_each_block_of_code_has_its_button(view: MarkdownView, qtbot: QtBot) -> None:
    view.show_markdown("```\na\n```\n\ntext\n\n```bash\nb\nc\n```")
    buttons = view.findChildren(IconButton)
    assert [button.accessibleName() for button in buttons] == [
        "Copy code block 1, text",
        "Copy code block 2, bash",
    ]
    with qtbot.waitSignal(view.copied):
        QTest.mouseClick(buttons[1], Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == "b\nc"
    assert buttons[0].y() < buttons[1].y()


def test_code_is_saved_only_where_somebody_saves_it(view: MarkdownView, qtbot: QtBot) -> None:
    view.show_markdown("```\na\n```")
    assert view.findChild(IconButton, "saveCode1") is None
    view = MarkdownView(Parser(), 14, view.parentWidget(), saves=True)
    view.resize(700, 100)
    view.show()
    view.show_markdown("```\na\n```\n\ntext\n\n```bash\nb\n```")
    names = [it.accessibleName() for it in view.findChildren(IconButton)]
    assert "Save code block 2, bash, as…" in names
    saver = view.findChild(IconButton, "saveCode2")
    assert saver is not None
    with qtbot.waitSignal(view.save) as asked:
        QTest.mouseClick(saver, Qt.MouseButton.LeftButton)
    assert asked.args is not None
    assert asked.args[0].text == "b"
    view.show_markdown("```\na\n```")
    shown = [it.objectName() for it in view.findChildren(IconButton) if it.isVisible()]
    assert sorted(shown) == ["copyCode1", "saveCode1"]


def test_long_lines_of_code_are_broken_or_scrolled_as_chosen(view: MarkdownView) -> None:
    view.show_markdown("```\n" + "word " * 200 + "\n```")
    QApplication.processEvents()
    broken = view.height()
    assert view.horizontalScrollBar().maximum() == 0
    view.set_wrap(False)
    QApplication.processEvents()
    assert view.horizontalScrollBar().maximum() > 0
    assert view.height() < broken
    (button,) = (it for it in view.findChildren(IconButton) if it.isVisible())
    assert button.geometry().right() < view.viewport().width(), "in sight, however far it goes"
    view.set_wrap(True)
    QApplication.processEvents()
    assert view.height() == broken


@pytest.mark.parametrize("theme", [LIGHT, DARK, HIGH_LIGHT, HIGH_DARK])
def test_what_a_diff_adds_and_removes_is_behind_its_lines(view: MarkdownView, theme: Theme) -> None:
    view.setPalette(palette_of(theme))
    view.show_markdown("```diff\n--- a\n+++ b\n same\n-old\n+new\n```")
    QApplication.processEvents()
    picture = view.grab().toImage()
    layout = view.document().documentLayout()
    behind = {}
    block = view.document().begin()
    while block.isValid():
        box = layout.blockBoundingRect(block)
        behind[block.text()] = picture.pixelColor(600, round(box.center().y()))
        block = block.next()
    assert behind["--- a"] == behind["+++ b"] == behind[" same"]
    assert len({it.name() for it in (behind[" same"], behind["-old"], behind["+new"])}) == 3
    for line in ("-old", "+new"):
        assert contrast(theme.text, behind[line].name()) >= 4.5


def test_a_button_vanishes_at_once_with_its_code(view: MarkdownView) -> None:
    view.show_blocks(Parser().parse("```\na\n```"))
    (button,) = view.findChildren(IconButton)
    assert button.isVisible()
    view.show_blocks(Parser().parse("text"))
    assert not button.isVisible()


def test_a_link_only_asks(view: MarkdownView, qtbot: QtBot) -> None:
    view.show_markdown("[a](https://example.com/x?y=1)")
    with qtbot.waitSignal(view.link) as asked:
        view.anchorClicked.emit(QUrl("https://example.com/x?y=1"))
    assert asked.args == ["https://example.com/x?y=1"]
    with qtbot.waitSignal(view.link) as asked:
        view.anchorClicked.emit(QUrl("other.md#there"))
    assert asked.args == ["other.md#there"], "a page with a place in it is no place in this text"
    assert view.source().isEmpty()


def test_nothing_is_loaded(view: MarkdownView) -> None:
    for address in ("https://example.com/a.png", "file:///etc/passwd", "data:image/png;base64,AA"):
        assert view.document().resource(2, QUrl(address)) == QByteArray()
    view.show_markdown("![a](https://example.com/a.png) <img src='file:///etc/passwd'>")
    assert "<img src='file" in view.toPlainText()


def test_a_table_is_a_table(view: MarkdownView) -> None:
    view.show_markdown(TEXT)
    tables = [
        frame
        for frame in view.document().rootFrame().childFrames()
        if isinstance(frame, QTextTable)
    ]
    assert [(table.rows(), table.columns()) for table in tables] == [(2, 2), (2, 1)]


def test_it_is_as_high_as_its_text(view: MarkdownView, qtbot: QtBot) -> None:
    view.show_markdown("one")
    low = view.height()
    view.show_markdown("one\n\ntwo\n\nthree")
    assert view.height() > 2 * low
    tall = view.height()
    view.show_markdown("word " * 200)
    wide = view.height()
    view.resize(300, view.height())
    assert view.height() > wide
    assert tall > low


def test_a_paragraph_runs_as_its_first_letter_does(view: MarkdownView) -> None:
    view.show_markdown("hello\n\nنعم hello\n\n- نعم\n\n> سلم\n\n```\nنعم\n```\n\nhello")
    blocks = []
    block = view.document().firstBlock()
    while block.isValid():
        blocks.append(block)
        block = block.next()
    right = [it.textDirection() is Qt.LayoutDirection.RightToLeft for it in blocks]
    assert right == [False, True, True, True, False, False, False]
    item = blocks[2].blockFormat()
    assert item.rightMargin() > 0
    assert item.leftMargin() == 0


def test_code_keeps_its_signs_at_its_end_in_a_paragraph_from_the_right(view: MarkdownView) -> None:
    """A sign's position is that of the cursor before it, measured from the left."""
    view.show_markdown("קרא `ab()` עכשיו")
    text = view.document().toPlainText()

    def left_of(sign: str) -> int:
        cursor = QTextCursor(view.document())
        cursor.setPosition(text.index(sign))
        return view.cursorRect(cursor).left()

    assert left_of("b") < left_of("(") < left_of(")")


def test_what_is_copied_has_no_marks_of_direction_but_the_authors(view: MarkdownView) -> None:
    written = "קרא 😀 \u2066a\u2069 `f()` עכשיו"
    view.show_markdown(f"{written}\n\nThen `g()`.")
    view.selectAll()
    view.copy()
    copied = f"{written}\nThen g().".replace("`", "")
    assert QGuiApplication.clipboard().text() == copied
    assert selected_markdown(view.textCursor()) == copied
    cursor = view.textCursor()
    cursor.setPosition(view.document().toPlainText().index("("))
    cursor.movePosition(cursor.MoveOperation.End, cursor.MoveMode.KeepAnchor)
    assert not set(plain_text(cursor)) & {"\u2066", "\u2069"}


def test_a_table_from_the_right_begins_there(view: MarkdownView) -> None:
    view.show_markdown("| أول | ثان |\n|---|---|\n| أ | ب |")
    (table,) = view.document().rootFrame().childFrames()
    assert isinstance(table, QTextTable)
    cells = [table.cellAt(0, column).firstCursorPosition().block().text() for column in (0, 1)]
    assert cells == ["ثان", "أول"]


def test_a_formula_that_has_only_begun_is_shown_as_written(view: MarkdownView) -> None:
    view.begin("so\n\n$$\na +")
    assert view.toPlainText().endswith("$$\na +")
    view.append("\nb\n$$\n")
    view.end()
    assert view.toPlainText().endswith("$$a +\nb$$")
    assert len(view.missing()) == 1


def test_definitions_at_the_end_are_used_above(view: MarkdownView) -> None:
    view.show_markdown("see [it] and[^1]\n\n[it]: https://example.com\n[^1]: note")
    assert "see it and1" in view.toPlainText()
    assert "https://example.com" in view.toHtml()
