"""Importing whole chats into a real database."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.base.db import Database
from app.chats.history.store.branches import BranchStore
from app.chats.history.store.chat_lists import ChatLists
from app.chats.history.store.chats import ChatStore
from app.chats.history.store.folders import FolderStore
from app.documents.values.documents import AttachedFile, PromptSource
from app.exchange.store.imports import ImportStore
from app.exchange.values import own
from app.exchange.values.export import as_json
from app.exchange.values.found import NotRead, ReadyChat
from app.exchange.values.recognise import chats_in
from tests.support.attached import attached, attached_picture, attached_scan, attached_sound
from tests.support.foreign_chats import chatgpt_chat


def chats_of(*values: object) -> list[ReadyChat]:
    _, found = chats_in(json.dumps(values))
    return [it for it in found if isinstance(it, ReadyChat)]


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database(tmp_path / "imports.db")


def test_chats_lie_in_a_folder_and_come_once(database: Database) -> None:
    store, chats = ImportStore(database), ChatStore(database)
    found = chats_of(chatgpt_chat("a", "One"), chatgpt_chat("b", "Two"))
    done = store.add(found)
    assert (len(done.new), done.known, len(done.folders)) == (2, (), 1)
    (folder,) = FolderStore(database).folders()
    assert folder.name == "Imported from ChatGPT"
    assert {chat.folder_id for chat in chats.chats()} == {folder.id}
    path = chats.path(found[0].chat.id)
    assert [it.role for it in path] == ["user", "assistant"]
    assert len(chats.messages(found[0].chat.id)) == 4
    assert path == tuple(it for it in found[0].messages if it in path)
    again = store.add([*found, *chats_of(chatgpt_chat("c", "Three"))])
    assert (len(again.new), set(again.known), again.folders) == (1, set(done.new), ())
    assert len(chats.chats()) == 3


def test_an_import_that_was_undone_can_be_made_again(database: Database) -> None:
    store, chats = ImportStore(database), ChatStore(database)
    found = chats_of(chatgpt_chat())
    done = store.add(found)
    chats.delete(*done.new)
    assert store.known(done.new) == {done.new[0]: True}
    again = store.add(found)
    assert (again.new, again.restored) == ((), done.new)
    assert len(chats.chats()) == 1


def test_nothing_is_kept_of_an_import_that_fails(database: Database) -> None:
    one, two = chats_of(chatgpt_chat("a", "One"), chatgpt_chat("b", "Two"))
    broken = replace(two, messages=(replace(two.messages[0], parent_id="nothing"),))
    with pytest.raises(Exception, match="FOREIGN KEY"):
        ImportStore(database).add([one, broken])
    assert ChatStore(database).chats() == []
    assert FolderStore(database).folders() == []


@pytest.mark.parametrize(
    "file",
    [
        attached_picture("photo.jpg", b"\xff\xd8\xff photo"),
        attached_sound("song.mp3", b"ID3 song"),
        attached_scan("scan.pdf", b"page one", b"page two"),
    ],
)
def test_attached_pictures_and_sounds_come_back(
    database: Database, tmp_path: Path, file: AttachedFile
) -> None:
    chats = ChatStore(database)
    question, _ = chats.ask(None, "What is it?", files=[file])
    chat = chats.chat(question.chat_id)
    text = as_json(chat, chats.messages(chat.id), "", chats.documents(chat.id))
    (read,) = chats_in(text)[1]
    assert isinstance(read, ReadyChat)
    elsewhere = Database(tmp_path / "elsewhere.db")
    ImportStore(elsewhere).add([read])
    assert ChatStore(elsewhere).documents(chat.id) == [file.document]
    assert ChatStore(elsewhere).path(chat.id)[0].attachments == (file.attachment,)
    elsewhere.close()


def test_attached_files_come_back_with_their_text(database: Database, tmp_path: Path) -> None:
    chats = ChatStore(database)
    file = attached("a.txt", "The oven takes 250 degrees.")
    _, answer = chats.ask(None, "How hot?", files=[file])
    source = PromptSource("file", "a.txt", file.document.sha256, 1, 4, 8)
    chats.save_answer(replace(answer, text="250", state="complete", sources=(source,)))
    chat, messages = chats.chat(answer.chat_id), chats.messages(answer.chat_id)
    text = as_json(chat, messages, "", chats.documents(chat.id))
    (read,) = chats_in(text)[1]
    assert isinstance(read, ReadyChat)
    elsewhere = Database(tmp_path / "elsewhere.db")
    ImportStore(elsewhere).add([read])
    assert ChatStore(elsewhere).messages(chat.id) == messages
    assert ChatStore(elsewhere).documents(chat.id) == [file.document]
    elsewhere.close()


def test_no_import_changes_what_was_read_from_a_file(database: Database) -> None:
    chats = ChatStore(database)
    real = attached("a.txt", "The oven takes 250 degrees.")
    lie = replace(real.document, sections=attached("a.txt", "It takes 500.").document.sections)
    chats.ask(None, "How hot?", files=[AttachedFile("a.txt", lie)])
    _, answer = chats.ask(None, "How hot?", files=[real])
    (chat,) = chats_of(chatgpt_chat("a", "One"))
    ImportStore(database).add([replace(chat, documents=(lie,))])
    assert chats.documents(answer.chat_id) == [real.document]


@pytest.mark.parametrize("sha256", ["../../settings.json", "", 7, "A" * 64])
def test_an_import_names_no_files_of_ours(database: Database, sha256: object) -> None:
    chats = ChatStore(database)
    _, answer = chats.ask(None, "How hot?", files=[attached("a.txt", "250")])
    chat, messages = chats.chat(answer.chat_id), chats.messages(answer.chat_id)
    value = json.loads(as_json(chat, messages, "", chats.documents(chat.id)))
    value["documents"][0]["sha256"] = sha256
    value["messages"][0]["attachments"][0]["sha256"] = sha256
    read, *lost = chats_in(json.dumps(value))[1]
    assert isinstance(read, ReadyChat)
    assert lost
    assert all(isinstance(it, NotRead) for it in lost)
    assert read.documents == ()
    assert read.messages[0].attachments == ()


def test_hearths_own_export_comes_back_without_loss(database: Database, tmp_path: Path) -> None:
    chats, branches = ChatStore(database), BranchStore(database)
    question, answer = chats.ask(None, "What burns?", "auto")
    chats.save_answer(
        replace(
            answer, text="Wood", state="stopped", reasoning="Hm", reasoning_s=1.5, asked='{"a": 1}'
        )
    )
    branches.rate(answer.id, -1)
    _, other = branches.ask_instead(question, "What glows?")
    chats.save_answer(replace(other, text="Coal", state="complete"))
    ChatLists(database).set_pinned([answer.chat_id], True)
    chat, messages = chats.chat(answer.chat_id), chats.messages(answer.chat_id)
    source, found = chats_in(as_json(chat, messages))
    (read,) = found
    assert source == own.SOURCE
    assert isinstance(read, ReadyChat)
    elsewhere = Database(tmp_path / "elsewhere.db")
    ImportStore(elsewhere).add([read])
    there = ChatStore(elsewhere)
    assert there.messages(chat.id) == messages
    assert replace(there.chat(chat.id), folder_id=None) == chat
    assert ImportStore(database).add([read]).known == (chat.id,)
    # The messages belong to another chat here, so the import gives them new ids.
    twin = replace(read, chat=replace(read.chat, id="f" * 32))
    twin = replace(twin, messages=tuple(replace(it, chat_id="f" * 32) for it in twin.messages))
    ImportStore(database).add([twin])
    assert [it.text for it in chats.path("f" * 32)] == [it.text for it in chats.path(chat.id)]
    for opened in (database, elsewhere):
        opened.close()
