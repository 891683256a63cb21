"""The list of all guides, or of the sections that a search found."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QLocale, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from app.help.values.guides import Guide, SectionHit
from app.kit.look.theme import GRID
from app.kit.widgets.column_page import PartPage
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.emptying import empty
from app.kit.widgets.label import Label
from app.kit.widgets.picture import Picture
from app.kit.widgets.problem_card import ProblemCard
from app.kit.widgets.row_button import RowButton
from engines.errors import UserError

_MOST_SHOWN = 30
"""The largest number of search results shown; a further word narrows them down."""


class GuideList(PartPage):
    """The list of guides or search results.

    Signals:
        opened(topic, number): The user opened a guide, at one of its headings.
        moved_up(): The user moved up from the first row.
    """

    opened = Signal(str, int)
    moved_up = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("guideList", parent=parent)
        self._rows: list[RowButton] = []
        self._language = Label(
            self.tr("The guides are written in English."), "muted", name="guidesLanguage", wrap=True
        )
        self.column.addWidget(self._language)
        self._language.setHidden(
            QLocale().language() in {QLocale.Language.English, QLocale.Language.C}
        )
        self._content = QVBoxLayout()
        self._content.setSpacing(GRID)
        self.column.addLayout(self._content)
        self.column.addStretch(1)

    def show_all(self, guides: Sequence[Guide]) -> None:
        """List all guides."""
        self._clear()
        for guide in guides:
            name = f"{guide.title}: {guide.summary}"
            self._add(f"guide-{guide.topic}", name, guide.title, guide.summary, (guide.topic, 0))

    def show_results(self, words: str, results: Sequence[SectionHit]) -> None:
        """List the results of a search for these words."""
        self._clear()
        if not results:
            text = self.tr("No guide contains “{words}”.").format(words=words.strip())
            self._content.addWidget(Label(text, name="noGuideFound", wrap=True))
            self._content.addWidget(Label(self.tr("Try fewer or other words."), "muted", wrap=True))
        for number, result in enumerate(results[:_MOST_SHOWN], start=1):
            section, guide = result.section, result.section.guide
            title = guide.title
            if section.number:
                title = self.tr("{who}: {words}").format(who=guide.title, words=section.heading)
            place = guide.topic, section.number
            self._add(f"place-{number}", f"{title}: {result.snippet}", title, result.snippet, place)
        if len(results) > _MOST_SHOWN:
            text = self.tr("{count} more results; add a word to narrow them down.").format(
                count=len(results) - _MOST_SHOWN
            )
            self._content.addWidget(Label(text, "muted", name="moreFound", wrap=True))

    def show_problem(self, error: UserError) -> None:
        """Show an error in place of the list."""
        self._clear()
        self._content.addWidget(ProblemCard(error))

    def open_first(self) -> None:
        """Open the guide of the first row."""
        if self._rows:
            self._rows[0].click()

    def enter(self) -> None:
        """Move the focus to the first row."""
        if self._rows:
            self._focus_row(0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move through the rows with the arrow keys."""
        step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()), 0)
        index = next((index for index, row in enumerate(self._rows) if row.hasFocus()), None)
        if not step or index is None:
            super().keyPressEvent(event)
        elif index + step < 0:
            self.moved_up.emit()
        elif index + step < len(self._rows):
            self._focus_row(index + step)

    def _clear(self) -> None:
        empty(self._content)
        self._rows = []
        self.verticalScrollBar().setValue(0)

    def _focus_row(self, index: int) -> None:
        row = self._rows[index]
        row.setFocus(Qt.FocusReason.TabFocusReason)
        self.ensureWidgetVisible(row, 0, 2 * GRID)

    def _add(
        self, object_name: str, name: str, title: str, text: str, target: tuple[str, int]
    ) -> None:
        row = RowButton(object_name, name)
        row.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(ElidedLabel(title, "strong"))
        texts.addWidget(Label(text, "muted", wrap=True))
        row.box.addLayout(texts, 1)
        row.box.addWidget(Picture("forward", "muted", 16))
        row.let_clicks_through()
        row.clicked.connect(lambda: self.opened.emit(*target))
        # Otherwise Enter presses a button only in a dialog, but users expect it to open a row.
        row.setAutoDefault(True)
        self._rows.append(row)
        self._content.addWidget(row)
