"""Recommended models on their cards."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QLabel, QPushButton, QWidget

from app.base.errors import CatalogueInvalid, NoConnection
from app.models.discover.pages.offer_card import OfferCard
from app.models.discover.presenters import suggestions
from app.models.discover.services.recommending import Recommending
from tests.app.models.discover.pages.conftest import DRAFTERS, GEMMA
from tests.support.scripted_hub import ScriptedHub
from tests.support.window import Ui, part


def card(ui: Ui, kind: str) -> OfferCard:
    return ui.find(OfferCard, f"offer-{kind}")


def test_the_default_comes_first_and_says_all_that_counts(discover: Ui) -> None:
    shown = card(discover, "default")
    assert part(shown, QLabel, "offerKind").text() == "Recommended for this computer"
    assert part(shown, QLabel, "offerName").text() == "Gemma 4 E2B"
    assert part(shown, QLabel, "offerWhy").text().endswith(".")
    facts = part(shown, QLabel, "offerFacts").text()
    assert "about 3.4 GB" in facts
    assert "tokens a second" in facts
    assert "apache-2.0" in facts
    assert part(shown, QLabel, "fitWord").text() == "Fits"
    for kind in ("faster", "smarter"):
        assert card(discover, kind).y() > shown.y()


def test_nothing_is_asked_and_nothing_starts_without_a_click(ui: Ui, hub: ScriptedHub) -> None:
    ui.press("Ctrl+M")
    ui.click("modelsPart-discover")
    card(ui, "default")
    assert hub.asked == []
    assert hub.queries == []
    assert ui.app.downloads.downloads() == []


def test_get_puts_it_into_the_queue_with_what_belongs_to_it(discover: Ui, hub: ScriptedHub) -> None:
    discover.click("get-default")
    discover.qtbot.waitUntil(lambda: len(discover.app.downloads.downloads()) == 2)
    wanted, drafter = (it.wanted for it in discover.app.downloads.downloads())
    assert wanted.repo == GEMMA
    assert drafter.repo == DRAFTERS
    assert [file.path for file in drafter.files] == ["mtp-gemma-4-E2B-it.gguf"]
    assert [file.path for file in wanted.files] == ["gemma-4-E2B_q4_0-it.gguf"]


def tick_pictures(ui: Ui) -> QCheckBox:
    """Tick the box for pictures with the space bar and return it."""
    box = ui.find(QCheckBox, "pictures-default")
    box.setFocus(Qt.FocusReason.TabFocusReason)
    ui.press("Space", box)
    assert box.isChecked()
    return box


def test_the_model_comes_with_its_projector_where_pictures_are_ticked(discover: Ui) -> None:
    ui = discover
    box = tick_pictures(ui)
    assert box.text() == "Pictures too (990 MB more)"
    shown = card(ui, "default")

    def told() -> list[str]:
        bars = shown.findChildren(QWidget, "memoryBar-memory")
        return [it.accessibleDescription() for it in bars if it.isVisible()]

    ui.qtbot.waitUntil(lambda: any("Projector 990 MB" in it for it in told()))
    ui.click("get-default")
    ui.qtbot.waitUntil(lambda: len(ui.app.downloads.downloads()) == 2)
    wanted, _drafter = (it.wanted for it in ui.app.downloads.downloads())
    assert [file.path for file in wanted.files] == [
        "gemma-4-E2B_q4_0-it.gguf",
        "gemma-4-E2B-it-mmproj.gguf",
    ]
    ui.qtbot.waitUntil(lambda: not box.isEnabled())


def test_pictures_stay_ticked_when_the_offers_are_made_anew(discover: Ui) -> None:
    ui = discover
    tick_pictures(ui)
    told = ui.presenters.suggestions.last_offers
    assert told is not None
    ui.presenters.suggestions.offered.emit(told)
    assert card(ui, "default").pictures


def test_a_card_shows_how_its_download_stands(discover: Ui) -> None:
    discover.click("get-default")
    shown = card(discover, "default")
    words = part(shown, QLabel, "downloadWords")
    discover.qtbot.waitUntil(lambda: words.text() == "Waiting")
    assert not part(shown, QPushButton, "get-default").isEnabled()
    for download in discover.app.downloads.downloads():
        discover.app.downloads.cancel(download.id)
    discover.qtbot.waitUntil(part(shown, QPushButton, "get-default").isEnabled)
    assert not part(shown, QWidget, "downloadLine").isVisible()


def test_what_is_on_its_way_is_told_over_the_chat(discover: Ui) -> None:
    discover.click("get-default")
    discover.qtbot.waitUntil(lambda: len(discover.app.downloads.downloads()) == 2)
    discover.click("backToChat")
    discover.qtbot.waitUntil(lambda: discover.has("downloadBadge"))
    assert not discover.has("downloadStrip"), "once is enough"
    discover.window.set_sidebar(False)
    assert discover.has("downloadStrip")
    discover.window.set_sidebar(True)
    assert not discover.has("downloadStrip")
    discover.window.set_sidebar(False)
    assert "gemma-4-E2B-it-qat-q4_0-gguf" in discover.find(QLabel, "stripLine").text()
    discover.click("stripButton")
    assert discover.find(QPushButton, "modelsPart-downloads").isChecked()


def test_what_cannot_be_got_says_why_and_can_be_tried_again(discover: Ui, hub: ScriptedHub) -> None:
    hub.error = NoConnection("The Hub cannot be reached.", "There is no network.", "Connect.")
    discover.click("get-default")
    discover.qtbot.waitUntil(lambda: discover.has("toastLine3"))
    assert discover.find(QPushButton, "get-default").isEnabled()
    discover.click("toastClose")
    hub.error = None
    discover.click("get-default")
    discover.qtbot.waitUntil(lambda: len(discover.app.downloads.downloads()) == 2)


def test_a_size_that_is_gone_is_explained(discover: Ui, hub: ScriptedHub) -> None:
    hub.repositories[GEMMA] = hub.repositories["ada/Small-7B-GGUF"]
    discover.click("get-default")
    discover.qtbot.waitUntil(lambda: discover.has("toastLine3"))
    assert discover.find(QLabel, "toastLine1").text() == f"{GEMMA} has no Q4_0."
    discover.click("toastClose")


def test_details_open_the_repository_at_that_size(discover: Ui, hub: ScriptedHub) -> None:
    discover.click("more-default")
    assert discover.find(QLabel, "repositoryName").text() == "gemma-4-E2B-it-qat-q4_0-gguf"
    discover.qtbot.waitUntil(lambda: discover.has("choicePanel"))


def test_a_catalogue_that_cannot_be_read_is_explained(
    discover: Ui, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Recommending) -> None:
        raise CatalogueInvalid("Your catalogue cannot be used.", "Line 3.", "Mend it.")

    card(discover, "default")
    with monkeypatch.context() as patch:
        patch.setattr(Recommending, "recommend", broken)
        discover.presenters.suggestions.recommend()
        assert discover.find(QLabel, "problemWhy").text() == "Line 3."
    discover.click("offersAgain")
    card(discover, "default")


def test_opening_discover_asks_again_when_the_offers_are_old(
    ui: Ui, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[None] = []
    real = Recommending.recommend

    def counted(recommending: Recommending) -> object:
        asked.append(None)
        return real(recommending)

    monkeypatch.setattr(Recommending, "recommend", counted)
    ui.press("Ctrl+M")
    ui.click("modelsPart-discover")
    shown = card(ui, "smarter")
    ui.settle()
    asked.clear()
    monkeypatch.setattr(suggestions, "FRESH_S", 0.0)
    ui.click("modelsPart-here")
    ui.click("modelsPart-discover")
    ui.qtbot.waitUntil(lambda: len(asked) == 1)
    assert card(ui, "smarter") is shown, "what looks the same stays"
