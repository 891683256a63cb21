"""Writing an answer: saving it as it comes, and each way in which it can end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

from app.assistants.store.assistants import AssistantStore
from app.assistants.values.assistants import NewChat
from app.base.errors import DatabaseBusy, DiskFull
from app.chats.answers.services import in_progress
from app.chats.answers.services.answers import Answers
from app.chats.answers.services.chat_layers import ChatLayers
from app.chats.answers.services.grounding import Grounding
from app.chats.answers.services.preparing import AsChosen, Preparing
from app.chats.answers.values.answers import AnswerEvent, AnswerOptions, Ended
from app.chats.context.services.compacting import Compacting
from app.chats.context.store import SummaryStore
from app.chats.history.store.chat_settings import ChatSettingsStore
from app.chats.history.values.conversation import StoredMessage
from app.chats.transcript.pages.answer_facts_card import rows_of
from app.documents.store.documents import DocumentStore
from app.models.library.values.entry import ModelEntry
from app.settings.values.fields import Settings
from engines.cancel import CancelToken
from engines.errors import EngineFailed
from engines.types import LlamaPlan, Message
from tests.engines.gguf_files import write_llama
from tests.support.services import Services
from tests.support.waiting import until


def write(
    services: Services,
    answer: StoredMessage,
    settings: Settings | None = None,
    options: AnswerOptions | None = None,
    cancel: CancelToken | None = None,
) -> list[AnswerEvent]:
    return list(
        services.answers.write(
            answer,
            settings or Settings(),
            options or AnswerOptions(),
            lambda _: None,
            cancel or CancelToken(),
        )
    )


def ended(events: list[AnswerEvent]) -> StoredMessage:
    last = events[-1]
    assert isinstance(last, Ended)
    return last.message


def test_an_answer_is_saved_whole_with_its_facts(services: Services) -> None:
    _, answer = services.chats.ask(None, "Hi")
    message = ended(write(services, answer))
    assert (message.text, message.state) == ("Hello there", "complete")
    assert message.facts is not None
    assert (message.facts.model, message.facts.engine) == ("Starter guide", "scripted")
    assert (message.facts.cached_tokens, message.facts.seed) == (2, 7)
    assert services.chats.path(answer.chat_id)[-1] == message


def test_what_differs_is_kept_with_the_answer(services: Services) -> None:
    services.engine.says = {"notes": ("Of the load.", "Twice.")}
    services.engine.notes = ("Twice.", "Of the answer.")
    _, answer = services.chats.ask(None, "Hi")
    facts = ended(write(services, answer, Settings(vllm_cards=2))).facts
    assert facts is not None
    assert facts.notes[:2] == ("Of the load.", "Twice.")
    assert "whole layers" in facts.notes[2]
    assert facts.notes[3:] == ("Of the answer.",)


def preferring(services: Services, preference: AsChosen) -> Answers:
    """Return answers whose engine is chosen by this preference."""
    layers = ChatLayers(ChatSettingsStore(services.database), AssistantStore(services.database))
    return Answers(
        services.chats,
        Preparing(services.library, layers, preference),
        services.runtime,
        Compacting(SummaryStore(services.database)),
        Grounding(DocumentStore(services.database)),
    )


def written(answers: Answers, answer: StoredMessage) -> Iterator[AnswerEvent]:
    return answers.write(answer, Settings(), AnswerOptions(), lambda _: None, CancelToken())


def test_the_reason_for_its_engine_is_kept_with_the_answer(services: Services) -> None:
    asked: list[int] = []

    class Preference(AsChosen):
        def preferred(self, called: str, _settings: Settings, answers: int = 1) -> str:
            asked.append(answers)
            return called

        def why(self, entry: ModelEntry, _settings: Settings, answers: int = 1) -> str:
            return f"{entry.name} for {answers}."

    answers = preferring(services, Preference())
    first, second = (services.chats.ask(None, it)[1] for it in ("Hi", "Ho"))

    writing = written(answers, first)
    next(writing)
    facts = ended(list(writing)).facts
    assert facts is not None
    assert facts.why == "Starter guide for 1."
    assert dict(rows_of(services.chats.path(first.chat_id)[-1]))["Why this engine"] == facts.why
    list(written(answers, second))
    assert asked == [1, 1]
    begins = answers.preparing.with_model(NewChat("starter", usual=True), Settings())
    third = services.chats.ask(None, "Hey", "auto", begins)[1]
    writing = written(answers, third)
    next(writing)
    answers.preparing.prepare(Settings(), AnswerOptions(), third.chat_id)
    list(writing)
    assert asked == [1, 1, 1, 1], "one that is asked of each time, as it was not chosen"
    own = ChatSettingsStore(services.database)
    own.save(third.chat_id, replace(own.get(third.chat_id), usual=False))
    answers.preparing.prepare(Settings(), AnswerOptions(), third.chat_id)
    assert len(asked) == 4, "now it is chosen"


def test_an_answer_counts_as_wanted_from_when_it_is_asked_for_until_it_has_ended(
    services: Services,
) -> None:
    counts: list[int] = []

    class Preference(AsChosen):
        def preferred(self, called: str, _settings: Settings, answers: int = 1) -> str:
            counts.append(answers)
            return called

    answers = preferring(services, Preference())
    chats = [services.chats.ask(None, it)[1] for it in ("Hi", "Ho")]
    first = answers.write(chats[0], Settings(), AnswerOptions(), lambda _: None, CancelToken())
    next(first)
    answers.preparing.prepare(Settings(), AnswerOptions())
    list(first)
    answers.preparing.prepare(Settings(), AnswerOptions())
    assert counts == [1, 1, 1]
    thread = Thread(target=lambda: list(written(answers, chats[1])))
    held = answers.write(
        services.chats.ask(None, "Hey")[1], Settings(), AnswerOptions(), lambda _: None,
        CancelToken(),
    )  # fmt: skip
    next(held)
    thread.start()
    until(lambda: len(counts) == 5)
    list(held)
    thread.join()
    assert counts[3:] == [1, 2], "also while it waits for its turn"


def save_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_progress, "EVERY_S", 0.0)
    monkeypatch.setattr(in_progress, "REST", 0)


def test_the_question_and_what_came_so_far_are_on_disk_while_it_is_written(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_always(monkeypatch)
    _, answer = services.chats.ask(None, "Hi")
    seen = []
    for _ in services.answers.write(
        answer, Settings(), AnswerOptions(), lambda _: None, CancelToken()
    ):
        question, stored = services.chats.path(answer.chat_id)
        seen.append((question.text, stored.text, stored.state))
    assert ("Hi", "Hello", "streaming") in seen


def test_the_engine_is_asked_for_the_branch_that_is_shown(services: Services) -> None:
    _, answer = services.chats.ask(None, "Hi")
    write(services, answer)
    _, second = services.chats.ask(answer.chat_id, "More")
    write(services, second, Settings(system_prompt="Be brief."))
    assert services.engine.requests[-1].messages == (
        Message("system", "Be brief."),
        Message("user", "Hi"),
        Message("assistant", "Hello there"),
        Message("user", "More"),
    )


def test_continuing_appends_to_what_is_there(services: Services) -> None:
    _, answer = services.chats.ask(None, "Hi")
    first = ended(write(services, answer))
    again = ended(write(services, services.chats.reopen(first)))
    assert again.id == first.id
    assert again.text == "Hello thereHello there"
    assert services.engine.requests[-1].messages[-1] == Message("assistant", "Hello there")


def test_a_stopped_answer_keeps_what_was_there(services: Services) -> None:
    _, answer = services.chats.ask(None, "Hi")
    cancel = CancelToken()
    cancel.cancel()
    message = ended(write(services, answer, cancel=cancel))
    assert message.state == "stopped"


def test_an_answer_that_repeats_itself_is_ended_and_goes_on_when_asked_to(
    services: Services,
) -> None:
    services.engine.pieces = ("The same line again. ",) * 500
    _, answer = services.chats.ask(None, "Hi")
    message = ended(write(services, answer))
    assert message.state == "stopped"
    assert message.repeats
    assert 1_000 <= len(message.text) < 1_700

    anyway = AnswerOptions(settings={"stop_repetition": False})
    whole = ended(write(services, services.chats.reopen(message), options=anyway))
    assert whole.state == "complete"
    assert not whole.repeats
    assert len(whole.text) == len(message.text) + 500 * 21


def test_repeating_is_left_alone_where_the_settings_say_so(services: Services) -> None:
    services.engine.pieces = ("The same line again. ",) * 500
    _, answer = services.chats.ask(None, "Hi")
    assert ended(write(services, answer, Settings(stop_repetition=False))).state == "complete"


def test_an_engine_that_gives_up_leaves_its_text_and_its_reason(services: Services) -> None:
    services.engine.error = EngineFailed("It broke.", "Who knows.", "Try again.")
    _, answer = services.chats.ask(None, "Hi")
    message = ended(write(services, answer))
    assert (message.state, message.text) == ("failed", "Hello there")
    assert message.failure is not None
    assert message.failure.code == "engine_failed"
    assert services.chats.path(answer.chat_id)[-1] == message


def test_a_bug_leaves_the_text_and_is_not_hidden(services: Services) -> None:
    services.engine.error = ZeroDivisionError()
    _, answer = services.chats.ask(None, "Hi")
    with pytest.raises(ZeroDivisionError):
        write(services, answer)
    stored = services.chats.path(answer.chat_id)[-1]
    assert (stored.state, stored.text) == ("interrupted", "Hello there")


def test_a_full_disk_at_the_end_is_said_and_the_text_is_handed_on(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, answer = services.chats.ask(None, "Hi")

    def full(_: StoredMessage) -> None:
        raise DiskFull("The disk is full.", "No room.", "Free some.")

    monkeypatch.setattr(services.chats, "save_answer", full)
    message = ended(write(services, answer))
    assert message.text == "Hello there"
    assert message.failure is not None
    assert message.failure.code == "disk_full"


def test_an_unknown_model_ends_the_answer_with_a_reason(services: Services) -> None:
    _, answer = services.chats.ask(None, "Hi")
    message = ended(write(services, answer, options=AnswerOptions({"model": "nobody"})))
    assert message.failure is not None
    assert message.failure.code == "model_not_found"


def test_the_guide_is_greedy_unless_told_otherwise(services: Services) -> None:
    _, answer = services.chats.ask(None, "Hi")
    write(services, answer, Settings(temperature=0.9, max_tokens=50))
    assert services.engine.requests[-1].sampling.temperature == 0.0
    assert services.engine.requests[-1].max_tokens == 50
    write(services, answer, options=AnswerOptions({"temperature": 0.4, "max_tokens": 9}, seed=3))
    request = services.engine.requests[-1]
    assert (request.sampling.temperature, request.sampling.seed, request.max_tokens) == (0.4, 3, 9)


def test_a_save_on_the_way_that_fails_does_not_end_the_answer(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_always(monkeypatch)
    _, answer = services.chats.ask(None, "Hi")
    save = services.chats.save_answer

    def busy_while_streaming(message: StoredMessage) -> None:
        if message.state == "streaming":
            raise DatabaseBusy("Busy.", "Somebody writes.", "Wait.")
        save(message)

    monkeypatch.setattr(services.chats, "save_answer", busy_while_streaming)
    message = ended(write(services, answer))
    assert (message.state, message.text) == ("complete", "Hello there")
    assert services.chats.path(answer.chat_id)[-1] == message


def test_mtp_is_as_the_answer_says_else_as_the_chat_else_as_the_settings(
    services: Services,
) -> None:
    _, answer = services.chats.ask(None, "Hi")
    write(services, answer, Settings(mtp="on"))
    services.chats.set_mtp(answer.chat_id, "off")
    write(services, answer, Settings(mtp="on"))
    write(services, answer, Settings(mtp="on"), AnswerOptions({"mtp": "auto"}, depth=3))
    asked = [(request.mtp, request.depth) for request in services.engine.requests]
    assert asked == [("on", None), ("off", None), ("auto", 3)]


def test_what_an_engine_keeps_belongs_to_a_stored_chat_only(services: Services) -> None:
    _, answer = services.chats.ask(None, "Hi")
    write(services, answer)
    assert services.engine.requests[-1].chat == answer.chat_id
    messages = (Message("user", "Hi"),)
    list(
        services.answers.once(
            messages, Settings(mtp="off"), AnswerOptions(), lambda _: None, CancelToken()
        )
    )
    request = services.engine.requests[-1]
    assert (request.chat, str(request.mtp)) == (None, "off")


def test_a_grammar_reaches_the_engine(services: Services) -> None:
    _, answer = services.chats.ask(None, "Hi")
    write(services, answer, options=AnswerOptions(grammar='root ::= "yes"'))
    assert services.engine.requests[-1].sampling.grammar == 'root ::= "yes"'


class TestSettingsOfAModel:
    """The order of settings: a request's come before a chat's, a model's and the general ones."""

    @pytest.fixture
    def model(self, services: Services, tmp_path: Path) -> str:
        entry = services.library.add(write_llama(tmp_path / "m.gguf"))
        services.own(
            entry.id,
            temperature=0.2, top_k=7, max_tokens=99, context=1024, mtp="on", kv_type="q8_0",
            threads=1, system_prompt="I am m.",
        )  # fmt: skip
        return entry.id

    def test_they_hold_for_one_answer(self, services: Services, model: str) -> None:
        settings = Settings(model=model, temperature=0.9, top_p=0.5, mtp="off")
        options = AnswerOptions()
        messages = (Message("user", "Hi"),)
        list(services.answers.once(messages, settings, options, lambda _: None, CancelToken()))
        request, plan = services.engine.requests[-1], services.engine.plans[-1]
        assert (request.sampling.temperature, request.sampling.top_k) == (0.2, 7)
        assert (request.sampling.top_p, request.max_tokens, request.mtp) == (0.5, 99, "on")
        assert isinstance(plan, LlamaPlan)
        assert (plan.context, plan.kv_type, plan.threads) == (1024, "q8_0", 1)
        assert (
            services.answers.preparing.prepare(settings, options).settings.system_prompt
            == "I am m."
        )

    def test_what_is_asked_goes_first(self, services: Services, model: str) -> None:
        options = AnswerOptions(
            {
                "model": model,
                "temperature": 0.4,
                "max_tokens": 5,
                "context": 512,
                "mtp": "auto",
                "system_prompt": "",
            }
        )
        messages = (Message("user", "Hi"),)
        list(services.answers.once(messages, Settings(), options, lambda _: None, CancelToken()))
        request, plan = services.engine.requests[-1], services.engine.plans[-1]
        assert (request.sampling.temperature, request.sampling.top_k) == (0.4, 7)
        assert (request.max_tokens, request.mtp, plan.context) == (5, "auto", 512)
        assert services.answers.preparing.prepare(Settings(), options).settings.system_prompt == ""

    def test_the_chats_switch_goes_before_the_models(self, services: Services, model: str) -> None:
        _, answer = services.chats.ask(None, "Hi", "off")
        write(services, answer, Settings(model=model))
        assert services.engine.requests[-1].mtp == "off"
        assert services.engine.requests[-1].messages[0] == Message("system", "I am m.")

    def test_the_guide_stays_greedy_unless_it_is_told_otherwise(self, services: Services) -> None:
        _, answer = services.chats.ask(None, "Hi")
        write(services, answer, Settings(temperature=0.9))
        assert services.engine.requests[-1].sampling.temperature == 0
        services.own("starter", temperature=0.3)
        write(services, services.chats.reopen(answer), Settings(temperature=0.9))
        assert services.engine.requests[-1].sampling.temperature == 0.3

    def test_when_it_last_answered_is_remembered(self, services: Services, model: str) -> None:
        assert services.library.find(model).last_used is None
        _, answer = services.chats.ask(None, "Hi")
        write(services, answer, Settings(model=model))
        used = services.library.find(model).last_used
        assert used is not None
        assert used == pytest.approx(time.time(), abs=60)
        loads = len(services.engine.plans)
        write(services, services.chats.reopen(answer), Settings(model=model))
        assert len(services.engine.plans) == loads, "to have answered is no reason to load again"

    def test_an_answer_that_failed_is_no_use(self, services: Services, model: str) -> None:
        services.engine.error = EngineFailed("It broke.", "So it is.", "Try again.")
        _, answer = services.chats.ask(None, "Hi")
        write(services, answer, Settings(model=model))
        assert services.library.find(model).last_used is None


def test_a_slow_disk_is_given_time_between_two_saves(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]

    def slow(_: StoredMessage) -> None:
        now[0] += 0.5

    monkeypatch.setattr(services.chats, "save_answer", slow)
    _, answer = services.chats.ask(None, "Hi")
    it = in_progress.Saving(services.chats, lambda: now[0])
    due = []
    for seconds in (0.3, 4.9, 0.2):
        now[0] += seconds
        due.append(it.is_due)
        if seconds == 0.3:
            it.save_partial(answer)
    assert due == [True, False, True]
