"""Recording from the microphone for the window, one recording at a time."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.documents.services.recording import Recorder, RecordingProgress
from app.kit.tasks.latest import Latest
from app.kit.tasks.tasks import Task, Tasks
from app.models.library.services.library import Library
from engines.errors import UserError

MICROPHONE = "microphone"
HEARING = "hearing"


class Recording(QObject):
    """Records on another thread; call `begin` only after the user has agreed to this recording.

    Signals:
        going(seconds): The length of the running recording; None after it has ended.
        recorded(sound): A recording is complete; its bytes.
        can_hear(model, accepts_sound): Whether the model with this name or id accepts sound.
        failed(error): The recording or the check failed.
    """

    going = Signal(object)
    recorded = Signal(bytes)
    can_hear = Signal(str, bool)
    failed = Signal(Exception)

    def __init__(
        self, recorder: Recorder, library: Library, tasks: Tasks, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._recorder = recorder
        self._library = library
        self._tasks = tasks
        self._latest = Latest(tasks, HEARING)
        self._task: Task | None = None
        self._is_wanted = True

    def check_model(self, model: str) -> None:
        """Check whether a model accepts sound; only the result of the latest call is emitted."""

        def work() -> bool:
            return "hears" in (self._library.facts(self._library.find(model)).can or ())

        def failed(error: Exception) -> None:
            if isinstance(error, UserError):
                self.can_hear.emit(model, False)
            else:
                self.failed.emit(error)

        self._latest.run(work, lambda found: self.can_hear.emit(model, found), failed)

    def begin(self) -> None:
        """Start a recording, unless one is running."""
        if self._task is not None:
            return
        self._is_wanted = True
        self._task = self._tasks.stream(
            self._recorder.record, self._pass_on, self._end, self._fail, on=MICROPHONE
        )
        self.going.emit(0.0)

    def stop(self) -> None:
        """End the recording; `recorded` is emitted with it."""
        if self._task is not None:
            self._task.cancel()

    def discard(self) -> None:
        """End the recording and discard it."""
        self._is_wanted = False
        self.stop()

    def _pass_on(self, news: list[RecordingProgress]) -> None:
        last = news[-1]
        if last.sound:
            if self._is_wanted:
                self.recorded.emit(last.sound)
        elif self._task is not None:
            self.going.emit(last.seconds)

    def _end(self) -> None:
        self._task = None
        self.going.emit(None)

    def _fail(self, error: Exception) -> None:
        self._end()
        if self._is_wanted:
            self.failed.emit(error)
