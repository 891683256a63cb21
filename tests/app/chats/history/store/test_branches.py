"""Branches in the database: edited messages, ratings, and deletion with undo."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.base.db import Database
from app.base.errors import ChatNotFound
from app.chats.history.store.branches import BranchStore
from app.chats.history.store.chats import ChatStore
from app.chats.history.values.conversation import StoredMessage


@pytest.fixture
def branches(database: Database) -> BranchStore:
    return BranchStore(database)


def turns(chats: ChatStore, count: int) -> list[StoredMessage]:
    """Make a chat of this many turns and return its messages."""
    chat_id = None
    for number in range(count):
        _, answer = chats.ask(chat_id, f"q{number}")
        chats.save_answer(replace(answer, text=f"a{number}", state="complete"))
        chat_id = answer.chat_id
    assert chat_id is not None
    return list(chats.path(chat_id))


def texts(chats: ChatStore, chat_id: str) -> list[str]:
    return [message.text for message in chats.path(chat_id)]


def test_a_question_in_the_middle_has_another_wording_beside_it(
    chats: ChatStore, branches: BranchStore
) -> None:
    path = turns(chats, 3)
    chat_id = path[0].chat_id
    question, answer = branches.ask_instead(path[2], "q1, better")
    assert (question.parent_id, answer.parent_id) == (path[1].id, question.id)
    assert texts(chats, chat_id) == ["q0", "a0", "q1, better", ""]
    assert len(chats.messages(chat_id)) == 8, "nothing is lost"
    branches.show(chat_id, path[-1].id)
    assert texts(chats, chat_id) == ["q0", "a0", "q1", "a1", "q2", "a2"]


def test_the_first_question_can_have_another_wording_too(
    chats: ChatStore, branches: BranchStore
) -> None:
    path = turns(chats, 2)
    question, _ = branches.ask_instead(path[0], "other")
    assert question.parent_id is None
    assert texts(chats, question.chat_id) == ["other", ""]
    assert branches.tree(question.chat_id).fork(path[0].id) is not None


def test_the_users_words_stand_beside_an_answer(chats: ChatStore, branches: BranchStore) -> None:
    path = turns(chats, 2)
    edited = branches.say_instead(path[1], "mine", '{"edited": true}')
    assert texts(chats, edited.chat_id) == ["q0", "mine"]
    stored = chats.path(edited.chat_id)[-1]
    assert (stored.state, stored.role, stored.asked) == ("complete", "assistant", edited.asked)


def test_looking_at_another_branch_is_no_use_of_the_chat(
    chats: ChatStore, branches: BranchStore
) -> None:
    path = turns(chats, 1)
    before = chats.chat(path[0].chat_id).updated
    branches.show(path[0].chat_id, path[0].id)
    assert chats.chat(path[0].chat_id).updated == before


def test_an_old_answer_in_the_middle_is_answered_again(
    chats: ChatStore, branches: BranchStore
) -> None:
    path = turns(chats, 3)
    again = chats.answer_again(path[0].chat_id, path[1].id)
    assert texts(chats, again.chat_id) == ["q0", ""]
    fork = branches.tree(again.chat_id).fork(again.id)
    assert fork is not None
    assert fork.ids == (path[1].id, again.id)


def test_deleting_takes_all_that_follows_and_undo_brings_the_former_view_back(
    chats: ChatStore, branches: BranchStore
) -> None:
    path = turns(chats, 3)
    chat_id = path[0].chat_id
    branches.ask_instead(path[4], "q2, better")
    branches.show(chat_id, path[5].id)
    before = chats.messages(chat_id)
    removed = branches.remove(path[2], {})
    assert len(removed.ids) == 6, "on both branches below it"
    assert texts(chats, chat_id) == ["q0", "a0"]
    assert len(chats.messages(chat_id)) == 2
    branches.put_back(removed)
    assert chats.messages(chat_id) == before
    assert chats.path(chat_id) == tuple(path)


def test_what_was_deleted_before_stays_so(chats: ChatStore, branches: BranchStore) -> None:
    path = turns(chats, 2)
    first = branches.remove(path[2], {})
    second = branches.remove(path[1], {})
    branches.put_back(second)
    assert texts(chats, path[0].chat_id) == ["q0", "a0"]
    branches.put_back(first)
    assert texts(chats, path[0].chat_id) == ["q0", "a0", "q1", "a1"]


def test_what_comes_back_brings_what_it_follows(chats: ChatStore, branches: BranchStore) -> None:
    path = turns(chats, 3)
    first = branches.remove(path[4], {})
    second = branches.remove(path[2], {})
    branches.put_back(first)
    assert texts(chats, path[0].chat_id) == ["q0", "a0", "q1", "a1", "q2", "a2"]
    branches.purge(0)
    assert len(chats.messages(path[0].chat_id)) == 6, "nothing hangs on what goes for good"
    branches.put_back(second)
    assert len(texts(chats, path[0].chat_id)) == 6, "the end of the path, whatever the order"


def test_deleting_everything_leaves_a_chat_to_begin_in(
    chats: ChatStore, branches: BranchStore
) -> None:
    path = turns(chats, 1)
    removed = branches.remove(path[0], {})
    assert chats.path(path[0].chat_id) == ()
    question, _ = chats.ask(path[0].chat_id, "anew")
    assert question.parent_id is None
    branches.put_back(removed)
    assert texts(chats, path[0].chat_id) == ["q0", "a0"]


def test_a_question_whose_answer_was_deleted_can_be_answered(
    chats: ChatStore, branches: BranchStore
) -> None:
    path = turns(chats, 1)
    branches.remove(path[1], {})
    answer = branches.answer_to(path[0])
    assert [message.id for message in chats.path(answer.chat_id)] == [path[0].id, answer.id]


def test_what_was_deleted_long_ago_goes_for_good_with_all_below(
    chats: ChatStore, branches: BranchStore
) -> None:
    path = turns(chats, 3)
    removed = branches.remove(path[2], {})
    branches.purge(1)
    branches.put_back(removed)
    assert len(chats.path(path[0].chat_id)) == 6
    branches.remove(path[2], {})
    branches.purge(0)
    branches.put_back(removed)
    assert len(chats.messages(path[0].chat_id)) == 2


def test_what_is_being_written_in_place_of_a_message_is_kept(
    chats: ChatStore, branches: BranchStore
) -> None:
    path = turns(chats, 1)
    branches.keep_edit(path[0].id, "half")
    branches.keep_edit(path[0].id, "half a thought")
    assert branches.edits(path[0].chat_id) == {path[0].id: "half a thought"}
    branches.keep_edit(path[0].id, None)
    assert branches.edits(path[0].chat_id) == {}


def test_a_rating_is_kept_and_taken_back(chats: ChatStore, branches: BranchStore) -> None:
    path = turns(chats, 1)
    branches.rate(path[1].id, -1)
    assert chats.path(path[1].chat_id)[-1].rating == -1
    branches.rate(path[1].id, 0)
    assert chats.path(path[1].chat_id)[-1].rating == 0


def test_nothing_is_written_into_a_chat_that_was_deleted(
    chats: ChatStore, branches: BranchStore
) -> None:
    path = turns(chats, 1)
    chats.delete(path[0].chat_id)
    with pytest.raises(ChatNotFound):
        branches.ask_instead(path[0], "other")
    with pytest.raises(ChatNotFound):
        branches.show(path[0].chat_id, path[0].id)


def test_the_tree_tells_how_messages_begin(chats: ChatStore, branches: BranchStore) -> None:
    path = turns(chats, 1)
    assert [node.words for node in branches.tree_with_words(path[0].chat_id).nodes] == ["q0", "a0"]
