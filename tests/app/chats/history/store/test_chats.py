"""Chats and messages in the database: saving, branches, deletion, titles, crashes."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import replace

import psutil
import pytest

from app.base.db import Database
from app.base.errors import AnswerInUse, ChatNotFound
from app.base.processes import is_alive, this_process
from app.chats.context.store import SummaryStore
from app.chats.context.values.summary import Summary
from app.chats.history.store.chats import ChatStore
from app.chats.history.store.drafts import DraftStore
from app.chats.history.store.waiting import WaitingStore
from app.chats.history.values.conversation import AnswerFacts, Failure
from engines.types import MtpReport


def test_a_question_begins_a_chat_with_an_empty_answer(chats: ChatStore) -> None:
    question, answer = chats.ask(None, "What is a token?\nSecond line")
    (chat,) = chats.chats()
    assert chat.title == "What is a token?"
    assert chat.leaf_id == answer.id
    assert [m.text for m in chats.path(chat.id)] == ["What is a token?\nSecond line", ""]
    assert answer.state == "streaming"
    assert answer.parent_id == question.id


def test_an_answer_comes_back_as_it_was_saved(chats: ChatStore) -> None:
    _, answer = chats.ask(None, "Hello")
    mtp = MtpReport("auto", True, "2 ahead", "drafter", 2, 120, 81, 1.4, 1.5)
    facts = AnswerFacts("m", "llamacpp", 3, 1, 7, 4096, 0, 0.1, 55.0, 42, "stop", mtp)
    saved = replace(answer, text="Hi ☕ there", reasoning="hm", state="complete", facts=facts)
    chats.save_answer(saved)
    assert chats.path(answer.chat_id)[-1] == saved


def test_a_failure_comes_back_as_it_was_saved(chats: ChatStore) -> None:
    _, answer = chats.ask(None, "Hello")
    saved = replace(answer, state="failed", failure=Failure("memory", "what", "why", "do"))
    chats.save_answer(saved)
    assert chats.path(answer.chat_id)[-1] == saved


def test_regenerating_keeps_the_old_answer_as_a_branch(chats: ChatStore) -> None:
    question, first = chats.ask(None, "Hello")
    chats.save_answer(replace(first, text="one", state="complete"))
    second = chats.answer_again(first.chat_id, first.id)
    assert second.parent_id == question.id
    assert [m.id for m in chats.path(first.chat_id)] == [question.id, second.id]
    assert {m.id for m in chats.messages(first.chat_id)} == {question.id, first.id, second.id}


def test_a_follow_up_hangs_on_the_branch_that_is_shown(chats: ChatStore) -> None:
    _, first = chats.ask(None, "Hello")
    second = chats.answer_again(first.chat_id, first.id)
    question, _ = chats.ask(first.chat_id, "And then?")
    assert question.parent_id == second.id


def test_an_answer_of_a_process_that_has_gone_is_interrupted(
    chats: ChatStore, database: Database
) -> None:
    _, answer = chats.ask(None, "Hello")
    chats.save_answer(replace(answer, text="half"))
    assert chats.mark_interrupted() == 0, "its writer, this process, is alive"
    with database.write() as db:
        db.execute("UPDATE messages SET writer = '999999999:1.00' WHERE id = ?", (answer.id,))
    assert chats.mark_interrupted() == 1
    (_, lost) = chats.path(answer.chat_id)
    assert (lost.state, lost.text) == ("interrupted", "half")
    assert chats.mark_interrupted() == 0


def test_reopening_goes_on_with_the_same_answer(chats: ChatStore) -> None:
    _, answer = chats.ask(None, "Hello")
    chats.save_answer(replace(answer, text="half", state="interrupted"))
    reopened = chats.reopen(chats.path(answer.chat_id)[-1])
    assert (reopened.state, reopened.text) == ("streaming", "half")
    assert chats.path(answer.chat_id)[-1] == reopened


def test_writers_are_told_apart_by_when_they_started() -> None:
    assert is_alive(this_process())
    pid = this_process().split(":")[0]
    assert not is_alive(f"{pid}:1.00")
    assert not is_alive(None)
    assert not is_alive("nonsense")


def test_the_chat_used_last_is_first(chats: ChatStore) -> None:
    _, first = chats.ask(None, "first")
    chats.ask(None, "second")
    chats.ask(first.chat_id, "again")
    assert [chat.title for chat in chats.chats()] == ["first", "second"]


def test_rename_delete_undelete(chats: ChatStore) -> None:
    _, answer = chats.ask(None, "Hello")
    chats.rename(answer.chat_id, "Greetings")
    assert chats.chat(answer.chat_id).title == "Greetings"
    chats.delete(answer.chat_id)
    assert chats.chats() == []
    with pytest.raises(ChatNotFound):
        chats.chat(answer.chat_id)
    chats.undelete(answer.chat_id)
    assert len(chats.path(answer.chat_id)) == 2


def test_a_title_by_the_user_is_the_last_word(chats: ChatStore) -> None:
    chat_id = chats.ask(None, "Hello, who are you?")[0].chat_id
    assert chats.entitle(chat_id, "Introductions")
    assert (chats.chat(chat_id).title, chats.chat(chat_id).titled_by) == ("Introductions", "model")
    assert not chats.entitle(chat_id, "Once more"), "the model has had its say"
    chats.rename(chat_id, "Mine")
    assert not chats.entitle(chat_id, "Not mine")
    assert (chats.chat(chat_id).title, chats.chat(chat_id).titled_by) == ("Mine", "user")


def test_deleted_chats_are_removed_only_when_they_are_old(
    chats: ChatStore, database: Database
) -> None:
    _, answer = chats.ask(None, "Hello")
    chats.delete(answer.chat_id)
    _, kept = chats.ask(None, "Kept")
    assert chats.deleted(days=1) == []
    assert chats.deleted() == [answer.chat_id]
    chats.purge(answer.chat_id)
    chats.purge(kept.chat_id)
    assert [chat.title for chat in chats.chats()] == ["Kept"]
    chats.delete(kept.chat_id)
    chats.purge(kept.chat_id)
    with database.read() as db:
        assert db.execute("SELECT count(*) FROM messages").fetchone()[0] == 0


def test_the_beginning_of_an_id_is_enough_if_it_is_unique(
    chats: ChatStore, database: Database
) -> None:
    with database.write() as db:
        db.executemany(
            "INSERT INTO chats (id, title, created, updated) VALUES (?, 't', 1.0, 1.0)",
            [("abc1",), ("abc2",)],
        )
    assert chats.chat("abc1").id == "abc1"
    for called in ("abc", "", "x", "%"):
        with pytest.raises(ChatNotFound):
            chats.chat(called)


def test_continuing_goes_on_from_the_longer_text(chats: ChatStore) -> None:
    _, answer = chats.ask(None, "Hello")
    half = replace(answer, text="half", state="interrupted")
    chats.save_answer(replace(answer, text="half and the rest", state="complete"))
    assert chats.reopen(half).text == "half and the rest"
    longer = replace(half, text="half and the rest, not yet saved")
    assert chats.reopen(longer).text == longer.text
    assert chats.path(answer.chat_id)[-1].text == longer.text


def test_an_answer_of_another_living_process_is_left_to_it(
    chats: ChatStore, database: Database
) -> None:
    _, answer = chats.ask(None, "Hello")
    parent = psutil.Process(os.getppid())
    with database.write() as db:
        db.execute("UPDATE messages SET writer = ?", (f"{parent.pid}:{parent.create_time():.2f}",))
    with pytest.raises(AnswerInUse):
        chats.reopen(answer)


def test_a_deleted_chat_takes_no_more_questions(chats: ChatStore) -> None:
    _, answer = chats.ask(None, "Hello")
    chats.delete(answer.chat_id)
    with pytest.raises(ChatNotFound):
        chats.ask(answer.chat_id, "Still there?")
    with pytest.raises(ChatNotFound):
        chats.answer_again(answer.chat_id, answer.id)
    with pytest.raises(ChatNotFound):
        chats.reopen(answer)


def test_facts_from_before_mtp_can_be_read(chats: ChatStore, database: Database) -> None:
    _, answer = chats.ask(None, "Hello")
    with database.write() as db:
        db.execute(
            "UPDATE messages SET facts = ? WHERE id = ?",
            ('{"model": "m", "engine": "llamacpp", "seed": 3}', answer.id),
        )
    facts = chats.path(answer.chat_id)[-1].facts
    assert facts == AnswerFacts("m", "llamacpp", seed=3)


def test_the_switch_of_a_chat_is_its_own(chats: ChatStore, database: Database) -> None:
    _, first = chats.ask(None, "first", "off")
    _, second = chats.ask(None, "second", "auto")
    chats.ask(first.chat_id, "again", "on")
    assert chats.mtp(first.chat_id) == "off", "only set_mtp moves a switch that was set"
    chats.set_mtp(second.chat_id, "on")
    assert {chat.title: chat.mtp for chat in chats.chats()} == {"first": "off", "second": "on"}
    chats.delete(first.chat_id)
    assert chats.mtp(first.chat_id) == "off"
    _, third = chats.ask(None, "third")
    assert chats.mtp(third.chat_id) is None
    assert chats.mtp("nobody") is None
    with pytest.raises(sqlite3.IntegrityError), database.write() as db:
        db.execute("UPDATE chats SET mtp = 'sometimes'")


def test_a_copy_has_every_branch_and_goes_its_own_way(chats: ChatStore, database: Database) -> None:
    question, first = chats.ask(None, "Hello")
    chat_id = question.chat_id
    chats.save_answer(replace(first, text="one", state="complete"))
    second = chats.answer_again(chat_id, first.id)
    chats.save_answer(replace(second, text="two", state="complete"))
    SummaryStore(database).save(Summary(first.id, "short", "m", 3, 1.0, "hash"))
    DraftStore(database).save(chat_id, "unsent")
    WaitingStore(database).add(chat_id, "later", "{}")
    copy_id = chats.duplicate(chat_id, "Hello (copy)")
    copy = chats.chat(copy_id)
    assert (copy.title, copy.titled_by, copy.draft) == ("Hello (copy)", "user", "")
    assert [it.id for it in chats.chats()] == [copy_id, chat_id]
    assert [it.text for it in chats.path(copy_id)] == ["Hello", "two"]
    assert sorted(it.text for it in chats.messages(copy_id)) == ["Hello", "one", "two"]
    assert WaitingStore(database).of(copy_id) == ()
    assert [it.text for it in SummaryStore(database).of_chat(copy_id)] == ["short"]
    ids = {it.id for it in chats.messages(chat_id)}
    assert not ids & {it.id for it in chats.messages(copy_id)}
    chats.ask(copy_id, "More")
    assert [it.text for it in chats.path(chat_id)] == ["Hello", "two"]


def test_a_copy_of_an_answer_that_is_written_is_nobodys(chats: ChatStore) -> None:
    _, answer = chats.ask(None, "Hello")
    copy_id = chats.duplicate(answer.chat_id, "Copy")
    assert [it.state for it in chats.path(copy_id)] == ["complete", "interrupted"]
    assert chats.path(answer.chat_id)[-1].state == "streaming"


def test_what_was_deleted_is_not_copied(chats: ChatStore) -> None:
    question, _ = chats.ask(None, "Hello")
    chats.delete(question.chat_id)
    with pytest.raises(ChatNotFound):
        chats.duplicate(question.chat_id, "Copy")
    assert chats.chats() == []
