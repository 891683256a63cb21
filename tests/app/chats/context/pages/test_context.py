"""The context meter and its card, the overflow warning, pins and summaries in the window."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton, QScrollArea, QWidget

from app.chats.context.pages.card import ContextCard, ContextList, pin_place
from app.chats.context.pages.meter import ContextMeter
from app.chats.context.pages.warning import ContextWarning
from app.chats.transcript.pages.message_mark import MessageMark
from app.chats.transcript.pages.summary_fold import SummaryFold
from app.settings.values.fields import Settings
from tests.support.window import Ui

SMALL = 120
"""Size of the context in tokens, 30 of them for the answer; a message takes 4 plus its words."""


@pytest.fixture
def small(ui: Ui) -> Ui:
    """Set the scripted engine to a small context and ask one turn, of 5 and 6 tokens."""
    ui.engine.context = SMALL
    ui.ask("Hi")
    ui.qtbot.waitUntil(lambda: numbers(ui) == "15 of 120")
    return ui


def meter(ui: Ui) -> ContextMeter:
    return ui.find(ContextMeter)


def write(ui: Ui, words: int) -> None:
    """Write a draft of this many words and wait until it is counted."""
    text = " ".join(["word"] * words)
    ui.page.composer.set_text(text)
    ui.qtbot.waitUntil(lambda: counted(ui) == text)


def counted(ui: Ui) -> str:
    use = ui.page.context.use
    return use.draft if use is not None and use.exact else ""


def fill(ui: Ui, turns: int = 4) -> None:
    """Ask this many turns of 20 and 6 tokens."""
    for number in range(turns):
        ui.ask(f"{number} " + "word " * 15)


def chat_id(ui: Ui) -> str:
    assert ui.page.chat_id is not None
    return ui.page.chat_id


def numbers(ui: Ui) -> str:
    """Return the numbers in the meter's accessible name."""
    return meter(ui).accessibleName().removeprefix("Context: ").removesuffix(" tokens")


def marks(ui: Ui) -> list[str]:
    return sorted(
        mark.mark for mark in ui.page.transcript.findChildren(MessageMark) if mark.isVisible()
    )


def test_it_is_about_until_the_model_counts(ui: Ui) -> None:
    ui.qtbot.waitUntil(ui.page.context.meter.isVisible)
    assert numbers(ui).startswith("about ")
    ui.engine.context = SMALL
    ui.ask("Hi")
    ui.qtbot.waitUntil(lambda: numbers(ui) == "15 of 120")
    assert "15 of 120" in meter(ui).accessibleDescription()
    assert meter(ui).toolTip().startswith("17 % full. ")


def test_what_is_typed_counts_at_once(small: Ui) -> None:
    small.page.composer.set_text("word " * 40)
    assert numbers(small).startswith("about ")
    small.qtbot.waitUntil(lambda: numbers(small) == "55 of 120")


def test_the_user_is_asked_before_the_first_message_is_left_out(small: Ui) -> None:
    write(small, 85)
    small.press("Return", small.edit)
    assert small.find(ContextWarning).isVisible()
    assert "left out" in small.find(QLabel, "contextWarningWhat").text()
    assert len(small.engine.requests) == 1
    assert small.edit.toPlainText() == " ".join(["word"] * 85)
    small.click("contextWarning-send")
    small.wait_for_answer()
    assert len(small.engine.requests) == 2
    assert not small.has("contextWarning")
    small.qtbot.waitUntil(lambda: marks(small) == ["left"] * 4)
    write(small, 80)
    small.press("Return", small.edit)
    small.wait_for_answer()
    assert len(small.engine.requests) == 3, "once is enough"


def test_escape_and_typing_take_the_warning_away(small: Ui) -> None:
    write(small, 85)
    small.press("Return", small.edit)
    small.press("Esc", small.find(QPushButton, "contextWarning-send"))
    assert not small.has("contextWarning")
    assert small.edit.hasFocus()
    small.press("Return", small.edit)
    assert small.has("contextWarning")
    small.type("x")
    assert not small.has("contextWarning")


def test_a_message_that_cannot_fit_at_all(small: Ui) -> None:
    write(small, 130)
    small.press("Return", small.edit)
    assert "too long" in small.find(QLabel, "contextWarningWhat").text()
    assert not small.has("contextWarning-send")
    assert not small.has("contextWarning-compact")
    small.click("contextWarning-shorten")
    assert small.edit.toPlainText() == " ".join(["word"] * 130)


def test_a_chat_can_stop_when_it_is_full(small: Ui) -> None:
    small.click("contextMeter")
    small.click("overflow-stop")
    small.press("Esc", small.find(ContextList))
    assert not small.has("contextCard")
    small.qtbot.waitUntil(lambda: small.app.chats.chat(chat_id(small)).overflow == "stop")
    write(small, 85)
    small.press("Return", small.edit)
    assert "stop" in small.find(QLabel, "contextWarningWhy").text()
    small.click("contextWarning-send")
    small.wait_for_answer()
    assert small.engine.requests[-1].overflow == "leave_out", "this once"
    write(small, 85)
    small.press("Return", small.edit)
    assert small.has("contextWarning")


def test_the_settings_say_what_holds_in_a_chat_that_says_nothing(small: Ui) -> None:
    small.presenters.settings.set("overflow", "stop")
    small.ask("Hi")
    assert small.engine.requests[-1].overflow == "stop"
    assert Settings().overflow == "leave_out"


def test_a_new_chat_keeps_what_was_chosen_before_its_first_message(ui: Ui) -> None:
    ui.qtbot.waitUntil(ui.page.context.meter.isVisible)
    ui.click("contextMeter")
    ui.click("overflow-compact")
    ui.press("Esc", ui.find(ContextList))
    ui.ask("Hi")
    ui.qtbot.waitUntil(lambda: ui.app.chats.chat(chat_id(ui)).overflow == "compact")


def test_the_card_says_what_is_in(small: Ui) -> None:
    small.click("contextMeter")
    card = small.find(ContextCard)
    assert small.find(QLabel, "contextTotal").text() == "15 of 120 tokens"
    assert "fits" in small.find(QLabel, "contextStanding").text()
    rows = small.find(ContextList).model()
    assert [rows.data(rows.index(at, 0)) for at in range(rows.rowCount())] == ["Hi", "Hello there"]
    spoken = rows.data(rows.index(1, 0), Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "Assistant, Hello there, 6 tokens"
    assert card.rect().width() <= small.page.width()
    small.click("closeContext")
    assert not small.has("contextCard")


def test_a_row_leads_to_its_message(small: Ui, monkeypatch: pytest.MonkeyPatch) -> None:
    went: list[str] = []
    small.click("contextMeter")
    shown = small.find(ContextList)
    shown.jump.connect(went.append)
    small.press("Down", shown)
    small.press("Return", shown)
    assert went == [small.page.transcript.messages[1].id]


def test_a_pin_keeps_a_message_and_is_kept(small: Ui) -> None:
    first = small.page.transcript.messages[0]
    small.click("contextMeter")
    shown = small.find(ContextList)
    place = pin_place(shown.visualRect(shown.model().index(0, 0))).center()
    QTest.mouseClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=place)
    small.qtbot.waitUntil(lambda: small.app.chats.path(first.chat_id)[0].pinned)
    small.qtbot.waitUntil(lambda: marks(small) == ["pinned"])
    small.press("Esc", shown)
    small.page.context._informed_chats.add(first.chat_id)
    fill(small)
    request = small.engine.requests[-1]
    assert request.messages[0].pinned
    small.qtbot.waitUntil(lambda: "left" in marks(small))
    use = small.page.context.use
    assert use is not None
    assert first.id not in use.left
    small.page.context.pin(small.page.transcript.messages[0])
    small.qtbot.waitUntil(lambda: not small.app.chats.path(first.chat_id)[0].pinned)


def test_too_many_pins_are_said(small: Ui) -> None:
    small.page.context._informed_chats.add(chat_id(small))
    for number in range(3):
        small.ask(f"{number} " + "word " * 24)
    for message in small.page.transcript.messages[2:]:
        small.page.context.pin(message)
    write(small, 30)
    # The pins are saved and counted one by one; only with the last of them do they take too much.
    small.qtbot.waitUntil(lambda: (use := small.page.context.use) is not None and use.pinned > 100)
    small.press("Return", small.edit)
    assert "pinned" in small.find(QLabel, "contextWarningWhat").text()


def test_a_summary_is_a_fold_in_the_transcript(ui: Ui) -> None:
    ui.engine.context = 600
    ui.presenters.settings.set("overflow", "compact")
    ui.engine.pieces = ("A short", " summary")
    fill(ui, 17)
    fold = ui.find(SummaryFold)
    assert ui.engine.requests[-2].messages[-1].text.startswith("Sum up")
    assert ui.engine.requests[-1].messages[0].role == "system"
    assert not ui.has("summaryText")
    ui.click("showSummary")
    assert ui.find(QLabel, "summaryText").text() == "A short summary"
    assert "summed" in marks(ui)
    assert "Starter guide" in ui.find(QLabel, "summaryNote").text()
    ui.click("forgetSummary")
    ui.qtbot.waitUntil(lambda: not ui.has("summaryFold"))
    assert fold is not None
    assert "summed" not in marks(ui)


def test_a_summary_that_fails_is_said_and_the_oldest_leave(small: Ui) -> None:
    small.presenters.settings.set("overflow", "compact")
    fill(small)
    assert "could not be summarised" in small.find(QLabel, "notSummedUp").text()


def test_a_larger_context_is_the_chats_own(small: Ui) -> None:
    small.click("contextMeter")
    small.click("largerContext")
    held = small.presenters.chat_settings.resolve(chat_id(small))
    assert held.settings.context == 2 * SMALL


def test_another_chat_has_a_meter_of_its_own(small: Ui) -> None:
    small.page.open_chat(None)
    small.qtbot.waitUntil(lambda: "15" not in numbers(small))
    assert marks(small) == []


def test_where_there_is_little_room_the_card_scrolls(small: Ui) -> None:
    small.presenters.settings.set("zoom", 200)
    small.window.resize(1000, 640)
    small.settle()
    small.click("contextMeter")
    card, area = small.find(ContextCard), small.find(QScrollArea, "contextParts")
    assert small.page.rect().contains(card.geometry())
    small.qtbot.waitUntil(lambda: area.verticalScrollBar().maximum() > 0)
    policy = small.find(QWidget, "overflow")
    needed = sum(it.sizeHint().width() for it in policy.findChildren(QPushButton))
    assert policy.width() >= needed or policy.height() > policy.width() // 2, "in one line, or not"
