"""Files attached to a draft: read one after the other, stored, sent and removed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.base.memory_database import MemoryDatabase
from app.chats.answers.values.answers import AnswerOptions
from app.chats.composer.presenters.draft_files import DraftFiles
from app.chats.history.store.drafts import DraftStore
from app.documents.reading.reader import DocumentReader
from app.documents.services.documents import Documents
from app.documents.store.documents import DocumentStore, FileCopies
from app.documents.values.documents import Document
from engines.cancel import CancelToken
from engines.errors import Cancelled
from tests.support.answering import Desk, desk
from tests.support.services import Services


@pytest.fixture
def at(qtbot: QtBot, services: Services, tmp_path: Path) -> Iterator[Desk]:
    made = desk(qtbot, services, tmp_path)
    yield made
    made.tasks.close()


def text(folder: Path, name: str, words: str) -> Path:
    path = folder / name
    path.write_text(words)
    return path


def wait_for_all(at: Desk, chat_id: str | None = None) -> None:
    at.qtbot.waitUntil(lambda: not any(it.is_being_read for it in at.files.of(chat_id)))


def names(at: Desk, chat_id: str | None = None) -> list[str]:
    return [it.name for it in at.files.of(chat_id)]


def test_files_are_read_and_stand_there_in_another_run(at: Desk, tmp_path: Path) -> None:
    one, two = text(tmp_path, "a.txt", "One"), text(tmp_path, "b.md", "# Two")
    at.files.add(None, [one, two])
    assert [(it.name, it.size, it.is_being_read) for it in at.files.of(None)] == [
        ("a.txt", 3, True),
        ("b.md", 5, True),
    ]
    wait_for_all(at)
    at.wait_until_saved()
    one.unlink()
    database = at.services.database
    documents = Documents(DocumentReader(), FileCopies(None))
    again = DraftFiles(DraftStore(database), DocumentStore(database), documents, at.tasks)
    assert [it.attachment for it in again.of(None)] == list(at.files.attachments(None))
    hashes = [it.sha256 for it in at.files.attachments(None)]
    assert DocumentStore(database).hashes() == set(hashes)


def test_a_copy_is_kept_so_that_its_pages_can_be_shown(at: Desk, tmp_path: Path) -> None:
    at.files.add(None, [text(tmp_path, "a.txt", "One")])
    wait_for_all(at)
    copies = FileCopies(tmp_path / "attachments")
    sha256 = at.files.attachments(None)[0].sha256
    at.qtbot.waitUntil(lambda: copies.path(sha256) is not None)


def test_what_cannot_be_read_says_why_and_can_be_removed(at: Desk, tmp_path: Path) -> None:
    at.files.add(None, [tmp_path / "gone.pdf", tmp_path])
    wait_for_all(at)
    gone, folder = at.files.of(None)
    assert gone.problem is not None
    assert gone.problem.what == "gone.pdf cannot be read."
    assert folder.problem is not None
    assert "folder" in folder.problem.why
    assert at.files.attachments(None) == ()
    at.files.remove(None, gone.id)
    at.files.remove(None, folder.id)
    assert at.files.of(None) == ()


def test_the_same_file_stands_there_once(at: Desk, tmp_path: Path) -> None:
    path = text(tmp_path, "a.txt", "One")
    at.files.add(None, [path, path])
    at.files.add(None, [path])
    wait_for_all(at)
    at.files.add(None, [path])
    wait_for_all(at)
    assert names(at) == ["a.txt"]


class _Waiting:
    """A reader that blocks until it is cancelled."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.cancelled = 0

    def read(self, path: Path, cancel: CancelToken, name: str = "") -> Document:
        self.begun.set()
        self.cancelled += cancel.wait(30)
        raise Cancelled


def test_reading_is_cancelled_by_taking_the_file_away(at: Desk, tmp_path: Path) -> None:
    reader = _Waiting()
    database = at.services.database
    files = DraftFiles(
        DraftStore(database), DocumentStore(database), Documents(reader, FileCopies(None)), at.tasks
    )
    files.add(None, [tmp_path / "a.txt", tmp_path / "b.txt"])
    at.qtbot.waitUntil(reader.begun.is_set)
    for it in files.of(None):
        files.remove(None, it.id)
    assert files.of(None) == ()
    at.qtbot.waitUntil(lambda: reader.cancelled >= 1)
    assert at.errors == []


def test_a_sent_file_is_no_more_at_the_draft(at: Desk, tmp_path: Path) -> None:
    at.files.add(None, [text(tmp_path, "a.txt", "The oven takes 250 degrees.")])
    wait_for_all(at)
    taken = at.files.take(None)
    assert at.files.of(None) == ()
    at.generation.ask(
        None, "How hot?", AnswerOptions(), at.told.append, at.errors.append, attachments=taken
    )
    at.qtbot.waitUntil(lambda: bool(at.ended))
    chat_id = at.ended[0].chat_id
    at.files.adopt(chat_id)
    at.wait_until_saved()
    assert at.services.chats.path(chat_id)[0].attachments == taken
    assert DraftStore(at.services.database).files(None) == ()
    asked = at.services.engine.requests[-1].messages[-1].text
    assert "The oven takes 250 degrees." in asked
    assert asked.endswith("How hot?")


def test_what_could_not_be_sent_is_put_back_before_the_others(at: Desk, tmp_path: Path) -> None:
    at.files.add(None, [text(tmp_path, "a.txt", "One")])
    wait_for_all(at)
    taken = at.files.take(None)
    at.files.add(None, [text(tmp_path, "b.txt", "Two")])
    at.files.put_back(None, taken)
    wait_for_all(at)
    assert names(at) == ["a.txt", "b.txt"]


def test_what_is_read_meanwhile_goes_to_the_chat_that_has_begun(at: Desk, tmp_path: Path) -> None:
    chat_id = at.ask("Hello").chat_id
    at.files.add(None, [text(tmp_path, "a.txt", "One")])
    at.files.adopt(chat_id)
    assert names(at) == []
    wait_for_all(at, chat_id)
    at.wait_until_saved()
    drafts = DraftStore(at.services.database)
    assert [it.name for it in drafts.files(chat_id)] == ["a.txt"]
    assert drafts.files(None) == ()


def test_a_waiting_message_is_asked_with_its_files(at: Desk, tmp_path: Path) -> None:
    chat_id = at.ask("Hello").chat_id
    at.files.add(chat_id, [text(tmp_path, "a.txt", "One")])
    wait_for_all(at, chat_id)
    taken = at.files.take(chat_id)
    at.waiting.add(chat_id, "What is in it?", AnswerOptions(), at.errors.append, taken)
    at.wait_for(2)
    question = at.services.chats.path(chat_id)[-2]
    assert (question.text, question.attachments) == ("What is in it?", taken)


def test_another_wording_keeps_the_files_or_goes_without_one(at: Desk, tmp_path: Path) -> None:
    at.files.add(None, [text(tmp_path, "a.txt", "One"), text(tmp_path, "b.txt", "Two")])
    wait_for_all(at)
    taken = at.files.take(None)
    options = AnswerOptions()
    at.generation.ask(None, "Q", options, at.told.append, at.errors.append, attachments=taken)
    at.wait_for(1)
    question = at.told[0]
    at.branches.ask_instead(question, "Q?", options, at.told.append, at.errors.append)
    at.wait_for(2)
    at.branches.ask_instead(
        question, "Q", options, at.told.append, at.errors.append, without=taken[0].sha256
    )
    at.wait_for(3)
    assert [it.attachments for it in at.told] == [taken, taken, taken[1:]]
    assert "One" not in at.services.engine.requests[-1].messages[-1].text


def test_a_chat_of_which_nothing_is_kept_has_no_copies(at: Desk, tmp_path: Path) -> None:
    database = MemoryDatabase()
    documents = Documents(DocumentReader(), FileCopies(None))
    files = DraftFiles(DraftStore(database), DocumentStore(database), documents, at.tasks)
    files.add(None, [text(tmp_path, "a.txt", "One")])
    at.qtbot.waitUntil(lambda: bool(files.attachments(None)))
    at.wait_until_saved()
    assert not (tmp_path / "attachments").exists()
    files.forget()
    database.close()
