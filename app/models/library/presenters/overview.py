"""The overview of the models on this computer, for the window; also reads their files."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.kit.tasks.tasks import Task, Tasks
from app.models.library.services.library import Library
from app.models.library.services.manager import ModelManager
from app.models.library.values.entry import ModelEntry
from app.models.library.values.overview import ListedFacts, Overview
from app.models.library.values.quantisations import quantisation_of
from engines.cancel import CancelToken
from engines.errors import EngineError
from engines.sentences import joined

OVERVIEW = "overview"


class ModelOverview(QObject):
    """The overview of models.

    Args:
        folder: A folder on the disk whose free space is shown.

    Signals:
        looked: An Overview; emitted before any file is read, and again once `served` is known.
        learnt: A list of ListedFacts, as the files are read.
        failed: The error because of which there is no list.
    """

    looked = Signal(object)
    learnt = Signal(object)
    failed = Signal(Exception)

    def __init__(
        self,
        library: Library,
        manager: ModelManager,
        folder: Path,
        tasks: Tasks,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._library = library
        self._manager = manager
        self._folder = folder
        self._tasks = tasks
        self._task: Task | None = None

    def look(self, *, anew: bool = False) -> None:
        """Make the overview.

        Args:
            anew: Whether to search every folder again, even if nothing seems to have changed.
        """
        if self._task is not None:
            self._task.cancel()

        def work(cancel: CancelToken) -> Iterator[Overview | ListedFacts]:
            return self._build(cancel, anew)

        self._task = self._tasks.stream(
            work, self._show, lambda: None, self.failed.emit, on=OVERVIEW
        )

    def _build(self, cancel: CancelToken, anew: bool) -> Iterator[Overview | ListedFacts]:
        if cancel.cancelled:
            return
        if anew:
            self._library.refresh()
        use = self._manager.disk_use()
        models = [model for model in self._library.entries() if not model.on_server]
        overview = Overview(
            models=tuple(models),
            drafters=tuple(self._library.drafters()),
            sizes=use.models,
            total=use.total,
            free=shutil.disk_usage(self._folder).free,
            notes=tuple(self._library.notes()),
        )
        yield overview
        yield from self._read(models, cancel)
        if served := self._library.served_by():
            names = {drafter.path: drafter.name for drafter in overview.drafters}
            served_by_name = {
                names.get(path, path.stem): targets for path, targets in served.items()
            }
            yield replace(overview, served=served_by_name)

    def _read(self, models: list[ModelEntry], cancel: CancelToken) -> Iterator[ListedFacts]:
        try:
            for entry in models:
                if cancel.cancelled:
                    return
                yield self._facts(entry)
        finally:
            self._library.keep_facts()

    def _facts(self, entry: ModelEntry) -> ListedFacts:
        try:
            facts = self._library.facts(entry)
        except EngineError as error:
            named = quantisation_of(entry.file or entry.path.name, entry.repo or "").label
            return ListedFacts(entry.id, named, problem=joined(" ", (error.what, error.why)))
        return ListedFacts(entry.id, facts.quantisation, facts.mtp, facts.can)

    def _show(self, results: list[Overview | ListedFacts]) -> None:
        for result in results:
            if isinstance(result, Overview):
                self.looked.emit(result)
        self.learnt.emit([result for result in results if isinstance(result, ListedFacts)])
