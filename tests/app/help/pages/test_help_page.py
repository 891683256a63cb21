"""The help page: reading and searching the guides, by keyboard where possible."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale, Qt, QUrl
from PySide6.QtGui import QAction, QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QMenu, QPushButton, QTextBrowser

from app.base.shipped import GUIDES
from app.help.pages.guide_list import GuideList
from app.help.pages.guide_page import GuidePage
from app.help.pages.help_page import HelpPage
from app.help.services.guides import Guides
from app.kit.look.language import install_language
from app.kit.widgets.row_button import RowButton
from tests.support.control_names import all_named
from tests.support.window import Ui, part

TITLES = [guide.title for guide in Guides(GUIDES).all]


def rows(ui: Ui) -> list[str]:
    """Return the accessible names of the rows from top to bottom."""
    QApplication.processEvents()
    found = ui.find(GuideList).findChildren(RowButton)
    return [
        row.accessibleName() for row in sorted(found, key=lambda row: row.y()) if row.isVisible()
    ]


def search(ui: Ui, words: str) -> QLineEdit:
    field = ui.find(QLineEdit, "searchGuides")
    ui.qtbot.waitUntil(field.hasFocus)
    QTest.keyClicks(field, words)
    return field


def guide(ui: Ui) -> QTextBrowser:
    ui.qtbot.waitUntil(lambda: ui.has("guideText"))
    return ui.find(QTextBrowser, "guideText")


def test_the_keys_open_help_search_and_open_the_place(ui: Ui) -> None:
    ui.press("Shift+F1")
    ui.qtbot.waitUntil(lambda: len(rows(ui)) == len(TITLES))
    assert [row.split(":")[0] for row in rows(ui)] == TITLES
    all_named(ui, ui.window)
    field = search(ui, "hibernation")
    ui.qtbot.waitUntil(lambda: len(rows(ui)) == 1)
    assert rows(ui)[0].startswith("Privacy: Scratch chats: ")
    QTest.keyClick(field, Qt.Key.Key_Return)
    text = guide(ui)
    ui.qtbot.waitUntil(text.hasFocus)
    assert text.accessibleName() == "Privacy"
    (marked,) = text.extraSelections()
    found = marked.cursor
    assert found.selectedText() == "hibernation"
    page = ui.find(GuidePage)

    def place() -> int:
        """Return the vertical position of the found word in the visible part of the page."""
        return text.viewport().mapTo(page.viewport(), text.cursorRect(found).topLeft()).y()

    ui.qtbot.waitUntil(lambda: 0 <= place() < page.viewport().height())
    all_named(ui, ui.window)


def test_enter_does_not_wait_for_the_pause_in_typing(ui: Ui) -> None:
    ui.press("Shift+F1")
    QTest.keyClick(search(ui, "hibernation"), Qt.Key.Key_Return)
    assert guide(ui).accessibleName() == "Privacy"


def test_the_arrow_keys_walk_through_the_list_and_back_to_the_field(ui: Ui) -> None:
    ui.press("Shift+F1")
    field = search(ui, "")
    ui.press("Down", field)
    assert ui.find(RowButton, "guide-first-steps").hasFocus()
    ui.press("Down")
    assert ui.find(RowButton, "guide-models").hasFocus()
    ui.press("Up")
    ui.press("Up")
    assert field.hasFocus()
    ui.press("Down")
    ui.press("Return")
    assert guide(ui).accessibleName() == "First steps"


def test_a_guide_is_read_with_the_keys_that_scroll(ui: Ui) -> None:
    ui.press("Shift+F1")
    ui.click("guide-terminal")
    text = guide(ui)
    bar = ui.find(GuidePage).verticalScrollBar()
    ui.qtbot.waitUntil(lambda: text.hasFocus() and bar.maximum() > 0)
    ui.press("PgDown")
    first = bar.value()
    assert first > 0
    ui.press("Space")
    assert bar.value() > first
    ui.press("End")
    assert bar.value() == bar.maximum()
    ui.press("Home")
    assert bar.value() == 0


def test_a_link_to_another_guide_is_followed_by_the_keyboard(ui: Ui) -> None:
    ui.press("Shift+F1")
    ui.click("guide-engines")
    text = guide(ui)
    ui.qtbot.waitUntil(text.hasFocus)
    for title in ("Servers and teams", "First steps", "who guesses", "Measurements"):
        ui.press("Tab")
        assert text.textCursor().selectedText() == title
    page = ui.find(GuidePage)
    place = text.viewport().mapTo(page.viewport(), text.cursorRect().topLeft()).y()
    assert 0 <= place < page.viewport().height(), "the last link is at the end of the guide"
    ui.press("Return")
    assert guide(ui).accessibleName() == "Measurements"
    ui.click("allGuides")
    assert len(rows(ui)) == len(TITLES)


def test_a_link_leads_to_a_section(ui: Ui) -> None:
    ui.press("Shift+F1")
    ui.click("guide-privacy")
    guide(ui).anchorClicked.emit(QUrl("chats.md#chats-kept-ready"))
    text = guide(ui)
    assert text.accessibleName() == "Chats"
    page = ui.find(GuidePage)
    heading = text.document().find("Chats kept ready")

    def place() -> int:
        return text.viewport().mapTo(page.viewport(), text.cursorRect(heading).topLeft()).y()

    ui.qtbot.waitUntil(lambda: 0 <= place() < 60)


def test_a_link_out_of_hearth_asks_first(ui: Ui, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    ui.press("Shift+F1")
    ui.click("guide-privacy")
    guide(ui).anchorClicked.emit(QUrl("https://example.org/"))
    assert opened == []
    ui.click("open")
    assert opened == [QUrl("https://example.org/")]
    guide(ui).anchorClicked.emit(QUrl("nowhere.md"))
    assert not ui.has("messageDialog")


def test_a_search_without_a_hit_says_so(ui: Ui) -> None:
    ui.press("Shift+F1")
    field = search(ui, "xylophone")
    ui.qtbot.waitUntil(lambda: ui.has("noGuideFound"))
    assert ui.find(QLabel, "noGuideFound").text() == "No guide contains “xylophone”."
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert not ui.has("guideText")
    field.clear()
    ui.qtbot.waitUntil(lambda: len(rows(ui)) == len(TITLES))


def test_many_hits_are_cut_off_and_counted(ui: Ui) -> None:
    ui.press("Shift+F1")
    search(ui, "the")
    ui.qtbot.waitUntil(lambda: ui.has("moreFound"))
    assert len(rows(ui)) == 30


def test_help_is_reached_by_the_sidebar_and_the_menu_and_leads_to_the_shortcuts(ui: Ui) -> None:
    ui.click("morePages")
    more = ui.find(QMenu, "pagesMenu")
    part(more, QAction, "show_help").trigger()
    more.close()
    assert ui.has("helpPage")
    ui.click("helpBack")
    assert not ui.has("helpPage")
    action = ui.window.findChild(QAction, "show_help")
    assert isinstance(action, QAction)
    menus = {menu.title(): menu for menu in ui.window.menuBar().findChildren(QMenu)}
    assert action in menus["Help"].actions()
    action.trigger()
    assert ui.has("helpPage")
    ui.click("shortcuts")
    ui.find(QPushButton, "resetShortcuts").window().close()


def test_the_text_is_as_large_as_the_settings_say(ui: Ui) -> None:
    ui.press("Shift+F1")
    ui.click("guide-privacy")
    before = guide(ui).height()
    ui.presenters.settings.set("text_size", 20)
    assert guide(ui).height() > before


@pytest.fixture
def no_guides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.wiring.window.GUIDES", tmp_path)


def test_a_damaged_installation_is_told_on_the_page(no_guides: None, ui: Ui) -> None:
    ui.press("Shift+F1")
    assert ui.find(QLabel, "problemWhat").text() == "The guides cannot be shown."
    QTest.keyClick(search(ui, "memory"), Qt.Key.Key_Return)
    assert ui.has("problemCard")


@pytest.fixture
def german(qapp: QApplication) -> Iterator[None]:
    usual = QLocale()
    install_language(qapp, "deutsch")
    yield
    install_language(qapp, "english")
    QLocale.setDefault(usual)


def test_a_german_window_says_that_the_guides_are_english(german: None, ui: Ui) -> None:
    ui.press("Shift+F1")
    assert (
        ui.find(QLabel, "guidesLanguage").text() == "Die Anleitungen sind auf Englisch geschrieben."
    )
    assert ui.find(QLineEdit, "searchGuides").placeholderText() == "Anleitungen durchsuchen"


def test_an_english_window_need_not_say_it(ui: Ui) -> None:
    ui.press("Shift+F1")
    assert ui.find(HelpPage).isVisible()
    assert not ui.has("guidesLanguage")
