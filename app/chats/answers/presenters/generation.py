"""Asking and answering in the window: signals out, one call a verb in."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal

from app.assistants.values.assistants import NewChat
from app.chats.answers.presenters.batches import joined
from app.chats.answers.services.answers import Answers
from app.chats.answers.services.in_progress import AnswerInProgress
from app.chats.answers.values.answers import (
    AnswerEvent,
    AnswerOptions,
    Compaction,
    Ended,
    Grounded,
    Ready,
)
from app.chats.history.store.chats import ChatStore
from app.chats.history.values.conversation import StoredMessage
from app.documents.values.documents import Attachment
from app.kit.tasks.tasks import ENGINE, STORE, Failed, Task, Tasks
from app.runtime.values.wait import Wait
from app.settings.presenters import SettingsService
from engines.errors import UserError
from engines.types import MtpMode, MtpReport, PromptReady, ReasoningDelta, TextDelta, WasReasoning

_RETRY_MS = 3000

Asked = Callable[[StoredMessage], object]
"""Called with a question that was saved."""


@dataclass(eq=False)
class _Answer:
    """The state of one answer, from its asking until nothing is at work on it any more.

    heard: how many characters of it were told. told: as it ended. unsaved: as it has yet to be
    saved, where that failed; then this stays until it is, or the answer is continued.
    """

    writing: AnswerInProgress
    task: Task
    mtp: MtpMode
    wait: Wait | None = None
    heard: int = 0
    ended: bool = False
    at_work: bool = True
    told: StoredMessage | None = None
    unsaved: StoredMessage | None = None

    @property
    def id(self) -> str:
        return self.writing.answer.id

    @property
    def chat_id(self) -> str:
        return self.writing.answer.chat_id


class Generation(QObject):
    """Writes answers: side by side where the engines can, and else in the order of asking.

    asked(question): one was saved; it may have begun a new chat.
    begun(answer): an answer is waited for; it is empty, or has text when it is continued.
    waits(answer_id, Wait or None): why it waits for its turn at an engine; None: no more.
    loading(answer_id, share): the model is being loaded for it, 0.0 to 1.0.
    ready(answer_id, Ready): the model is loaded.
    prompt(answer_id, PromptReady), text(answer_id, str), reasoning(answer_id, str): as it comes,
    in batches about 30 times a second; of the reports in a batch only the last.
    was_reasoning(answer_id): all its text so far was reasoning.
    compacting(answer_id, Compaction): older turns are summed up before it, or could not be.
    grounded(answer_id, Grounded): so much of the attached files stands in its prompt.
    mtp(chat_id, MtpReport): what MTP does, also once at the end.
    ended(answer): complete, stopped or failed, as it was saved.
    saved(answer): one that could not be saved when it ended is saved after all.
    crashed(error): a bug of ours.
    Several answers of a chat may be on their way, on different branches.

    retry_ms: how long after a save that failed, on a full disk for example, the next is tried.
    """

    asked = Signal(object)
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
    grounded = Signal(str, object)
    ended = Signal(object)
    saved = Signal(object)
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
        retry_ms: int = _RETRY_MS,
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._answers = answers
        self._settings = settings
        self._tasks = tasks
        self._answered: list[_Answer] = []
        self._quiet: list[Callable[[], object]] = []
        self._told_as = {
            Ready: self.ready,
            PromptReady: self.prompt,
            Grounded: self.grounded,
            Compaction: self.compacting,
        }
        self._progressed.connect(self._pass_progress_on)
        self._waited.connect(self._pass_wait_on)
        self._retry = QTimer(self)
        self._retry.setSingleShot(True)
        self._retry.setInterval(retry_ms)
        self._retry.timeout.connect(self._save_unsaved)
        tasks.closing.connect(self._close)

    def ask(
        self,
        chat_id: str | None,
        text: str,
        options: AnswerOptions,
        done: Asked,
        failed: Failed,
        attachments: Sequence[Attachment] = (),
    ) -> None:
        """Save a question, then answer it. done: with the question; failed: nothing was asked.

        A chat of None begins a new one, whose MTP switch then stands as the options say, and whose
        model is its own from then on. attachments: the files that go with it.
        """
        settings = self._settings.current
        usual = NewChat(settings.model, usual=True)

        def save() -> tuple[StoredMessage, StoredMessage]:
            begins = None
            if chat_id is None:
                begins = self._answers.with_model(options.begins or usual, settings)
            return self._store.ask(chat_id, text, options.mtp, begins, attachments=attachments)

        self.ask_by(save, options, done, failed)

    def ask_by(
        self,
        save: Callable[[], tuple[StoredMessage, StoredMessage]],
        options: AnswerOptions,
        done: Asked,
        failed: Failed,
    ) -> None:
        """Ask as `ask` does. save: stores a question in a way of its own, and its empty answer."""

        def saved(pair: tuple[StoredMessage, StoredMessage]) -> None:
            question, answer = pair
            done(question)
            self.asked.emit(question)
            self._answer(answer, options)

        self._tasks.run(save, saved, failed, on=STORE)

    def regenerate(self, answer: StoredMessage, options: AnswerOptions, failed: Failed) -> None:
        """Answer the same question again; the old answer stays as a branch."""
        self.answer_by(lambda: self._store.answer_again(answer.chat_id, answer.id), options, failed)

    def resume(self, answer: StoredMessage, options: AnswerOptions, failed: Failed) -> None:
        """Go on with an answer that was stopped or interrupted, or failed."""
        self.answer_by(lambda: self._store.reopen(answer), options, failed)

    def answer_by(
        self, save: Callable[[], StoredMessage], options: AnswerOptions, failed: Failed
    ) -> None:
        """Write an answer. save: stores it, empty or as it is to be continued.

        failed: that was not possible, and nothing was begun.
        """
        self._tasks.run(save, lambda answer: self._answer(answer, options), failed, on=STORE)

    def load_anyway(self, model: str) -> None:
        """Load this model even if it does not seem to fit, for as long as Hearth is open."""
        self._answers.load_anyway(model)

    def stop(self, chat_id: str) -> None:
        """End the answer in this chat; what is there is kept."""
        for answer_id in self.answering(chat_id):
            self.stop_answer(answer_id)

    def stop_answer(self, answer_id: str) -> None:
        running = self._running(answer_id)
        if running is not None:
            running.task.cancel()

    def answering(self, chat_id: str) -> tuple[str, ...]:
        """Return the answers that are being written in this chat, or wait for their turn."""
        return tuple(it.id for it in self._answered if it.chat_id == chat_id and not it.ended)

    def stop_all(self, then: Callable[[], object] = lambda: None) -> None:
        """End every answer, also those that wait for their turn.

        then: called once nothing is at work on one any more.
        """
        for it in self._answered:
            it.task.cancel()
        self._quiet.append(then)
        self._tell_quiet()

    def waits_for(self, answer_id: str) -> Wait | None:
        """Return why this answer waits for its turn; None if it does not."""
        running = self._running(answer_id)
        return running.wait if running else None

    def chat_of(self, answer_id: str) -> str | None:
        """Return the chat of an answer that is being written, or waits for its turn."""
        running = self._running(answer_id)
        return running.chat_id if running else None

    def is_answering(self, chat_id: str) -> bool:
        return bool(self.answering(chat_id))

    def usual_mtp(self) -> MtpMode:
        """Return the MTP mode of a new chat, for the model in use."""
        return self._answers.usual_mtp(self._settings.current)

    def running_mtp(self, chat_id: str) -> MtpMode | None:
        """Return the mode of the answer being written in this chat; None if there is none."""
        running = (it.mtp for it in self._answered if it.chat_id == chat_id and not it.ended)
        return next(running, None)

    def doing(self, answer_id: str) -> str:
        """Say what is done to load the model for an answer; "" where its engine does not say."""
        running = self._running(answer_id)
        return self._answers.doing(running.writing.ticket.engine) if running else ""

    def so_far(self, answer: StoredMessage) -> StoredMessage:
        """Return a stored answer with the text that has been told since it was last saved.

        One whose last save failed is kept here with its text, until it is saved.
        """
        it = self._latest(answer.id)
        if it is None or (it.ended and it.unsaved is None):
            return answer
        return it.told or it.writing.so_far(answer, it.heard)

    def _latest(self, answer_id: str) -> _Answer | None:
        """Return the state of an answer, since it was asked for or continued."""
        return next((it for it in reversed(self._answered) if it.id == answer_id), None)

    def _running(self, answer_id: str) -> _Answer | None:
        """Return an answer that is being written, or waits for its turn."""
        it = self._latest(answer_id)
        return None if it is None or it.ended else it

    def _answer(self, answer: StoredMessage, options: AnswerOptions) -> None:
        settings = self._settings.current
        # Its place is that of its asking, whatever thread is the first to begin.
        writing = self._answers.begin(answer, lambda wait: self._waited.emit(answer.id, wait))
        task = self._tasks.stream(
            lambda cancel: self._answers.write(
                answer,
                settings,
                options,
                lambda share: self._progressed.emit(answer.id, share),
                cancel,
                writing,
            ),
            lambda events: self._pass_on(it, events),
            lambda: self._over(it),
            lambda error: self._crash(it, error),
            on=ENGINE,
        )
        it = _Answer(writing, task, options.mtp or self.usual_mtp())
        before = self._latest(answer.id)
        if before is not None:
            before.unsaved = None
            self._forget(before)
        self._answered.append(it)
        self.begun.emit(answer)

    def _pass_progress_on(self, answer_id: str, share: float) -> None:
        """Pass a load's progress on, unless the answer has ended: its end may overtake it."""
        if self._running(answer_id) is not None:
            self.loading.emit(answer_id, share)

    def _pass_wait_on(self, answer_id: str, wait: Wait | None) -> None:
        running = self._running(answer_id)
        if running is not None:
            running.wait = wait
            self.waits.emit(answer_id, wait)

    def _pass_on(self, it: _Answer, events: list[AnswerEvent]) -> None:
        answer = it.writing.answer
        for event in joined(events):
            match event:
                case Ready() | PromptReady() | Grounded() | Compaction():
                    self._told_as[type(event)].emit(answer.id, event)
                case TextDelta(text):
                    it.heard += len(text)
                    self.text.emit(answer.id, text)
                case ReasoningDelta(text):
                    it.heard += len(text)
                    self.reasoning.emit(answer.id, text)
                case WasReasoning():
                    self.was_reasoning.emit(answer.id)
                case MtpReport():
                    self.mtp.emit(answer.chat_id, event)
                case Ended():
                    self._end(it, event)

    def _end(self, it: _Answer, end: Ended) -> None:
        it.ended = True
        it.told, it.unsaved = end.message, end.unsaved
        if it.unsaved is not None:
            self._retry.start()
        self.ended.emit(end.message)

    def _save_unsaved(self) -> None:
        """Try again to save the answers whose end could not be saved."""
        for it in self._answered:
            if it.unsaved is not None:
                self._save(it, it.unsaved)

    def _save(self, it: _Answer, answer: StoredMessage) -> None:
        def saved(_: None) -> None:
            if it.unsaved is not None:  # or it was continued meanwhile
                it.unsaved = None
                self._forget(it)
                self.saved.emit(answer)

        def failed(error: Exception) -> None:
            if isinstance(error, UserError):
                self._retry.start()
            else:
                self.crashed.emit(error)

        self._tasks.run(lambda: self._store.save_answer(answer), saved, failed, on=STORE)

    def _close(self) -> None:
        """Save what is still to be saved; who listens may be gone before anything else comes."""
        self._retry.stop()
        answered = self._answered.copy()
        self._answered.clear()
        for it in answered:
            if it.unsaved is not None:
                with contextlib.suppress(UserError):  # its user was told when it ended
                    self._store.save_answer(it.unsaved)

    def _over(self, it: _Answer) -> None:
        """Note that nothing is at work on an answer any more."""
        it.at_work = False
        self._forget(it)
        self._tell_quiet()

    def _forget(self, it: _Answer) -> None:
        if not it.at_work and it.unsaved is None and it in self._answered:
            self._answered.remove(it)

    def _crash(self, it: _Answer, error: Exception) -> None:
        it.ended = True
        self._over(it)
        self.crashed.emit(error)

    def _tell_quiet(self) -> None:
        if not any(it.at_work for it in self._answered):
            waiting, self._quiet = self._quiet, []
            for then in waiting:
                then()
