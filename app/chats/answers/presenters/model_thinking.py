"""Tells whether a model thinks before it answers, by its file, before it is loaded."""

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
    """The fields on thinking of `LoadedModel`, from a model's file."""

    thinking: Thinking
    thinks: bool
    efforts: tuple[str, ...] = ()
    effort: str = ""


class ModelThinking(QObject):
    """Tells a model's thinking.

    known(model, ThinkingFacts or None): by what the model is called; None for a file that cannot be
    read. crashed(error): a bug of ours.
    """

    known = Signal(str, object)
    crashed = Signal(Exception)

    def __init__(self, library: Library, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._library = library
        self._latest = Latest(tasks, THINKING)

    def look(self, called: str) -> None:
        """Find it out; only what was asked for last is told."""

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
    """Read it from a model's file. Raises ModelUnknown or EngineError."""
    entry = library.find(called)
    template = library.formats.of(entry).template(entry)
    if not may_reason(template):
        return ThinkingFacts("none", thinks=False)
    with closing(Dialect(template)) as dialect:
        switch = dialect.switch
    return ThinkingFacts(switch.kind, switch.thinks, switch.efforts, switch.effort)


def of_loaded(loaded: LoadedModel) -> ThinkingFacts:
    return ThinkingFacts(loaded.thinking, loaded.thinks, loaded.efforts, loaded.effort)
