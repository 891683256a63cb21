"""The file viewer: the page of a quote with its place marked, pictures and texts."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel

from app.documents.values.documents import AttachedFile, PromptSource
from app.documents.viewer.pages.canvas import PictureCanvas
from app.documents.viewer.pages.file_viewer import FileViewer
from app.documents.viewer.pages.text_page import TextPage
from engines.cancel import CancelToken
from tests.support.attached import attached
from tests.support.made_documents import pdf
from tests.support.made_media import two_colours, written
from tests.support.window import Ui

PAGES = (
    ("The rent is due on the third day.", "It goes to the account of the owner."),
    *((f"This is page {number}, and it says nothing.",) for number in range(2, 7)),
    ("The deposit is 1,250.50 euros.", "A well-", "known firm may not enter."),
)
ANSWER = "The deposit is “1,250.50 euros” (lease.pdf, page 7), “well-known firm”, “never”."


def keep(ui: Ui, path: Path, *, copied: bool = True) -> AttachedFile:
    """Read a file as if it were attached, and store a copy of it."""
    file = ui.app.documents.read(path, CancelToken())
    if copied:
        ui.app.documents.save_copies([(path, file)])
    return file


def chat_about(ui: Ui, file: AttachedFile, said: str = ANSWER) -> None:
    question, answer = ui.app.chats.ask(None, "Here.", files=[file])
    ui.app.chats.save_answer(replace(answer, text=said, state="complete"))
    ui.page.open_chat(question.chat_id)
    ui.find(QAbstractButton, "showQuotes")


def follow(ui: Ui, number: int) -> FileViewer:
    ui.last.view.quote.emit(number)
    return shown(ui)


def shown(ui: Ui) -> FileViewer:
    """Return the viewer once it has loaded."""
    viewer = ui.find(FileViewer)
    ui.settle()
    return viewer


def marked_pixels(canvas: PictureCanvas) -> int:
    """Return the number of visible pixels whose colour is near that of a mark on paper."""
    picture = canvas.viewport().grab().toImage()
    found = 0
    for y in range(0, picture.height(), 2):
        for x in range(0, picture.width(), 2):
            colour = QColor(picture.pixel(x, y))
            found += colour.red() - colour.blue() > 50
    return found


@pytest.fixture
def lease(ui: Ui, tmp_path: Path) -> AttachedFile:
    file = keep(ui, pdf(tmp_path / "lease.pdf", PAGES))
    chat_about(ui, file)
    return file


def place(ui: Ui) -> str:
    return ui.find(QLabel, "viewerPlace").text()


def test_a_quote_opens_its_page_with_the_place_marked_in_sight(ui: Ui, lease: AttachedFile) -> None:
    viewer = follow(ui, 1)
    assert viewer.windowTitle() == lease.name
    assert place(ui) == "Page 7 of 7"
    assert not ui.has("viewerNote")
    ui.qtbot.waitUntil(lambda: marked_pixels(viewer.canvas) > 100)
    assert viewer.canvas.accessibleName() == "lease.pdf, page 7"
    assert QApplication.focusWidget() is viewer.canvas
    assert len(viewer.canvas.marks) == 1
    assert len(follow(ui, 2).canvas.marks) == 2, "over two lines"


def test_pages_are_turned_by_keys_and_buttons(ui: Ui, lease: AttachedFile) -> None:
    viewer = follow(ui, 1)
    QTest.keyClick(viewer.canvas, Qt.Key.Key_PageUp)
    assert place(ui) == "Page 6 of 7"
    ui.settle()
    assert not viewer.canvas.marks
    QTest.keyClick(viewer.canvas, Qt.Key.Key_Home)
    assert place(ui) == "Page 1 of 7"
    assert not ui.find(QAbstractButton, "pageBefore").isEnabled()
    ui.click("pageAfter")
    assert place(ui) == "Page 2 of 7"
    QTest.keyClick(viewer.canvas, Qt.Key.Key_End)
    ui.settle()
    assert place(ui) == "Page 7 of 7"
    assert len(viewer.canvas.marks) == 1


def test_zooming_draws_the_page_again_in_as_many_pixels(ui: Ui, lease: AttachedFile) -> None:
    viewer = follow(ui, 1)
    canvas = viewer.canvas
    before = canvas.image.width()
    assert canvas.fit == "width"
    for _ in range(3):
        QTest.keyClick(canvas, Qt.Key.Key_Plus)
    assert str(canvas.fit) == ""
    ui.qtbot.waitUntil(lambda: canvas.image.width() >= before * 1.5)
    QTest.keyClick(canvas, Qt.Key.Key_0)
    assert canvas.scale == 1
    assert ui.find(QLabel, "zoomShare").text() == "100 %"
    QTest.keyClick(canvas, Qt.Key.Key_F)
    assert str(canvas.fit) == "width"
    QTest.keyClick(canvas, Qt.Key.Key_F)
    assert str(canvas.fit) == "whole"
    assert canvas.verticalScrollBar().maximum() == 0


def test_the_page_is_moved_by_keys_and_by_dragging(ui: Ui, lease: AttachedFile) -> None:
    viewer = follow(ui, 1)
    canvas = viewer.canvas
    canvas.set_scale(3.0)
    bars = canvas.horizontalScrollBar(), canvas.verticalScrollBar()
    bars[0].setValue(100)
    bars[1].setValue(100)
    QTest.keyClick(canvas, Qt.Key.Key_Right)
    QTest.keyClick(canvas, Qt.Key.Key_Down)
    assert [bar.value() for bar in bars] == [160, 160]
    view = canvas.viewport()
    QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=QPoint(200, 200))
    QTest.mouseMove(view, QPoint(180, 150))
    QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=QPoint(180, 150))
    assert [bar.value() for bar in bars] == [180, 210]


def test_the_wheel_with_control_zooms_where_it_points(ui: Ui, lease: AttachedFile) -> None:
    canvas = follow(ui, 1).canvas
    canvas.set_scale(2.0)
    at = QPointF(150, 220)
    area = canvas.area()
    before = (at.x() - area.x()) / area.width(), (at.y() - area.y()) / area.height()
    event = QWheelEvent(
        at,
        canvas.viewport().mapToGlobal(at),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.ControlModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(canvas.viewport(), event)
    assert canvas.scale == 2.5
    area = canvas.area()
    after = (at.x() - area.x()) / area.width(), (at.y() - area.y()) / area.height()
    assert after == pytest.approx(before, abs=0.005)


def test_a_page_can_be_read_as_text_with_the_place_marked(ui: Ui, lease: AttachedFile) -> None:
    follow(ui, 1)
    ui.click("viewerText")
    text = ui.find(TextPage)
    assert "may not enter" in text.toPlainText()
    (mark,) = text.extraSelections()
    assert mark.cursor.selectedText() == "1,250.50 euros"
    ui.click("viewerText")
    assert ui.find(PictureCanvas).isVisible()


def test_without_a_copy_the_text_is_shown_and_it_is_said(ui: Ui, tmp_path: Path) -> None:
    chat_about(ui, keep(ui, pdf(tmp_path / "lease.pdf", PAGES), copied=False))
    follow(ui, 2)
    text = ui.find(TextPage)
    (mark,) = text.extraSelections()
    assert mark.cursor.selectedText().replace("\u2029", "\n") == "well-\nknown firm"
    assert ui.find(QLabel, "viewerNote").text() == (
        "No copy of the file is stored, so this is its text."
    )
    assert not ui.has("viewerText")


def test_a_copy_that_was_changed_is_not_shown_as_the_file(ui: Ui, lease: AttachedFile) -> None:
    copy = ui.app.documents.copy_of(lease.document.sha256)
    assert copy is not None
    pdf(copy, [("The deposit is 9,999.50 euros.",)] * 7)
    follow(ui, 1)
    assert "1,250.50" in ui.find(TextPage).toPlainText()
    assert ui.find(QLabel, "viewerNote").text() == (
        "The file has changed since it was read. This is the text as it was then."
    )


def test_where_it_is_not_certain_the_page_is_shown_without_a_mark(ui: Ui, tmp_path: Path) -> None:
    lease = keep(ui, pdf(tmp_path / "lease.pdf", PAGES))
    document = lease.document
    sections = tuple(
        replace(it, text=it.text.replace("nothing", "\u200bnothing")) for it in document.sections
    )
    other = replace(document, sections=sections)
    chat_about(ui, AttachedFile(lease.name, other), "It “says \u200bnothing” (page 2).")
    viewer = follow(ui, 1)
    assert place(ui) == "Page 2 of 7"
    assert not viewer.canvas.image.isNull()
    assert not viewer.canvas.marks
    assert ui.find(QLabel, "viewerNote").text() == (
        "The words are on this page, but their exact place is uncertain."
    )


def test_a_file_that_is_not_kept_any_more_is_named_with_a_reason(
    ui: Ui, lease: AttachedFile
) -> None:
    with ui.app.database.write() as db:
        db.execute("DELETE FROM documents")
    ui.last.view.quote.emit(1)
    words = ui.find(QLabel, "viewerProblem").text()
    assert words.startswith("lease.pdf cannot be shown. The file is no longer stored")


def test_a_damaged_copy_is_a_sentence_and_the_text(ui: Ui, tmp_path: Path) -> None:
    path = tmp_path / "bad.pdf"
    path.write_bytes(b"%PDF-1.4\n" + b"nothing " * 99)
    document = attached("bad.pdf", "The deposit is 1,250.50 euros.", "x").document
    document = replace(document, sha256=sha256(path.read_bytes()).hexdigest())
    file = AttachedFile("bad.pdf", document)
    ui.app.documents.save_copies([(path, file)])
    chat_about(ui, file)
    follow(ui, 1)
    assert "1,250.50" in ui.find(TextPage).toPlainText()
    assert ui.find(QLabel, "viewerNote").text().startswith("A page of bad.pdf cannot be shown.")


def test_a_long_text_opens_at_the_place(ui: Ui) -> None:
    lines = [f"Line {number} of a long text says little." for number in range(4000)]
    lines[3100] = "The deposit is 1,250.50 euros, all 🙂 of it."
    chat_about(ui, attached("long.txt", "😀 \n" + "\n".join(lines)))
    follow(ui, 1)
    text = ui.find(TextPage)
    assert len(text.toPlainText()) < 25_000
    (mark,) = text.extraSelections()
    assert mark.cursor.selectedText() == "1,250.50 euros"
    assert text.viewport().rect().contains(text.cursorRect(mark.cursor))
    assert place(ui).startswith("Text · ")


def test_what_was_drawn_is_let_go_when_the_viewer_is_closed(ui: Ui, lease: AttachedFile) -> None:
    viewer = follow(ui, 1)
    QTest.keyClick(viewer.canvas, Qt.Key.Key_Escape)
    assert not viewer.isVisible()
    assert viewer.canvas.image.isNull()
    assert not ui.presenters.chat_page.viewing._drawn
    assert follow(ui, 1).canvas.marks


def test_a_picture_is_shown_whole_and_in_its_own_size(ui: Ui, tmp_path: Path) -> None:
    path = tmp_path / "photo.png"
    path.write_bytes(written(two_colours(2400, 1200), "PNG"))
    file = keep(ui, path)
    ui.app.chats.ask(None, "Look.", files=[file])
    ui.page.viewer.show_file(file.document.sha256, file.name)
    viewer = shown(ui)
    canvas = viewer.canvas
    assert canvas.fit == "whole"
    assert canvas.scale < 1
    assert not ui.has("pageAfter")
    assert canvas.accessibleName() == "photo.png"
    ui.click("zoomOwn")
    assert canvas.scale == 1
    assert canvas.horizontalScrollBar().maximum() > 0


def test_a_file_of_a_collection_is_drawn_from_where_it_lies(ui: Ui, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    path = pdf(tmp_path / "docs" / "lease.pdf", PAGES)
    knowledge = ui.app.knowledge
    collection = knowledge.add(knowledge.create("House").id, [path.parent])
    assert list(knowledge.work(CancelToken(), None, collection.id))
    sha256 = sha256_of(path)
    document = knowledge.documents([sha256])[sha256]
    _, answer = ui.app.chats.ask(None, "Here.")
    source = PromptSource("file", "lease.pdf", sha256, 7, 0, 20)
    ui.app.chats.save_answer(replace(answer, text=ANSWER, state="complete", sources=(source,)))
    ui.page.open_chat(answer.chat_id)
    ui.find(QAbstractButton, "showQuotes")
    viewer = follow(ui, 1)
    assert place(ui) == "Page 7 of 7"
    assert viewer.canvas.marks
    assert not ui.has("viewerNote")
    viewer.close()
    pdf(path, [("The deposit is 9,999.50 euros.",)] * 7)
    follow(ui, 2)
    assert ui.find(TextPage).toPlainText() == document.sections[6].text
    assert ui.find(QLabel, "viewerNote").text().startswith("The file has changed since it was read")


def sha256_of(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()
