"""Editing of a model's metadata, for the window."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, Signal

from app.kit.tasks.error_handling import error_handler
from app.kit.tasks.latest import Latest
from app.kit.tasks.tasks import Task, Tasks
from app.models.library.services.editing import MetadataEditor, sample_prompt
from app.models.library.values.editable import EditableMetadata
from app.models.library.values.entry import ModelEntry
from engines.cancel import CancelToken
from engines.errors import Cancelled, UserError
from engines.models.gguf.edit import Metadata

EDITING = "editing"
TRYING = "trying-template"

Failed = Callable[[UserError], None]


class ModelMetadata(QObject):
    """Edits a model's metadata.

    Signals:
        writing: How far a file is written, from 0.0 to 1.0.
        crashed: An error that is a bug in Hearth.
    """

    writing = Signal(float)
    crashed = Signal(Exception)

    def __init__(self, editor: MetadataEditor, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._editor = editor
        self._tasks = tasks
        self._trying = Latest(tasks, TRYING)
        self._task: Task | None = None

    def read(self, model: str, done: Callable[[EditableMetadata], None], failed: Failed) -> None:
        """Read the metadata of a model's file."""
        self._tasks.run(
            lambda: self._editor.read(model),
            done,
            error_handler(failed, self.crashed.emit),
            on=EDITING,
        )

    def try_template(self, template: str, done: Callable[[str], None], failed: Failed) -> None:
        """Render a short chat with a template; only the latest request is answered."""
        self._trying.run(
            lambda: sample_prompt(template, CancelToken()),
            done,
            error_handler(failed, self.crashed.emit),
        )

    def stop_trying(self) -> None:
        """Discard the result of a template that is being tried."""
        self._trying.forget()

    def save(
        self,
        model: str,
        done: Callable[[ModelEntry | None], None],
        failed: Failed,
        *,
        name: str | None,
        template: str | None,
        context: int | None,
        copy: str | None,
    ) -> None:
        """Write the file again, or a copy of it; a new template is tried first.

        Args:
            done: Receives the model, or None if `stop` ended the writing.
            name: The new name; None keeps it.
            template: The new chat template; None keeps it.
            context: The new context length in tokens; None keeps it.
            copy: The name of the copy; None changes the file itself.
        """
        last = -1

        def progress(share: float) -> None:
            nonlocal last
            if round(share * 200) != last:
                last = round(share * 200)
                self.writing.emit(share)

        def work(cancel: CancelToken) -> Iterator[ModelEntry]:
            changes = Metadata(name, template, context)
            if template is not None:
                sample_prompt(template, cancel)
            if copy is None:
                yield self._editor.change(model, changes, progress, cancel)
            else:
                yield self._editor.save_copy(model, changes, copy, progress, cancel)

        def ended(error: Exception) -> None:
            if isinstance(error, Cancelled):
                done(None)
            else:
                error_handler(failed, self.crashed.emit)(error)

        written: list[ModelEntry] = []
        self._task = self._tasks.stream(
            work, written.extend, lambda: done(written[0]), ended, on=EDITING
        )

    def stop(self) -> None:
        """Stop the writing that is under way; the file stays as it was."""
        if self._task is not None:
            self._task.cancel()
