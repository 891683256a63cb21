"""Asking and answering in the window: one method per user action, signals for results."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

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
from app.kit.timer import timer
from app.runtime.values.wait import Wait
from app.settings.presenters import SettingsService
from engines.errors import UserError
from engines.types import (
    MtpMode,
    MtpReport,
    PromptProgress,
    PromptReady,
    ReasoningDelta,
    TextDelta,
    WasReasoning,
)

_RETRY_MS = 3000

QuestionSaved = Callable[[StoredMessage], object]
"""Called with the saved question."""


@dataclass(eq=False)
class _Run:
    """The state of one answer, from its request until nothing works on it any more.

    Attributes:
        reported: How many of its characters have been reported.
        final: The message as it ended.
        unsaved: The message still to be saved, if saving failed; this object then stays until it is
            saved or the answer is continued.
    """

    writing: AnswerInProgress
    task: Task
    mtp: MtpMode
    wait: Wait | None = None
    reported: int = 0
    ended: bool = False
    at_work: bool = True
    final: StoredMessage | None = None
    unsaved: StoredMessage | None = None

    @property
    def id(self) -> str:
        return self.writing.answer.id

    @property
    def chat_id(self) -> str:
        return self.writing.answer.chat_id


class Generation(QObject):
    """Writes answers, side by side if the engines can, otherwise in the order of the requests.

    Several answers of one chat can be in progress, on different branches.

    Args:
        retry_ms: Milliseconds from a failed save, as on a full disk, until the next attempt.

    Signals:
        asked(question): A question was saved; it can have begun a new chat.
        begun(answer): An answer was requested; it is empty, or has text if it is continued.
        waits(answer_id, Wait or None): Why it waits for its turn at an engine; None if it no longer
            waits.
        loading(answer_id, share): Its model is being loaded, 0.0 to 1.0.
        ready(answer_id, Ready): Its model is loaded.
        prompt(answer_id, PromptReady), reading(answer_id, PromptProgress), text(answer_id, str),
            reasoning(answer_id, str): News of the answer, in batches about 30 times a second; of
            the reports in a batch only the last.
        was_reasoning(answer_id): All its text so far was reasoning.
        compacting(answer_id, Compaction): Older turns are being summarised first, or could not be.
        grounded(answer_id, Grounded): How much of the attached files is in its prompt.
        mtp(chat_id, MtpReport): The state of MTP, also once at the end.
        ended(answer): It is complete, stopped or failed; the answer as saved.
        saved(answer): An answer that could not be saved when it ended is saved now.
        crashed(error): A bug in Hearth.
    """

    asked = Signal(object)
    begun = Signal(object)
    waits = Signal(str, object)
    loading = Signal(str, float)
    ready = Signal(str, object)
    prompt = Signal(str, object)
    reading = Signal(str, object)
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
        self._answered: list[_Run] = []
        self._when_idle: list[Callable[[], object]] = []
        self._signal_of = {
            Ready: self.ready,
            PromptReady: self.prompt,
            PromptProgress: self.reading,
            Grounded: self.grounded,
            Compaction: self.compacting,
        }
        self._progressed.connect(self._pass_progress_on)
        self._waited.connect(self._pass_wait_on)
        self._retry = timer(self, retry_ms, self._save_unsaved)
        tasks.closing.connect(self._close)

    def ask(
        self,
        chat_id: str | None,
        text: str,
        options: AnswerOptions,
        done: QuestionSaved,
        failed: Failed,
        attachments: Sequence[Attachment] = (),
    ) -> None:
        """Save a question, then answer it.

        Args:
            chat_id: None begins a new chat, which takes its MTP switch from the options and keeps
                its model from then on.
            done: Called with the saved question.
            failed: Called if the question was not asked.
            attachments: Files that go with the question.
        """
        settings = self._settings.current
        usual = NewChat(settings.model, usual=True)

        def save() -> tuple[StoredMessage, StoredMessage]:
            begins = None
            if chat_id is None:
                begins = self._answers.preparing.with_model(options.begins or usual, settings)
            return self._store.ask(chat_id, text, options.mtp, begins, attachments=attachments)

        self.ask_by(save, options, done, failed)

    def ask_by(
        self,
        save: Callable[[], tuple[StoredMessage, StoredMessage]],
        options: AnswerOptions,
        done: QuestionSaved,
        failed: Failed,
    ) -> None:
        """Do the same as `ask` with another way of saving.

        Args:
            save: Stores the question and its empty answer, and returns both.
        """

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
        """Continue an answer that was stopped or interrupted, or that failed."""
        self.answer_by(lambda: self._store.reopen(answer), options, failed)

    def answer_by(
        self, save: Callable[[], StoredMessage], options: AnswerOptions, failed: Failed
    ) -> None:
        """Write an answer.

        Args:
            save: Stores the answer, empty or as it is to be continued.
            failed: Called if storing failed and nothing was begun.
        """
        self._tasks.run(save, lambda answer: self._answer(answer, options), failed, on=STORE)

    def load_anyway(self, model: str) -> None:
        """Load this model even if it does not seem to fit, for as long as Hearth is open."""
        self._answers.preparing.load_anyway(model)

    def stop(self, chat_id: str) -> None:
        """Stop the answers in this chat; their text so far is kept."""
        for answer_id in self.answering(chat_id):
            self.stop_answer(answer_id)

    def stop_answer(self, answer_id: str) -> None:
        """Stop one answer; its text so far is kept."""
        running = self._running(answer_id)
        if running is not None:
            running.task.cancel()

    def answering(self, chat_id: str) -> tuple[str, ...]:
        """Return the ids of this chat's answers that are being written or wait for their turn."""
        return tuple(run.id for run in self._answered if run.chat_id == chat_id and not run.ended)

    def stop_all(self, done: Callable[[], object] = lambda: None) -> None:
        """Stop every answer, including those that wait for their turn.

        Args:
            done: Called once nothing works on an answer any more.
        """
        for run in self._answered:
            run.task.cancel()
        self._when_idle.append(done)
        self._call_when_idle()

    def waits_for(self, answer_id: str) -> Wait | None:
        """Return why this answer waits for its turn; None if it does not."""
        running = self._running(answer_id)
        return running.wait if running else None

    def chat_of(self, answer_id: str) -> str | None:
        """Return the id of the chat of an answer that is being written or waits for its turn."""
        running = self._running(answer_id)
        return running.chat_id if running else None

    def is_answering(self, chat_id: str) -> bool:
        """Return whether an answer of this chat is being written or waits for its turn."""
        return bool(self.answering(chat_id))

    def usual_mtp(self) -> MtpMode:
        """Return the MTP mode of a new chat, for the model in use."""
        return self._answers.preparing.usual_mtp(self._settings.current)

    def running_mtp(self, chat_id: str) -> MtpMode | None:
        """Return the MTP mode of the answer in progress in this chat; None if there is none."""
        running = (run.mtp for run in self._answered if run.chat_id == chat_id and not run.ended)
        return next(running, None)

    def doing(self, answer_id: str) -> str:
        """Return how the engine describes loading an answer's model, or ""."""
        running = self._running(answer_id)
        return self._answers.doing(running.writing.ticket.engine) if running else ""

    def so_far(self, answer: StoredMessage) -> StoredMessage:
        """Return a stored answer with the text reported since it was last saved.

        An answer whose last save failed is kept here with its text until it is saved.
        """
        run = self._latest(answer.id)
        if run is None or (run.ended and run.unsaved is None):
            return answer
        return run.final or run.writing.so_far(answer, run.reported)

    def _latest(self, answer_id: str) -> _Run | None:
        """Return the latest state of an answer since it was requested or continued."""
        return next((run for run in reversed(self._answered) if run.id == answer_id), None)

    def _running(self, answer_id: str) -> _Run | None:
        """Return the state of an answer that is being written or waits for its turn."""
        run = self._latest(answer_id)
        return None if run is None or run.ended else run

    def _answer(self, answer: StoredMessage, options: AnswerOptions) -> None:
        settings = self._settings.current
        # Join the queue now, so that the order is that of the requests, whichever thread starts
        # first.
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
            lambda events: self._pass_on(run, events),
            lambda: self._work_ended(run),
            lambda error: self._crash(run, error),
            on=ENGINE,
        )
        run = _Run(writing, task, options.mtp or self.usual_mtp())
        previous = self._latest(answer.id)
        if previous is not None:
            previous.unsaved = None
            self._forget(previous)
        self._answered.append(run)
        self.begun.emit(answer)

    def _pass_progress_on(self, answer_id: str, share: float) -> None:
        """Report loading progress, unless the answer has ended: its end can arrive first."""
        if self._running(answer_id) is not None:
            self.loading.emit(answer_id, share)

    def _pass_wait_on(self, answer_id: str, wait: Wait | None) -> None:
        running = self._running(answer_id)
        if running is not None:
            running.wait = wait
            self.waits.emit(answer_id, wait)

    def _pass_on(self, run: _Run, events: list[AnswerEvent]) -> None:
        answer = run.writing.answer
        for event in joined(events):
            match event:
                case Ready() | PromptReady() | PromptProgress() | Grounded() | Compaction():
                    self._signal_of[type(event)].emit(answer.id, event)
                case TextDelta(text):
                    run.reported += len(text)
                    self.text.emit(answer.id, text)
                case ReasoningDelta(text):
                    run.reported += len(text)
                    self.reasoning.emit(answer.id, text)
                case WasReasoning():
                    self.was_reasoning.emit(answer.id)
                case MtpReport():
                    self.mtp.emit(answer.chat_id, event)
                case Ended():
                    self._end(run, event)

    def _end(self, run: _Run, end: Ended) -> None:
        run.ended = True
        run.final, run.unsaved = end.message, end.unsaved
        if run.unsaved is not None:
            self._retry.start()
        self.ended.emit(end.message)

    def _save_unsaved(self) -> None:
        """Try again to save the answers whose end could not be saved."""
        for run in self._answered:
            if run.unsaved is not None:
                self._save(run, run.unsaved)

    def _save(self, run: _Run, answer: StoredMessage) -> None:
        def saved(_: None) -> None:
            if run.unsaved is not None:  # otherwise it was continued meanwhile
                run.unsaved = None
                self._forget(run)
                self.saved.emit(answer)

        def failed(error: Exception) -> None:
            if isinstance(error, UserError):
                self._retry.start()
            else:
                self.crashed.emit(error)

        self._tasks.run(lambda: self._store.save_answer(answer), saved, failed, on=STORE)

    def _close(self) -> None:
        """Save everything unsaved now, as listeners can be gone before anything else arrives."""
        self._retry.stop()
        answered = self._answered.copy()
        self._answered.clear()
        for run in answered:
            if run.unsaved is not None:
                with contextlib.suppress(UserError):  # the user was told when the answer ended
                    self._store.save_answer(run.unsaved)

    def _work_ended(self, run: _Run) -> None:
        """Note that nothing works on an answer any more."""
        run.at_work = False
        self._forget(run)
        self._call_when_idle()

    def _forget(self, run: _Run) -> None:
        if not run.at_work and run.unsaved is None and run in self._answered:
            self._answered.remove(run)

    def _crash(self, run: _Run, error: Exception) -> None:
        run.ended = True
        self._work_ended(run)
        self.crashed.emit(error)

    def _call_when_idle(self) -> None:
        if not any(run.at_work for run in self._answered):
            waiting, self._when_idle = self._when_idle, []
            for done in waiting:
                done()
