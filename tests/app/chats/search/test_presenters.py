"""Searching from the window: in the background, only the last query, always up to date."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.chats.search.presenters import ChatSearch
from app.chats.search.services import catch_up, steps
from app.chats.search.store.search import Search
from app.chats.search.store.search_index import SearchBacklog, SearchIndex
from app.kit.tasks.tasks import Tasks
from engines.cancel import CancelToken
from tests.support.services import Services


@pytest.fixture
def index(services: Services, tmp_path: Path) -> Iterator[SearchIndex]:
    for number in range(600):
        services.chats.ask(None, f"old {number}")
    index = SearchIndex(tmp_path / "search.db", services.database)
    yield index
    index.close()


@pytest.fixture
def search(services: Services, index: SearchIndex, qtbot: QtBot) -> Iterator[ChatSearch]:
    tasks = Tasks()
    yield ChatSearch(Search(index, services.database), index, tasks)
    tasks.close()


def test_what_was_just_written_is_found(
    services: Services, search: ChatSearch, qtbot: QtBot
) -> None:
    _, answer = services.chats.ask(None, "Q")
    services.chats.save_answer(replace(answer, text="a needle", state="complete"))
    with qtbot.waitSignal(search.found) as found:
        search.search("needle")
    words, hits = found.args
    assert (words, [hit.message_id for hit in hits]) == ("needle", [answer.id])


def test_only_the_last_search_is_answered(search: ChatSearch, qtbot: QtBot) -> None:
    answered: list[str] = []
    search.found.connect(lambda words, _: answered.append(words))
    for words in ("o", "ol", "old"):
        search.search(words)
    qtbot.waitUntil(lambda: "old" in answered)
    assert answered == ["old"]


def test_an_older_history_is_read_in_the_background(
    search: ChatSearch, index: SearchIndex, qtbot: QtBot
) -> None:
    shares: list[float] = []
    search.indexed.connect(shares.append)
    search.keep_in_step()
    search.keep_in_step()
    qtbot.waitUntil(lambda: bool(shares) and shares[-1] == 1.0)
    assert shares == sorted(shares)
    assert index.backlog() == SearchBacklog(0, 1.0)


def test_reading_ends_at_once_and_rests_as_long_as_it_works(index: SearchIndex) -> None:
    cancel = CancelToken()
    rests: list[float] = []
    for _ in steps(index, cancel, rests.append):
        cancel.cancel()
    assert len(rests) == 1
    assert rests[0] > 0.0
    assert index.backlog().share < 1.0


def test_a_search_reads_what_is_new_and_leaves_the_old_for_later(
    services: Services, index: SearchIndex
) -> None:
    services.chats.ask(None, "new")
    catch_up(index)
    behind = index.backlog()
    assert behind.changes == 0
    assert behind.share < 1.0
