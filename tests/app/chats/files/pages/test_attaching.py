"""Files at a message: choosing, dropping, pasting, showing, sending and removing them."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QLabel, QWidget

from app.chats.composer.pages.blocked_file_line import BlockedFileLine
from app.chats.context.pages.card import ContextCard
from app.chats.files.pages.chip import FileChip
from app.chats.history.store.drafts import DraftStore
from app.documents.reading.reader import DocumentReader
from app.documents.values.documents import Document
from app.documents.viewer.pages.file_viewer import FileViewer
from app.kit.widgets.problem_card import ProblemCard
from app.kit.widgets.row_button import RowButton
from engines.cancel import CancelToken
from engines.errors import Cancelled
from tests.support.made_documents import docx, epub, paragraph, pdf
from tests.support.window import Ui


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.txt"
    path.write_text("The oven takes 250 degrees.")
    return path


@pytest.fixture
def long(tmp_path: Path) -> Path:
    """Write a file that is too long for the context."""
    path = tmp_path / "book.md"
    parts = (f"# Part {n}\n\n" + f"Bread of kind {n}. " * 20 for n in range(40))
    path.write_text("\n\n".join(parts))
    return path


def files(*paths: Path) -> QMimeData:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return mime


def drop(on: QWidget, mime: QMimeData) -> None:
    """Drag data over a widget and drop it there."""
    copy, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    none = Qt.KeyboardModifier.NoModifier
    entered = QDragEnterEvent(QPoint(5, 5), copy, mime, left, none)
    QApplication.sendEvent(on, entered)
    assert entered.isAccepted()
    QApplication.sendEvent(on, QDropEvent(QPointF(5, 5), copy, mime, left, none))


def chips(ui: Ui) -> dict[str, str]:
    """Return the text of each visible chip at the message, by file name."""
    found = ui.page.composer.attached.findChildren(FileChip)
    return {it.name: it.words for it in found if it.isVisible()}


def wait_for_files(ui: Ui, *names: str) -> None:
    ui.qtbot.waitUntil(lambda: list(chips(ui)) == list(names))
    ui.qtbot.waitUntil(lambda: not ui.page.composer.attached.is_reading)


def attach(ui: Ui, *paths: Path) -> None:
    drop(ui.window, files(*paths))
    wait_for_files(ui, *(path.name for path in paths))


def sent_chips(ui: Ui) -> list[FileChip]:
    found = ui.page.transcript.findChildren(FileChip)
    return [it for it in found if it.isVisible()]


def test_dropped_files_are_chips_and_go_with_the_question(ui: Ui, plan: Path) -> None:
    other = plan.with_name("notes.md")
    other.write_text("# Notes\n\nMilk is missing.")
    drop(ui.edit.viewport(), files(plan, other))
    wait_for_files(ui, "plan.txt", "notes.md")
    ui.ask("How hot?")
    asked = ui.engine.requests[-1].messages[-1].text
    assert "The oven takes 250 degrees." in asked
    assert "Milk is missing." in asked
    assert asked.endswith("How hot?")
    assert ui.texts == ["How hot?", "Hello there"]
    assert chips(ui) == {}
    assert [it.name for it in sent_chips(ui)] == ["plan.txt", "notes.md"]


def test_files_of_office_programs_are_documents_and_no_chats_to_import(
    ui: Ui, tmp_path: Path
) -> None:
    """They are archives like exported chats; a truncated one is recognised by its name."""
    letter = docx(tmp_path / "letter.docx", paragraph("The rent is due on the third."))
    book = epub(tmp_path / "book.epub", {"one": "<p>Bread takes time.</p>"})
    attach(ui, letter, book)
    assert not ui.has("importDialog")
    torn = tmp_path / "torn.docx"
    torn.write_bytes(letter.read_bytes()[:300])
    drop(ui.window, files(torn))
    ui.qtbot.waitUntil(lambda: ui.page.composer.attached.refused == 1)
    assert not ui.has("importDialog")


def test_files_are_pasted(ui: Ui, plan: Path) -> None:
    QGuiApplication.clipboard().setMimeData(files(plan))
    ui.press("Ctrl+V", ui.edit)
    wait_for_files(ui, "plan.txt")
    assert ui.edit.toPlainText() == ""


def test_files_are_chosen_several_at_once(ui: Ui, plan: Path) -> None:
    other = plan.with_name("b.csv")
    other.write_text("a,b\n1,2\n")
    ui.press("Ctrl+O")
    dialog = ui.find(QFileDialog)
    assert dialog.fileMode() is QFileDialog.FileMode.ExistingFiles
    assert dialog.directory().path() == str(Path.home())
    dialog.filesSelected.emit([str(plan), str(other)])
    dialog.reject()
    wait_for_files(ui, "plan.txt", "b.csv")
    assert ui.window.focusWidget() is ui.edit
    ui.click("attachFiles")
    ui.find(QFileDialog).reject()


def test_a_chip_says_what_the_file_is_and_what_it_takes(ui: Ui, tmp_path: Path) -> None:
    path = pdf(tmp_path / "report.pdf", [["One page"], ["and another"]])
    attach(ui, path)
    ui.qtbot.waitUntil(lambda: "tokens" in chips(ui)["report.pdf"])
    assert chips(ui)["report.pdf"].startswith("2 pages · 1 kB · about ")
    meter = ui.find(QWidget, "contextMeter")
    ui.click("contextMeter")
    assert ui.find(QLabel, "contextFile1").text().startswith("report.pdf")
    strip = ui.find(ContextCard).findChild(QWidget, "contextStrip")
    assert strip is not None
    assert "Files " in strip.accessibleDescription()
    assert meter.isVisible()


def test_the_pages_of_a_file_are_shown_as_pictures_before_it_is_sent(
    ui: Ui, tmp_path: Path
) -> None:
    attach(ui, pdf(tmp_path / "lease.pdf", [["The rent is due."], ["The deposit is not."]]))
    ui.click("openFile")
    viewer = ui.find(FileViewer)
    ui.qtbot.waitUntil(viewer.canvas.isVisible)
    ui.qtbot.waitUntil(lambda: not viewer.canvas.image.isNull())
    assert ui.find(QLabel, "viewerPlace").text() == "Page 1 of 2"
    assert ui.find(QAbstractButton, "viewerText").isVisible()


def test_scanned_pages_that_the_model_does_not_see_are_told(ui: Ui, tmp_path: Path) -> None:
    path = pdf(tmp_path / "mixed.pdf", [["One page"], [], ["and another"], []])
    attach(ui, path)
    ui.qtbot.waitUntil(lambda: "tokens" in chips(ui)["mixed.pdf"])
    assert chips(ui)["mixed.pdf"].endswith(" tokens · 2 scanned pages are left out")
    ui.click("contextMeter")
    used = ui.find(QLabel, "contextFileUse1").text()
    assert used.startswith("all its text is in, 2 scanned pages are left out")
    ui.press("Escape")
    ui.ask("What does it say?")
    told = "The model was given all of mixed.pdf but 2 scanned pages."
    assert ui.find(QLabel, "toldFiles").text() == told
    ui.page.reload()
    assert ui.find(QLabel, "toldFiles").text() == told


def test_of_a_scan_that_the_model_does_not_see_nothing_is_in(ui: Ui, tmp_path: Path) -> None:
    attach(ui, pdf(tmp_path / "scan.pdf", [[], []]))
    ui.qtbot.waitUntil(lambda: "scan without text · nothing of it is in" in chips(ui)["scan.pdf"])
    ui.ask("What does it say?")
    assert ui.find(QLabel, "toldFiles").text() == (
        "The model was given nothing from scan.pdf: its pages are scanned."
    )


def test_what_of_a_file_is_not_read_stands_at_its_chip(ui: Ui, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_bytes(b"")
    attach(ui, pdf(tmp_path / "half.pdf", [["Words"], []]), tmp_path / "empty.txt")
    assert "2 pages" in chips(ui)["half.pdf"]
    assert "1 page without text" in chips(ui)["half.pdf"]
    assert "no text in it" in chips(ui)["empty.txt"]


def test_of_a_long_file_so_many_places_are_told_before_and_after(ui: Ui, long: Path) -> None:
    ui.engine.context = 2000
    ui.ask("Hello")
    attach(ui, long)
    ui.qtbot.waitUntil(lambda: "are in" in chips(ui)["book.md"])
    assert " of 40 sections are in" in chips(ui)["book.md"]
    ui.ask("Bread of kind 7?")
    told = ui.find(QLabel, "toldFiles").text()
    assert told.startswith("The model was given ")
    assert told.endswith(" of 40 sections of book.md.")
    ui.window.open_chat(ui.page.chat_id)
    ui.page.reload()
    assert ui.find(QLabel, "toldFiles").text() == told


def test_a_file_in_which_nothing_matches_says_that_its_beginning_went_in(
    ui: Ui, long: Path
) -> None:
    ui.engine.context = 2000
    ui.ask("Hello")
    attach(ui, long)
    ui.ask("Xyzzy?")
    told = "Nothing in book.md matches the question, so the model was given its beginning."
    assert ui.find(QLabel, "toldFiles").text() == told
    ui.page.reload()
    assert ui.find(QLabel, "toldFiles").text() == told


def test_what_cannot_be_read_says_so_and_the_message_goes_without_it(
    ui: Ui, plan: Path, tmp_path: Path
) -> None:
    """Small red chips behind the good one, with one line for all; nothing is sent silently."""
    bad = [tmp_path / f"{name}.bin" for name in "abcd"]
    for path in bad:
        path.write_bytes(b"\0\xff" * 100)
    weights = tmp_path / "w.safetensors"
    weights.write_bytes(b"\x02\0\0\0\0\0\0\0{}")
    strip, wait = ui.page.composer.attached, ui.qtbot.waitUntil
    drop(ui.window, files(*bad[:3], weights))
    wait(lambda: strip.refused == 4)
    send, line = ui.find(QAbstractButton, "send"), ui.find(QLabel, "refusedFiles")
    assert not send.isEnabled()
    assert line.text() == "Nothing can be sent yet. A click on a red file shows why."
    ui.press("Return", ui.edit)
    reason = ui.find(ProblemCard)
    assert reason.accessibleName().startswith("a.bin cannot be read.")
    ui.click("removeFailed")
    assert not ui.has("refusedReason")
    assert strip.refused == 3
    chip = next(it for it in strip.findChildren(FileChip) if it.name == "w.safetensors")
    face = chip.findChild(QAbstractButton, "refusedFile")
    assert face is not None
    for words in (face.toolTip(), face.accessibleName()):
        assert "It is a file of a model, not a document." in words
        assert "PDF" not in words
    chip.focus()
    ui.press("Delete")
    drop(ui.window, files(plan))
    wait(lambda: "plan.txt" in chips(ui) and not strip.is_reading)
    good = next(it for it in strip.findChildren(FileChip) if it.name == "plan.txt")
    assert good.visibleRegion().boundingRect().height() == good.height()
    assert send.accessibleName() == "Send without 2 files"
    assert line.text() == "2 files cannot be sent; the message goes without them."
    ui.ask("What is it?")
    assert "The oven takes 250 degrees." in ui.engine.requests[-1].messages[-1].text
    assert [it.name for it in sent_chips(ui)] == ["plan.txt"]
    assert chips(ui) == {}
    assert not ui.has("refusedFiles")


def test_a_message_of_files_alone_is_sent(ui: Ui, plan: Path) -> None:
    assert not ui.find(QAbstractButton, "send").isEnabled()
    attach(ui, plan)
    assert ui.find(QAbstractButton, "send").isEnabled()
    ui.press("Return", ui.edit)
    ui.wait_for_answer()
    assert ui.titles == ["plan.txt"]
    assert [it.name for it in sent_chips(ui)] == ["plan.txt"]


def test_a_chip_is_removed_by_key_and_by_button(ui: Ui, plan: Path) -> None:
    other = plan.with_name("b.txt")
    other.write_text("b")
    attach(ui, plan, other)
    ui.press("Shift+Tab", ui.edit)
    ui.qtbot.waitUntil(lambda: QApplication.focusWidget() is not ui.edit)
    ui.page.composer.attached.findChildren(FileChip)[0].focus()
    ui.press("Delete")
    assert list(chips(ui)) == ["b.txt"]
    button = ui.find(QAbstractButton, "removeFile")
    assert button.accessibleName() == "Remove b.txt"
    button.click()
    assert chips(ui) == {}
    ui.settle()
    assert DraftStore(ui.app.database).files(None) == ()


def test_a_pressed_chip_is_opened(ui: Ui, plan: Path) -> None:
    opened: list[str] = []
    ui.page.file_opened.connect(opened.append)
    attach(ui, plan)
    chip = ui.page.composer.attached.findChildren(FileChip)[0]
    chip.focus()
    ui.press("Space")
    ui.find(FileViewer).close()
    ui.ask("How hot?")
    ui.press("Space", sent_chips(ui)[0].findChild(RowButton))
    assert len(opened) == 2
    assert opened[0] == opened[1]


class SlowReader:
    """A reader that waits.

    Attributes:
        may: Cancelled once the files may be read.
    """

    def __init__(self) -> None:
        self.may = CancelToken()


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> SlowReader:
    slow, read = SlowReader(), DocumentReader.read

    def slowly(reader: DocumentReader, path: Path, cancel: CancelToken, name: str = "") -> Document:
        while not slow.may.cancelled:
            if cancel.wait(0.01):
                raise Cancelled
        return read(reader, path, cancel, name)

    monkeypatch.setattr(DocumentReader, "read", slowly)
    return slow


def test_a_message_is_sent_when_its_files_are_read(ui: Ui, plan: Path, slow: SlowReader) -> None:
    drop(ui.window, files(plan))
    ui.qtbot.waitUntil(lambda: chips(ui) == {"plan.txt": "Being read…"})
    ui.ask("How hot?", wait=False)
    assert ui.find(QLabel, "sentWhenRead").isVisible()
    assert ui.edit.toPlainText() == "How hot?"
    slow.may.cancel()
    ui.qtbot.waitUntil(lambda: bool(ui.engine.requests))
    ui.wait_for_answer()
    assert "250 degrees" in ui.engine.requests[-1].messages[-1].text


def test_one_who_writes_on_is_not_sent_meanwhile(ui: Ui, plan: Path, slow: SlowReader) -> None:
    drop(ui.window, files(plan))
    ui.ask("How hot", wait=False)
    ui.type(" is it?")
    assert not ui.has("sentWhenRead")
    slow.may.cancel()
    wait_for_files(ui, "plan.txt")
    assert ui.edit.toPlainText() == "How hot is it?"
    assert ui.engine.requests == []


def test_reading_is_stopped_by_its_button(ui: Ui, plan: Path, slow: SlowReader) -> None:
    drop(ui.window, files(plan))
    ui.qtbot.waitUntil(lambda: "plan.txt" in chips(ui))
    button = ui.find(QAbstractButton, "removeFile")
    assert button.accessibleName() == "Stop reading plan.txt"
    button.click()
    assert chips(ui) == {}
    assert not ui.has("removeFailed")


def test_each_chat_keeps_its_files(ui: Ui, plan: Path) -> None:
    ui.ask("One")
    first = ui.page.chat_id
    attach(ui, plan)
    ui.press("Ctrl+N")
    assert chips(ui) == {}
    ui.window.open_chat(first)
    assert list(chips(ui)) == ["plan.txt"]
    ui.settle()
    assert [it.name for it in DraftStore(ui.app.database).files(first)] == ["plan.txt"]


def test_a_waiting_message_keeps_its_files(ui: Ui, plan: Path, hold) -> None:  # type: ignore[no-untyped-def]
    hold.clear()
    ui.ask("One", wait=False)
    ui.wait_for_text("Hello")
    attach(ui, plan)
    ui.ask("How hot?", wait=False)
    ui.qtbot.waitUntil(lambda: ui.has("queueStrip"))
    assert ui.find(QLabel, "waitingFiles1").text() == "1 file"
    assert chips(ui) == {}
    hold.set()
    ui.qtbot.waitUntil(lambda: len(ui.engine.requests) == 2)
    ui.wait_for_answer()
    assert "250 degrees" in ui.engine.requests[-1].messages[-1].text
    ui.qtbot.waitUntil(lambda: [it.name for it in sent_chips(ui)] == ["plan.txt"])


def test_a_file_is_taken_out_of_a_sent_question(ui: Ui, plan: Path) -> None:
    attach(ui, plan)
    ui.ask("How hot?")
    (chip,) = sent_chips(ui)
    button = chip.findChild(QAbstractButton, "removeFile")
    assert button is not None
    assert button.accessibleName() == "Ask again without plan.txt"
    button.click()
    ui.qtbot.waitUntil(lambda: len(ui.engine.requests) == 2)
    ui.wait_for_answer()
    assert ui.engine.requests[-1].messages[-1].text == "How hot?"
    assert sent_chips(ui) == []
    ui.press("Alt+Left")
    ui.qtbot.waitUntil(lambda: [it.name for it in sent_chips(ui)] == ["plan.txt"])


def test_an_edited_question_keeps_its_files(ui: Ui, plan: Path) -> None:
    attach(ui, plan)
    ui.ask("How hot?")
    ui.press("Ctrl+E")
    edit = ui.find(QWidget, "inlineEditText")
    QTest.keyClicks(edit, " Exactly")
    ui.press("Return", edit)
    ui.qtbot.waitUntil(lambda: len(ui.engine.requests) == 2)
    ui.wait_for_answer()
    assert "250 degrees" in ui.engine.requests[-1].messages[-1].text
    ui.qtbot.waitUntil(lambda: [it.name for it in sent_chips(ui)] == ["plan.txt"])


def test_what_could_not_be_sent_stands_there_again(ui: Ui, plan: Path) -> None:
    attach(ui, plan)
    ui.ask("One")
    chat_id = ui.page.chat_id
    assert chat_id is not None
    attach(ui, plan)
    ui.app.chats.delete(chat_id)
    ui.ask("How hot?", wait=False)
    ui.qtbot.waitUntil(lambda: ui.edit.toPlainText() == "How hot?")
    assert list(chips(ui)) == ["plan.txt"]


def test_a_suggested_question_leaves_the_files_where_they_are(ui: Ui, plan: Path) -> None:
    attach(ui, plan)
    ui.page.welcome.suggested.emit("What is MTP?")
    ui.qtbot.waitUntil(lambda: bool(ui.engine.requests))
    ui.wait_for_answer()
    assert ui.engine.requests[-1].messages[-1].text == "What is MTP?"
    assert list(chips(ui)) == ["plan.txt"]


def test_a_scratch_chat_takes_files_and_keeps_no_copy(ui: Ui, plan: Path) -> None:
    ui.window.scratch.open()
    scratch = ui.window.scratch.shown
    assert scratch is not None
    drop(scratch, files(plan))
    strip = scratch.page.composer.attached
    ui.qtbot.waitUntil(lambda: strip.has_files and not strip.is_reading)
    QTest.keyClicks(scratch.page.composer.edit, "How hot?")
    QTest.keyClick(scratch.page.composer.edit, Qt.Key.Key_Return)
    ui.qtbot.waitUntil(lambda: bool(ui.engine.requests))
    assert "250 degrees" in ui.engine.requests[-1].messages[-1].text
    assert not ui.app.folder.attachments.exists()
    assert not list(ui.app.folder.root.rglob("*plan*"))
    scratch.close_now()


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    image = QImage(320, 200, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.darkGreen)
    path = tmp_path / "oven.png"
    assert image.save(str(path))
    return path


def test_a_picture_that_the_model_cannot_see_says_so_before_it_is_sent(ui: Ui, photo: Path) -> None:
    attach(ui, photo)
    assert "320 × 200" in chips(ui)["oven.png"]
    assert "tokens" not in chips(ui)["oven.png"]
    line = ui.find(BlockedFileLine)
    assert "cannot see pictures" in line.accessibleName()
    ui.ask("What is this?", wait=False)
    assert ui.edit.toPlainText() == "What is this?"
    assert ui.engine.requests == []
    button = ui.find(QAbstractButton, "fixHindrance")
    assert button.hasFocus()
    ui.press("Space", button)
    assert ui.find(QAbstractButton, "modelsPart-discover").isChecked()
    ui.click("backToChat")
    ui.find(QAbstractButton, "removeFile").click()
    ui.qtbot.waitUntil(lambda: not ui.has("hindranceLine"))
    ui.press("Return", ui.edit)
    ui.wait_for_answer()
    assert ui.texts[0] == "What is this?"


def test_in_a_low_window_the_button_stands_beside_what_hinders(ui: Ui, photo: Path) -> None:
    attach(ui, photo)
    button = ui.find(QAbstractButton, "fixHindrance")
    what = ui.find(QLabel, "hindranceWhat")
    assert button.y() > what.y() + what.height()
    ui.window.resize(1000, 420)
    ui.presenters.settings.set("zoom", 150)
    ui.qtbot.waitUntil(lambda: button.x() > what.x() + what.width())
    assert not ui.has("hindranceWhy")
    ui.presenters.settings.set("zoom", 100)
    ui.qtbot.waitUntil(lambda: button.y() > what.y() + what.height())


def test_a_picture_shows_itself(ui: Ui, photo: Path) -> None:
    attach(ui, photo)
    small = ui.find(QLabel, "fileThumbnail").pixmap()
    assert (small.width(), small.height()) in {(36, 22), (36, 23)}


def test_a_picture_is_pasted_without_a_file(ui: Ui, photo: Path) -> None:
    QGuiApplication.clipboard().setImage(QImage(str(photo)))
    ui.press("Ctrl+V", ui.edit)
    wait_for_files(ui, "Pasted picture")
    assert "320 × 200" in chips(ui)["Pasted picture"]
    assert not ui.app.folder.attachments.exists()


def test_what_has_text_is_pasted_as_text(ui: Ui, photo: Path) -> None:
    mime = QMimeData()
    mime.setText("a\tb")
    mime.setImageData(QImage(str(photo)))
    QGuiApplication.clipboard().setMimeData(mime)
    ui.press("Ctrl+V", ui.edit)
    assert ui.edit.toPlainText() == "a\tb"
    assert chips(ui) == {}
