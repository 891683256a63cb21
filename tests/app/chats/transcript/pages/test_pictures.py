"""Formulas and local pictures: drawn on another thread and put in place of their sources."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
import shiboken6
from PySide6.QtCore import QUrl
from PySide6.QtGui import QColor, QGuiApplication, QImage
from pytestqt.qtbot import QtBot

from app.chats.history.values.conversation import StoredMessage
from app.chats.transcript.pages.pictures import Pictures
from app.chats.transcript.pages.transcript import Transcript
from app.kit.tasks.tasks import Tasks
from app.kit.text.document_writer import MOST_PICTURES
from app.kit.text.drawing import PictureRequest, draw
from app.kit.text.markdown_view import MarkdownView
from app.kit.text.selected_text import anchor_height
from tests.support.calm import until_calm

Role = Literal["user", "assistant"]
OBJECT = "\ufffc"


@pytest.fixture
def tasks(qtbot: QtBot) -> Iterator[Tasks]:
    tasks = Tasks()
    yield tasks
    tasks.close()


@pytest.fixture
def transcript(tasks: Tasks) -> Iterator[Transcript]:
    shown = Transcript(15, lambda message: message)
    Pictures(tasks, shown)
    shown.resize(800, 900)
    shown.show()
    yield shown
    tasks.close()
    shiboken6.delete(shown)


def message(number: int, role: Role, text: str) -> StoredMessage:
    return StoredMessage(
        id=str(number),
        chat_id="c",
        parent_id=None,
        role=role,
        text=text,
        state="complete",
        created=0.0,
    )


def show(transcript: Transcript, answer: str, question: str = "hello") -> MarkdownView:
    transcript.show_messages((message(1, "user", question), message(2, "assistant", answer)))
    last = transcript.last()
    assert last is not None
    return last.view


def drawn(view: MarkdownView) -> int:
    return view.document().toRawText().count(OBJECT)


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "a cat.png"
    image = QImage(300, 100, QImage.Format.Format_RGB32)
    image.fill(QColor("red"))
    assert image.save(str(path))
    return path


def test_formulas_become_pictures_after_the_end(transcript: Transcript, qtbot: QtBot) -> None:
    view = show(transcript, "a $x^2$ b\n\n$$\\frac12$$\n\n| $y$ |\n|---|\n| $x^2$ |")
    assert "a $x^2$ b" in view.toPlainText()
    qtbot.waitUntil(lambda: drawn(view) == 4)
    qtbot.waitUntil(lambda: view.missing() == ())


def test_while_it_streams_the_source_is_shown(
    transcript: Transcript, tasks: Tasks, qtbot: QtBot
) -> None:
    view = show(transcript, "")
    view.begin("a $x^2$ b\n\n")
    view.append("$$y$$\n\nend")
    until_calm(qtbot, tasks)
    assert "$$y$$" in view.toPlainText()
    assert drawn(view) == 0
    view.end()
    qtbot.waitUntil(lambda: drawn(view) == 2)


def test_a_formula_that_cannot_be_set_stays_as_it_was_written(
    transcript: Transcript, qtbot: QtBot
) -> None:
    view = show(transcript, r"good $x$ bad $\frac{$ and " + f"${'{' * 40}x{'}' * 40}$")
    qtbot.waitUntil(lambda: drawn(view) == 1)
    qtbot.waitUntil(lambda: view.missing() == ())
    assert r"$\frac{$" in view.toPlainText()
    assert drawn(view) == 1


def test_the_pictures_of_one_text_have_a_limit(transcript: Transcript, qtbot: QtBot) -> None:
    view = show(transcript, "$x$ " * (MOST_PICTURES + 50))
    qtbot.waitUntil(lambda: drawn(view) == MOST_PICTURES)
    assert view.toPlainText().count("$x$") == 50


def test_what_is_copied_is_the_source(transcript: Transcript, qtbot: QtBot) -> None:
    view = show(transcript, "a $x^2$ b $x^2$$z$ c\n\n$$y$$")
    qtbot.waitUntil(lambda: drawn(view) == 4)
    view.selectAll()
    view.copy()
    assert QGuiApplication.clipboard().text() == "a $x^2$ b $x^2$$z$ c\n$$y$$"


def test_after_a_change_of_size_or_theme_they_are_made_again(
    transcript: Transcript, qtbot: QtBot
) -> None:
    view = show(transcript, "a $x^2$ b")
    qtbot.waitUntil(lambda: drawn(view) == 1)
    transcript.set_text_size(21)
    qtbot.waitUntil(lambda: drawn(view) == 1)
    name = view.document().firstBlock().begin()
    name += 1
    assert name.fragment().charFormat().toImageFormat().height() > 21


def test_code_below_a_formula_keeps_its_card_and_button(
    transcript: Transcript, qtbot: QtBot
) -> None:
    view = show(transcript, "a $x^2+y^2+z^2$ b\n\n```\none\n```\n\n$y$\n\n```\ntwo\nthree\n```")
    qtbot.waitUntil(lambda: drawn(view) == 2)
    document = view.document()
    codes = view.code_blocks
    assert [document.findBlockByNumber(code.line + 1).text() for code in codes] == ["one", "two"]
    assert [document.findBlockByNumber(code.last).text() for code in codes] == ["one", "three"]


def test_an_answer_shows_a_file_that_the_user_has_named(
    transcript: Transcript, qtbot: QtBot, picture: Path
) -> None:
    address = QUrl.fromLocalFile(str(picture)).toEncoded().toStdString()
    view = show(transcript, f"Here: ![the cat]({address})", f"Look at {picture}!")
    assert "the cat" in view.toPlainText()
    qtbot.waitUntil(lambda: drawn(view) == 1)


def test_it_shows_no_other_file(
    transcript: Transcript, tasks: Tasks, qtbot: QtBot, picture: Path
) -> None:
    address = QUrl.fromLocalFile(str(picture)).toEncoded().toStdString()
    view = show(transcript, f"$x$ ![the cat]({address})", f"Look into {picture.parent}")
    qtbot.waitUntil(lambda: drawn(view) == 1)
    until_calm(qtbot, tasks)
    assert drawn(view) == 1
    assert "the cat" in view.toPlainText()


def test_a_question_shows_the_pictures_it_names(
    transcript: Transcript, qtbot: QtBot, picture: Path
) -> None:
    show(transcript, "fine", f"What is in {picture} and {picture.parent / 'none.png'}?")
    question = transcript.view_of("1")
    assert question is not None
    qtbot.waitUntil(lambda: drawn(question.view) == 1)
    assert str(picture) in question.view.toPlainText()


def order(path: Path) -> PictureRequest:
    return PictureRequest(str(path), "file", 0, 0, "", 1.0)


def test_only_pictures_are_read(tmp_path: Path, picture: Path) -> None:
    assert draw(order(picture)) is not None
    text = tmp_path / "text.png"
    text.write_text("secret", encoding="utf-8")
    drawing = tmp_path / "drawing.png"
    drawing.write_text("<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>")
    for path in (text, drawing, tmp_path, tmp_path / "none.png"):
        assert draw(order(path)) is None


def test_a_large_picture_is_made_as_small_as_it_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "large.png"
    QImage(4000, 3000, QImage.Format.Format_RGB32).save(str(path))
    image = draw(order(path))
    assert image is not None
    assert image.width() <= 760
    assert image.height() <= 480


def test_the_base_of_a_formula_is_on_the_line(qtbot: QtBot) -> None:
    """Qt centres the image on the line, so it has as much height above the line as below."""
    image = draw(PictureRequest("x", "inline", 20, 2.5, "#000000", 1.0))
    assert image is not None
    dark = [
        y
        for y in range(image.height())
        if any(image.pixelColor(x, y).alpha() > 128 for x in range(image.width()))
    ]
    line = image.height() / 2 + 2.5
    assert abs(dark[-1] + 1 - line) <= 1.5


def test_nothing_remote_is_shown(transcript: Transcript, qtbot: QtBot) -> None:
    answer = "![a](https://x.example/a.png) ![b](//x.example/b.png) ![c](file://x/c.png) $x$"
    view = show(transcript, answer, answer)
    qtbot.waitUntil(lambda: drawn(view) == 1)
    qtbot.waitUntil(lambda: view.missing() == ())


def test_a_footnote_leads_to_its_text_and_back(
    transcript: Transcript, tasks: Tasks, qtbot: QtBot
) -> None:
    view = show(transcript, "first[^1]\n\n" + "more\n\n" * 80 + "[^1]: the note")
    until_calm(qtbot, tasks)
    document, bar = view.document(), transcript.verticalScrollBar()
    note, reference = anchor_height(document, "note-1"), anchor_height(document, "reference-1")
    assert note is not None
    assert reference == 0
    bar.setValue(0)
    view.anchorClicked.emit(QUrl("#note-1"))
    down = bar.value()
    assert down > 0
    view.anchorClicked.emit(QUrl("#reference-1"))
    assert bar.value() < down
