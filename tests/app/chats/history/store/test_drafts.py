"""Drafts in the database."""

from __future__ import annotations

from app.base.db import Database
from app.chats.history.store.branches import BranchStore
from app.chats.history.store.chats import ChatStore
from app.chats.history.store.drafts import DraftStore
from app.documents.store.documents import DocumentStore
from tests.support.attached import attached

PLAN = attached("plan.txt", "The oven takes 250 degrees.")
BOOK = attached("book.pdf", "One", "Two", "")


def test_each_chat_and_the_next_one_has_a_draft(database: Database, chats: ChatStore) -> None:
    drafts = DraftStore(database)
    chat_id = chats.ask(None, "Hello")[0].chat_id
    before = chats.chat(chat_id).updated
    assert (drafts.of(chat_id), drafts.of(None), drafts.of("nobody")) == ("", "", "")
    drafts.save(chat_id, "half a sen")
    drafts.save(None, "something new")
    drafts.save(None, "something newer\n\0☕")
    assert (drafts.of(chat_id), drafts.of(None)) == ("half a sen", "something newer\n\0☕")
    assert chats.chat(chat_id).draft == "half a sen"
    assert chats.chat(chat_id).updated == before, "writing a draft is not yet using the chat"


def test_files_stand_at_a_draft_with_what_was_read(database: Database, chats: ChatStore) -> None:
    drafts = DraftStore(database)
    chat_id = chats.ask(None, "Hello")[0].chat_id
    assert (drafts.files(chat_id), drafts.files(None), drafts.files("nobody")) == ((), (), ())
    drafts.save_files(chat_id, [PLAN.attachment], PLAN)
    drafts.save_files(None, [BOOK.attachment], BOOK)
    assert drafts.files(chat_id) == (PLAN.attachment,)
    assert drafts.files(None) == (BOOK.attachment,)
    question, _ = chats.ask(chat_id, "How hot?", attachments=drafts.files(chat_id))
    drafts.save_files(chat_id, [])
    assert drafts.files(chat_id) == ()
    assert chats.path(chat_id)[-2] == question
    assert chats.documents(chat_id) == [PLAN.document]


def test_what_was_read_of_a_drafts_files_stays_as_long_as_they_stand_there(
    database: Database, chats: ChatStore
) -> None:
    drafts, kept = DraftStore(database), DocumentStore(database).hashes
    chat_id = chats.ask(None, "Hello")[0].chat_id
    drafts.save_files(chat_id, [PLAN.attachment], PLAN)
    drafts.save_files(None, [BOOK.attachment], BOOK)
    BranchStore(database).purge(30)
    assert kept() == {PLAN.document.sha256, BOOK.document.sha256}
    drafts.save_files(None, [])
    BranchStore(database).purge(30)
    assert kept() == {PLAN.document.sha256}
    chats.delete(chat_id)
    chats.purge(chat_id)
    assert kept() == set()


def test_a_copied_chat_has_no_draft(database: Database, chats: ChatStore) -> None:
    drafts = DraftStore(database)
    chat_id = chats.ask(None, "Hello")[0].chat_id
    drafts.save(chat_id, "half")
    drafts.save_files(chat_id, [PLAN.attachment], PLAN)
    copy = chats.duplicate(chat_id, "Copy")
    assert (drafts.of(copy), drafts.files(copy)) == ("", ())
