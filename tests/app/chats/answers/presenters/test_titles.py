"""Titles written by the model: when one is made, when not, and its side effects."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.base.shipped import STARTER
from app.chats.answers.presenters.generation import Generation
from app.chats.answers.presenters.titles import Titles
from app.chats.answers.values.answers import AnswerOptions, Ready
from app.chats.history.values.conversation import StoredMessage
from app.chats.history.values.titles import title_request
from app.kit.tasks.tasks import Tasks
from app.settings.presenters import SettingsService
from app.settings.store import SettingsFile
from engines.cancel import CancelToken
from engines.errors import EngineFailed
from engines.llamacpp.engine import LlamaCppEngine
from engines.memory.load_options import LoadOptions
from engines.types import ChatRequest, Done, LlamaPlan, Message, Sampling, TextDelta
from tests.support.services import Services

QUESTION = "How do I bake bread?"


class Talk:
    """A generation with titles and a model that did not come with Hearth."""

    def __init__(self, services: Services, folder: Path, qtbot: QtBot) -> None:
        self.services = services
        self.qtbot = qtbot
        self.tasks = Tasks()
        self.settings = SettingsService(SettingsFile(folder / "settings.json"))
        model = folder / "other.gguf"
        shutil.copyfile(STARTER, model)
        self.settings.set("model", str(model))
        self.generation = Generation(services.chats, services.answers, self.settings, self.tasks)
        self.titles = Titles(
            services.chats, services.runtime, self.generation, self.settings, self.tasks
        )
        self.refused: list[Exception] = []
        self.generation.ready.connect(self._keep)

    def _keep(self, _: str, ready: Ready) -> None:
        """Keep the model that answered last."""
        self.ready = ready

    def begin(self, chat_id: str | None, text: str) -> None:
        options = AnswerOptions({"mtp": "auto"})
        self.generation.ask(chat_id, text, options, lambda _: None, self.refused.append)

    def ask(self, chat_id: str | None = None, text: str = QUESTION) -> str:
        with self.qtbot.waitSignal(self.generation.ended) as ended:
            self.begin(chat_id, text)
        return str(ended.args[0].chat_id)

    def settle(self) -> None:
        """Wait until no title is being made."""
        self.qtbot.waitUntil(lambda: not self.titles.is_busy)

    def title(self, chat_id: str) -> tuple[str, str]:
        self.settle()
        chat = self.services.chats.chat(chat_id)
        return chat.title, chat.titled_by


@pytest.fixture
def talk(services: Services, tmp_path: Path, qtbot: QtBot) -> Iterator[Talk]:
    talk = Talk(services, tmp_path, qtbot)
    yield talk
    talk.tasks.close()


def test_a_chat_gets_its_title_after_the_first_answer(talk: Talk) -> None:
    talk.services.engine.pieces = ("Baking", " Bread")
    with talk.qtbot.waitSignal(talk.titles.titled) as titled:
        chat_id = talk.ask()
    assert titled.args == [chat_id, "Baking Bread"]
    assert talk.title(chat_id) == ("Baking Bread", "model")
    asked = len(talk.services.engine.requests)
    talk.ask(chat_id, "And then?")
    talk.settle()
    assert len(talk.services.engine.requests) == asked + 1, "one title is enough"
    assert talk.services.engine.requests[1].chat is None
    assert QUESTION in talk.services.engine.requests[1].messages[0].text


def test_a_title_of_the_users_stays(talk: Talk) -> None:
    talk.services.engine.hold = threading.Event()
    with talk.qtbot.waitSignal(talk.generation.asked) as asked:
        talk.begin(None, QUESTION)
    chat_id = asked.args[0].chat_id
    talk.services.chats.rename(chat_id, "Mine")
    with talk.qtbot.waitSignal(talk.generation.ended):
        talk.services.engine.hold.set()
    assert talk.title(chat_id) == ("Mine", "user")
    assert len(talk.services.engine.requests) == 1


def test_a_model_that_fails_at_it_leaves_the_title_and_gets_more_chances(talk: Talk) -> None:
    talk.services.engine.pieces = ("word " * 30,)
    chat_id = talk.ask()
    for number in range(3):
        assert talk.title(chat_id) == (QUESTION, "text")
        talk.ask(chat_id, f"More {number}")
    assert talk.title(chat_id) == (QUESTION, "text")
    requests = talk.services.engine.requests
    assert [request.chat is None for request in requests].count(True) == 3


def test_an_engine_that_fails_is_no_news(talk: Talk) -> None:
    talk.ask()
    talk.settle()
    talk.services.engine.error = EngineFailed("It", "failed", "again")
    other = talk.services.chats.ask(None, "Other")[1]
    with talk.qtbot.assertNotEmitted(talk.generation.crashed):
        talk.generation.ready.emit(other.id, talk.ready)
        talk.generation.ended.emit(_complete(talk, other.id, other.chat_id))
        assert talk.title(other.chat_id) == ("Other", "text")
    assert talk.services.engine.requests[-1].chat is None, "it was tried"


def test_it_can_be_switched_off(talk: Talk) -> None:
    talk.settings.set("auto_titles", False)
    assert talk.title(talk.ask()) == (QUESTION, "text")
    assert len(talk.services.engine.requests) == 1


def test_what_comes_with_hearth_makes_no_titles(talk: Talk) -> None:
    talk.settings.set("model", "starter")
    assert talk.title(talk.ask()) == (QUESTION, "text")
    assert len(talk.services.engine.requests) == 1


def test_no_other_model_is_told_of_a_chat(talk: Talk) -> None:
    """The chat's model may have been unloaded in favour of another before the title is made."""
    talk.settings.set("auto_titles", False)
    heard: list[Ready] = []
    talk.generation.ready.connect(lambda _, ready: heard.append(ready))
    chat = talk.ask()
    answer = talk.services.chats.path(chat)[-1]
    starter = talk.services.library.find("starter")
    talk.services.runtime.lease(starter, LoadOptions(), lambda _: None, CancelToken()).close()
    asked = len(talk.services.engine.requests)
    talk.settings.set("auto_titles", True)
    talk.generation.ready.emit(answer.id, heard[0])
    talk.generation.ended.emit(answer)
    assert talk.title(chat)[1] == "text"
    assert len(talk.services.engine.requests) == asked


def test_a_stopped_answer_makes_no_title(talk: Talk) -> None:
    talk.services.engine.hold = threading.Event()
    with talk.qtbot.waitSignal(talk.generation.begun) as begun:
        talk.begin(None, QUESTION)
    with talk.qtbot.waitSignal(talk.generation.ended):
        talk.generation.stop(begun.args[0].chat_id)
    assert talk.title(begun.args[0].chat_id) == (QUESTION, "text")


def test_an_answer_goes_before_a_title(talk: Talk) -> None:
    chat_id = talk.ask()
    talk.settle()
    engine = talk.services.engine
    engine.hold = threading.Event()
    other = talk.services.chats.ask(None, "Other")[1]
    asked = len(engine.requests)
    talk.generation.ready.emit(other.id, talk.ready)
    talk.generation.ended.emit(_complete(talk, other.id, other.chat_id))
    talk.qtbot.waitUntil(lambda: len(engine.requests) > asked)
    assert engine.requests[-1].chat is None
    with talk.qtbot.waitSignal(talk.generation.begun):
        talk.begin(chat_id, "Now")
    talk.qtbot.waitUntil(lambda: engine.requests[-1].chat == chat_id)
    engine.hold.set()
    assert talk.title(other.chat_id) == ("Other", "text")


def _complete(talk: Talk, answer_id: str, chat_id: str) -> StoredMessage:
    answer = next(m for m in talk.services.chats.messages(chat_id) if m.id == answer_id)
    ended = replace(answer, text="Yes.", state="complete")
    talk.services.chats.save_answer(ended)
    return ended


def test_a_title_costs_a_chat_nothing_of_its_kv_cache() -> None:
    """With the real engine, the next question evaluates as many tokens as without a title."""

    def second(*, titled: bool) -> tuple[int, int]:
        engine = LlamaCppEngine()
        plan = LlamaPlan(STARTER, context=2048, threads=1, batch_threads=1)
        engine.load(plan, lambda _: None, CancelToken())
        first = (Message("user", "What is a token? " * 20),)
        answer, _ = ask(engine, first, "c")
        if titled:
            list(engine.chat(title_request(first[0].text, answer, "off"), CancelToken()))
        more = (*first, Message("assistant", answer), Message("user", "And a model?"))
        _, done = ask(engine, more, "c")
        engine.close()
        return done.usage.prompt_tokens, done.usage.cached_tokens

    plain, titled = second(titled=False), second(titled=True)
    assert titled == plain
    assert plain[1] > plain[0] // 2


def ask(engine: LlamaCppEngine, messages: tuple[Message, ...], chat: str) -> tuple[str, Done]:
    request = ChatRequest(messages, Sampling(temperature=0.0), 24, mtp="off", chat=chat)
    events = list(engine.chat(request, CancelToken()))
    done = events[-1]
    assert isinstance(done, Done)
    return "".join(event.text for event in events if isinstance(event, TextDelta)), done
