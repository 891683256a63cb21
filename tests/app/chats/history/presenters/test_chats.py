"""The presenter of the list of chats."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from pytestqt.qtbot import QtBot

from app.base.errors import DiskFull
from app.chats.history.presenters.chats import Chats
from app.chats.history.presenters.drafts import Drafts
from app.chats.history.store.chat_lists import ChatLists
from app.chats.history.store.drafts import DraftStore
from app.chats.history.store.folders import FolderStore
from app.chats.history.values.places import ARCHIVE, CHATS, PINNED, TRASH, folder_place
from app.kit.tasks.tasks import Tasks
from tests.support.services import Services


@pytest.fixture
def forgotten() -> list[str]:
    """Return an empty list, to collect the chats whose engine state is discarded."""
    return []


@pytest.fixture
def chats(services: Services, forgotten: list[str], qtbot: QtBot) -> Iterator[Chats]:
    tasks = Tasks()
    database = services.database
    drafts = Drafts(DraftStore(database), tasks)
    yield Chats(
        services.chats, ChatLists(database), FolderStore(database), drafts, forgotten.append, tasks
    )
    tasks.close()


def test_changes_are_announced_when_they_are_saved(
    chats: Chats, services: Services, qtbot: QtBot
) -> None:
    _, answer = services.chats.ask(None, "Hello")
    changes: list[Callable[[], None]] = [
        lambda: chats.rename(answer.chat_id, "Renamed"),
        lambda: chats.delete(answer.chat_id),
        lambda: chats.undelete(answer.chat_id),
    ]
    for change in changes:
        with qtbot.waitSignal(chats.changed):
            change()
    assert [chat.title for chat in chats.page(CHATS, 0, 9)] == ["Renamed"]


def test_many_chats_go_from_place_to_place_and_back(
    chats: Chats, services: Services, forgotten: list[str], qtbot: QtBot
) -> None:
    ids = [services.chats.ask(None, name)[0].chat_id for name in "abc"]

    def lie(change: Callable[[], object]) -> dict[str, str]:
        with qtbot.waitSignal(chats.changed):
            change()
        places = {"pinned": PINNED, "chats": CHATS, "archive": ARCHIVE, "trash": TRASH}
        folders = {folder.name: folder_place(folder.id) for folder in chats.folders()}
        found = {name: chats.page(it, 0, 9) for name, it in {**places, **folders}.items()}
        return {name: "".join(chat.title for chat in them) for name, them in found.items() if them}

    made: list[str] = []
    assert lie(lambda: made.append(chats.make_folder(" Work ", *ids[:2]))) == {
        "chats": "c",
        "Work": "ba",
    }
    assert lie(lambda: chats.rename_folder(made[0], "Home"))["Home"] == "ba"
    assert lie(lambda: chats.remove_folder(made[0])) == {"chats": "cba"}
    assert lie(lambda: chats.put_back_folder(made[0])) == {"chats": "c", "Home": "ba"}
    assert lie(lambda: chats.put_back_folder(made[0])) == {"chats": "c", "Home": "ba"}, "once only"
    assert lie(lambda: chats.move(None, ids[0])) == {"chats": "ca", "Home": "b"}
    assert lie(lambda: chats.archive(*ids)) == {"archive": "cba"}
    assert lie(lambda: chats.unarchive(*ids)) == {"chats": "ca", "Home": "b"}
    assert lie(lambda: chats.set_pinned(True, *ids[1:])) == {"pinned": "cb", "chats": "a"}
    assert lie(lambda: chats.delete(*ids)) == {"trash": "cba"}
    assert lie(lambda: chats.undelete(ids[1])) == {"pinned": "b", "trash": "ca"}
    assert lie(lambda: chats.delete_for_good(ids[0], ids[1])) == {"pinned": "b", "trash": "c"}
    assert forgotten == ids[:1], "only what is in the trash goes"
    assert lie(chats.empty_trash) == {"pinned": "b"}
    assert forgotten == [ids[0], ids[2]]
    assert chats.chat(ids[0]) is None
    found = chats.chat(ids[1])
    assert found is not None
    assert found.title == "b"


def test_a_switch_holds_before_it_is_saved_and_after(
    chats: Chats, services: Services, qtbot: QtBot
) -> None:
    _, answer = services.chats.ask(None, "Hello", "auto")
    chats.set_mtp(answer.chat_id, "on")
    chats.set_mtp(answer.chat_id, "off")
    assert chats.mtp(answer.chat_id) == "off"
    qtbot.waitUntil(lambda: services.chats.mtp(answer.chat_id) == "off")
    services.chats.set_mtp(answer.chat_id, "on")
    qtbot.waitUntil(lambda: chats.mtp(answer.chat_id) == "on")


def test_a_switch_that_cannot_be_saved_says_so_and_still_holds(
    chats: Chats, services: Services, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise DiskFull("The disk is full.", "No room.", "Free some.")

    _, answer = services.chats.ask(None, "Hello", "auto")
    monkeypatch.setattr(services.chats, "set_mtp", full)
    with qtbot.waitSignal(chats.failed):
        chats.set_mtp(answer.chat_id, "off")
    assert chats.mtp(answer.chat_id) == "off"
