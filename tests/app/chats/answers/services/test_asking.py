"""The names kept with an answer that one model began and another continued."""

from __future__ import annotations

from dataclasses import replace

from app.chats.answers.services.in_progress import with_request
from app.chats.answers.values.answer_record import EDITED, AnswerRecord, as_json, from_json
from app.chats.history.values.conversation import StoredMessage
from app.chats.transcript.pages.answer_facts_card import rows_of

EMPTY = StoredMessage("a", "c", "q", "assistant", "", 0.0)


def written(answer: StoredMessage, *names: str) -> StoredMessage:
    """Return the answer, begun by the first of these models and continued by the others."""
    for name in names:
        answer = replace(
            with_request(answer, AnswerRecord(name, name)), text=answer.text + "More. "
        )
    return answer


def kept(answer: StoredMessage) -> AnswerRecord:
    asked = from_json(answer.asked)
    assert asked is not None
    return asked


def test_whoever_began_an_answer_that_another_model_ended_is_named() -> None:
    answer = written(EMPTY, "Guide", "Guide", "Guide on team", "Large")
    assert (kept(answer).name, kept(answer).parts) == ("Large", 4)
    assert dict(rows_of(answer))["Started by"] == "Guide, Guide on team"


def test_one_model_that_was_stopped_and_went_on_has_begun_it_itself() -> None:
    answer = written(EMPTY, "Guide", "Guide")
    assert (kept(answer).parts, kept(answer).before) == (2, ())
    assert "Started by" not in dict(rows_of(answer))


def test_an_answer_of_which_nothing_came_was_begun_by_nobody() -> None:
    answer = with_request(
        with_request(EMPTY, AnswerRecord("Guide", "Guide")), AnswerRecord("Large", "Large")
    )
    assert (kept(answer).parts, kept(answer).before) == (1, ())


def test_the_user_s_own_words_are_no_model_s() -> None:
    mine = replace(EMPTY, text="My own. ", asked=as_json(replace(EDITED, name="Guide")))
    assert kept(written(mine, "Large")).before == ()
