"""The first screen: one sentence, one model, one bright button, and a way to the guide."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NoReturn

import pytest
from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QPushButton, QWidget

from app.base.errors import CatalogueInvalid, NoConnection
from app.chats.welcome.pages.first_screen import FirstScreen
from app.models.discover.services.recommending import Recommending
from app.models.discover.values.recommend import Recommendation
from app.models.downloads.values.downloads import Download, DownloadRequest
from app.models.hub.values.hub import RepoFile
from tests.support.scripted_hub import ScriptedHub
from tests.support.window import Ui

pytestmark = pytest.mark.usefixtures("first_screen")

HEARTHS_OWN = re.compile(r"\bMTP|multi-token|drafter|\bKV\b", re.IGNORECASE)


def expert_texts(ui: Ui) -> list[str]:
    """Return the visible texts and tooltips with words of Hearth's own."""
    shown = [part for part in ui.window.findChildren(QWidget) if part.isVisible()]
    read = [part.text() for part in shown if isinstance(part, QLabel | QAbstractButton)]
    texts = (*read, *(part.toolTip() for part in shown))
    return [text for text in texts if HEARTHS_OWN.search(text)]


@pytest.mark.parametrize("size", [(1280, 800), (900, 600)])
def test_it_shows_one_sentence_one_model_and_a_way_to_the_guide(
    ui: Ui, size: tuple[int, int]
) -> None:
    ui.window.resize(*size)
    screen = ui.find(FirstScreen)
    button = ui.find(QPushButton, "getFirst")
    ui.settle()
    names = {part.objectName() for part in screen.findChildren(QAbstractButton) if part.isVisible()}
    assert names == {"getFirst", "tryGuide"}
    labels = [part.text() for part in screen.findChildren(QLabel) if part.isVisible()]
    texts = [text for text in labels if text]
    assert texts[:3] == [
        "Chat with an AI that stays on this computer.",
        "This computer can run",
        "Gemma 4 E2B",
    ]
    assert "It fits into the free memory" in texts[3]
    assert texts[4:] == ["about 3.4 GB to download"]
    for name in ("composer", "modelMenu", "toggleChatSettings", "guideBanner", "suggestion1"):
        assert not ui.has(name)
    assert not screen.verticalScrollBar().maximum(), "all of it is seen without scrolling"
    for part in (button, ui.find(QPushButton, "tryGuide")):
        place = QRect(part.mapTo(ui.window, QPoint()), part.size())
        assert QRect(QPoint(), QSize(*size)).contains(place)
    bright = [
        part.objectName()
        for part in ui.window.findChildren(QPushButton)
        if part.isVisible() and part.property("look") == "primary"
    ]
    assert bright == ["getFirst"]


def test_words_of_experts_wait_for_a_working_model(ui: Ui) -> None:
    ui.find(QPushButton, "getFirst")
    assert expert_texts(ui) == []
    ui.click("tryGuide")
    ui.settle()
    assert expert_texts(ui) == []
    ui.press("Ctrl+M")
    ui.click("modelsPart-discover")
    ui.find(QWidget, "offer-default")
    ui.settle()
    assert expert_texts(ui) == []


def test_the_guide_is_tried_with_one_click(ui: Ui) -> None:
    ui.click("tryGuide")
    assert not ui.has("firstScreen")
    assert ui.edit.hasFocus()
    assert ui.has("guideBanner")
    ui.click("suggestion1")
    ui.wait_for_answer()
    assert ui.texts[-1] == "Hello there"
    ui.press("Ctrl+N")
    assert not ui.has("firstScreen"), "who has chats is not asked again"


@pytest.mark.parametrize("keys", ["Ctrl+N", "Ctrl+L"])
def test_keys_that_begin_a_chat_lead_to_the_guide_too(ui: Ui, keys: str) -> None:
    ui.press(keys)
    assert ui.edit.hasFocus()
    ui.ask("What can you do?")
    assert ui.texts[-1] == "Hello there"


def test_no_key_starts_a_download_before_a_button_was_chosen(ui: Ui) -> None:
    ui.find(QPushButton, "getFirst")
    for keys in ("Space", "Return"):
        ui.press(keys)
    ui.settle()
    assert ui.app.downloads.downloads() == []
    ui.press("Tab")
    focus = QApplication.focusWidget()
    assert focus is not None
    assert focus.objectName() == "getFirst"
    ui.press("Space")
    ui.qtbot.waitUntil(lambda: len(ui.app.downloads.downloads()) == 2)


def test_the_progress_stays_in_sight_wherever_the_user_goes(ui: Ui, hub: ScriptedHub) -> None:
    ui.click("getFirst")
    ui.qtbot.waitUntil(lambda: ui.has("downloadLine") and ui.has("downloadBar"))
    assert not ui.has("getFirst"), "the progress has taken the place of the button"
    assert not ui.has("downloadStrip"), "once is enough"
    assert ui.has("downloadBadge")
    ui.press("Ctrl+M")
    assert ui.has("downloadBadge")
    ui.click("backToChat")
    assert ui.has("downloadBar")
    ui.click("tryGuide")
    assert ui.has("downloadBadge")
    assert not ui.has("downloadStrip")
    ui.window.set_sidebar(False)
    assert ui.has("downloadStrip")
    for download in ui.app.downloads.downloads():
        ui.app.downloads.cancel(download.id)
    ui.qtbot.waitUntil(lambda: not ui.has("downloadStrip"))


def test_a_download_that_cannot_begin_says_why_and_can_be_tried_again(
    ui: Ui, hub: ScriptedHub
) -> None:
    hub.error = NoConnection("The Hub cannot be reached.", "There is no network.", "Connect.")
    ui.click("getFirst")
    ui.qtbot.waitUntil(lambda: ui.has("toastLine3"))
    hub.error = None
    ui.click("toastClose")
    ui.click("getFirst")
    ui.qtbot.waitUntil(lambda: len(ui.app.downloads.downloads()) == 2)


def test_a_model_that_came_meanwhile_is_ready_for_a_chat(ui: Ui) -> None:
    ui.find(QPushButton, "getFirst")
    offers = ui.presenters.suggestions.last_offers
    assert offers is not None
    guide = ui.presenters.models.list()[0]
    entry = replace(guide, id="came", name="Came", builtin=False, repo=offers.offers[0].repo)
    ui.find(FirstScreen).show_models([guide, entry])
    button = ui.find(QPushButton, "getFirst")
    assert button.text() == "Chat with it"
    assert not ui.has("offerSize")


def test_a_chat_does_not_begin_by_itself_while_the_user_is_elsewhere(ui: Ui) -> None:
    ui.find(QPushButton, "getFirst")
    offers = ui.presenters.suggestions.last_offers
    assert offers is not None
    repo = offers.offers[0].repo
    entry = replace(ui.presenters.models.list()[0], id="came", builtin=False, repo=repo)
    request = DownloadRequest(repo, "a" * 40, (RepoFile("came.gguf", 1000),), f"{repo} Q4_0")
    ui.press("Ctrl+M")
    ui.presenters.downloads.completed.emit(Download("1", request, "done", 1000), entry)
    ui.qtbot.waitUntil(lambda: ui.has("toastAction"))
    ui.settle()
    assert ui.has("modelsPage")
    assert ui.presenters.settings.current.model == "starter"


def test_a_chat_does_not_begin_by_itself_if_the_user_leaves_while_models_are_listed(ui: Ui) -> None:
    ui.find(QPushButton, "getFirst")
    offers = ui.presenters.suggestions.last_offers
    assert offers is not None
    repo = offers.offers[0].repo
    entry = replace(ui.presenters.models.list()[0], id="came", builtin=False, repo=repo)
    request = DownloadRequest(repo, "a" * 40, (RepoFile("came.gguf", 1000),), f"{repo} Q4_0")
    ui.presenters.downloads.completed.emit(Download("1", request, "done", 1000), entry)
    ui.window.go_to("models")
    ui.qtbot.waitUntil(lambda: not ui.tasks.is_busy)
    assert ui.has("modelsPage")


def test_a_download_stays_in_sight_when_its_model_is_no_longer_offered(
    ui: Ui, hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Recommending) -> NoReturn:
        raise CatalogueInvalid("Your catalogue cannot be used.", "Line 3.", "Mend it.")

    ui.click("getFirst")
    ui.qtbot.waitUntil(lambda: ui.has("downloadBar"))
    monkeypatch.setattr(Recommending, "recommend", refuse)
    ui.presenters.suggestions.recommend()
    ui.qtbot.waitUntil(lambda: not ui.has("firstOffer"))
    ui.presenters.downloads.look()
    ui.qtbot.waitUntil(lambda: ui.has("downloadBadge"))
    ui.window.set_sidebar(False)
    ui.qtbot.waitUntil(lambda: ui.has("downloadStrip"))
    for download in ui.app.downloads.downloads():
        ui.app.downloads.cancel(download.id)
    ui.qtbot.waitUntil(lambda: not ui.has("downloadStrip"))


@pytest.mark.parametrize("why", ["nothing fits", "an own catalogue is broken"])
def test_without_a_model_to_offer_the_reason_and_the_guide_remain(
    ui: Ui, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    def none(_: Recommending) -> Recommendation:
        if why == "nothing fits":
            return Recommendation(None, None, None, "No model on the list fits.")
        raise CatalogueInvalid("Your catalogue cannot be used.", "Line 3.", "Mend it.")

    monkeypatch.setattr(Recommending, "recommend", none)
    ui.presenters.suggestions.recommend()
    ui.qtbot.waitUntil(lambda: not ui.has("firstOffer") and ui.has("tryGuide"))
    words = ui.find(QLabel, "firstWords").text()
    assert words in (
        "No model on the list fits.",
        "Your catalogue cannot be used. Line 3. Mend it.",
    )
    ui.click("tryGuide")
    assert ui.edit.hasFocus()


def test_text_that_was_written_is_not_hidden(ui: Ui) -> None:
    ui.find(FirstScreen)
    ui.page.composer.set_text("A question from a link")
    assert not ui.has("firstScreen")
    assert ui.has("composer")
    QTest.keyClicks(ui.edit, "?")
    assert ui.page.composer.text == "A question from a link?"
