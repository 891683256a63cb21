"""Finding words in all messages of a chat, and going from match to match."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit

from app.chats.find.pages.chat_find import occurrences, text_of
from app.chats.history.values.conversation import StoredMessage
from app.chats.transcript.pages.transcript import FIRST, MOST, Transcript
from app.markdown.parser import Parser
from tests.support.window import Ui

COUNT = 300


def message(number: int) -> StoredMessage:
    """Return a message; every tenth mentions a comet in part in bold, the 41st twice."""
    text = f"message {number}\n\n- one\n- two\n- three"
    if number % 10 == 1:
        text = f"A **com**et, number {number} 🚀\n\n" + "much more\n\n" * 20
    if number == 41:
        text += "and the COMÈT again"
    return StoredMessage(
        id=f"m{number}",
        chat_id="c",
        parent_id=f"m{number - 1}" if number else None,
        role="assistant" if number % 2 else "user",
        text=text,
        created=float(number),
    )


@pytest.fixture
def long_chat(ui: Ui) -> Ui:
    ui.show_transcript()
    ui.page.transcript.show_messages(tuple(message(number) for number in range(COUNT)))
    ui.qtbot.waitUntil(lambda: live(ui) == FIRST)
    return ui


def live(ui: Ui) -> int:
    return len(ui.page.transcript.views)


def find(ui: Ui, words: str, count: str) -> QLineEdit:
    """Type the words into the bar and wait for this number of matches."""
    ui.press("Ctrl+F")
    field = ui.find(QLineEdit, "findWords")
    assert field.hasFocus()
    field.clear()
    QTest.keyClicks(field, words)
    ui.qtbot.waitUntil(lambda: ui.find(QLabel, "findCount").text() == count)
    return field


def marked(ui: Ui, message_id: str) -> list[str]:
    view = ui.page.transcript.view_of(message_id)
    found = view.view.extraSelections() if view else []
    return [selection.cursor.selectedText() for selection in found]


def is_seen(transcript: Transcript, message_id: str, words: str) -> bool:
    """Return True if the first match in a message is visible."""
    view = transcript.view_of(message_id)
    if view is None:
        return False
    found = [it for it in view.view.extraSelections() if it.cursor.selectedText() == words]
    area = view.view.cursorRect(found[0].cursor) if found else None
    if area is None:
        return False
    y = view.view.viewport().mapTo(transcript, area.center()).y()
    return 0 < y < transcript.height()


def test_all_messages_are_looked_through_not_only_the_live_ones(long_chat: Ui) -> None:
    transcript = long_chat.page.transcript
    field = find(long_chat, "comet", "1 of 31")
    long_chat.qtbot.waitUntil(lambda: is_seen(transcript, "m1", "comet"))
    assert marked(long_chat, "m1") == ["comet"]
    for _ in range(4):
        long_chat.press("Return", field)
    long_chat.qtbot.waitUntil(lambda: is_seen(transcript, "m41", "comet"))
    assert marked(long_chat, "m41") == ["comet", "COMÈT"]
    long_chat.press("Return", field)
    assert long_chat.find(QLabel, "findCount").text() == "6 of 31"
    long_chat.qtbot.waitUntil(lambda: is_seen(transcript, "m41", "COMÈT"))
    assert live(long_chat) <= MOST


def test_no_hit_is_called_number_0_while_they_are_counted(long_chat: Ui) -> None:
    """In a chat of thousands of messages this takes seconds, and Enter need not wait for it."""
    long_chat.press("Ctrl+F")
    field, label = long_chat.find(QLineEdit, "findWords"), long_chat.find(QLabel, "findCount")
    seen: set[str] = set()

    def is_counted() -> bool:
        seen.add(label.text())
        if label.text().startswith("Found: "):
            long_chat.press("Return", field)
        return label.text() == "1 of 31"

    QTest.keyClicks(field, "comet")
    long_chat.qtbot.waitUntil(is_counted)
    assert not any(words.startswith("0 ") for words in seen)
    assert "comet" in marked(long_chat, "m1")


def test_one_goes_round_in_both_directions(long_chat: Ui) -> None:
    field = find(long_chat, "comet", "1 of 31")
    long_chat.press("Shift+Return", field)
    assert long_chat.find(QLabel, "findCount").text() == "31 of 31"
    long_chat.qtbot.waitUntil(lambda: is_seen(long_chat.page.transcript, "m291", "comet"))
    long_chat.press("F3")
    assert long_chat.find(QLabel, "findCount").text() == "1 of 31"
    long_chat.click("findPrevious")
    assert long_chat.find(QLabel, "findCount").text() == "31 of 31"


def test_the_nearest_below_is_first(long_chat: Ui) -> None:
    long_chat.page.transcript.go_to("m100")
    find(long_chat, "comet", "12 of 31")


def test_nothing_found_is_said_and_escape_closes(long_chat: Ui) -> None:
    find(long_chat, "xyzzy", "Not found")
    find(long_chat, "message 299", "1 of 1")
    assert marked(long_chat, "m299") == ["message 299"]
    long_chat.press("Esc")
    assert not long_chat.has("findBar")
    assert marked(long_chat, "m299") == []


def test_another_chat_closes_the_bar(ui: Ui) -> None:
    ui.ask("Hi")
    find(ui, "hello", "1 of 1")
    ui.press("Ctrl+N")
    assert not ui.has("findBar")


def test_an_answer_that_comes_is_counted(ui: Ui) -> None:
    ui.ask("Hi")
    find(ui, "hello", "1 of 1")
    ui.ask("Again")
    ui.qtbot.waitUntil(lambda: ui.find(QLabel, "findCount").text().endswith("of 2"))


def test_words_are_found_across_code_in_a_text_from_the_right(ui: Ui) -> None:
    answer = replace(message(1), text="קרא `f()` עכשיו")
    ui.show_transcript()
    ui.page.transcript.show_messages((answer,))
    ui.qtbot.waitUntil(lambda: live(ui) == 1)
    field = find(ui, "f()", "1 of 1")
    field.setText("קרא f() עכשיו")
    ui.qtbot.waitUntil(lambda: ui.find(QLabel, "findCount").text() == "1 of 1")
    ui.qtbot.waitUntil(lambda: [it[-5:] for it in marked(ui, "m1")] == ["עכשיו"])


def test_a_message_far_away_is_shown_with_its_neighbours(long_chat: Ui) -> None:
    transcript = long_chat.page.transcript
    view = transcript.go_to("m100")
    assert view is not None
    long_chat.qtbot.waitUntil(lambda: live(long_chat) >= FIRST)
    long_chat.settle()
    assert 0 <= transcript.scroll_keeper.y_of(view) < 40
    assert transcript.view_of("m99")
    assert transcript.view_of("m101")
    assert long_chat.has("jumpToNewest")
    long_chat.click("jumpToNewest")
    assert transcript.view_of("m299")
    bar = transcript.verticalScrollBar()
    assert bar.value() == bar.maximum()


@pytest.mark.parametrize("step", [-1, 1])
def test_scrolling_on_brings_messages_without_jumps(long_chat: Ui, step: int) -> None:
    transcript = long_chat.page.transcript
    transcript.go_to("m150")
    long_chat.qtbot.waitUntil(lambda: live(long_chat) >= FIRST)
    long_chat.settle()
    bar = transcript.verticalScrollBar()
    for _ in range(45):
        bar.setValue(bar.value() + step * 400)
        seen = transcript.scroll_keeper.first_visible()
        assert seen is not None
        y = transcript.scroll_keeper.y_of(seen)
        long_chat.settle()
        assert abs(transcript.scroll_keeper.y_of(seen) - y) <= 2
        assert live(long_chat) <= MOST + 2
    reached = [view.message.id for view in transcript.views]
    assert "m150" not in reached


def test_the_newest_is_reached_by_scrolling(long_chat: Ui) -> None:
    transcript = long_chat.page.transcript
    transcript.go_to("m270")
    long_chat.qtbot.waitUntil(lambda: live(long_chat) >= FIRST - 10)
    bar = transcript.verticalScrollBar()

    def at_end() -> bool:
        bar.setValue(bar.maximum())
        return transcript.view_of("m299") is not None and not long_chat.has("jumpToNewest")

    long_chat.qtbot.waitUntil(at_end)


def test_a_reader_sees_text_not_markdown() -> None:
    parser = Parser()
    answer = StoredMessage(
        "m", "c", None, "assistant", "| a | b |\n|---|---|\n| **c** | `d` |", 0.0
    )
    assert text_of(answer, parser).split() == ["a", "b", "c", "d"]
    question = StoredMessage("m", "c", None, "user", "2 * 3 * 4", 0.0)
    assert text_of(question, parser) == "2 * 3 * 4"


def test_case_accents_and_signs() -> None:
    assert occurrences("Über UBER", "uber") == ((0, 4), (5, 9))
    assert occurrences("aaaa", "aa") == ((0, 2), (2, 4))
    assert occurrences("a → b → c", "→") == ((2, 3), (6, 7))
    assert occurrences("東京の電車", "電車") == ((3, 5),)
    assert occurrences("nothing", "") == ()
