"""The texts and copies of attached files, which are stored and deleted with their chats."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from dataclasses import replace
from pathlib import Path

import pytest

from app.base.db import Database
from app.base.memory_database import MemoryDatabase
from app.chats.history.store.branches import BranchStore
from app.chats.history.store.chats import ChatStore
from app.chats.history.values.conversation import StoredMessage
from app.documents.store.documents import YOUNG_S, DocumentStore, FileCopies
from app.documents.values.documents import AttachedFile
from tests.support.attached import attached, attached_picture, attached_scan, attached_sound

PLAN = attached("plan.txt", "The oven takes 250 degrees.")
BOOK = attached("book.pdf", "One", "Two", "")
PHOTO = attached_picture("photo.jpg", b"\xff\xd8\xff photo", 640, 480)
SONG = attached_sound("song.mp3", b"ID3 song", 61.5)
SCAN = attached_scan("scan.pdf", b"page one", b"page two")


def kept(database: Database) -> set[str]:
    return DocumentStore(database).hashes()


def test_a_question_has_its_files(chats: ChatStore, database: Database) -> None:
    question, answer = chats.ask(None, "How hot?", files=[PLAN, BOOK])
    stored = chats.path(answer.chat_id)[0]
    assert stored == question
    assert [(it.name, it.places) for it in stored.attachments] == [("plan.txt", 1), ("book.pdf", 3)]
    found = DocumentStore(database).documents([PLAN.document.sha256, "f" * 64])
    assert found == {PLAN.document.sha256: PLAN.document}


@pytest.mark.parametrize("file", [PHOTO, SONG, SCAN])
def test_pictures_and_sounds_lie_in_the_database(
    chats: ChatStore, database: Database, file: AttachedFile
) -> None:
    question, answer = chats.ask(None, "What is it?", files=[file])
    assert question.attachments == (file.attachment,)
    assert chats.path(answer.chat_id)[0] == question
    assert chats.documents(answer.chat_id) == [file.document]
    chats.ask(answer.chat_id, "And now?", files=[file])
    assert chats.documents(answer.chat_id) == [file.document], "the same again is kept once"
    chats.delete(answer.chat_id)
    chats.purge(answer.chat_id)
    with database.read() as db:
        assert db.execute("SELECT count(*) FROM media").fetchone()[0] == 0


def test_a_chat_that_begins_with_files_alone_is_called_after_them(chats: ChatStore) -> None:
    _, answer = chats.ask(None, "", files=[PLAN])
    assert chats.chat(answer.chat_id).title == "plan.txt"


def test_an_edited_question_keeps_its_files(chats: ChatStore, database: Database) -> None:
    question, _ = chats.ask(None, "How hot?", files=[PLAN])
    other, _ = BranchStore(database).ask_instead(question, "How hot exactly?")
    assert other.attachments == question.attachments


def test_a_copied_chat_keeps_the_files_of_a_deleted_one(
    chats: ChatStore, database: Database
) -> None:
    _, answer = chats.ask(None, "How hot?", files=[PLAN])
    copy = chats.duplicate(answer.chat_id, "Copy")
    chats.delete(answer.chat_id)
    chats.purge(answer.chat_id)
    assert chats.documents(copy) == [PLAN.document]
    chats.delete(copy)
    assert kept(database) == {PLAN.document.sha256}
    chats.purge(copy)
    assert kept(database) == set()


def test_messages_taken_out_take_their_files_along_for_good(
    chats: ChatStore, database: Database
) -> None:
    question, answer = chats.ask(None, "How hot?", files=[PLAN])
    chats.ask(answer.chat_id, "And now?", files=[BOOK])
    BranchStore(database).remove(question, {})
    assert len(kept(database)) == 2
    BranchStore(database).purge(0)
    assert kept(database) == set()


def test_what_an_answer_was_told_is_kept_with_it(chats: ChatStore) -> None:
    from app.documents.values.documents import PromptSource

    _, answer = chats.ask(None, "How hot?", files=[PLAN])
    told: StoredMessage = replace(
        answer, state="complete", sources=(PromptSource("file", "plan.txt", PLAN.document.sha256),)
    )
    chats.save_answer(told)
    assert chats.path(answer.chat_id)[-1] == told


def test_a_scratch_chat_keeps_files_in_memory_alone() -> None:
    database = MemoryDatabase()
    chats = ChatStore(database)
    _, answer = chats.ask(None, "How hot?", files=[PLAN])
    assert chats.documents(answer.chat_id) == [PLAN.document]
    database.close()


@pytest.fixture
def copies(tmp_path: Path) -> FileCopies:
    return FileCopies(tmp_path / "attachments")


def written(tmp_path: Path, content: bytes) -> tuple[Path, str]:
    from hashlib import sha256

    path = tmp_path / "a.txt"
    path.write_bytes(content)
    return path, sha256(content).hexdigest()


def test_a_copy_outlives_its_original_and_is_for_its_owner_alone(
    tmp_path: Path, copies: FileCopies
) -> None:
    path, digest = written(tmp_path, b"text")
    assert copies.save(path, digest)
    path.unlink()
    copy = copies.path(digest)
    assert copy is not None
    assert copy.read_bytes() == b"text"
    if os.name != "nt":
        assert stat.S_IMODE(copy.stat().st_mode) == 0o600
        assert stat.S_IMODE(copy.parent.stat().st_mode) == 0o700
    assert copies.save(path, digest), "it is here already"


def test_a_file_that_has_changed_since_it_was_read_is_not_copied(
    tmp_path: Path, copies: FileCopies
) -> None:
    path, digest = written(tmp_path, b"text")
    path.write_bytes(b"other")
    assert not copies.save(path, digest)
    assert copies.path(digest) is None


def test_copies_go_that_no_chat_has(tmp_path: Path, copies: FileCopies) -> None:
    copies.remove_unused(set())  # the folder does not exist yet
    path, digest = written(tmp_path, b"text")
    copies.save(path, digest)
    copies.remove_unused({digest})
    assert copies.path(digest) is not None
    folder, name = tmp_path / "attachments", "0" * 64
    young, old = folder / f".{name}.12.part", folder / f".{name}.13.part"
    theirs = folder / "notes.txt"
    for path in (young, old, theirs):
        path.write_bytes(b"")
    os.utime(old, (time.time() - 2 * YOUNG_S,) * 2)
    copies.remove_unused(set())
    assert copies.path(digest) is None
    assert (young.exists(), old.exists(), theirs.exists()) == (True, False, True)


def test_where_nothing_is_kept_the_users_own_file_is_looked_at(tmp_path: Path) -> None:
    copies, path = FileCopies(None), tmp_path / "own.txt"
    path.write_bytes(b"words")
    digest = hashlib.sha256(b"words").hexdigest()
    assert (copies.path(digest), copies.state(digest)) == (None, "missing")
    assert copies.save(path, digest)
    assert (copies.path(digest), copies.state(digest)) == (path, "here")
    path.write_bytes(b"other words")
    assert (copies.path(digest), copies.state(digest)) == (None, "changed")
    path.unlink()
    assert copies.state(digest) == "missing"
    assert list(tmp_path.iterdir()) == []
