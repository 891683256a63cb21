"""Pages that are built on the first visit, with the state they missed before."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLabel, QWidget

from tests.support.window import Ui
from tests.support.windows import models_page


@pytest.mark.parametrize(
    ("page", "action"),
    [
        ("modelsPage", "show_models"),
        ("connectionsPage", "show_connections"),
        ("assistantsPage", "show_assistants"),
        ("chatSettings", "chat_settings"),
    ],
)
def test_it_is_made_when_it_is_gone_to(ui: Ui, page: str, action: str) -> None:
    assert ui.window.findChild(QWidget, page) is None
    for one in ui.window.actions():
        if one.objectName() == action:
            one.trigger()
    assert ui.has(page)


def test_the_page_of_models_knows_the_model_in_use(ui: Ui) -> None:
    ui.qtbot.waitUntil(lambda: ui.presenters.models.last_mtp is not None)
    assert ui.presenters.models.last_mtp is not None
    _, sentence = ui.presenters.models.last_mtp
    ui.window.go_to("models")
    assert sentence in {
        label.text() for label in models_page(ui.window).local_models.findChildren(QLabel)
    }


def test_it_is_made_once(ui: Ui) -> None:
    ui.window.go_to("models")
    ui.window.go_to_chat()
    ui.window.go_to("models")
    assert len(ui.window.findChildren(QWidget, "modelsPage")) == 1
