"""Suggested first questions that suit the model."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QLabel

from app.chats.welcome.pages.welcome import GUIDE_QUESTIONS
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.row_button import RowButton
from tests.engines.gguf_files import write_llama
from tests.support.made_thinker import write_thinker
from tests.support.window import Ui


def questions(ui: Ui) -> list[str]:
    found = [
        label
        for button in ui.page.welcome.findChildren(RowButton)
        if button.isVisible()
        for label in button.findChildren(QLabel)
    ]
    return [label.text() for label in found]


def use(ui: Ui, path: Path) -> None:
    ui.presenters.settings.set("model", ui.app.library.add(path).id)


def test_the_guide_is_asked_about_hearth(ui: Ui) -> None:
    assert questions(ui) == list(GUIDE_QUESTIONS)
    ui.click("suggestion1")
    ui.wait_for_answer()
    assert ui.texts[0] == "What can you do?"


def test_the_guide_is_asked_in_english_by_a_german_window(german: None, ui: Ui) -> None:
    assert questions(ui)[0] == "Was kannst du?"
    ui.click("suggestion1")
    button = ui.find(IconButton, "send")
    ui.qtbot.waitUntil(lambda: button.accessibleName() == "Senden" and bool(ui.texts))
    assert ui.texts[0] == "What can you do?"


def test_another_model_is_asked_what_suits_it(ui: Ui, tmp_path: Path) -> None:
    use(ui, write_llama(tmp_path / "plain.gguf"))
    ui.qtbot.waitUntil(lambda: "invoice" in " ".join(questions(ui)))
    use(ui, write_llama(tmp_path / "some-coder.gguf"))
    ui.qtbot.waitUntil(lambda: "Python" in " ".join(questions(ui)))
    use(ui, write_thinker(tmp_path / "deep.gguf"))
    ui.qtbot.waitUntil(lambda: "Three switches" in " ".join(questions(ui)))
    assert len(questions(ui)) == 3
