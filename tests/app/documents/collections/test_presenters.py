"""The presenter of collections, with real files, a real index and a real embedding model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.base.errors import CollectionNameInvalid, NothingToIndex
from app.base.folder import DataFolder
from app.documents.collections.presenters import Collections
from app.documents.collections.values import CollectionState, FoundPassage, IndexedFile
from app.kit.tasks.tasks import Tasks
from app.wiring.app import App, open_app
from tests.support.calm import until_calm
from tests.support.made_embedding import write_bert


def unexpected(result: object) -> None:
    pytest.fail(f"this was not to come: {result}")


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    with closing(open_app(DataFolder(tmp_path / "data"))) as app:
        yield app


@pytest.fixture
def tasks(qtbot: QtBot, app: App) -> Iterator[Tasks]:
    tasks = Tasks()
    yield tasks
    tasks.close()


@pytest.fixture
def collections(app: App, tasks: Tasks) -> Collections:
    return Collections(lambda: app.knowledge, app.recommending.catalogue, lambda: False, tasks)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "Papers"
    folder.mkdir()
    for number in range(40):
        (folder / f"{number:02}.txt").write_text(f"The cat sat on mat number {number}.")
    return folder


def only(collections: Collections) -> CollectionState:
    (state,) = collections.states
    return state


def made(qtbot: QtBot, collections: Collections, folder: Path) -> str:
    """Make a collection of a folder, wait until it is read, and return its id."""
    collections.create("Papers", [folder], lambda _: None, unexpected)
    qtbot.waitUntil(lambda: bool(collections.states))
    qtbot.waitUntil(lambda: only(collections).files == 40 and not only(collections).waiting)
    return only(collections).collection.id


def test_news_of_the_indexing_comes_a_few_times_a_second(
    qtbot: QtBot, collections: Collections, tasks: Tasks, folder: Path
) -> None:
    told: list[int] = []
    collections.changed.connect(lambda: told.append(1))
    collection = made(qtbot, collections, folder)
    qtbot.waitUntil(lambda: not collections.progress)
    assert collections.state(collection) == only(collections)
    before = len(told)
    until_calm(qtbot, tasks)
    assert len(told) <= before + 1, "nothing is told where nothing happens"


def test_what_cannot_be_added_leaves_no_collection(
    qtbot: QtBot, collections: Collections, tmp_path: Path
) -> None:
    errors: list[Exception] = []
    collections.create("Papers", [tmp_path / "nowhere"], unexpected, errors.append)
    qtbot.waitUntil(lambda: len(errors) == 1)
    assert isinstance(errors[0], NothingToIndex)
    collections.create("Papers", [], lambda _: None, unexpected)
    qtbot.waitUntil(lambda: len(collections.states) == 1)
    collections.create("papers", [], unexpected, errors.append)
    qtbot.waitUntil(lambda: len(errors) == 2)
    assert isinstance(errors[1], CollectionNameInvalid)


def test_a_search_that_is_overtaken_is_not_told(
    qtbot: QtBot, collections: Collections, folder: Path
) -> None:
    collection = made(qtbot, collections, folder)
    told: list[list[FoundPassage]] = []
    collections.search(collection, "dog", unexpected, unexpected)
    collections.search(collection, "mat number 17", told.append, unexpected)
    qtbot.waitUntil(lambda: len(told) == 1)
    assert told[0][0].file == "17.txt"


def test_what_is_added_while_others_are_read_is_read_too(
    qtbot: QtBot, collections: Collections, folder: Path, tmp_path: Path
) -> None:
    collections.create("Papers", [folder], lambda _: None, unexpected)
    other = tmp_path / "other.txt"
    other.write_text("A dog sits.")
    qtbot.waitUntil(lambda: bool(collections.states))
    collection = only(collections).collection.id
    collections.add(collection, [other])
    qtbot.waitUntil(lambda: only(collections).files == 41 and not only(collections).waiting)
    files: list[list[IndexedFile]] = []
    collections.files(collection, files.append, unexpected)
    qtbot.waitUntil(lambda: bool(files))
    assert "other.txt" in {it.name for it in files[0]}


def test_one_that_is_paused_is_read_when_it_goes_on(
    qtbot: QtBot, collections: Collections, tasks: Tasks, folder: Path
) -> None:
    collection = made(qtbot, collections, folder)
    collections.pause(collection)
    qtbot.waitUntil(lambda: only(collections).collection.paused)
    (folder / "new.txt").write_text("A dog sits.")
    collections.work()
    until_calm(qtbot, tasks)
    assert only(collections).files == 40
    collections.resume(collection)
    qtbot.waitUntil(lambda: only(collections).files == 41)


def test_without_an_embedding_model_the_smallest_of_the_catalogue_is_offered(
    qtbot: QtBot, collections: Collections
) -> None:
    with qtbot.waitSignal(collections.found_embedder) as found:
        collections.refresh_embedder()
    status, offer = found.args
    assert status.model is None
    assert offer == collections.offer
    assert (offer.name, offer.disk_bytes) == ("EmbeddingGemma 300M", 330_000_000)
    assert offer.licence_note


def test_an_embedding_model_that_comes_is_put_to_work(
    qtbot: QtBot, collections: Collections, app: App, folder: Path, tmp_path: Path
) -> None:
    made(qtbot, collections, folder)
    collections.refresh_embedder()
    qtbot.waitUntil(lambda: collections.offer is not None)
    assert only(collections).model == ""
    app.library.add(write_bert(tmp_path / "made-bert.gguf"))
    collections.refresh_embedder()
    qtbot.waitUntil(lambda: only(collections).with_vectors == only(collections).passages == 40)
    assert only(collections).model == "made-bert"
    told: list[list[FoundPassage]] = []
    collections.search(only(collections).collection.id, "a cat", told.append, unexpected)
    qtbot.waitUntil(lambda: len(told) == 1)
    assert any("vector" in it.by for it in told[0])


def test_a_collection_that_is_removed_leaves_its_files(
    qtbot: QtBot, collections: Collections, app: App, folder: Path
) -> None:
    collection = made(qtbot, collections, folder)
    collections.remove(collection)
    qtbot.waitUntil(lambda: collections.states == ())
    assert len(list(folder.iterdir())) == 40
    assert list(app.folder.knowledge.glob("*.db")) == []


def test_an_index_that_cannot_be_opened_is_told_once_and_hides_no_other(
    qtbot: QtBot, collections: Collections, app: App, tasks: Tasks, folder: Path
) -> None:
    made(qtbot, collections, folder)
    errors: list[Exception] = []
    collections.failed.connect(errors.append)
    other = app.knowledge.create("Other")
    (app.folder.knowledge / f"{other.id}.db").mkdir()
    collections.refresh()
    qtbot.waitUntil(lambda: len(collections.states) == 2)
    assert [it.files for it in collections.states] == [0, 40]
    qtbot.waitUntil(lambda: len(errors) == 1)
    collections.refresh()
    until_calm(qtbot, tasks)
    assert len(errors) == 1
