"""Marking the quotes of answers about files according to their verdicts."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QHelpEvent, QTextCharFormat, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QToolTip

from app.chats.citations.pages.card import CitationCard, PassageCard
from app.chats.transcript.pages.quoting import plain_text, selected_markdown
from app.documents.citations.values import Citation
from app.documents.values.documents import AttachedFile, PromptSource
from app.kit.text.markdown_view import MarkdownView
from tests.support.attached import attached
from tests.support.chat_messages import act
from tests.support.window import Ui

Line = QTextCharFormat.UnderlineStyle
LEASE = attached(
    "lease.pdf",
    "The rent is due on the third day of the month.",
    "The deposit is 1,250.50 euros. A well-\nknown firm may not enter the flat.",
)
ANSWER = (
    "It says “The rent is due on the **third day**” (lease.pdf, page 1). "
    "The deposit is “1,250.50 euros” (page 1), and “a firm may enter” (page 2).\n\n"
    "Nobody knows who wrote all that down.\n\n"
    "```\nprint(“The deposit is 1,250.50 euros.”)\n```\n"
)


def begin(ui: Ui, *files: AttachedFile, said: str = "Thank you.") -> str:
    """Open a chat whose first question has files, and return its id."""
    question, answer = ui.app.chats.ask(None, "Here it is.", files=files)
    ui.app.chats.save_answer(replace(answer, text=said, state="complete"))
    ui.page.open_chat(question.chat_id)
    return question.chat_id


def line_under(view: MarkdownView, words: str) -> QTextCharFormat:
    """Return the character format of words in a text."""
    found = view.document().find(words)
    assert not found.isNull(), words
    cursor = QTextCursor(found)
    cursor.setPosition(found.selectionStart() + 1)
    return cursor.charFormat()


def summed_up(ui: Ui) -> str:
    return ui.find(QAbstractButton, "showQuotes").text()


def styles(ui: Ui) -> dict[str, Line]:
    words = ("third day", "1,250.50 euros”", "a firm may enter", "Nobody", "print(")
    return {it: line_under(ui.last.view, it).underlineStyle() for it in words}


def test_each_quote_is_marked_by_its_verdict_when_the_answer_is_complete(ui: Ui) -> None:
    begin(ui, LEASE)
    ui.engine.pieces = tuple(ANSWER.partition("third"))
    ui.ask("And what else?")
    assert summed_up(ui) == "3 quotes checked, 1 elsewhere, 1 not found"
    assert styles(ui) == {
        "third day": Line.SingleUnderline,
        "1,250.50 euros”": Line.DashUnderline,
        "a firm may enter": Line.WaveUnderline,
        "Nobody": Line.NoUnderline,
        "print(": Line.NoUnderline,
    }


def test_a_place_that_was_not_checked_is_neither_right_nor_wrong(ui: Ui) -> None:
    begin(ui, LEASE, said="Clause 4.2 says:\n\n> The rent is due on the third day\n\nSo it is.")
    assert summed_up(ui) == "1 quote checked, 1 place not checked"
    style = line_under(ui.last.view, "third day").underlineStyle()
    assert style not in {Line.SingleUnderline, Line.DashUnderline, Line.WaveUnderline}
    assert style != Line.NoUnderline
    ui.click("showQuotes")
    assert (
        ui.find(QAbstractButton, "quote1")
        .accessibleName()
        .startswith(
            "“The rent is due on the third day” The words are in lease.pdf, page 1. "
            "Hearth could not check whether the answer names that place."
        )
    )


def test_an_old_chat_shows_its_marks_again(ui: Ui) -> None:
    chat_id = begin(ui, LEASE, said=ANSWER)
    assert summed_up(ui) == "3 quotes checked, 1 elsewhere, 1 not found"
    ui.page.open_chat(None)
    ui.page.open_chat(chat_id)
    assert summed_up(ui) == "3 quotes checked, 1 elsewhere, 1 not found"
    assert styles(ui)["a firm may enter"] == Line.WaveUnderline


def test_an_answer_in_a_chat_without_files_has_no_marks(ui: Ui) -> None:
    ui.engine.pieces = (ANSWER,)
    ui.ask("What does it say?")
    ui.settle()
    assert not ui.has("citationLine")
    assert set(styles(ui).values()) == {Line.NoUnderline}


def test_an_answer_about_files_without_quotes_says_so(ui: Ui) -> None:
    begin(ui, LEASE)
    assert ui.find(QLabel, "noQuotes").text() == "No quote to check"


def test_the_passages_that_the_model_was_given_open_at_their_places(ui: Ui) -> None:
    """Also under an answer that quotes nothing, where a reader has most reason to look."""
    sha256 = LEASE.document.sha256
    question, answer = ui.app.chats.ask(None, "What is the deposit?", files=[LEASE])
    given = (PromptSource("file", LEASE.name, sha256, 2, 4, 36), PromptSource("file", "x", sha256))
    ended = replace(answer, text="1,250.50 euros.", state="complete", sources=given)
    ui.app.chats.save_answer(ended)
    ui.page.open_chat(question.chat_id)
    button = ui.find(QAbstractButton, "showPassages")
    assert button.text() == "2 passages given"
    ui.click("showPassages")
    card = ui.find(PassageCard)
    row = ui.find(QAbstractButton, "passage1")
    assert row.accessibleName() == "lease.pdf, page 2. deposit is 1,250.50 euros. A wel"
    QTest.keyClick(card.focusWidget(), Qt.Key.Key_Space)
    viewer = ui.page.viewer
    ui.qtbot.waitUntil(lambda: "deposit" in viewer.text.toPlainText())
    (marked,) = viewer.text.extraSelections()
    assert marked.cursor.selectedText().startswith("deposit is 1,250.50")
    viewer.close()


def test_sentences_without_a_quote_are_marked_when_they_are_wanted(ui: Ui) -> None:
    begin(ui, LEASE, said=ANSWER)
    ui.click("showUncited")
    assert styles(ui)["Nobody"] == Line.DotLine
    assert styles(ui)["third day"] == Line.SingleUnderline
    ui.engine.pieces = ("All of it is new to me. “Due on the third day” (page 1).",)
    ui.ask("And?")
    ui.settle()
    assert line_under(ui.last.view, "All of it").underlineStyle() == Line.DotLine
    switches = ui.page.findChildren(QAbstractButton, "showUncited")
    assert [it.isChecked() for it in switches] == [True, True]
    switches[0].click()
    assert line_under(ui.last.view, "All of it").underlineStyle() == Line.NoUnderline
    assert not any(it.isChecked() for it in switches)


def test_what_is_copied_has_no_signs_of_verdicts(ui: Ui) -> None:
    begin(ui, LEASE, said="It is “1,250.50 euros” (page 2).")
    summed_up(ui)
    cursor = QTextCursor(ui.last.view.document())
    cursor.select(QTextCursor.SelectionType.Document)
    assert "\ufffc" in cursor.selectedText(), "there is one"
    expected = "It is “1,250.50 euros” (page 2)."
    assert plain_text(cursor) == selected_markdown(cursor) == expected
    ui.last.view.selectAll()
    assert ui.last.view.createMimeDataFromSelection().text() == expected


def test_a_tip_tells_the_place_and_what_is_known_of_the_copy(ui: Ui) -> None:
    begin(ui, LEASE, said="It is “1,250.50 euros” (page 2).")
    summed_up(ui)
    view = ui.last.view
    place = view.cursorRect(view.document().find("1,250")).center() - QPoint(4, 0)
    QApplication.sendEvent(
        view.viewport(), QHelpEvent(QHelpEvent.Type.ToolTip, place, view.mapToGlobal(place))
    )
    assert QToolTip.text() == (
        "Found in lease.pdf, page 2. Hearth keeps only the text of this file, not a copy."
    )


def test_the_card_lists_the_quotes_for_keyboard_and_screen_reader(ui: Ui) -> None:
    begin(ui, LEASE, said=ANSWER)
    opened: list[Citation] = []
    ui.page.citations.opened.connect(opened.append)
    ui.click("showQuotes")
    card = ui.find(CitationCard)
    names = [ui.find(QAbstractButton, f"quote{at}").accessibleName() for at in (1, 2, 3)]
    assert names[0].startswith("“The rent is due on the third day” Found in lease.pdf, page 1.")
    assert "Not where the answer says, but in lease.pdf, page 2." in names[1]
    assert names[2] == "“a firm may enter” Not found: none of the files contains these words."
    QTest.keyClick(card.focusWidget(), Qt.Key.Key_Space)
    assert [(it.document, it.quote) for it in opened] == [
        (LEASE.document.sha256, "The rent is due on the third day")
    ]


def test_a_quote_is_reached_and_followed_by_keys(ui: Ui) -> None:
    begin(ui, LEASE, said=ANSWER)
    summed_up(ui)
    opened: list[Citation] = []
    ui.page.citations.opened.connect(opened.append)
    view = ui.last.view
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Tab)
    assert view.textCursor().charFormat().anchorHref() == "quote:1"
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert [it.verdict for it in opened] == ["found"]


def test_the_marks_stay_when_theme_and_size_change(ui: Ui) -> None:
    begin(ui, LEASE, said=ANSWER)
    before = summed_up(ui) and styles(ui)
    ui.page.transcript.set_text_size(24)
    assert styles(ui) == before
    ui.presenters.settings.set("theme", "dark")
    QApplication.processEvents()
    assert styles(ui) == before


def test_an_edited_answer_is_checked_anew(ui: Ui) -> None:
    begin(ui, LEASE, said="It is “9,999 euros today” (page 2).")
    assert summed_up(ui) == "1 quote checked, 1 not found"
    act(ui, 1, "edit")
    from app.chats.transcript.pages.inline_edit import InlineEdit

    editor = ui.find(InlineEdit)
    editor.edit.setPlainText("It is “1,250.50 euros” (page 2).")
    ui.press("Return", editor.edit)
    ui.qtbot.waitUntil(lambda: "1,250" in ui.last.view.toPlainText())
    ui.qtbot.waitUntil(lambda: summed_up(ui) == "1 quote checked, found")


def test_files_that_are_gone_are_named(ui: Ui) -> None:
    begin(ui, LEASE, said="It is “1,250.50 euros” (page 2).")
    summed_up(ui)
    with ui.app.database.write() as db:
        db.execute("DELETE FROM documents")
    ui.engine.pieces = ("It is “1,250.50 euros” today.",)
    other = attached("other.txt", "Nothing of that.")
    question, answer = ui.app.chats.ask(ui.page.chat_id, "And?", files=[other])
    ui.app.chats.save_answer(replace(answer, text=ui.engine.pieces[0], state="complete"))
    ui.page.open_chat(question.chat_id)
    ui.qtbot.waitUntil(lambda: ui.last.findChild(QAbstractButton, "showQuotes") is not None)
    ui.last.findChild(QAbstractButton, "showQuotes").click()  # type: ignore[union-attr]
    assert ui.find(QAbstractButton, "quote1").accessibleName() == (
        "“1,250.50 euros” Not found. Some files are no longer available: lease.pdf"
    )
