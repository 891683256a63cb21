"""Folders of chats."""

from __future__ import annotations

from app.base.db import Database
from app.chats.history.store.chat_lists import ChatLists
from app.chats.history.store.chats import ChatStore
from app.chats.history.store.folders import FolderStore, new_folder
from app.chats.history.values.places import CHATS, folder_place


def test_folders_come_in_the_order_in_which_they_were_made(database: Database) -> None:
    folders = FolderStore(database)
    for name in ("Work", " Home ", "Trips"):
        folders.add(new_folder(name))
    folders.rename(folders.folders()[0].id, "Office")
    assert [(it.name, it.position) for it in folders.folders()] == [
        ("Office", 0),
        ("Home", 1),
        ("Trips", 2),
    ]


def test_a_removed_folder_comes_back_with_its_chats(database: Database, chats: ChatStore) -> None:
    folders, lists = FolderStore(database), ChatLists(database)
    folder, other = new_folder("Work"), new_folder("Other")
    folders.add(folder)
    folders.add(other)
    ids = [chats.ask(None, name)[0].chat_id for name in ("stays", "moves")]
    lists.move(ids, folder.id)
    removed = folders.remove(folder.id)
    assert removed is not None
    assert lists.count(CHATS) == 2, "a folder takes no chat with it"
    lists.move(ids[1:], other.id)
    folders.put_back(removed)
    assert [it.name for it in folders.folders()] == ["Work", "Other"]
    places = (folder_place(folder.id), folder_place(other.id))
    found = [[chat.title for chat in lists.page(place, 0, 9)] for place in places]
    assert found == [["stays"], ["moves"]]


def test_removing_twice_is_no_error(database: Database) -> None:
    assert FolderStore(database).remove("nobody") is None
