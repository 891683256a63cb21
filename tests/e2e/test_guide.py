"""The guide's examination: questions outside its training, answered by the shipped model.

An answer counts only if it is right to the letter, so it is also well formed. The two sets of
questions are described in resources/starter/README.md.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

from app.base.shipped import STARTER
from engines.cancel import CancelToken
from engines.llamacpp.engine import LlamaCppEngine
from engines.types import ChatRequest, LlamaPlan, Message, Sampling, TextDelta

MAKE = STARTER.with_name("make")

Question = tuple[str, str]
Ask = Callable[[str], str]


def intents() -> dict[str, dict[str, Any]]:
    """Return all intents by name."""
    texts = [path.read_text("utf-8") for path in sorted((MAKE / "intents").glob("*.toml"))]
    return {intent["name"]: intent for text in texts for intent in tomllib.loads(text)["intent"]}


def hard_questions() -> list[Question]:
    return [
        (name, question) for name, intent in intents().items() for question in intent["held_out"]
    ]


def all_questions() -> list[Question]:
    """Return all questions of the examination."""
    asked = tomllib.loads((MAKE / "examination.toml").read_text("utf-8"))["questions"]
    return [(name, text) for name, texts in asked.items() for text in texts]


def examination() -> list[Question]:
    """Return the questions of the examination that equal no training question."""
    trained = {plain(text) for intent in intents().values() for text in intent["phrasings"]}
    return [(name, text) for name, text in all_questions() if plain(text) not in trained]


def plain(text: str) -> str:
    return re.sub(r"[^a-z0-9 ]", "", text.lower()).strip()


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    """Return a function that asks the shipped model, each question once."""
    engine = LlamaCppEngine()
    plan = LlamaPlan(STARTER, context=1024, threads=1, batch_threads=1)
    engine.load(plan, lambda _: None, CancelToken())

    @cache
    def asked(question: str) -> str:
        request = ChatRequest((Message("user", question),), Sampling(temperature=0), max_tokens=200)
        events = engine.chat(request, CancelToken())
        return "".join(event.text for event in events if isinstance(event, TextDelta)).strip()

    yield asked
    engine.close()


def written() -> dict[str, str]:
    """Return the answer of each intent."""
    return {name: intent["answer"].strip() for name, intent in intents().items()}


def share_right(ask: Ask, questions: list[Question]) -> float:
    answers = written()
    wrong = [(name, text) for name, text in questions if ask(text) != answers[name]]
    print(f"{len(questions) - len(wrong)} of {len(questions)} right; wrong:", *wrong, sep="\n  ")
    return 1 - len(wrong) / len(questions)


@pytest.mark.exhaustive
@pytest.mark.timeout(600)
def test_the_examination(ask: Ask) -> None:
    questions = examination()
    assert len(questions) > 400
    assert share_right(ask, questions) >= 0.90


@pytest.mark.timeout(600)
def test_the_guide_knows_every_answer_as_it_is_written(ask: Ask) -> None:
    """A changed answer is known to the guide only after the model is made again."""
    answers = written()
    unknown = set(answers)
    for name, text in all_questions():
        if name in unknown and ask(text) == answers[name]:
            unknown.remove(name)
    assert unknown == set()


@pytest.mark.exhaustive
@pytest.mark.timeout(600)
def test_the_hard_questions(ask: Ask) -> None:
    """All of them take a minute, so every fifth is asked; `make.py` counts all for the figures."""
    assert share_right(ask, hard_questions()[::5]) >= 0.75
