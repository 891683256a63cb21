"""The dialog for an import: choosing files, a preview, and the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QProgressBar,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.base.language import translated
from app.exchange.values.recognise import PROGRAMS
from app.exchange.values.report import FileReport, report_text, sentences
from app.kit.look.format import figure
from app.kit.look.theme import GRID
from app.kit.widgets.column_page import ColumnPage
from app.kit.widgets.dialog import EnterDialog
from app.kit.widgets.label import Label
from app.kit.widgets.panel import Panel
from app.kit.widgets.picking import FILES, FOLDER, pick

Step = Literal["choose", "reading", "preview", "done"]

_MOST_SHOWN = 200
"""Most files with a card of their own; the copied report has all."""


class ImportDialog(EnterDialog):
    """The dialog for an import.

    Signals:
        chosen(paths): The user chose files or folders to read.
        confirmed(): The user wants to import the chats found.
        undo(): The user wants to undo the import.
        show_chats(): The user wants to see the imported chats.
    """

    chosen = Signal(object)
    confirmed = Signal()
    undo = Signal()
    show_chats = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("importDialog")
        self.setWindowTitle(self.tr("Import chats"))
        self.resize(620, 460)
        self._reports: Sequence[FileReport] = ()
        self._step: Step = "choose"
        self._title = Label(self.windowTitle(), "title", name="importTitle", wrap=True)
        self._note_line = Label("", "muted", name="importSaid", wrap=True)
        self._busy = QProgressBar()
        self._busy.setObjectName("importBusy")
        self._busy.setAccessibleName(self.tr("Reading"))
        self._busy.setRange(0, 0)
        self._busy.setTextVisible(False)
        self._list = ReportList()
        self._middle = QStackedWidget()
        self._middle.addWidget(self._choices())
        self._middle.addWidget(self._list)
        self._copy = self._button("importCopy", self.tr("Copy the report"), self._copy_report)
        self._undo = self._button("importUndo", self.tr("Undo the import"), self._ask_undo)
        self._close = self._button("importClose", self.tr("Cancel"), self.reject)
        self._import = self._button("importGo", self.tr("Import"), self._main)
        self._import.setProperty("look", "primary")
        column = QVBoxLayout(self)
        column.setContentsMargins(3 * GRID, 3 * GRID, 3 * GRID, 2 * GRID)
        column.setSpacing(2 * GRID)
        for widget in (self._title, self._note_line, self._busy):
            column.addWidget(widget)
        column.addWidget(self._middle, 1)
        row = QHBoxLayout()
        row.setSpacing(GRID)
        row.addWidget(self._copy)
        row.addStretch(1)
        for button in (self._undo, self._close, self._import):
            row.addWidget(button)
        column.addLayout(row)
        self.show_choice()

    def show_choice(self) -> None:
        """Show the choice of files."""
        note = self.tr(
            "Chats of these programs can be imported: {programs}. Nothing leaves this computer."
        )
        self._show("choose", self.tr("Import chats"), note.format(programs=", ".join(PROGRAMS)))

    def show_reading(self, count: int) -> None:
        """Show how many files have been read."""
        note = self.tr("Files read: {count}").format(count=figure(count)) if count else ""
        self._show("reading", self.tr("Looking for chats…"), note)

    def show_preview(self, reports: Sequence[FileReport]) -> None:
        """Show what an import would do."""
        count = sum(report.imported for report in reports)
        title = self.tr("Chats to import: {count}").format(count=figure(count))
        if not count:
            title = self.tr("There is nothing new to import")
        self._list.show_reports(reports, done=False)
        self._reports = reports
        note = ""
        if count:
            note = self.tr("They go into folders of their own, and one click undoes the import.")
        elif not any(report.here for report in reports):
            note = self.tr(
                "No chats were found there. To ask about files, attach them to a message, or make a"
                " collection of their folder on the page “Documents”."
            )
        self._show("preview", title, note)
        self._import.setEnabled(count > 0)

    def show_done(self, reports: Sequence[FileReport]) -> None:
        """Show what an import has done."""
        count = sum(report.imported for report in reports)
        self._list.show_reports(reports, done=True)
        self._reports = reports
        self._show("done", self.tr("Chats imported: {count}").format(count=figure(count)), "")

    def _show(self, step: Step, title: str, note: str) -> None:
        self._step = step
        self._title.setText(title)
        self._note_line.setText(note)
        self._note_line.setVisible(bool(note))
        self._busy.setVisible(step == "reading")
        self._middle.setCurrentIndex(1 if step in ("preview", "done") else 0)
        self._middle.setVisible(step != "reading")
        self._copy.setVisible(step in ("preview", "done"))
        self._undo.setVisible(step == "done")
        self._import.setVisible(step in ("preview", "done"))
        self._close.setVisible(step != "done")
        words = self.tr("Import") if step == "preview" else self.tr("Show the chats")
        self._import.setEnabled(True)
        self._import.setText(words)
        self._import.setAccessibleName(words)
        self._import.setDefault(True)
        if not self._import.isHidden():
            self._import.setFocus()

    def _choices(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        for name, text, description, act in (
            (
                "importFiles",
                self.tr("Choose files…"),
                self.tr("An export as .zip or .json, .chat files, or Ollama's db.sqlite."),
                self._choose_files,
            ),
            (
                "importFolder",
                self.tr("Choose a folder…"),
                self.tr("The folder of conversations of LM Studio, or of threads of Jan."),
                self._choose_folder,
            ),
        ):
            row = QHBoxLayout()
            row.setSpacing(2 * GRID)
            button = self._button(name, text, act)
            button.setAccessibleDescription(description)
            button.setMinimumWidth(170)
            row.addWidget(button)
            row.addWidget(Label(description, "small", wrap=True), 1)
            column.addLayout(row)
        hint = self.tr("You can also drop them onto Hearth's window.")
        column.addWidget(Label(hint, "small", wrap=True))
        column.addStretch(1)
        return page

    def _button(self, name: str, text: str, act: object) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(name)
        button.setAccessibleName(text)
        button.setAutoDefault(False)
        button.clicked.connect(act)
        return button

    def _choose_files(self) -> None:
        self._choose(FILES, self.tr("Chats to import"))

    def _choose_folder(self) -> None:
        self._choose(FOLDER, self.tr("Folder with chats to import"))

    def _choose(self, mode: QFileDialog.FileMode, title: str) -> None:
        pick(self, "importChoose", title, mode, self.chosen.emit)

    def _main(self) -> None:
        if self._step == "preview":
            self._import.setEnabled(False)
            self.confirmed.emit()
        else:
            self.accept()
            self.show_chats.emit()

    def _ask_undo(self) -> None:
        self.accept()
        self.undo.emit()

    def _copy_report(self) -> None:
        report = report_text(self._reports, done=self._step == "done")
        QGuiApplication.clipboard().setText(translated(report))


class ReportList(QWidget):
    """Cards, one for each file."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("importReport")
        self._page: ColumnPage | None = None
        self._box = QVBoxLayout(self)
        self._box.setContentsMargins(0, 0, 0, 0)

    def show_reports(self, reports: Sequence[FileReport], *, done: bool) -> None:
        """Show reports.

        Args:
            done: As in `report_text`.
        """
        if self._page is not None:
            self._page.hide()
            self._page.deleteLater()
        self._page = ColumnPage("importReportPage", spacing=GRID)
        for across in self._page.findChildren(QHBoxLayout):
            across.setContentsMargins(0, 0, GRID, 0)
        for report in reports[:_MOST_SHOWN]:
            self._page.column.addWidget(_card(report, done=done))
        if len(reports) > _MOST_SHOWN:
            more = self.tr("Further files: {count}").format(
                count=figure(len(reports) - _MOST_SHOWN)
            )
            self._page.column.addWidget(Label(more, "small"))
        self._page.column.addStretch(1)
        self._box.addWidget(self._page)


def _card(report: FileReport, *, done: bool) -> Panel:
    card = Panel("card", "importFile", margins=(2, 1.5, 2, 1.5), spacing=0.5)
    card.box.addWidget(Label(report.name, "strong", wrap=True, selectable=True))
    text = "\n".join(map(translated, sentences(report, done=done)))
    label = Label(text, "", wrap=True, selectable=True)
    label.setObjectName("importFileSaid")
    card.box.addWidget(label)
    return card
