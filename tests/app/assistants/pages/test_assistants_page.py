"""The assistants page: making, changing, copying and removing assistants, and chatting with one."""

from __future__ import annotations

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit, QPlainTextEdit

from app.assistants.pages.assistant_list import AssistantCard
from app.assistants.values.assistants import Assistant
from app.kit.widgets.chip import Chip
from tests.support.window import Ui, part

POET = Assistant("p", "Poet", "Rhyme.", "On what?", settings={"temperature": 1.25})


def press(ui: Ui, assistant_id: str, action: str) -> None:
    card = ui.find(AssistantCard, f"assistant-{assistant_id}")
    part(card, QAbstractButton, f"{action}Assistant").click()


def names(ui: Ui) -> list[str]:
    return [it.name for it in ui.presenters.assistants.all()]


def test_the_page_opens_with_a_key_and_says_what_to_do(ui: Ui) -> None:
    ui.press("Ctrl+Shift+A")
    assert ui.has("assistantsPage")
    assert ui.has("noAssistants")
    assert ui.has("assistant-coding")
    ui.click("assistantsBack")
    assert not ui.has("assistantsPage")


def test_one_is_made_and_changed_in_the_form(ui: Ui) -> None:
    ui.click("showAssistants")
    ui.click("newAssistant")
    save = ui.find(QAbstractButton, "saveAssistant")
    assert not save.isEnabled()
    QTest.keyClicks(ui.find(QLineEdit, "assistantName"), "  My   poet ")
    QTest.keyClicks(ui.find(QPlainTextEdit, "assistantPrompt"), "Rhyme.")
    ui.click("moreSampling")
    ui.find(QComboBox, "presets").setCurrentIndex(0)
    ui.find(QComboBox, "presets").activated.emit(0)
    ui.click("saveAssistant")
    ui.qtbot.waitUntil(lambda: names(ui) == ["My poet"])
    made = ui.presenters.assistants.all()[0]
    assert (made.system_prompt, made.settings["temperature"]) == ("Rhyme.", 0.0)
    press(ui, made.id, "edit")
    ui.qtbot.waitUntil(lambda: ui.has("assistantName"))
    ui.find(QLineEdit, "assistantName").setText("Poet")
    ui.click("saveAssistant")
    ui.qtbot.waitUntil(lambda: names(ui) == ["Poet"])
    assert ui.presenters.assistants.all()[0].settings == made.settings


def test_the_form_is_left_without_a_change(ui: Ui) -> None:
    ui.presenters.assistants.save(POET)
    ui.click("showAssistants")
    press(ui, "p", "edit")
    ui.qtbot.waitUntil(lambda: ui.has("assistantName"))
    ui.find(QLineEdit, "assistantName").setText("Other")
    ui.click("leaveAssistant")
    ui.qtbot.waitUntil(lambda: ui.has("assistant-p"))
    assert ui.presenters.assistants.all() == [POET]


def test_a_suggestion_asks_for_what_it_needs(ui: Ui) -> None:
    ui.click("showAssistants")
    press(ui, "translation", "add")
    ui.qtbot.waitUntil(lambda: ui.has("variablesDialog"))
    use = ui.find(QAbstractButton, "useVariables")
    assert not use.isEnabled()
    QTest.keyClicks(ui.find(QLineEdit, "variable1"), "German")
    ui.press("Return", ui.find(QLineEdit, "variable1"))
    ui.qtbot.waitUntil(lambda: names(ui) == ["Translate into German"])
    assert "{{" not in ui.presenters.assistants.all()[0].system_prompt


def test_a_removal_can_be_undone(ui: Ui) -> None:
    ui.presenters.assistants.save(POET)
    ui.click("showAssistants")
    press(ui, "p", "remove")
    ui.qtbot.waitUntil(lambda: names(ui) == [])
    ui.window.notifier.undo()
    assert ui.presenters.assistants.all() == [POET]


def test_a_chat_begins_with_the_greeting_and_the_assistants_settings(ui: Ui) -> None:
    ui.presenters.assistants.save(POET)
    ui.click("showAssistants")
    press(ui, "p", "chat")
    ui.qtbot.waitUntil(lambda: ui.has("greeting"))
    ui.ask("A tree")
    assert ui.texts == ["On what?", "A tree", "Hello there"]
    (request,) = ui.engine.requests
    assert request.sampling.temperature == 1.25
    assert [it.text for it in request.messages] == ["Rhyme.", "On what?", "A tree"]
    ui.ask("A house")
    assert ui.engine.requests[-1].sampling.temperature == 1.25


def test_an_assistant_is_chosen_on_the_start_page(ui: Ui) -> None:
    ui.presenters.assistants.save(POET)
    ui.click("pick-p")
    ui.qtbot.waitUntil(lambda: ui.has("greeting"))
    assert ui.find(Chip, "pick-p").isChecked()
    ui.click("pick-p")
    ui.qtbot.waitUntil(lambda: not ui.has("greeting"))
    ui.ask("Hi")
    assert ui.texts == ["Hi", "Hello there"]


def test_the_next_new_chat_has_no_assistant(ui: Ui) -> None:
    ui.presenters.assistants.save(POET)
    ui.click("pick-p")
    ui.qtbot.waitUntil(lambda: ui.has("greeting"))
    ui.ask("One")
    ui.press("Ctrl+N")
    assert not ui.has("greeting")
    ui.ask("Two")
    assert ui.texts == ["Two", "Hello there"]
