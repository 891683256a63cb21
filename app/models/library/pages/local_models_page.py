"""The models on this computer: the list, and the page of each model."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.kit.notify import Notifier
from app.models.library.pages.details.details_page import DetailsPage
from app.models.library.pages.local.list_page import ListPage
from app.models.library.presenters.models import Models
from app.models.library.presenters.overview import ModelOverview
from app.models.library.values.entry import ModelEntry
from app.models.presenters import ModelsPresenters


class LocalModelsPage(QStackedWidget):
    """The list of models on this computer and the page of one model.

    Signals:
        use: The id of the model to use.
        anyway: The id of a model to load even if it does not seem to fit.
        remove: The id of the model to remove, and whether to remove its file too.
        changed: A model has a new name.
    """

    use = Signal(str)
    anyway = Signal(str)
    remove = Signal(str, bool)
    changed = Signal()

    def __init__(
        self, presenters: ModelsPresenters, notifier: Notifier, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("here")
        self._overview: ModelOverview = presenters.overview
        self._entries: Sequence[ModelEntry] = ()
        self.list = ListPage(presenters.same_answer, notifier)
        self.details = DetailsPage(presenters.model_page, presenters.metadata, notifier)
        self.addWidget(self.list)
        self.addWidget(self.details)
        self.list.use.connect(self.use)
        self.list.opened.connect(self.open)
        self.list.again.connect(lambda: self._overview.look(anew=True))
        self.details.back.connect(self.go_back)
        self.details.use.connect(self.use)
        self.details.anyway.connect(self.anyway)
        self.details.remove.connect(self.remove)
        self.details.renamed.connect(self.changed)
        self._overview.looked.connect(self.list.show_overview)
        self._overview.learnt.connect(self.list.show_facts)
        self._overview.failed.connect(self.list.show_problem)
        self._copies(presenters.models)

    def show_models(self, entries: Sequence[ModelEntry], current: str) -> None:
        """Show the models.

        Args:
            current: The id or name of the one in use.
        """
        self.list.show_current(current)
        self.list.show_fits(entries)
        self.list.show_first_step(all(entry.builtin for entry in entries))
        self.details.show_current(current)
        removed = self.details.model not in {entry.id for entry in entries}
        if removed and self.currentWidget() is self.details:
            self.go_back()
        if list(entries) != list(self._entries):
            self._entries = entries
            if self.isVisible():
                self._overview.look()

    def open(self, model: str) -> None:
        """Open the page of a model, given by its id, at its top."""
        self.setCurrentWidget(self.details)
        self.details.verticalScrollBar().setValue(0)
        self.details.open(model)

    def go_back(self) -> None:
        """Return to the list, at the row of the model that was open."""
        self.setCurrentWidget(self.list)
        self.list.focus_row(self.details.model)
        self._overview.look()

    def showEvent(self, event: QShowEvent) -> None:
        """Search for models again."""
        super().showEvent(event)
        self._overview.look()

    def show_drop_hint(self, visible: bool) -> None:
        """Show or hide where model files can be dropped, above the list."""
        if visible:
            self.setCurrentWidget(self.list)
            self.list.verticalScrollBar().setValue(0)
        self.list.show_drop_hint(visible)

    def _copies(self, models: Models) -> None:
        card = self.list.copy_card
        models.copying.connect(card.show_progress)
        models.copy_ended.connect(card.hide)
        card.stop.connect(models.stop_copying)
