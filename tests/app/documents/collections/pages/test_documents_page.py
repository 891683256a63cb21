"""The documents page: collections of real files, with real readers and a real index."""

from __future__ import annotations

from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QLineEdit,
    QMenu,
    QPushButton,
    QTableView,
    QWidget,
)

from app.documents.collections.pages.documents_page import DocumentsPage
from app.documents.collections.values import CollectionState
from app.documents.viewer.pages.file_viewer import FileViewer
from app.kit.widgets.label import Label
from app.wiring.window import WindowApp
from tests.support.control_names import all_named
from tests.support.made_documents import pdf
from tests.support.window import Ui, part
from tests.support.windows import built_window

LEASE = "The lease ends on 31 March 2027.\nNotice has to be given three months before.\n"
BREAD = "Bread rises overnight in a cool place. Fold the dough twice before it rests.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a folder with two texts, a PDF of two pages, and a broken PDF."""
    folder = tmp_path / "Papers"
    folder.mkdir()
    (folder / "lease.txt").write_text(LEASE)
    (folder / "bread.md").write_text(f"# Bread\n\n{BREAD}")
    pdf(folder / "manual.pdf", [["The pump is in the cellar."], ["Oil the pump in October."]])
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing else")
    return folder


def page(ui: Ui) -> DocumentsPage:
    shown = ui.window.page_named("documents")
    assert isinstance(shown, DocumentsPage)
    return shown


def state(ui: Ui, name: str = "Papers") -> CollectionState:
    found = {it.collection.name: it for it in ui.presenters.collections.states}
    return found[name]


def until_read(ui: Ui, files: int, name: str = "Papers") -> None:
    def is_read() -> bool:
        states = {it.collection.name: it for it in ui.presenters.collections.states}
        return name in states and (states[name].files, states[name].waiting) == (files, 0)

    ui.qtbot.waitUntil(is_read, timeout=20_000)


def drop(ui: Ui, *paths: Path) -> None:
    """Drag files over the page and drop them, through the events of the window system."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    copy, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    none = Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPointF(9, 9).toPoint(), copy, data, left, none)
    QApplication.sendEvent(page(ui), enter)
    QApplication.sendEvent(page(ui), QDropEvent(QPointF(9, 9), copy, data, left, none))


def made(ui: Ui, folder: Path, files: int = 4) -> str:
    """Make a collection by dropping a folder, and return its id."""
    ui.press("Ctrl+Shift+W")
    drop(ui, folder)
    ui.qtbot.waitUntil(lambda: ui.has("collectionDialog"))
    ui.press("Return", ui.find(QLineEdit, "collectionName"))
    ui.qtbot.waitUntil(lambda: ui.has("collectionHead"))
    until_read(ui, files, folder.name)
    ui.settle()
    return state(ui, folder.name).collection.id


def rows(ui: Ui) -> list[tuple[str, str]]:
    """Return the names and states of the files in the table."""
    model = ui.find(QTableView, "documentFiles").model()
    return [
        (str(model.index(row, 0).data()), str(model.index(row, 1).data()))
        for row in range(model.rowCount())
    ]


def test_without_collections_it_says_what_to_do(ui: Ui) -> None:
    ui.press("Ctrl+Shift+W")
    ui.qtbot.waitUntil(lambda: ui.has("noCollections"))
    assert "stay where they are" in ui.find(Label, "noCollectionsWords").text()
    ui.qtbot.waitUntil(lambda: ui.has("searchKind"))
    all_named(ui, ui.window)
    ui.click("documentsBack")
    assert not ui.has("documentsPage")


def test_a_folder_is_picked_named_and_read(ui: Ui, folder: Path) -> None:
    ui.click("showDocuments")
    ui.click("addFirstFolder")
    chooser = part(ui.window, QFileDialog, "pickFolder")
    chooser.filesSelected.emit([str(folder)])
    chooser.reject()
    name = ui.find(QLineEdit, "collectionName")
    assert name.text() == "Papers"
    QTest.keyClicks(name, "House")
    ui.click("makeCollection")
    until_read(ui, 4, "House")
    ui.qtbot.waitUntil(lambda: "4 files, 1 could not be read" in standing(ui))
    assert not ui.has("collectionDialog")


def standing(ui: Ui) -> str:
    return ui.find(Label, "openStanding").text()


def test_files_are_listed_and_a_damaged_one_says_why(ui: Ui, folder: Path) -> None:
    made(ui, folder)
    ui.qtbot.waitUntil(lambda: ui.has("documentFiles") and len(rows(ui)) == 4)
    assert dict(rows(ui))["lease.txt"] == "Read"
    ui.click("filesPart-unreadable")
    ((name, why),) = rows(ui)
    assert name == "broken.pdf"
    assert why not in {"", "Read"}
    table = ui.find(QTableView, "documentFiles")
    table.setFocus()
    ui.press("Down", table)
    assert str(folder / "broken.pdf") in ui.find(Label, "filePath").text()
    assert why in ui.find(Label, "fileWhy").text()
    ui.click("filesPart-sources")
    assert ui.find(Label, "source1").text() == str(folder)


def test_scans_and_empty_files_do_not_count_as_read(ui: Ui, folder: Path) -> None:
    (folder / "broken.pdf").unlink()
    pdf(folder / "scan.pdf", [[], []])
    pdf(folder / "half.pdf", [["Words"], []])
    (folder / "empty.txt").write_bytes(b"")
    made(ui, folder, 6)
    words = "6 files, 1 is a scan without text, 1 is read in part, 1 has no text"
    ui.qtbot.waitUntil(lambda: words in standing(ui))
    ui.click("filesPart-unreadable")
    assert rows(ui) == [
        ("empty.txt", "No text in it"),
        ("half.pdf", "Read in part, 1 page is a picture"),
        ("scan.pdf", "Not read: a scan without text"),
    ]


def test_a_file_is_shown_in_its_folder(
    ui: Ui, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[QUrl] = []

    def note(url: QUrl) -> bool:
        opened.append(url)
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", note)
    made(ui, folder)
    ui.qtbot.waitUntil(lambda: ui.has("documentFiles"))
    ui.find(QTableView, "documentFiles").selectRow(0)
    ui.click("revealFile")
    assert opened == [QUrl.fromLocalFile(str(folder))]


def test_a_search_shows_passages_with_their_places(ui: Ui, folder: Path) -> None:
    made(ui, folder)
    field = ui.find(QLineEdit, "searchCollection")
    QTest.keyClicks(field, "when should the pump be oiled")
    ui.press("Return", field)
    ui.qtbot.waitUntil(lambda: ui.has("passage1"))
    assert "manual.pdf, page" in ui.find(QWidget, "passage1").accessibleName()
    assert not ui.has("documentFiles")
    ui.click("openPassage1")
    viewer = ui.find(FileViewer)
    ui.qtbot.waitUntil(lambda: bool(viewer.canvas.marks))
    assert viewer.windowTitle() == "manual.pdf"
    viewer.close()
    ui.press("Esc", field)
    ui.qtbot.waitUntil(lambda: ui.has("documentFiles"))
    QTest.keyClicks(field, "zebra")
    ui.qtbot.waitUntil(lambda: ui.has("noPassage"))


def test_what_changes_in_a_folder_changes_in_the_collection(ui: Ui, folder: Path) -> None:
    collection = made(ui, folder)
    (folder / "broken.pdf").unlink()
    (folder / "new.txt").write_text("A new thing.")
    (folder / "newer.txt").write_text("A newer thing.")
    ui.presenters.collections.read_again(collection)
    until_read(ui, 5)
    ui.qtbot.waitUntil(lambda: standing(ui) == "5 files, all read")


def test_files_dropped_on_an_open_collection_join_it(ui: Ui, folder: Path, tmp_path: Path) -> None:
    made(ui, folder)
    other = tmp_path / "letter.txt"
    other.write_text("Dear landlord,")
    drop(ui, other)
    until_read(ui, 5)
    ui.click("filesPart-sources")
    ui.click("takeOut2")
    until_read(ui, 4)
    assert other.exists()
    ui.window.notifier.undo()
    until_read(ui, 5)


def test_a_collection_is_paused_and_goes_on(ui: Ui, folder: Path) -> None:
    collection = made(ui, folder)
    ui.presenters.collections.pause(collection)
    ui.qtbot.waitUntil(lambda: standing(ui).startswith("Paused"))
    (folder / "new.txt").write_text("A new thing.")
    ui.settle()
    assert state(ui).files == 4
    assert ui.find(QPushButton, "haltReading").text() == "Continue reading"
    ui.click("haltReading")
    until_read(ui, 5)


def test_another_name_is_given_unless_it_is_taken(ui: Ui, folder: Path) -> None:
    made(ui, folder)
    ui.app.knowledge.create("Other")
    choose(ui, "collection-rename")
    field = ui.find(QLineEdit, "otherName")
    field.selectAll()
    QTest.keyClicks(field, "other")
    ui.press("Return", field)
    ui.qtbot.waitUntil(lambda: ui.has("renameProblem"))
    assert "already" in ui.find(Label, "renameProblem").text()
    field.setText("House")
    ui.click("saveRename")
    ui.qtbot.waitUntil(lambda: not ui.has("renameCollection"))
    ui.qtbot.waitUntil(lambda: ui.find(Label, "openCollection").text() == "House")


def choose(ui: Ui, action: str) -> None:
    """Choose an action in the menu of the open collection."""
    ui.click("moreOfCollection")
    menu = ui.find(QMenu, "collectionMenu")
    next(it for it in menu.actions() if it.objectName() == action).trigger()
    menu.close()


def test_removing_asks_and_leaves_the_files(ui: Ui, folder: Path) -> None:
    made(ui, folder)
    choose(ui, "collection-remove")
    ui.qtbot.waitUntil(lambda: ui.has("messageDialog"))
    assert "not deleted" in ui.find(Label, "line2").text()
    ui.click("confirmRemoveCollection")
    ui.qtbot.waitUntil(lambda: ui.presenters.collections.states == ())
    assert ui.has("noCollections")
    assert sorted(it.name for it in folder.iterdir()) == [
        "bread.md", "broken.pdf", "lease.txt", "manual.pdf",
    ]  # fmt: skip
    ui.settle()
    assert list(ui.app.folder.knowledge.glob("*.db")) == []


def test_a_chat_about_a_collection_knows_its_text(ui: Ui, folder: Path) -> None:
    collection = made(ui, folder)
    ui.click("chatAbout")
    chip = ui.find(QPushButton, "collectionsChip")
    assert chip.text() == "Documents: Papers"
    assert "cannot read your documents" in ui.find(Label, "guideBannerText").text()
    ui.ask("When does the lease end?")
    prompt = ui.engine.requests[-1].messages[-1].text
    assert "31 March 2027" in prompt
    told = "The model was given passages from lease.txt."
    assert ui.find(Label, "toldFiles").text() == told
    ui.page.reload()
    assert ui.find(Label, "toldFiles").text() == told
    chat = ui.page.chat_id
    assert chat is not None
    ui.settle()
    assert ui.presenters.chat_settings.own(chat).collections == (collection,)
    ui.press("Ctrl+N")
    assert not ui.has("collectionsChip")
    assert "only knows Hearth" in ui.find(Label, "guideBannerText").text()


def test_a_quote_of_a_collection_is_checked_and_opens_its_page(ui: Ui, folder: Path) -> None:
    made(ui, folder)
    ui.click("chatAbout")
    ui.engine.pieces = ("“Oil the pump in October” (manual.pdf, page 2), ", "“never in winter”.")
    ui.ask("When should the pump be oiled?")
    ui.qtbot.waitUntil(lambda: ui.has("showQuotes"))
    assert ui.find(QPushButton, "showQuotes").text() == "2 quotes checked, 1 not found"
    ui.last.view.quote.emit(1)
    viewer = ui.find(FileViewer)
    ui.qtbot.waitUntil(lambda: bool(viewer.canvas.marks))
    assert ui.find(Label, "viewerPlace").text() == "Page 2 of 2"
    viewer.close()


def test_a_collection_is_chosen_with_the_keyboard(ui: Ui, folder: Path) -> None:
    collection = made(ui, folder)
    ui.press("Ctrl+N")
    ui.press("Ctrl+Shift+X")
    menu = ui.find(QMenu, "collectionChoices")
    assert [it.text() for it in menu.actions() if it.text()] == ["Papers", "All documents…"]
    QTest.keyClick(menu, Qt.Key.Key_Return)
    ui.qtbot.waitUntil(lambda: ui.has("collectionsChip"))
    assert ui.presenters.chat_settings.collections(None) == (collection,)
    ui.press("Ctrl+Shift+X")
    QTest.keyClick(ui.find(QMenu, "collectionChoices"), Qt.Key.Key_Return)
    ui.qtbot.waitUntil(lambda: not ui.has("collectionsChip"))


def test_an_assistant_brings_its_collections_which_a_chat_may_leave(ui: Ui, folder: Path) -> None:
    collection = made(ui, folder)
    ui.press("Ctrl+Shift+A")
    ui.click("newAssistant")
    QTest.keyClicks(ui.find(QLineEdit, "assistantName"), "Clerk")
    ui.click(f"assistantDocuments-{collection}")
    ui.click("saveAssistant")
    ui.qtbot.waitUntil(lambda: bool(ui.presenters.assistants.all()))
    (clerk,) = ui.presenters.assistants.all()
    assert clerk.collections == (collection,)
    ui.press("Ctrl+N")
    ui.presenters.chat_settings.set_assistant(None, clerk.id)
    assert ui.has("collectionsChip")
    ui.press("Ctrl+T")
    assert ui.find(Label, "source-collections").text() == "Set by the assistant"
    ui.click(f"chatDocuments-{collection}")
    ui.qtbot.waitUntil(lambda: not ui.has("collectionsChip"))
    assert ui.presenters.chat_settings.own(None).collections == ()
    ui.click("take-back-collections")
    ui.qtbot.waitUntil(lambda: ui.has("collectionsChip"))


def test_a_scratch_chat_is_asked_about_documents_and_leaves_nothing(ui: Ui, folder: Path) -> None:
    collection = made(ui, folder)
    ui.press("Ctrl+Shift+N")
    scratch = ui.window.scratch.shown
    assert scratch is not None
    scratch.scratch.presenters.open_chat.set_collections((collection,))
    with ui.qtbot.waitSignal(scratch.scratch.presenters.generation.ended):
        scratch.page.ask("When does the lease end?")
    assert "31 March 2027" in ui.engine.requests[-1].messages[-1].text
    assert not ui.app.chats.chats()
    scratch.documents.emit()
    ui.qtbot.waitUntil(lambda: ui.has("documentsPage"))
    scratch.close_now()
    ui.qtbot.waitUntil(lambda: ui.window.scratch.shown is None)


def test_the_embedding_model_that_is_missing_is_offered_with_its_size(ui: Ui) -> None:
    ui.press("Ctrl+Shift+W")
    ui.qtbot.waitUntil(lambda: ui.has("getEmbedder"))
    assert ui.find(QPushButton, "getEmbedder").text() == "Get EmbeddingGemma 300M (330 MB)"
    assert ui.find(Label, "searchKindTitle").text() == "Search by words alone"
    ui.window.presenters.settings.set("offline", True)
    ui.click("getEmbedder")
    ui.qtbot.waitUntil(lambda: ui.has("toast"))


def test_a_chat_knows_its_collections_at_the_next_start(ui: Ui, folder: Path) -> None:
    collection = made(ui, folder)
    ui.click("chatAbout")
    ui.ask("When does the lease end?")
    chat = ui.page.chat_id
    again = WindowApp(ui.app)
    window = built_window(again, repr)
    window.open_chat(chat)
    chip = part(window, QPushButton, "collectionsChip")
    ui.qtbot.waitUntil(lambda: not chip.isHidden())
    assert again.chat_settings.collections(chat) == (collection,)
    again.tasks.close()
    shiboken6.delete(window)
