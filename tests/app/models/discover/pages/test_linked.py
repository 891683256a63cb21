"""Links from other programs: showing the linked model, after asking the user."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QWidget

from app.window.values.launch_request import LaunchRequest
from tests.app.models.discover.pages.conftest import GEMMA
from tests.support.scripted_hub import ScriptedFitting, ScriptedHub
from tests.support.window import Ui


def test_the_hub_is_asked_after_the_user_was(
    ui: Ui, hub: ScriptedHub, fitting: ScriptedFitting
) -> None:
    ui.window.desktop.carry_out(LaunchRequest(link=f"hearth://model/{GEMMA}"))
    assert f"Look at {GEMMA} on the Hub?" in ui.find(QLabel, "line1").text()
    assert not ui.has("discover")
    ui.click("cancel")
    assert not ui.has("discover")
    ui.window.desktop.carry_out(LaunchRequest(link=f"hearth://model/{GEMMA}"))
    ui.click("look")
    ui.qtbot.waitUntil(lambda: ui.has("getVariant"))
    assert not ui.app.downloads.downloads(), "it is for the user to get it"


def test_a_link_that_names_nothing_is_explained(ui: Ui) -> None:
    ui.window.desktop.carry_out(LaunchRequest(link="hearth://run/rm"))
    assert "“hearth://run/rm” was not opened." in ui.find(QWidget, "toast").accessibleName()


def test_a_plain_link_shows_the_window(ui: Ui) -> None:
    ui.window.desktop.carry_out(LaunchRequest(link="hearth:"))
    assert not ui.has("toast")
