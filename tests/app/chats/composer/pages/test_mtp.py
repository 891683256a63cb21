"""The MTP button with its card, the facts under an answer, and the check of MTP's answers."""

from __future__ import annotations

import shutil
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QPushButton, QToolButton

from app.base.errors import DiskFull
from app.base.shipped import STARTER, STARTER_DRAFTER
from app.chats.composer.pages.composer import Composer
from app.chats.composer.pages.mtp_chip import MtpChip, MtpPopover
from app.chats.history.values.conversation import StoredMessage
from app.chats.history.values.places import ALL
from engines.errors import MtpUnavailable
from engines.types import MtpCheck, MtpReport
from tests.support.scripted import MTP_LINE, NO_DRAFTS
from tests.support.window import Ui, part

RUNS = MtpReport(
    "auto",
    active=True,
    reason="MTP on: 2 tokens ahead, 71 % accepted",
    kind="drafter",
    depth=2,
    drafted=120,
    accepted=85,
    gain=1.41,
    bound=1.52,
)


def chip(ui: Ui) -> MtpChip:
    return ui.find(MtpChip)


def line(ui: Ui) -> str:
    """Return the sentence on the card."""
    return ui.page.mtp.sentence


def wait_for_line(ui: Ui, text: str) -> None:
    ui.qtbot.waitUntil(lambda: line(ui) == text)


def open_card(ui: Ui) -> MtpPopover:
    if not ui.has("mtpCard"):
        ui.open_mtp()
    return ui.find(MtpPopover)


def segment(ui: Ui, mode: str) -> QPushButton:
    return ui.find(QPushButton, f"mtp-{mode}")


def click(ui: Ui, mode: str) -> None:
    """Choose a mode on the card and close it."""
    card = open_card(ui)
    QTest.mouseClick(segment(ui, mode), Qt.MouseButton.LeftButton)
    card.close()


def chosen(ui: Ui) -> str:
    return ui.page.mtp.mode


def asked_with(ui: Ui) -> list[str]:
    return [request.mtp for request in ui.engine.requests]


def test_a_new_chat_stands_as_the_settings_say(ui: Ui) -> None:
    assert chosen(ui) == "auto"
    ui.presenters.settings.set("mtp", "off")
    assert chosen(ui) == "off"
    ui.ask("Hi")
    assert asked_with(ui) == ["off"]
    ui.presenters.settings.set("mtp", "on")
    assert chosen(ui) == "off", "the switch of a chat is moved by nobody but its user"
    ui.press("Ctrl+N")
    assert chosen(ui) == "on"


def test_an_off_is_kept_with_its_chat(ui: Ui) -> None:
    ui.ask("One")
    first = ui.page.chat_id
    assert first is not None
    click(ui, "off")
    assert line(ui) == "Off for this chat."
    assert not ui.has("mtpChip")
    ui.click("moreForMessage")
    menu = ui.find(QMenu, "messageOptions")
    assert part(menu, QAction, "openMtp").text() == "Faster answers (off)…"
    menu.close()
    ui.qtbot.waitUntil(lambda: ui.app.chats.mtp(first) == "off")
    ui.press("Ctrl+N")
    assert chosen(ui) == "auto"
    ui.ask("Two")
    ui.window.open_chat(first)
    assert chosen(ui) == "off"
    ui.ask("Three")
    ui.press("Ctrl+R")
    ui.qtbot.waitUntil(lambda: len(ui.engine.requests) == 4)
    ui.wait_for_answer()
    assert asked_with(ui) == ["auto", "auto", "off", "off"]


def test_a_choice_before_the_first_question_belongs_to_the_chat_that_it_begins(ui: Ui) -> None:
    click(ui, "on")
    ui.ask("One")
    assert ui.page.chat_id is not None
    assert ui.app.chats.mtp(ui.page.chat_id) == "on"
    assert chosen(ui) == "on"
    ui.press("Ctrl+N")
    assert chosen(ui) == "auto"


def test_the_switch_is_reached_and_moved_with_the_keyboard(ui: Ui) -> None:
    button = ui.find(QToolButton, "moreForMessage")
    button.setFocus(Qt.FocusReason.TabFocusReason)
    ui.press("Space", button)
    menu = ui.find(QMenu, "messageOptions")
    ui.press("Down", menu)
    entry = menu.activeAction()
    assert entry is not None
    assert entry.text() == "Faster answers…"
    menu.close()
    ui.settle()
    ui.open_mtp()
    assert QApplication.focusWidget() is segment(ui, "auto")
    QTest.keyClick(segment(ui, "auto"), Qt.Key.Key_Right)
    assert chosen(ui) == "on"
    assert QApplication.focusWidget() is segment(ui, "on")
    QTest.keyClick(segment(ui, "on"), Qt.Key.Key_Left)
    QTest.keyClick(segment(ui, "auto"), Qt.Key.Key_Left)
    assert chosen(ui) == "off"
    QTest.keyClick(segment(ui, "off"), Qt.Key.Key_Escape)
    ui.settle()
    assert not ui.has("mtpCard")
    ui.ask("Hi")
    assert asked_with(ui) == ["off"]


def test_the_open_card_goes_with_the_choice_of_another_chat(ui: Ui) -> None:
    ui.ask("One")
    card = open_card(ui)
    ui.press("Right")
    assert segment(ui, "on").isChecked()
    ui.page.open_chat(None)
    assert segment(ui, "auto").isChecked()
    card.close()


def test_every_choice_has_its_spoken_name(ui: Ui) -> None:
    open_card(ui)
    names = [segment(ui, mode).accessibleName() for mode in ("off", "auto", "on")]
    assert names == [
        "Faster answers off",
        "Faster answers automatic",
        "Faster answers on",
    ]


def test_a_change_while_an_answer_is_written_is_for_the_next(ui: Ui, hold: threading.Event) -> None:
    hold.clear()
    ui.ask("Hi", wait=False)
    ui.wait_for_text("Hello")
    click(ui, "on")
    assert line(ui) == "On from the next message on."
    hold.set()
    ui.wait_for_answer()
    ui.ask("And now")
    assert asked_with(ui) == ["auto", "on"]


def test_the_card_says_what_the_files_then_the_model_then_the_answer_say(
    ui: Ui, hold: threading.Event
) -> None:
    wait_for_line(ui, "This model can answer faster: its drafter guesses ahead.")
    hold.clear()
    ui.ask("Hi", wait=False)
    wait_for_line(ui, MTP_LINE)
    ui.engine.reports = [RUNS]
    hold.set()
    ui.wait_for_answer()
    wait_for_line(ui, NO_DRAFTS)
    ui.ask("More")
    wait_for_line(ui, RUNS.reason)
    assert chip(ui).accessibleDescription() == RUNS.reason
    assert "Answers faster by guessing words ahead." in chip(ui).toolTip()
    assert chip(ui).toolTip().endswith(f"\n{RUNS.reason}")
    card = open_card(ui)
    assert ui.find(QLabel, "mtpLine").text() == RUNS.reason
    card.close()
    ui.settle()
    ui.press("Ctrl+N")
    wait_for_line(ui, MTP_LINE)


def test_on_that_cannot_run_says_why(ui: Ui) -> None:
    click(ui, "on")
    ui.ask("Hi")
    wait_for_line(ui, NO_DRAFTS)


def test_another_model_has_another_line(ui: Ui) -> None:
    ui.ask("Hi")
    wait_for_line(ui, NO_DRAFTS)
    ui.window.chooser.use("nobody.gguf")
    ui.qtbot.waitUntil(lambda: "nobody" in line(ui))


def test_the_chip_comes_with_a_gain_of_the_last_answer(ui: Ui, hold: threading.Event) -> None:
    assert not ui.has("mtpChip")
    ui.engine.reports = [RUNS]
    ui.ask("Hi")
    assert chip(ui).text() == "1.4× faster"
    assert chip(ui).accessibleName() == "Faster answers: 1.4× faster"
    ui.click("mtpChip")
    ui.find(MtpPopover).close()
    first = ui.page.chat_id
    ui.press("Ctrl+N")
    assert not ui.has("mtpChip")
    ui.window.open_chat(first)
    assert chip(ui).text() == "1.4× faster"
    hold.clear()
    ui.ask("More", wait=False)
    for gain in (1.1, 2.6, 1.0):
        ui.presenters.generation.mtp.emit(first, replace(RUNS, gain=gain))
        assert chip(ui).text() == "1.4× faster", "it stays as it is while an answer is written"


def test_what_brings_nothing_is_not_called_faster(ui: Ui) -> None:
    ui.engine.reports = [replace(RUNS, gain=1.01)]
    ui.ask("Hi")
    wait_for_line(ui, RUNS.reason)
    assert not ui.has("mtpChip")


def test_reports_move_nothing_at_the_composer(ui: Ui) -> None:
    ui.ask("Hi")
    wait_for_line(ui, NO_DRAFTS)
    height = ui.find(Composer).height()
    for number in range(200):
        long = MtpReport("auto", active=True, reason=f"{number} " + "and more words " * 20)
        ui.presenters.generation.mtp.emit(ui.page.chat_id, long)
    ui.settle()
    assert ui.find(Composer).height() == height


def test_the_facts_of_an_answer_say_what_mtp_brought(ui: Ui) -> None:
    ui.engine.reports = [RUNS]
    ui.ask("Hi")
    facts = ui.find(QLabel, "answerFacts")
    assert "MTP 2 ahead, 71 % accepted, 1.4× of 1.5×" in facts.toolTip()
    assert RUNS.reason in facts.toolTip()
    assert "MTP" not in facts.text(), "the model and its speed are enough"
    ui.engine.reports = []
    ui.ask("More")
    assert "MTP" not in ui.find(QLabel, "answerFacts").toolTip()


def result(ui: Ui) -> str:
    ui.qtbot.waitUntil(lambda: ui.has("checkResult"))
    return ui.find(QLabel, "checkResult").text()


def go_to_check(ui: Ui, folder: Path) -> None:
    """Add a model, as the guide alone is not checked, and go to the page with the check."""
    model = folder / "mine.gguf"
    shutil.copy(STARTER, model)
    ui.presenters.settings.set("adding", "link")
    ui.window.chooser.take([model])
    ui.qtbot.waitUntil(lambda: ui.presenters.settings.current.model == "mine")
    ui.press("Ctrl+M")
    ui.qtbot.waitUntil(lambda: ui.has("checkMtp"))


def test_a_check_says_that_the_answer_is_the_same(
    ui: Ui, hold: threading.Event, tmp_path: Path
) -> None:
    hold.clear()
    go_to_check(ui, tmp_path)
    ui.click("checkMtp")
    ui.qtbot.waitUntil(lambda: ui.find(QLabel, "checkStep").text() == "1 of 8")
    assert ui.find(QPushButton, "checkMtp").accessibleName() == "Stop"
    hold.set()
    assert result(ui) == "Same answer: 512 tokens of 8 prompts are identical with and without MTP."
    assert not ui.has("checkProgress")
    assert ui.find(QPushButton, "checkMtp").accessibleName() == "Compare answers"


def test_a_difference_is_shown_with_its_place_and_its_gap(ui: Ui, tmp_path: Path) -> None:
    ui.engine.checks = (MtpCheck(True, 64, 1, 9), MtpCheck(False, 36, 2, 9, gap=0.25))
    go_to_check(ui, tmp_path)
    ui.click("checkMtp")
    words = result(ui)
    assert words.startswith("Not the same answer")
    assert "Prompt 2, at token 37, 2 ahead: the two words are 0.25 of the spread apart" in words


def test_a_check_can_be_stopped_and_an_answer_goes_first(
    ui: Ui, hold: threading.Event, tmp_path: Path
) -> None:
    hold.clear()
    go_to_check(ui, tmp_path)
    ui.click("checkMtp")
    ui.qtbot.waitUntil(lambda: bool(ui.engine.checked))
    ui.click("checkMtp")
    assert result(ui) == "The check was stopped."
    ui.click("checkMtp")
    ui.qtbot.waitUntil(lambda: len(ui.engine.checked) == 2)
    ui.click("backToChat")
    ui.ask("Hi", wait=False)
    ui.wait_for_text("Hello")
    hold.set()
    ui.wait_for_answer()
    assert len(ui.engine.checked) == 2


def test_a_check_that_cannot_be_done_says_why(ui: Ui, tmp_path: Path) -> None:
    ui.engine.checks = (MtpUnavailable("No check.", "Nothing drafts.", "Add a drafter."),)
    go_to_check(ui, tmp_path)
    ui.click("checkMtp")
    assert result(ui) == "No check. Nothing drafts. Add a drafter."


def test_two_chats_begun_at_once_are_not_confused(ui: Ui, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = threading.Event()
    ask = ui.app.chats.ask

    def slowly(*of: Any, **more: Any) -> tuple[StoredMessage, StoredMessage]:
        saved.wait(60)
        return ask(*of, **more)

    monkeypatch.setattr(ui.app.chats, "ask", slowly)
    ui.ask("One", wait=False)
    ui.press("Ctrl+N")
    ui.ask("Two", wait=False)
    saved.set()
    ui.qtbot.waitUntil(lambda: ui.presenters.chats.count(ALL) == 2)
    ui.wait_for_text("Hello there")
    ui.wait_for_answer()
    assert ui.texts == ["Two", "Hello there"]


def test_a_switch_that_cannot_be_saved_says_so(ui: Ui, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise DiskFull("The disk is full.", "There is no room.", "Free some space.")

    ui.ask("Hi")
    monkeypatch.setattr(ui.app.chats, "set_mtp", full)
    click(ui, "off")
    ui.qtbot.waitUntil(lambda: ui.has("toastLine1"))
    ui.click("toastClose")
    ui.ask("More")
    assert asked_with(ui) == ["auto", "off"]


def test_a_drafter_that_is_added_is_named_with_what_it_is_for(ui: Ui, tmp_path: Path) -> None:
    model, drafter = tmp_path / "mine.gguf", tmp_path / "helper.gguf"
    shutil.copy(STARTER, model)
    shutil.copy(STARTER_DRAFTER, drafter)
    ui.presenters.settings.set("adding", "link")
    ui.window.chooser.take([model])
    ui.qtbot.waitUntil(lambda: ui.presenters.settings.current.model == "mine")
    ui.window.chooser.take([drafter])
    said = "helper was added: it helps "
    ui.qtbot.waitUntil(
        lambda: any(said in label.text() for label in ui.window.findChildren(QLabel))
    )
    assert ui.presenters.settings.current.model == "mine", "a drafter is nothing to chat with"
    wait_for_line(ui, "This model can answer faster: its drafter guesses ahead.")


def test_the_check_of_a_model_that_is_no_longer_in_use_goes(
    ui: Ui, hold: threading.Event, tmp_path: Path
) -> None:
    go_to_check(ui, tmp_path)
    ui.click("checkMtp")
    assert result(ui).startswith("Same answer")
    hold.clear()
    ui.click("checkMtp")
    ui.qtbot.waitUntil(lambda: ui.find(QLabel, "checkStep").text() == "1 of 8")
    ui.window.chooser.use("nobody.gguf")
    assert result(ui) == "The check was stopped."
    assert "nobody" in ui.find(QLabel, "mtpOfModel").text()
    hold.set()


def test_where_it_is_narrow_the_guide_keeps_its_words_together(ui: Ui) -> None:
    text = ui.find(QLabel, "guideBannerText")
    ui.window.resize(540, 600)
    ui.qtbot.waitUntil(lambda: 0 < text.height() < 4 * text.fontMetrics().lineSpacing())
    assert ui.find(QPushButton, "getModel").y() > text.y()
    ui.window.resize(1120, 760)
    ui.qtbot.waitUntil(lambda: ui.find(QPushButton, "getModel").x() > text.x() + text.width() - 1)
