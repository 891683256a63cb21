"""Reproducing an answer with its original settings, and the reasons when that is impossible."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.base.errors import NotReproducible, ReproductionMayDiffer
from app.chats.answers.presenters.reproducing import Comparison, Plan, compare, plan
from app.chats.answers.values.answer_record import as_json, from_json
from app.chats.answers.values.answers import AnswerOptions
from app.chats.history.values.conversation import StoredMessage
from tests.engines.gguf_files import write_llama
from tests.support.answering import Desk, desk
from tests.support.outcomes import outcome
from tests.support.services import Services


@pytest.fixture
def at(qtbot: QtBot, services: Services, tmp_path: Path) -> Iterator[Desk]:
    made = desk(qtbot, services, tmp_path)
    yield made
    made.tasks.close()


@pytest.fixture
def model(services: Services, tmp_path: Path) -> str:
    return services.library.add(write_llama(tmp_path / "m.gguf")).id


def reproduce(at: Desk, answer: StoredMessage) -> tuple[Plan, Comparison]:
    planned = outcome(at.qtbot, partial(at.reproducing.plan, answer))
    assert isinstance(planned, Plan)
    found: list[Comparison] = []
    at.reproducing.begin(planned, lambda _, compared: found.append(compared), at.errors.append)
    at.qtbot.waitUntil(lambda: bool(found))
    return planned, found[0]


def test_all_is_as_it_was_whatever_the_settings_say_now(at: Desk, model: str) -> None:
    answer = at.ask(
        "Hi", model=model, temperature=0.3, seed=11, max_tokens=50, mtp="off", stop=("END",),
        thinking="off", effort="low", thinking_budget=64, overflow="stop",
        system_prompt="Be brief.", top_k=9, kv_type="q8_0",
    )  # fmt: skip
    at.services.own(model, temperature=0.9, top_k=77, kv_type="f16", system_prompt="Be long.")
    at.services.chats.set_mtp(answer.chat_id, "on")
    planned, found = reproduce(at, answer)
    assert planned.doubt is None
    first, second = at.services.engine.requests
    # The seed is the one that the engine reports.
    assert second == replace(first, sampling=replace(first.sampling, seed=7))
    assert at.services.engine.plans[-1].kv_type == "q8_0"
    assert found == Comparison(same=True)


def test_it_stands_beside_the_old_one(at: Desk) -> None:
    answer = at.ask("Hi")
    reproduce(at, answer)
    assert at.ended[-1].parent_id == answer.parent_id
    assert at.ended[-1].id != answer.id


def test_a_difference_is_said_with_where_it_begins(at: Desk) -> None:
    at.services.engine.pieces = ("one two", " three")
    answer = at.ask("Hi")
    at.services.engine.pieces = ("one two", " four")
    _, found = reproduce(at, answer)
    assert found == Comparison(same=False, words=2)


def test_what_was_not_as_it_had_been_is_named(at: Desk) -> None:
    answer = at.ask("Hi")
    asked = from_json(answer.asked)
    assert asked is not None
    old = replace(answer, text="else", asked=as_json(replace(asked, prompt="x", context=1)))
    found = compare(old, answer)
    assert found.reasons == ("the conversation before it", "the size of the context")


def test_a_stopped_answer_is_compared_as_far_as_it_goes(at: Desk) -> None:
    answer = at.ask("Hi")
    assert compare(replace(answer, text="Hello", state="stopped"), answer).same
    assert not compare(replace(answer, text="Hello"), answer).same


def test_the_model_has_gone(at: Desk, model: str) -> None:
    answer = at.ask("Hi", model=model)
    at.services.library.remove(model)
    with pytest.raises(NotReproducible) as caught:
        plan(answer, at.services.library.find)
    assert "“m”" in caught.value.why
    error = outcome(at.qtbot, partial(at.reproducing.plan, answer))
    assert all((error.what, error.why, error.do))


def test_its_file_has_gone(at: Desk, model: str) -> None:
    answer = at.ask("Hi", model=model)
    at.services.library.find(model).path.unlink()
    with pytest.raises(NotReproducible):
        plan(answer, at.services.library.find)


def test_its_file_was_changed(at: Desk, model: str) -> None:
    answer = at.ask("Hi", model=model)
    path = at.services.library.find(model).path
    os.utime(path, ns=(1, 1))
    planned = plan(answer, at.services.library.find)
    assert isinstance(planned.doubt, ReproductionMayDiffer)
    assert "changed" in planned.doubt.why


def test_the_same_bytes_in_another_file_are_the_same_model(at: Desk, model: str) -> None:
    answer = at.ask("Hi", model=model)
    asked = from_json(answer.asked)
    assert asked is not None
    known = replace(answer, asked=as_json(replace(asked, sha256="ab")))
    entry = replace(at.services.library.find(model), sha256="ab")
    os.utime(entry.path, ns=(1, 1))
    assert plan(known, lambda _: entry).doubt is None


def test_an_answer_in_two_parts_is_doubted(at: Desk) -> None:
    answer = at.ask("Hi")
    at.generation.resume(answer, AnswerOptions(), at.errors.append)
    at.wait_for(2)
    asked = from_json(at.ended[-1].asked)
    assert asked is not None
    assert asked.parts == 2
    planned = plan(at.ended[-1], at.services.library.find)
    assert planned.doubt is not None
    assert "2 parts" in planned.doubt.why


def test_an_older_answer_and_the_users_own_words_say_why_not(at: Desk) -> None:
    answer = at.ask("Hi")
    with pytest.raises(NotReproducible) as older:
        plan(replace(answer, asked=""), at.services.library.find)
    at.branches.say_instead(answer, "Mine", at.errors.append)
    at.wait_until_saved()
    with pytest.raises(NotReproducible) as own:
        plan(at.services.chats.path(answer.chat_id)[-1], at.services.library.find)
    assert older.value.what != own.value.what
