"""Waiting messages in the database: their order and branch; none is lost or sent twice."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest

from app.base.db import Database
from app.base.errors import ChatNotFound, NotWaiting
from app.chats.history.store.branches import BranchStore
from app.chats.history.store.chats import ChatStore
from app.chats.history.store.drafts import DraftStore
from app.chats.history.store.waiting import WaitingStore
from app.documents.store.documents import DocumentStore
from tests.support.attached import attached

PLAN = attached("plan.txt", "The oven takes 250 degrees.")


@pytest.fixture
def waiting(database: Database) -> WaitingStore:
    return WaitingStore(database)


def answered(chats: ChatStore) -> str:
    _, answer = chats.ask(None, "q")
    chats.save_answer(replace(answer, text="a", state="complete"))
    return answer.chat_id


def texts(waiting: WaitingStore, chat_id: str) -> list[str]:
    return [item.text for item in waiting.of(chat_id)]


def test_they_are_kept_in_order_for_another_run(
    chats: ChatStore, waiting: WaitingStore, database: Database
) -> None:
    chat_id = answered(chats)
    for text in ("one", "two", "three"):
        waiting.add(chat_id, text, '{"mtp": "off"}')
    again = WaitingStore(database)
    assert texts(again, chat_id) == ["one", "two", "three"]
    assert again.of(chat_id)[0].options == '{"mtp": "off"}'


def test_they_can_be_arranged_changed_and_removed(chats: ChatStore, waiting: WaitingStore) -> None:
    chat_id = answered(chats)
    one, two, three = (waiting.add(chat_id, text, "{}") for text in ("one", "two", "three"))
    waiting.arrange([three.id, one.id, two.id])
    waiting.change(one.id, "ONE")
    assert texts(waiting, chat_id) == ["three", "ONE", "two"]
    waiting.remove(one.id)
    waiting.put_back(one, [three.id, one.id, two.id])
    assert texts(waiting, chat_id) == ["three", "one", "two"]


def test_one_that_is_sent_is_a_question_and_waits_no_more(
    chats: ChatStore, waiting: WaitingStore
) -> None:
    chat_id = answered(chats)
    one = waiting.add(chat_id, "one", "{}")
    question, answer = waiting.send(one.id, on_shown_branch=False)
    assert waiting.of(chat_id) == ()
    assert [it.id for it in chats.path(chat_id)][2:] == [question.id, answer.id]
    with pytest.raises(NotWaiting):
        waiting.send(one.id, on_shown_branch=False)
    assert len(chats.messages(chat_id)) == 4


def test_each_follows_the_answer_to_the_one_before(chats: ChatStore, waiting: WaitingStore) -> None:
    chat_id = answered(chats)
    one, two = waiting.add(chat_id, "one", "{}"), waiting.add(chat_id, "two", "{}")
    _, first = waiting.send(one.id, on_shown_branch=False)
    question, _ = waiting.send(two.id, on_shown_branch=False)
    assert question.parent_id == first.id


def test_it_stays_on_its_branch_while_another_is_looked_at(
    chats: ChatStore, waiting: WaitingStore, database: Database
) -> None:
    chat_id = answered(chats)
    path = chats.path(chat_id)
    one = waiting.add(chat_id, "one", "{}")
    other = BranchStore(database).say_instead(path[1], "mine", "")
    question, _ = waiting.send(one.id, on_shown_branch=False)
    assert question.parent_id == path[1].id
    assert chats.chat(chat_id).leaf_id == other.id, "what is shown stays"


def test_its_user_sends_it_where_they_look(
    chats: ChatStore, waiting: WaitingStore, database: Database
) -> None:
    chat_id = answered(chats)
    one = waiting.add(chat_id, "one", "{}")
    other = BranchStore(database).say_instead(chats.path(chat_id)[1], "mine", "")
    question, answer = waiting.send(one.id, on_shown_branch=True)
    assert question.parent_id == other.id
    assert chats.chat(chat_id).leaf_id == answer.id


def test_what_it_waited_for_was_deleted(
    chats: ChatStore, waiting: WaitingStore, database: Database
) -> None:
    chat_id = answered(chats)
    path = chats.path(chat_id)
    one = waiting.add(chat_id, "one", "{}")
    BranchStore(database).remove(path[1], {})
    question, _ = waiting.send(one.id, on_shown_branch=False)
    assert question.parent_id == path[0].id


def test_it_goes_with_its_chat_and_comes_back_with_it(
    chats: ChatStore, waiting: WaitingStore
) -> None:
    chat_id = answered(chats)
    one = waiting.add(chat_id, "one", "{}")
    chats.delete(chat_id)
    with pytest.raises(ChatNotFound):
        waiting.send(one.id, on_shown_branch=False)
    with pytest.raises(ChatNotFound):
        waiting.add(chat_id, "two", "{}")
    chats.undelete(chat_id)
    assert texts(waiting, chat_id) == ["one"]
    chats.delete(chat_id)
    chats.purge(chat_id)
    assert waiting.of(chat_id) == ()


def test_a_crash_while_sending_leaves_it_waiting_or_asked_never_both_or_neither(
    chats: ChatStore, waiting: WaitingStore, database: Database
) -> None:
    chat_id = answered(chats)
    one = waiting.add(chat_id, "one", "{}")
    with database.write() as db:
        db.execute(
            "CREATE TRIGGER full BEFORE DELETE ON waiting BEGIN SELECT RAISE(ABORT, 'cut'); END"
        )
    with pytest.raises(sqlite3.DatabaseError):
        waiting.send(one.id, on_shown_branch=False)
    assert texts(waiting, chat_id) == ["one"]
    assert len(chats.messages(chat_id)) == 2


def test_one_waits_with_its_files_and_is_asked_with_them(
    chats: ChatStore, waiting: WaitingStore, database: Database
) -> None:
    chat_id = answered(chats)
    DraftStore(database).save_files(chat_id, [PLAN.attachment], PLAN)
    item = waiting.add(chat_id, "How hot?", "{}", attachments=[PLAN.attachment])
    DraftStore(database).save_files(chat_id, [])
    waiting.change(item.id, "How hot exactly?")
    BranchStore(database).purge(30)
    assert waiting.of(chat_id) == (replace(item, text="How hot exactly?"),)
    waiting.remove(item.id)
    waiting.put_back(item, [item.id])
    question, _ = waiting.send(item.id, on_shown_branch=True)
    assert question.attachments == (PLAN.attachment,)
    assert DocumentStore(database).hashes() == {PLAN.document.sha256}
