"""Searching the Hub: words, filters, order, and messages in place of results."""

from __future__ import annotations

import threading

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QLineEdit, QWidget

from app.base.errors import HubBusy
from app.models.hub.values.hub import SearchResult
from tests.support.scripted_hub import GATED, SMALL, ScriptedHub
from tests.support.window import Ui
from tests.support.windows import models_page


def search(ui: Ui, words: str) -> None:
    field = ui.find(QLineEdit, "hubWords")
    field.clear()
    QTest.keyClicks(field, words)
    ui.press("Return", field)


def focused() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget


def count(ui: Ui) -> str:
    return ui.find(QLabel, "resultCount").text()


def test_words_and_enter_find_repositories(discover: Ui, hub: ScriptedHub) -> None:
    search(discover, "small")
    discover.qtbot.waitUntil(lambda: discover.has(f"result-{SMALL.id}"))
    assert count(discover) == "One model"
    assert not discover.has(f"result-{GATED.id}")
    assert hub.queries[-1].words == "small"


def test_a_recommendation_that_comes_late_does_not_push_the_search_out_of_sight(
    discover: Ui,
) -> None:
    discover.window.resize(1000, 640)
    discover.presenters.settings.set("zoom", 150)
    suggestions = discover.presenters.suggestions
    discover.qtbot.waitUntil(lambda: suggestions.last_offers is not None)
    discover.settle()
    offers = models_page(discover.window).discover.home.offers
    offers.show_looking()
    search(discover, "small")
    discover.qtbot.waitUntil(lambda: discover.has(f"result-{SMALL.id}"))
    field = discover.find(QLineEdit, "hubWords")
    discover.settle()  # finish scrolling to it
    suggestions.offered.emit(suggestions.last_offers)
    discover.settle()
    discover.qtbot.waitUntil(lambda: not field.visibleRegion().isEmpty())


def test_nothing_is_sent_while_typing(discover: Ui, hub: ScriptedHub) -> None:
    QTest.keyClicks(discover.find(QLineEdit, "hubWords"), "small")
    discover.click("filterMtp")
    discover.settle()
    assert hub.queries == []
    discover.click("hubSearchButton")
    discover.qtbot.waitUntil(lambda: len(hub.queries) == 1)


def test_filters_and_order_are_asked_for(discover: Ui, hub: ScriptedHub) -> None:
    search(discover, "")
    discover.qtbot.waitUntil(lambda: len(hub.queries) == 1)
    first = hub.queries[0]
    assert (first.sort, first.mtp, first.licence) == ("downloads", False, None)
    # 9 GB are free on this computer: 85 % of it at 4.9 bits a weight.
    assert first.most_parameters == int(9e9 * 0.85 * 8 / 4.9)
    for name in ("filterFits", "filterMtp"):
        discover.click(name)
    for name, index in (("filterLicence", 2), ("sortResults", 1)):
        box = discover.find(QComboBox, name)
        box.setFocus()
        for _ in range(index):
            discover.press("Down", box)
    discover.qtbot.waitUntil(lambda: hub.queries[-1].sort == "likes")
    last = hub.queries[-1]
    assert (last.mtp, last.licence) == (True, "mit")
    assert not discover.has("filterVision"), "the app cannot see pictures yet"
    assert last.most_parameters is None


def test_a_late_answer_to_an_older_search_is_dropped(
    discover: Ui, hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.hold.clear()
    search(discover, "closed")
    discover.qtbot.waitUntil(lambda: len(hub.queries) == 1)
    search(discover, "nobody knows this")
    search(discover, "small")
    assert discover.has("searching")
    seen: list[list[SearchResult]] = []
    results = models_page(discover.window).discover.home.results
    monkeypatch.setattr(results, "show_results", seen.append)
    hub.hold.set()
    discover.qtbot.waitUntil(lambda: bool(seen))
    assert seen == [[SMALL]]
    assert [query.words for query in hub.queries] == ["closed", "small"], "one was not even sent"


def test_nothing_found_says_what_to_do(discover: Ui, hub: ScriptedHub) -> None:
    search(discover, "nobody knows this")
    discover.qtbot.waitUntil(lambda: discover.has("nothingFound"))
    discover.find(QLineEdit, "hubWords").clear()
    discover.click("withoutFilters")
    discover.qtbot.waitUntil(lambda: discover.has(f"result-{GATED.id}"))
    assert hub.queries[-1].most_parameters is None


def test_a_search_that_fails_is_explained_and_tried_again(discover: Ui, hub: ScriptedHub) -> None:
    hub.error = HubBusy("The Hub is busy.", "Too many ask.", "Try again in a minute.", 60)
    search(discover, "small")
    assert discover.find(QLabel, "problemDo").text() == "Try again in a minute."
    hub.error = None
    discover.click("searchAgain")
    discover.qtbot.waitUntil(lambda: discover.has(f"result-{SMALL.id}"))


def test_a_bug_of_ours_is_reported_and_leaves_no_page_waiting(
    discover: Ui, hub: ScriptedHub
) -> None:
    hub.error = ZeroDivisionError("a bug")
    search(discover, "small")
    discover.qtbot.waitUntil(lambda: discover.has("messageDialog"))
    discover.click("close")
    assert discover.find(QLabel, "problemWhat").text() == "That did not work."


def test_a_result_is_opened_with_the_keyboard(discover: Ui, hub: ScriptedHub) -> None:
    search(discover, "")
    discover.qtbot.waitUntil(lambda: discover.has(f"result-{SMALL.id}"))
    field = discover.find(QLineEdit, "hubWords")
    field.setFocus()
    for _ in range(20):
        discover.press("Tab")
        if focused().objectName() == f"result-{SMALL.id}":
            break
    assert focused().accessibleName() == (
        "Small-7B-GGUF, ada, 7 billion parameters, 1.2 k downloads, apache-2.0"
    )
    discover.press("Space")
    discover.qtbot.waitUntil(lambda: discover.has("choicePanel"))


def test_the_way_back_keeps_the_results(discover: Ui, hub: ScriptedHub) -> None:
    search(discover, "")
    discover.qtbot.waitUntil(lambda: discover.has(f"result-{SMALL.id}"))
    discover.click(f"result-{SMALL.id}")
    discover.click("backToResults")
    assert discover.has(f"result-{SMALL.id}")
    assert count(discover) == "2 models"


def test_the_window_closes_while_a_search_is_under_way(discover: Ui, hub: ScriptedHub) -> None:
    hub.hold.clear()
    search(discover, "small")
    discover.qtbot.waitUntil(lambda: len(hub.queries) == 1)
    threading.Timer(0.1, hub.hold.set).start()
