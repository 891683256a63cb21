"""Reads from a model's file, before it is loaded, whether it thinks before it answers."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from app.kit.tasks.latest import Latest
from app.kit.tasks.tasks import Tasks
from app.models.library.services.library import Library
from engines.dialect import Dialect, may_reason
from engines.errors import UserError
from engines.types import LoadedModel, Thinking

THINKING = "thinking"


@dataclass(frozen=True)
class ThinkingFacts:
    """The fields of `LoadedModel` about thinking, read from a model's file."""

    thinking: Thinking
    thinks: bool
    efforts: tuple[str, ...] = ()
    effort: str = ""


class ModelThinking(QObject):
    """Reports how a model thinks.

    Signals:
        known(model, ThinkingFacts or None): The facts for a model, under the name it was asked for
            by; None if its file cannot be read.
        crashed(error): A bug in Hearth.
    """

    known = Signal(str, object)
    crashed = Signal(Exception)

    def __init__(self, library: Library, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._library = library
        self._latest = Latest(tasks, THINKING)

    def request(self, called: str) -> None:
        """Read a model's facts; only the last request is answered."""

        def failed(error: Exception) -> None:
            if isinstance(error, UserError):
                self.known.emit(called, None)
            else:
                self.crashed.emit(error)

        self._latest.run(
            lambda: of_file(self._library, called),
            lambda facts: self.known.emit(called, facts),
            failed,
        )


def of_file(library: Library, called: str) -> ThinkingFacts:
    """Read the facts from a model's file.

    Raises:
        ModelUnknown: The model is not on this computer.
        EngineError: Its file cannot be read.
    """
    entry = library.find(called)
    template = library.formats.of(entry).template(entry)
    if not may_reason(template):
        return ThinkingFacts("none", thinks=False)
    with closing(Dialect(template)) as dialect:
        switch = dialect.switch
    return ThinkingFacts(switch.kind, switch.thinks, switch.efforts, switch.effort)


def of_loaded(loaded: LoadedModel) -> ThinkingFacts:
    """Return the facts of a loaded model."""
    return ThinkingFacts(loaded.thinking, loaded.thinks, loaded.efforts, loaded.effort)
