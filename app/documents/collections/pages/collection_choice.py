"""Chips to choose collections for a chat or an assistant."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.documents.collections.values import DocumentCollection
from app.kit.look.theme import GRID
from app.kit.widgets.eliding_chip import ElidingChip
from app.kit.widgets.emptying import empty
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.label import Label


class CollectionChoice(QWidget):
    """A row of chips, one per collection.

    Collections that no longer exist stay chosen in case they come back, but are not shown.

    Signals:
        chosen(tuple of ids): The user changed the choice.
    """

    chosen = Signal(object)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self._chosen: tuple[str, ...] = ()
        self._names: dict[str, str] | None = None
        self._chips: dict[str, ElidingChip] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(GRID)

    @property
    def choice(self) -> tuple[str, ...]:
        """The ids of the chosen collections."""
        return self._chosen

    def show_collections(
        self, collections: Sequence[DocumentCollection], chosen: Collection[str]
    ) -> None:
        """Show the collections and the choice; a chip that stays keeps the focus."""
        self._chosen = tuple(chosen)
        names = {collection.id: collection.name for collection in collections}
        if names != self._names:
            self._names = names
            self._build()
        for collection, chip in self._chips.items():
            chip.setChecked(collection in chosen)

    def _build(self) -> None:
        empty(self._column)
        self._chips = {
            collection: ElidingChip(name, f"{self.objectName()}-{collection}")
            for collection, name in (self._names or {}).items()
        }
        for collection, chip in self._chips.items():
            chip.clicked.connect(lambda is_on, key=collection: self._toggle(key, is_on=is_on))
        if self._chips:
            self._column.addWidget(FlowRow(*self._chips.values()))
        else:
            words = self.tr("No collections yet. You make them on the page “Documents”.")
            self._column.addWidget(Label(words, "small", name="nothingToChoose", wrap=True))

    def _toggle(self, collection: str, *, is_on: bool) -> None:
        rest = tuple(chosen for chosen in self._chosen if chosen != collection)
        self._chosen = (*rest, collection) if is_on else rest
        self.chosen.emit(self._chosen)
