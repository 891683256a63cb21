"""Chats that outgrow their context: leaving out, summing up and stopping with the starter model."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import pytest

from app.assistants.store.assistants import AssistantStore
from app.base.db import Database
from app.base.shipped import STARTER, STARTER_DRAFTER
from app.chats.answers.services.answers import Answers
from app.chats.answers.services.chat_layers import ChatLayers
from app.chats.answers.services.grounding import Grounding
from app.chats.answers.services.preparing import Preparing
from app.chats.answers.values.answers import AnswerEvent, AnswerOptions, Compaction, Ended
from app.chats.context.services.compacting import Compacting
from app.chats.context.services.counting import Counting
from app.chats.context.store import SummaryStore
from app.chats.context.values.budget import ContextUse
from app.chats.context.values.summary import INTRODUCTION, in_effect
from app.chats.history.store.chat_settings import ChatSettingsStore
from app.chats.history.store.chats import ChatStore
from app.chats.history.values.conversation import StoredMessage
from app.documents.store.documents import DocumentStore
from app.models.library.services.fitting import Fitting
from app.models.library.services.library import Library
from app.models.library.store.load_records import LoadStore
from app.models.library.store.models import ModelStore
from app.runtime.services.loaders import LlamaLoader
from app.runtime.services.runtime import Runtime
from app.settings.values.fields import Settings
from engines.cancel import CancelToken
from engines.hardware import detect
from engines.llamacpp.engine import LlamaCppEngine
from engines.llamacpp.sizing.sizer import Sizer
from engines.types import ChatRequest, Event, PromptReady

SMALL = Settings(context=512, threads=1, mtp="off")
QUESTIONS = ("What is MTP?", "Is my chat private?", "Where are my chats kept?", "What is Hearth?")


@dataclass
class Talk:
    """A chat with the guide in a small context, with the services of the app."""

    store: ChatStore
    summaries: SummaryStore
    answers: Answers
    counting: Counting
    engine: LlamaCppEngine
    settings: Settings
    chat_id: str | None = None

    def ask(self, text: str, cancel: CancelToken | None = None) -> list[AnswerEvent]:
        question, answer = self.store.ask(self.chat_id, text)
        self.chat_id = question.chat_id
        return list(
            self.answers.write(
                answer, self.settings, AnswerOptions(), lambda _: None, cancel or CancelToken()
            )
        )

    def remember(self, turns: int) -> None:
        """Store finished turns without generating them."""
        for number in range(turns):
            question, answer = self.store.ask(self.chat_id, f"Question {number}: why is it so?")
            self.chat_id = question.chat_id
            text = f"Answer {number}: " + "it is so because it was so. " * 3
            self.store.save_answer(replace(answer, text=text, state="complete"))

    def use(self, draft: str = "And now?") -> ContextUse:
        return self.counting.use(self.chat_id, draft, self.settings, AnswerOptions())

    def listen_to_summing(self) -> list[tuple[int, int]]:
        """Record every coming summary.

        Returns:
            A list that grows with each summary: the tokens of its prompt, and those evaluated.
        """
        found: list[tuple[int, int]] = []
        chat = self.engine.chat

        def listening(request: ChatRequest, cancel: CancelToken) -> Generator[Event, None, None]:
            for event in chat(request, cancel):
                if isinstance(event, PromptReady) and "Sum up" in request.messages[-1].text:
                    read = event.prompt_tokens - event.cached_tokens
                    found.append((event.prompt_tokens, read))
                yield event

        self.engine.chat = listening  # type: ignore[method-assign]
        return found

    @property
    def path(self) -> tuple[StoredMessage, ...]:
        assert self.chat_id is not None
        return self.store.path(self.chat_id)

    def pin(self, at: int) -> StoredMessage:
        self.summaries.set_pinned(self.path[at].id, True)
        return self.path[at]


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    database = Database(tmp_path / "chats.db")
    store, summaries = ChatStore(database), SummaryStore(database)
    library = Library(ModelStore(database), STARTER, STARTER_DRAFTER)
    engine = LlamaCppEngine()
    runtime = Runtime(
        {
            "llamacpp": LlamaLoader(
                lambda: engine, lambda: Fitting(detect, LoadStore(database), Sizer())
            )
        }
    )
    layers = ChatLayers(ChatSettingsStore(database), AssistantStore(database))
    grounding = Grounding(DocumentStore(database))
    preparing = Preparing(library, layers)
    answers = Answers(store, preparing, runtime, Compacting(summaries), grounding)
    counting = Counting(store, summaries, preparing, grounding, runtime)
    yield Talk(store, summaries, answers, counting, engine, SMALL)
    engine.close()
    database.close()


def ended(events: list[AnswerEvent]) -> StoredMessage:
    assert isinstance(events[-1], Ended)
    return events[-1].message


def ready(events: list[AnswerEvent]) -> PromptReady:
    return next(event for event in events if isinstance(event, PromptReady))


def compactions(events: list[AnswerEvent]) -> list[Compaction]:
    return [event for event in events if isinstance(event, Compaction)]


def test_sixty_turns_where_the_oldest_leave(talk: Talk) -> None:
    left, evaluated = [], []
    for number in range(60):
        events = talk.ask(QUESTIONS[number % 4])
        answer = ended(events)
        assert answer.state == "complete", answer.failure
        assert answer.facts is not None
        assert answer.facts.prompt_tokens < answer.facts.context == 512
        left.append(answer.facts.left_out)
        evaluated.append(answer.facts.prompt_tokens - answer.facts.cached_tokens)
    assert left == sorted(left)
    assert left[-1] > 80
    moves = sum(before != after for before, after in pairwise(left))
    cheap = sum(count < 60 for count in evaluated)
    assert cheap >= 60 - moves - 1, "between two moves the KV cache holds what was said before"


def test_sixty_turns_that_are_summed_up(talk: Talk) -> None:
    talk.settings = replace(SMALL, overflow="compact")
    summing = talk.listen_to_summing()
    rounds = 0
    for number in range(60):
        events = talk.ask(QUESTIONS[number % 4])
        assert ended(events).state == "complete", ended(events).failure
        news = compactions(events)
        assert not [it for it in news if it.state == "failed"], news
        rounds += any(it.state == "done" for it in news)
        assert ready(events).left == ()
    assert 2 <= rounds <= 30, "a summary makes room for several turns"
    assert talk.chat_id is not None
    summary = in_effect(talk.path, talk.summaries.of_chat(talk.chat_id))
    assert summary is not None
    assert summary.text
    assert summary.model == "Starter guide"
    assert len(talk.path) == 120, "the originals stay"
    use = talk.use()
    assert use.exact
    assert use.summary == summary
    assert len(use.summed) > 80
    assert use.parts[0].place == "summary"
    assert all(2 * read < asked for asked, read in summing), "it was in the KV cache already"


def test_sixty_turns_that_stop(talk: Talk) -> None:
    talk.settings = replace(SMALL, overflow="stop")
    talk.remember(60)
    answer = ended(talk.ask("And now?"))
    assert (answer.state, answer.text) == ("failed", "")
    assert answer.failure is not None
    assert answer.failure.code == "context_full"
    assert "512" in answer.failure.why


def test_a_long_chat_is_summed_up_in_pieces(talk: Talk) -> None:
    """After a late change of the policy, more has to leave than the context itself can hold."""
    talk.settings = replace(SMALL, overflow="compact")
    talk.remember(60)
    events = talk.ask("And now?")
    news = compactions(events)
    assert [it.state for it in news[:2]] == ["begun", "done"]
    assert len([it for it in news if it.state == "done"]) >= 3
    assert ended(events).state == "complete", ended(events).failure
    assert ready(events).left == ()


def test_pins_stay_word_for_word_beside_a_summary(talk: Talk) -> None:
    talk.settings = replace(SMALL, overflow="compact")
    talk.remember(12)
    pinned = talk.pin(2)
    requests: list[ChatRequest] = []
    chat = talk.engine.chat

    def listening(request: ChatRequest, cancel: CancelToken) -> Generator[Event, None, None]:
        requests.append(request)
        return chat(request, cancel)

    talk.engine.chat = listening  # type: ignore[method-assign]
    assert ended(talk.ask("And now?")).state == "complete"
    *summing, last = requests
    assert summing
    for request in summing:
        assert request.sampling.temperature == 0
        assert (request.mtp, request.thinking, request.overflow) == ("off", False, "stop")
    assert last.messages[0].role == "system"
    assert last.messages[0].text.startswith(INTRODUCTION)
    assert last.messages[1].text == pinned.text
    assert last.messages[1].pinned
    assert last.messages[-1].text == "And now?"
    summed = [part.id for part in talk.use().summed]
    assert pinned.id not in summed
    assert talk.path[0].id in summed


def test_branches_share_a_summary_until_what_it_covers_changes(talk: Talk) -> None:
    talk.settings = replace(SMALL, overflow="compact")
    talk.remember(12)
    answer = ended(talk.ask("And now?"))
    assert talk.chat_id is not None
    known = talk.summaries.of_chat(talk.chat_id)
    again = talk.store.answer_again(talk.chat_id, answer.id)
    events = list(
        talk.answers.write(again, talk.settings, AnswerOptions(), lambda _: None, CancelToken())
    )
    assert compactions(events) == []
    assert in_effect(talk.path, known) is not None
    first = talk.path[0]
    changed = (replace(first, text="Something else?"), *talk.path[1:])
    assert in_effect(changed, known) is None
    assert in_effect(talk.path[2:], known) is None, "a message was taken out"


def test_a_stop_while_it_is_summed_up_keeps_nothing(talk: Talk) -> None:
    talk.settings = replace(SMALL, overflow="compact")
    talk.remember(12)
    question, answer = talk.store.ask(talk.chat_id, "And now?")
    cancel = CancelToken()
    seen = []
    for event in talk.answers.write(answer, talk.settings, AnswerOptions(), lambda _: None, cancel):
        seen.append(event)
        if isinstance(event, Compaction) and event.state == "begun":
            cancel.cancel()
    assert ended(seen).state == "stopped"
    assert talk.summaries.of_chat(question.chat_id) == []


def test_the_meter_counts_what_is_asked(talk: Talk) -> None:
    estimated = talk.use("What is MTP?")
    assert not estimated.exact
    events = talk.ask("What is MTP?")
    assert estimated.total == pytest.approx(ready(events).prompt_tokens, rel=0.7)
    use = talk.use("Is my chat private?")
    events = talk.ask("Is my chat private?")
    assert use.exact
    assert use.total == use.prompt == ready(events).prompt_tokens
    assert (use.context, use.kept) == (512, 128)
    assert [part.place for part in use.parts] == ["message", "message", "draft"]


def test_the_meter_waits_for_no_answer(talk: Talk) -> None:
    talk.ask("What is MTP?")
    _, answer = talk.store.ask(talk.chat_id, "Is my chat private?")
    events = talk.answers.write(
        answer, talk.settings, AnswerOptions(), lambda _: None, CancelToken()
    )
    while not isinstance(next(events), PromptReady):
        pass
    assert talk.use("More?").exact
    assert ended(list(events)).state == "complete"


def test_without_the_model_the_meter_knows_about(talk: Talk) -> None:
    talk.remember(60)
    use = talk.use()
    assert not use.exact
    assert use.context == 512
    assert not use.fits
    assert use.left[0] == talk.path[0].id
    talk.ask("What is MTP?")
    exact = talk.use()
    assert exact.exact
    assert use.total == pytest.approx(exact.total, rel=0.35)
