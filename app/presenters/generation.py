"""Asking and answering in the window: signals out, one call a verb in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count

from PySide6.QtCore import QObject, Signal

from app.core.chats.assistants import NewChat
from app.core.chats.conversation import StoredMessage
from app.presenters.batches import joined
from app.presenters.settings import SettingsService
from app.presenters.tasks import ENGINE, STORE, Task, Tasks
from app.services.answers.answers import AnswerEvent, AnswerOptions, Answers, Ended, Ready
from app.services.answers.compacting import Compaction
from app.services.answers.growing import GrowingAnswer
from app.services.engines.queue import Wait
from app.services.engines.turns import Ticket
from app.store.chats import ChatStore
from engines.cancel import CancelToken
from engines.types import MtpMode, MtpReport, PromptReady, ReasoningDelta, TextDelta, WasReasoning


@dataclass(frozen=True)
class _Running:
    """An answer that is being written, or waits for its turn."""

    chat_id: str
    task: Task
    mtp: MtpMode
    turn: Ticket


class Generation(QObject):
    """Answers are written side by side where the engines can, and else in the order of asking.

    What is asked for has a number, and what comes of it says which one it answers.

    asked(number, question): it is saved; it may have begun a new chat.
    begun(answer): an answer is waited for; it is empty, or has text when it is continued.
    waits(answer_id, Wait or None): why it waits for its turn at an engine; None: no more.
    loading(answer_id, share): the model is being loaded for it, 0.0 to 1.0.
    ready(answer_id, Ready): the model is loaded.
    prompt(answer_id, PromptReady), text(answer_id, str), reasoning(answer_id, str): as it comes,
    in batches about 30 times a second; of the reports in a batch only the last.
    was_reasoning(answer_id): all its text so far was reasoning.
    compacting(answer_id, Compaction): older turns are summed up before it, or could not be.
    mtp(chat_id, MtpReport): what MTP does, also once at the end.
    ended(answer): complete, stopped or failed, as it was saved.
    refused(number, text, error): the question could not be saved; nothing was asked.
    crashed(error): a bug of ours.
    Several answers of a chat may be on their way, on different branches.
    """

    asked = Signal(int, object)
    begun = Signal(object)
    waits = Signal(str, object)
    loading = Signal(str, float)
    ready = Signal(str, object)
    prompt = Signal(str, object)
    mtp = Signal(str, object)
    text = Signal(str, str)
    reasoning = Signal(str, str)
    was_reasoning = Signal(str)
    compacting = Signal(str, object)
    ended = Signal(object)
    refused = Signal(int, str, Exception)
    crashed = Signal(Exception)
    _progressed = Signal(str, float)
    _waited = Signal(str, object)

    def __init__(
        self,
        store: ChatStore,
        answers: Answers,
        settings: SettingsService,
        tasks: Tasks,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._answers = answers
        self._settings = settings
        self._tasks = tasks
        self._running: dict[str, _Running] = {}
        self._growing: dict[str, GrowingAnswer] = {}
        self._unsaved: dict[str, StoredMessage] = {}
        self._waiting: dict[str, Wait] = {}
        self._at_work: set[Task] = set()
        self._quiet: list[Callable[[], object]] = []
        self._numbers = count(1)
        self._anyway: set[str] = set()
        self._progressed.connect(self._pass_progress_on)
        self._waited.connect(self._pass_wait_on)
        # Who listens may be gone before what is on its way comes.
        tasks.closing.connect(self._running.clear)

    def ask(self, chat_id: str | None, text: str, options: AnswerOptions) -> int:
        """Save a question, then answer it; returns its number.

        A chat of None begins a new one, whose MTP switch then stands as the options say, and whose
        model is its own from then on.
        """
        settings = self._settings.current
        usual = NewChat(settings.model, usual=True)

        def save() -> tuple[StoredMessage, StoredMessage]:
            begins = None
            if chat_id is None:
                begins = self._answers.begin(options.begins or usual, settings)
            return self._store.ask(chat_id, text, options.mtp, begins)

        return self.ask_by(
            save,
            options,
            lambda number, error: self.refused.emit(number, text, error),
        )

    def ask_by(
        self,
        save: Callable[[], tuple[StoredMessage, StoredMessage]],
        options: AnswerOptions,
        failed: Callable[[int, Exception], None],
    ) -> int:
        """Answer a question that is saved in a way of its own; returns its number.

        save: makes the question and its empty answer. failed: called if that was not possible.
        """
        number = next(self._numbers)

        def saved(pair: tuple[StoredMessage, StoredMessage]) -> None:
            question, answer = pair
            self.asked.emit(number, question)
            self._answer(answer, options)

        self._tasks.run(save, saved, lambda error: failed(number, error), on=STORE)
        return number

    def regenerate(self, answer: StoredMessage, options: AnswerOptions) -> int:
        """Answer the same question again; the old answer stays as a branch."""
        return self.answer_by(lambda: self._store.answer_again(answer.chat_id, answer.id), options)

    def resume(self, answer: StoredMessage, options: AnswerOptions) -> int:
        """Go on with an answer that was stopped or interrupted, or failed."""
        return self.answer_by(lambda: self._store.reopen(answer), options)

    def answer_by(self, save: Callable[[], StoredMessage], options: AnswerOptions) -> int:
        """Write an answer that is made or opened in a way of its own; returns its number."""
        self._tasks.run(
            save, lambda answer: self._answer(answer, options), self.crashed.emit, on=STORE
        )
        return next(self._numbers)

    def load_anyway(self, model: str) -> None:
        """Load this model even if it does not seem to fit, for as long as Hearth is open."""
        self._anyway.add(model)

    def stop(self, chat_id: str) -> None:
        """End the answer in this chat; what is there is kept."""
        for answer_id in self.answering(chat_id):
            self.stop_answer(answer_id)

    def stop_answer(self, answer_id: str) -> None:
        if answer_id in self._running:
            self._running[answer_id].task.cancel()

    def answering(self, chat_id: str) -> tuple[str, ...]:
        """The answers that are being written in this chat, or wait for their turn."""
        return tuple(it for it, running in self._running.items() if running.chat_id == chat_id)

    def stop_all(self, then: Callable[[], object] = lambda: None) -> None:
        """End every answer, also those that wait for their turn.

        then: called once nothing is at work on one any more.
        """
        for running in self._running.values():
            running.task.cancel()
        self._quiet.append(then)
        self._tell_quiet()

    def waits_for(self, answer_id: str) -> Wait | None:
        """Why this answer waits for its turn, if it does."""
        return self._waiting.get(answer_id)

    def chat_of(self, answer_id: str) -> str | None:
        """Of an answer that is being written, or waits for its turn."""
        running = self._running.get(answer_id)
        return running.chat_id if running else None

    def is_answering(self, chat_id: str) -> bool:
        return bool(self.answering(chat_id))

    def usual_mtp(self) -> MtpMode:
        """How the switch of a new chat stands, for the model in use."""
        return self._answers.usual_mtp(self._settings.current)

    def running_mtp(self, chat_id: str) -> MtpMode | None:
        """The mode of the answer that is being written in this chat; None if there is none."""
        answers = self.answering(chat_id)
        return self._running[answers[0]].mtp if answers else None

    def doing(self, answer_id: str) -> str:
        """What is done to load the model for an answer; "" where its engine does not say."""
        running = self._running.get(answer_id)
        return self._answers.doing(running.turn.engine) if running else ""

    def so_far(self, answer: StoredMessage) -> StoredMessage:
        """An answer from the store, with the text that has come since it was last saved.

        One whose last save failed is kept here with its text, until it is continued and saved.
        """
        if answer.id in self._unsaved:
            return self._unsaved[answer.id]
        growing = self._growing.get(answer.id)
        return growing.onto(answer) if growing else answer

    def _answer(self, answer: StoredMessage, options: AnswerOptions) -> None:
        settings = self._settings.current
        # Its place is that of its asking, whatever thread is the first to begin.
        turn = self._answers.turn(lambda wait: self._waited.emit(answer.id, wait))

        def progress(share: float) -> None:
            self._progressed.emit(answer.id, share)

        def work(cancel: CancelToken) -> Iterator[AnswerEvent]:
            with turn:
                model = self._answers.model_of(answer.chat_id, settings, options)
                chosen = replace(options, anyway=model in self._anyway)
                yield from self._answers.write(answer, settings, chosen, progress, cancel, turn)

        def over() -> None:
            self._at_work.discard(task)
            self._tell_quiet()

        def failed(error: Exception) -> None:
            self._over(answer)
            over()
            self.crashed.emit(error)

        self._unsaved.pop(answer.id, None)
        self._growing[answer.id] = GrowingAnswer(answer)
        task = self._tasks.stream(
            work, lambda events: self._pass_on(answer, events), over, failed, on=ENGINE
        )
        mtp = options.mtp or self.usual_mtp()
        self._at_work.add(task)
        self._running[answer.id] = _Running(answer.chat_id, task, mtp, turn)
        self.begun.emit(answer)

    def _pass_progress_on(self, answer_id: str, share: float) -> None:
        """It travels another way than the answer, whose end can be here first."""
        if answer_id in self._running:
            self.loading.emit(answer_id, share)

    def _pass_wait_on(self, answer_id: str, wait: Wait | None) -> None:
        if answer_id in self._running:
            self._waiting.pop(answer_id, None)
            if wait is not None:
                self._waiting[answer_id] = wait
            self.waits.emit(answer_id, wait)

    def _tell_quiet(self) -> None:
        if not self._at_work:
            waiting, self._quiet = self._quiet, []
            for then in waiting:
                then()

    def _over(self, answer: StoredMessage) -> None:
        """Forget what was kept while this answer was written."""
        self._waiting.pop(answer.id, None)
        self._growing.pop(answer.id, None)
        self._running.pop(answer.id, None)

    def _grow(self, answer_id: str, event: TextDelta | ReasoningDelta | WasReasoning) -> None:
        self._growing[answer_id].take(event)
        match event:
            case TextDelta(text):
                self.text.emit(answer_id, text)
            case ReasoningDelta(text):
                self.reasoning.emit(answer_id, text)
            case WasReasoning():
                self.was_reasoning.emit(answer_id)

    def _pass_on(self, answer: StoredMessage, events: list[AnswerEvent]) -> None:
        for event in joined(events):
            match event:
                case Ready():
                    self.ready.emit(answer.id, event)
                case PromptReady():
                    self.prompt.emit(answer.id, event)
                case TextDelta() | ReasoningDelta() | WasReasoning():
                    self._grow(answer.id, event)
                case Compaction():
                    self.compacting.emit(answer.id, event)
                case MtpReport():
                    self.mtp.emit(answer.chat_id, event)
                case Ended(message, saved):
                    self._over(message)
                    if not saved:
                        self._unsaved[answer.id] = message
                    self.ended.emit(message)
