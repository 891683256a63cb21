"""Every control of the Discover part has a name and can be reached by keyboard."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog, QPushButton

from tests.support.control_names import nameless
from tests.support.scripted_hub import GATED, SMALL
from tests.support.window import Ui
from tests.support.windows import models_page


def test_every_control_has_a_name(discover: Ui) -> None:
    discover.qtbot.waitUntil(lambda: discover.has("offer-default"))
    discover.click("hubSearchButton")
    discover.qtbot.waitUntil(lambda: discover.has(f"result-{SMALL.id}"))
    page = models_page(discover.window).discover
    assert nameless(page) == []
    discover.click(f"result-{GATED.id}")
    discover.qtbot.waitUntil(lambda: discover.has("gateCard"))
    assert nameless(page) == []
    discover.click("enterToken")
    discover.qtbot.waitUntil(lambda: discover.has("tokenDialog"))
    dialog = discover.find(QDialog, "tokenDialog")
    assert nameless(dialog) == []
    dialog.close()


def test_the_keyboard_goes_along(discover: Ui) -> None:
    discover.click("hubSearchButton")
    discover.qtbot.waitUntil(lambda: discover.has(f"result-{SMALL.id}"))
    discover.click(f"result-{SMALL.id}")
    assert discover.window.focusWidget() is discover.find(QPushButton, "backToResults")
    discover.press("Space")
    assert discover.window.focusWidget() is discover.find(QPushButton, f"result-{SMALL.id}")
