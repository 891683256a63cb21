"""The list of all models on this computer, with sizes, a filter and a sort order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.base.language import translated
from app.kit.look.format import size
from app.kit.notify import Notifier
from app.kit.widgets.action import UserAction
from app.kit.widgets.card import ItemCard, drop_hint
from app.kit.widgets.column_page import PartPage
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.emptying import empty
from app.kit.widgets.fields import ComboBox, LineField
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.layouts import at_start
from app.kit.widgets.panel import Panel
from app.kit.widgets.problem_card import ProblemCard
from app.kit.widgets.progress_bar import ProgressBar
from app.kit.widgets.share_bar import BarPart, ShareBar, limited
from app.models.downloads.pages.download_words import served_words
from app.models.library.pages.local.model_rows import ModelRows, RowContent
from app.models.library.pages.model_words import order_word
from app.models.library.pages.mtp_card import MtpCard
from app.models.library.pages.names import name_of
from app.models.library.presenters.same_answer import SameAnswer
from app.models.library.values.entry import ModelEntry
from app.models.library.values.overview import ORDERS, ListedFacts, Order, Overview, arranged
from app.models.pages.computer_card import ComputerCard
from engines.errors import UserError

if TYPE_CHECKING:
    from app.models.presenters import SystemCheck


class DiskCard(Panel):
    """The card of the disk space that models take; hidden until it is known."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("card", "diskCard", margins=(2, 1.5, 2, 1.5), spacing=1, parent=parent)
        self._sentence = Label("", "strong", name="diskUse", wrap=True)
        self.box.addWidget(self._sentence)
        self._bar: ShareBar | None = None
        self.hide()

    def show_use(self, overview: Overview) -> None:
        """Show the disk space of all models, as a sentence and as a bar."""
        count = len(overview.models)
        text = self.tr("{count} models take {total} on disk; {free} are free.")
        if count == 1:
            text = self.tr("One model takes {total} on disk; {free} are free.")
        self._sentence.setText(
            text.format(count=count, total=size(overview.total), free=size(overview.free))
        )
        if self._bar is not None:
            self._bar.hide()
            self._bar.deleteLater()
        parts = [
            BarPart(f"{name_of(entry)} {size(bytes_used)}", bytes_used)
            for entry in overview.models
            if (bytes_used := overview.sizes.get(entry.id, 0))
        ]
        self._bar = ShareBar(
            "diskBar",
            self.tr("Disk use of the models"),
            limited(parts, self.tr("{count} others")),
            whole=overview.total + overview.free,
        )
        self.box.addWidget(self._bar)
        self.show()


class CopyCard(Panel):
    """The progress of copying a model; hidden while nothing is copied.

    Signals:
        stop: The user wants to stop the copy.
    """

    stop = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("card", "copyCard", across=True, margins=(2, 1, 1, 1), parent=parent)
        texts = QVBoxLayout()
        texts.setSpacing(6)
        self._file_label = ElidedLabel("", name="copyWhat")
        self._bar = ProgressBar("copyBar", self.tr("Copying and checking"))
        texts.addWidget(self._file_label)
        texts.addWidget(self._bar)
        self.box.addLayout(texts, 1)
        stop = LabelledButton("stop", self.tr("Stop"), "stopCopying")
        stop.clicked.connect(self.stop)
        self.box.addWidget(stop)
        self.hide()

    def show_progress(self, path: str, share: float) -> None:
        """Show how much of a file is copied, from 0.0 to 1.0."""
        self._file_label.setText(
            self.tr("Copying and checking {name}").format(name=PurePath(path).name)
        )
        self._bar.setValue(round(share * 100))
        self.show()


class ListPage(PartPage):
    """The list of models on this computer.

    Signals:
        use: The id of the model to use.
        opened: The id of the model whose page to open.
        again: The user wants to search for models again.
        discover: The user wants to look for a first model to download.
    """

    use = Signal(str)
    opened = Signal(str)
    again = Signal()
    discover = Signal()

    def __init__(
        self, check: SameAnswer, notifier: Notifier, parent: QWidget | None = None
    ) -> None:
        super().__init__("modelsHere", parent=parent)
        self._overview: Overview | None = None
        self._facts: dict[str, ListedFacts] = {}
        self._current = ""
        words = self.tr("Drop model files here, or a folder of them.")
        self._drop = drop_hint("dropHint", "download", words)
        self.column.addWidget(self._drop)
        self.copy_card = CopyCard()
        self.column.addWidget(self.copy_card)
        self._disk = DiskCard()
        self.column.addWidget(self._disk)
        self.column.addWidget(self._tools())
        self._placeholder = QVBoxLayout()
        self._placeholder.addWidget(
            Label(self.tr("Looking for models…"), "muted", name="lookingHere")
        )
        self.column.addLayout(self._placeholder)
        self._rows = ModelRows(after=self._order)
        self._rows.use.connect(self.use)
        self._rows.opened.connect(self.opened)
        self.column.addWidget(self._rows)
        self._notes = Label("", "small", name="modelNotes", wrap=True, selectable=True)
        self._notes.hide()
        self.column.addWidget(self._notes)
        self._find = LabelledButton("search", self.tr("Find a model…"), "findFirst")
        self._find.clicked.connect(self.discover)
        self.column.addLayout(at_start(self._find))
        self.mtp = MtpCard(check, notifier)
        self.column.addWidget(self.mtp)
        self._computer = ComputerCard()
        self.column.addWidget(self._computer)
        self.column.addStretch(1)

    def show_current(self, current: str) -> None:
        """Mark the model in use, by its id or name."""
        if current != self._current:
            self._current = current
            self._build()

    def show_fits(self, entries: Sequence[ModelEntry]) -> None:
        """Show which of these models fit into memory."""
        self._rows.show_fits({entry.id: entry.fits for entry in entries})

    def show_first_step(self, first: bool) -> None:
        """Offer to find a model while only the guide is here, in place of the drafts' card."""
        self._find.setVisible(first)
        self.mtp.setHidden(first)

    def show_overview(self, overview: Overview) -> None:
        """Show the models, if anything about them has changed."""
        changed = overview != self._overview
        self._overview = overview
        if changed:
            self._disk.show_use(overview)
            self._notes.setText("\n".join(self._note_lines(overview)))
            self._notes.setVisible(bool(self._notes.text()))
            self._build()

    def show_facts(self, facts: Sequence[ListedFacts]) -> None:
        """Show facts from models' files in their rows."""
        for row_facts in facts:
            self._facts[row_facts.id] = row_facts
            self._rows.show_facts(row_facts)

    def show_problem(self, error: UserError) -> None:
        """Show why there is no list."""
        self._overview = None
        self._rows.show_models((), {}, anew=True)
        card = ProblemCard(error, [("lookAgain", "again", self.tr("Check again"))])
        card.acted.connect(self.again)
        self._show_instead(card)

    def show_check(self, check: SystemCheck) -> None:
        """Show the result of the hardware check."""
        self._computer.show_check(check)

    def show_check_failed(self) -> None:
        """Show that the hardware could not be checked."""
        self._computer.show_failure()

    def show_drop_hint(self, visible: bool) -> None:
        """Show or hide the hint that appears while a file is dragged over the page."""
        self._drop.setVisible(visible)

    def focus_row(self, model: str) -> None:
        """Focus the row of a model, after its page was closed."""
        self._rows.focus_row(model)

    def showEvent(self, event: QShowEvent) -> None:
        """Build the rows, which are not built while the page is hidden."""
        super().showEvent(event)
        self._build()

    def _arrange(self) -> None:
        """Rebuild the list after the filter or the sort order changes."""
        self._build(anew=True)

    def _build(self, *, anew: bool = False) -> None:
        """Show the current models; does nothing while the page is hidden."""
        if self._overview is None or not self.isVisible():
            return
        order = cast(Order, self._order.currentData())
        words = self._filter.text()
        sizes = self._overview.sizes
        contents = [
            RowContent(
                entry,
                entry.last_used,
                sizes.get(entry.id, 0),
                self._current in (entry.id, entry.name),
            )
            for entry in arranged(self._overview, self._facts, words, order)
        ]
        self._show_instead(None if contents else self._nothing(words))
        self._rows.show_models(contents, self._facts, anew=anew)

    def _show_instead(self, widget: QWidget | None) -> None:
        """Show a widget in place of the rows; None removes it."""
        empty(self._placeholder)
        if widget is not None:
            self._placeholder.addWidget(widget)

    def _nothing(self, words: str) -> QWidget:
        text = self.tr("No model matches “{words}”.").format(words=words.strip())
        clear = self.tr("Clear the filter")
        button = UserAction("clearFilter", "close", clear, self._filter.clear).button()
        return ItemCard("nothingFound", (Label(text, "muted", wrap=True), 1), button)

    def _note_lines(self, overview: Overview) -> list[str]:
        drafters = [f"{name}: {served_words(targets)}" for name, targets in overview.served.items()]
        return [*drafters, *(translated(note) for note in overview.notes)]

    def _tools(self) -> FlowRow:
        self._filter = LineField(
            "filterModels",
            self.tr("Filter the models"),
            hint=self.tr("Filter by name or source"),
            clears=True,
        )
        self._filter.textChanged.connect(self._arrange)
        self._order = ComboBox()
        self._order.setObjectName("orderModels")
        self._order.setAccessibleName(self.tr("Order of the models"))
        for order in ORDERS:
            self._order.addItem(order_word(order), order)
        self._order.currentIndexChanged.connect(self._arrange)
        return FlowRow(self._filter, self._order)
