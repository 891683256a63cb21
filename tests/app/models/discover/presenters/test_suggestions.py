"""Recommendations: renewed when they are old, and announced when they look different."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from app.kit.tasks.tasks import SYSTEM, Tasks
from app.models.discover.presenters import offering as module
from app.models.discover.presenters.suggestions import FRESH_S, Suggestions
from app.models.discover.values.offers import Offer, Offers, look_alike
from app.models.library.values.memory_use import MemoryUse
from engines.hardware import detect

OFFER = Offer(
    "default", "M", "It fits.", "ada/M", "Q4", (MemoryUse("memory", 1000, 500, 300),), 300, 9.0
)


def offers(others: int, why: str = OFFER.why) -> Offers:
    use = replace(OFFER.uses[0], others=others)
    return Offers((replace(OFFER, uses=(use,), why=why),))


class Recommending:
    """A recommender that counts its calls."""

    def __init__(self) -> None:
        self.asked = 0
        self.now = 0.0

    def recommend(self) -> None:
        self.asked += 1

    def unseen_models(self) -> frozenset[str]:
        return frozenset()

    def catalogue(self) -> None:
        """Return nothing, as these tests use no catalogue."""

    def clock(self) -> float:
        return self.now


class Scripted:
    """The service with scripted offers and a list of the announced ones."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, tasks: Tasks, qtbot: QtBot) -> None:
        self.answer = offers(500)
        self.asks = Recommending()
        self.told: list[Offers] = []
        self._qtbot = qtbot
        self._tasks = tasks
        monkeypatch.setattr(module, "offers_of", lambda *_: self.answer)
        self.service = Suggestions(self.asks, detect, tasks, self.asks.clock)  # type: ignore[arg-type]
        self.service.offered.connect(self.told.append)

    def settle(self) -> None:
        """Wait until every request has been answered."""
        done: list[None] = []
        self._tasks.run(lambda: None, done.append, done.append, on=SYSTEM)  # type: ignore[arg-type]
        self._qtbot.waitUntil(lambda: bool(done))


@pytest.fixture
def scripted(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scripted]:
    tasks = Tasks()
    yield Scripted(monkeypatch, tasks, qtbot)
    tasks.close()


def test_what_is_fresh_is_not_asked_for_again(scripted: Scripted) -> None:
    scripted.service.recommend()
    scripted.asks.now = FRESH_S - 1
    scripted.service.recommend_again()
    scripted.settle()
    assert scripted.asks.asked == 1
    scripted.asks.now = FRESH_S
    scripted.service.recommend_again()
    scripted.settle()
    assert scripted.asks.asked == 2


def test_only_what_looks_different_is_told_again(scripted: Scripted) -> None:
    scripted.service.recommend()
    scripted.settle()
    for step, others in enumerate((510, 520, 530), start=1):
        scripted.asks.now = step * FRESH_S
        scripted.answer = offers(others)
        scripted.service.recommend_again()
        scripted.settle()
    assert scripted.told == [offers(500), offers(530)], "small steps add up"
    scripted.service.recommend()
    scripted.settle()
    assert len(scripted.told) == 3, "who asks gets an answer"


def test_other_words_look_different() -> None:
    assert look_alike(offers(500), offers(520))
    assert not look_alike(offers(500), offers(521))
    assert not look_alike(offers(500), offers(500, why="It just fits."))
    assert not look_alike(offers(500), Offers(()))
