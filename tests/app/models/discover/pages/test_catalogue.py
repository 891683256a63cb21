"""The catalogue on the Discover page: its cards, its filters, and what is new."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from app.base.folder import DataFolder
from app.models.discover.pages.catalogue_card import CatalogueCard
from app.models.discover.values.catalogue import load_catalogue
from app.models.library.values.entry import ModelEntry
from tests.app.models.discover.pages.conftest import GEMMA
from tests.support.scripted_hub import RESOURCES
from tests.support.window import Ui, part
from tests.support.windows import models_page

NEW = "lfm-2.5-8b-a1b"
LISTED = "gemma-4-e2b"
"""A model that is recommended, too: its repository is the one of the scripted Hub."""


def cards(ui: Ui) -> list[CatalogueCard]:
    """Return the cards in the order in which they stand."""
    found = [card for card in ui.window.findChildren(CatalogueCard) if card.isVisible()]
    return sorted(found, key=lambda card: (card.y(), card.x()))


def ids(ui: Ui) -> list[str]:
    return [card.objectName().removeprefix("listed-") for card in cards(ui)]


def verdicts(ui: Ui) -> set[str]:
    return {part(card, QLabel, "fitWord").text() for card in cards(ui)}


def press(ui: Ui, name: str) -> None:
    """Press a button with the keyboard."""
    button = ui.find(QPushButton, name)
    button.setFocus(Qt.FocusReason.TabFocusReason)
    ui.press("Space", button)
    ui.settle()


def test_models_are_browsed_by_purpose_with_the_keyboard(discover: Ui) -> None:
    discover.qtbot.waitUntil(lambda: len(cards(discover)) == 6)
    first = cards(discover)[0]
    assert part(first, QLabel, "listedAbout").text().endswith(".")
    assert "tokens a second" in part(first, QLabel, "listedFacts").text()
    assert "Fits in this computer’s memory." in first.accessibleName()
    assert not discover.has("listedNew"), "at the first look, nothing is new"

    press(discover, "listedAll")
    every = ids(discover)
    assert discover.find(QLabel, "listedCount").text() == f"{len(every)} of 32 models"
    assert verdicts(discover) <= {"Fits", "Tight", "Partly"}
    focused = discover.window.focusWidget()
    assert focused is not None
    assert focused.objectName() == f"listedDetails-{every[6]}"
    assert (following := focused.nextInFocusChain()) is not None
    assert following.objectName() == f"listedGet-{every[6]}", "Tab goes on in the order of the eye"

    press(discover, "listedFits")
    assert len(cards(discover)) == 32
    discover.press("Tab", discover.find(QPushButton, "listedFits"))
    assert discover.find(QPushButton, f"listedDetails-{ids(discover)[0]}").hasFocus()
    too_big = discover.find(CatalogueCard, "listed-gpt-oss-120b")
    assert part(too_big, QLabel, "fitWord").text() == "Too big"
    assert not part(too_big, QPushButton, "listedGet-gpt-oss-120b").isVisible()
    assert "tokens a second" not in part(too_big, QLabel, "listedFacts").text()

    press(discover, "purpose-code")
    code = ids(discover)
    assert "devstral-small-2-24b" in code
    assert "gemma-4-e2b" not in code
    press(discover, "purpose-small")
    assert ids(discover) == ["qwen-3.5-4b"]
    press(discover, "purpose-everyday")
    assert ids(discover) == []
    assert discover.find(QLabel, "listedCount").text() == "No model matches. Turn a filter off."


def test_a_listed_model_is_downloaded_with_its_drafter_and_opens(discover: Ui) -> None:
    discover.click("listedAll")
    press(discover, "purpose-small")
    discover.click(f"listedGet-{LISTED}")
    discover.qtbot.waitUntil(lambda: len(discover.app.downloads.downloads()) == 2)
    card = discover.find(CatalogueCard, f"listed-{LISTED}")
    discover.qtbot.waitUntil(lambda: part(card, QLabel, "downloadWords").text() == "Waiting")
    suggested = discover.find(QWidget, "offer-default")
    assert part(suggested, QLabel, "downloadWords").text() == "Waiting"
    assert not part(card, QPushButton, f"listedGet-{LISTED}").isEnabled()
    discover.click(f"listedDetails-{LISTED}")
    assert discover.find(QLabel, "repositoryName").text() == "gemma-4-E2B-it-qat-q4_0-gguf"


def test_a_model_on_this_computer_says_so_and_can_be_used(discover: Ui) -> None:
    discover.click("listedAll")
    press(discover, "purpose-small")
    here = ModelEntry("gemma", "Gemma", Path("gemma.gguf"), repo=GEMMA)
    used: list[str] = []
    models_page(discover.window).discover.use.connect(used.append)
    assert not discover.has("offerHere")
    discover.window.chooser.announced.emit([here], "gemma")
    card = discover.find(CatalogueCard, f"listed-{LISTED}")
    suggested = discover.find(QWidget, "offer-default")
    assert part(card, QLabel, "offerHere").isVisible()
    assert part(suggested, QLabel, "offerHere").text() == "On this computer"
    assert not part(suggested, QWidget, "pictures-default").isVisible()
    button = part(card, QPushButton, f"listedGet-{LISTED}")
    assert (button.text(), button.accessibleName()) == ("Use", "Use Gemma 4 E2B")
    button.click()
    assert used == ["gemma"]
    assert not discover.has("discover"), "the chat with it is shown"
    assert discover.app.downloads.downloads() == []


def test_beside_the_guide_alone_a_model_can_be_found_in_place_of_the_card_about_mtp(ui: Ui) -> None:
    ui.press("Ctrl+M")
    assert not ui.has("mtpCard")
    ui.click("findFirst")
    assert ui.has("discover")
    ui.click("modelsPart-here")
    entry = ModelEntry("gemma", "Gemma", Path("gemma.gguf"), repo=GEMMA)
    ui.window.chooser.announced.emit([entry], "gemma")
    assert ui.has("mtpCard")
    assert not ui.has("findFirst")


@pytest.fixture
def seen() -> Path:
    """Write, before the window opens, that the user has seen all models but one."""
    catalogue = load_catalogue((RESOURCES / "catalogue.json").read_text(encoding="utf-8"))
    file = DataFolder.default().root / "catalogue-seen.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"seen": sorted(catalogue.sizes.keys() - {NEW})}), "utf-8")
    return file


def test_models_that_came_since_the_last_look_stand_first(seen: Path, ui: Ui) -> None:
    ui.press("Ctrl+M")
    ui.click("modelsPart-discover")
    ui.qtbot.waitUntil(lambda: ids(ui)[:1] == [NEW])
    ui.qtbot.waitUntil(lambda: NEW in json.loads(seen.read_text("utf-8"))["seen"])
    ui.click("modelsPart-here")
    ui.click("modelsPart-discover")
    assert part(cards(ui)[0], QLabel, "newBadge").isVisible(), "it stays new until Hearth ends"
    press(ui, "listedNew")
    assert ids(ui) == [NEW]
