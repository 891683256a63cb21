"""The page of one collection: its state, a search to try it, and its files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QMenu, QProgressBar, QVBoxLayout, QWidget

from app.base.language import translated
from app.documents.collections.pages.file_table import FileTable
from app.documents.collections.pages.passage_list import PassageList
from app.documents.collections.pages.words import facts, is_at_work, share, standing
from app.documents.collections.values import (
    CollectionState,
    FoundPassage,
    IndexedFile,
    IndexProgress,
)
from app.kit.look.format import figure
from app.kit.look.theme import GRID
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.emptying import empty
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.live_line import LiveLine
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture
from app.kit.widgets.segments import Segments
from app.models.library.pages.part_page import PartPage

_TYPING_MS = 200
_MANY = 8
"""The number of files from which the filter is shown."""
_MOST_SOURCES = 50


class _SearchField(QLineEdit):
    """A search field in which Escape first clears the text."""

    def event(self, event: QEvent) -> bool:
        if event.type() in {QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress} and self.text():
            key = cast(QKeyEvent, event)
            if key.key() == Qt.Key.Key_Escape:
                event.accept()
                if event.type() is QEvent.Type.KeyPress:
                    self.clear()
                return True
        return super().event(event)


class CollectionPage(PartPage):
    """The page of one collection.

    Signals:
        back(): The user wants to see all collections.
        asked(action): The user wants "chat", "files", "folder", "pause", "resume", "rename",
            "again" or "remove".
        searched(words): The user searched for passages.
        opened(FoundPassage): The user wants to see a passage on its page.
        reveal(path): The user wants to see a file in its folder.
        take_out(path): The user wants to take a file or folder out of the collection.
    """

    back = Signal()
    asked = Signal(str)
    searched = Signal(str)
    opened = Signal(object)
    reveal = Signal(object)
    take_out = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("collectionPage", parent=parent)
        self._state: CollectionState | None = None
        self._files: Sequence[IndexedFile] = ()
        self._picked = Path()
        self._shown_paths: tuple[Path, ...] | None = None
        self._way = LabelledButton(
            "back", self.tr("All collections"), "allCollections", look="link", tone="accent_text"
        )
        self._way.clicked.connect(self.back)
        self.column.addWidget(self._way, 0, Qt.AlignmentFlag.AlignLeft)
        self.column.addWidget(self._make_head())
        self._drop = self._make_drop_hint()
        self.column.addWidget(self._drop)
        self.column.addWidget(self._make_search())
        self._passages = PassageList()
        self._passages.opened.connect(self.opened)
        self._passages.hide()
        self.column.addWidget(self._passages)
        self._table = FileTable()
        self._all_files = self._make_files()
        self.column.addWidget(self._all_files)
        self.column.addStretch(1)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_TYPING_MS)
        self._pause.timeout.connect(self._search)

    @property
    def collection(self) -> str:
        """The id of the shown collection; "" before one is shown."""
        return self._state.collection.id if self._state else ""

    @property
    def words(self) -> str:
        """The search words."""
        return self._words.text().strip()

    def open(self, state: CollectionState, progress: IndexProgress | None) -> None:
        """Show another collection, scrolled to the top."""
        self._words.clear()
        self._segments.show_choice("all")
        self._filter.clear()
        self.show_files(())
        self.show_state(state, progress)
        self.verticalScrollBar().setValue(0)

    def show_state(self, state: CollectionState, progress: IndexProgress | None) -> None:
        self._state = state
        at_work, paused = is_at_work(state, progress), state.collection.paused
        known = state.files > state.waiting
        self._name.setText(state.collection.name)
        self._line.say(standing(state, progress), at_once=not at_work)
        self._bar.setValue(share(state, progress))
        self._bar.setVisible(at_work)
        words = self.tr("Go on reading") if paused else self.tr("Pause")
        self._halt.redraw("play" if paused else "pause", words)
        self._halt.setVisible(at_work or paused)
        self._chat.setEnabled(known)
        waited = self._search_box.isHidden() and self._add_folder.hasFocus()
        self._search_box.setVisible(state.passages > 0)
        if waited and state.passages:
            self.focus()
        self._facts.setText("\n".join(facts(state)))
        self._facts.setVisible(bool(self._facts.text()))
        self._show_sources(state)

    def show_files(self, files: Sequence[IndexedFile]) -> None:
        self._files = files
        self._show_table()

    def show_found(self, found: Sequence[FoundPassage], words: str) -> None:
        """Show the results of a search, unless the words have changed meanwhile."""
        if words == self.words:
            self._passages.show_found(found, words)
            self._show_passages(True)
            QTimer.singleShot(0, self, self._show_first)

    def show_drop_hint(self, shown: bool) -> None:
        self._drop.setVisible(shown)

    def focus(self) -> None:
        """Focus the search field, or the button to add a folder if nothing is indexed."""
        field = self._add_folder if self._search_box.isHidden() else self._words
        field.setFocus(Qt.FocusReason.OtherFocusReason)

    def _make_head(self) -> Panel:
        head = Panel("card", "collectionHead", margins=(2.5, 2, 2, 2), spacing=1)
        row = QHBoxLayout()
        row.setSpacing(GRID)
        self._name = ElidedLabel("", "title", "openCollection")
        row.addWidget(self._name, 1)
        self._more = IconButton("more", self.tr("More for this collection"), "moreOfCollection")
        self._more.clicked.connect(self._open_menu)
        row.addWidget(self._more)
        self._line = LiveLine(self.tr("State"), "muted", "openStanding")
        self._bar = QProgressBar()
        self._bar.setObjectName("openBar")
        self._bar.setAccessibleName(self.tr("Reading the files"))
        self._bar.setTextVisible(False)
        self._facts = Label("", "small", name="collectionFacts", wrap=True, selectable=True)
        self._chat = LabelledButton(
            "chat", self.tr("Chat"), "chatAbout", look="primary", tone="on_accent"
        )
        self._add_folder = LabelledButton("folder", self.tr("Add a folder…"), "addFolder")
        files = LabelledButton("file", self.tr("Add files…"), "addFiles")
        self._halt = LabelledButton("pause", self.tr("Pause"), "haltReading")
        for button, action in (
            (self._chat, "chat"),
            (self._add_folder, "folder"),
            (files, "files"),
        ):
            button.clicked.connect(lambda _=False, act=action: self.asked.emit(act))
        self._halt.clicked.connect(self._press_halt)
        head.box.addLayout(row)
        head.box.addWidget(self._line)
        head.box.addWidget(self._bar)
        head.box.addWidget(self._facts)
        buttons = FlowRow(self._chat, self._add_folder, files, self._halt)
        buttons.setContentsMargins(0, GRID // 2, 0, 0)
        head.box.addWidget(buttons)
        return head

    def _make_search(self) -> QWidget:
        self._search_box = box = QWidget()
        column = QVBoxLayout(box)
        column.setContentsMargins(0, 0, 0, 0)
        self._words = _SearchField()
        self._words.setObjectName("searchCollection")
        self._words.setAccessibleName(self.tr("Search in this collection"))
        self._words.setPlaceholderText(self.tr("Try it: a question or a few words"))
        self._words.setClearButtonEnabled(True)
        self._words.textChanged.connect(self._written)
        self._words.returnPressed.connect(self._search)
        column.addWidget(self._words)
        return box

    def _make_files(self) -> QWidget:
        part = QWidget()
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        self._segments = Segments(
            "filesPart",
            self.tr("Files that are shown"),
            (
                ("all", self.tr("Files"), self.tr("All files")),
                (
                    "unreadable",
                    self.tr("Not read"),
                    self.tr("Files that are not read to the end"),
                ),
                ("sources", self.tr("Added"), self.tr("Folders and files that you added")),
            ),
        )
        self._segments.chosen.connect(lambda _: self._show_table())
        self._filter = QLineEdit()
        self._filter.setObjectName("filterFiles")
        self._filter.setAccessibleName(self.tr("Filter the files"))
        self._filter.setPlaceholderText(self.tr("Filter by name"))
        self._filter.setClearButtonEnabled(True)
        self._filter.textChanged.connect(lambda _: self._show_table())
        column.addWidget(FlowRow(self._segments, self._filter))
        self._nothing = Label("", "muted", name="noFiles", wrap=True)
        column.addWidget(self._nothing)
        self._table.picked.connect(self._show_details)
        column.addWidget(self._table)
        self._details = self._make_details()
        column.addWidget(self._details)
        self._sources = QVBoxLayout()
        self._sources.setSpacing(GRID // 2)
        self._all_sources = QWidget()
        self._all_sources.setLayout(self._sources)
        self._sources.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._all_sources)
        return part

    def _make_details(self) -> Panel:
        card = Panel("card", "fileDetails", margins=(2, 1.5, 2, 1.5), spacing=0.75)
        self._path = ElidedLabel("", "small", "filePath")
        self._why = Label("", name="fileWhy", wrap=True, selectable=True)
        reveal = LabelledButton("folder", self.tr("Show in its folder"), "revealFile")
        reveal.clicked.connect(lambda: self.reveal.emit(self._picked))
        card.box.addWidget(self._path)
        card.box.addWidget(self._why)
        card.box.addWidget(reveal, 0, Qt.AlignmentFlag.AlignLeft)
        card.hide()
        return card

    def _make_drop_hint(self) -> Panel:
        hint = Panel("banner", "collectionDropHint", across=True, margins=(2, 2, 2, 2), spacing=1.5)
        hint.box.addWidget(Picture("documents", "accent_text"))
        hint.box.addWidget(Label(self.tr("Drop to add them to this collection."), "strong"), 1)
        hint.hide()
        return hint

    def _show_details(self, file: IndexedFile | None) -> None:
        """Show the path of the selected file, and why it could not be read."""
        self._details.setVisible(file is not None)
        if file is not None:
            self._picked = file.path
            self._path.setText(str(file.path))
            self._why.setText(" ".join(translated(it) for it in (file.why, file.do) if it))
            self._why.setVisible(bool(file.why))

    def _show_table(self) -> None:
        part, words = self._segments.choice, self._filter.text().strip().casefold()
        sources = part == "sources"
        files = self._files
        if part == "unreadable":
            files = [it for it in files if it.state not in {"read", "waiting"}]
        if words:
            files = [it for it in files if words in it.name.casefold()]
        self._table.show_files(() if sources else files)
        self._table.setVisible(bool(files) and not sources)
        self._filter.setVisible(len(self._files) >= _MANY and not sources)
        self._all_sources.setVisible(sources)
        self._nothing.setText(self._said_of_none(part, words))
        self._nothing.setVisible(not files and not sources)

    def _said_of_none(self, part: str, words: str) -> str:
        if words:
            return self.tr("No file’s name contains “{text}”.").format(
                text=self._filter.text().strip()
            )
        if part == "unreadable":
            return self.tr("All files could be read.")
        return self.tr("Add a folder or some files, or drop them here.")

    def _show_sources(self, state: CollectionState) -> None:
        paths = state.collection.paths
        if paths == self._shown_paths:
            return
        self._shown_paths = paths
        empty(self._sources)
        for number, path in enumerate(paths[:_MOST_SOURCES], start=1):
            self._sources.addLayout(self._source(number, path))
        if len(paths) > _MOST_SOURCES:
            more = self.tr("And {count} more.").format(count=figure(len(paths) - _MOST_SOURCES))
            self._sources.addWidget(Label(more, "small", wrap=True))

    def _source(self, number: int, path: Path) -> QHBoxLayout:
        line = QHBoxLayout()
        line.setSpacing(GRID)
        line.addWidget(Picture("folder", "muted", 16))
        line.addWidget(ElidedLabel(str(path), "", f"source{number}"), 1)
        words = self.tr("Take {name} out of the collection").format(name=path.name)
        button = IconButton("close", words, f"takeOut{number}", size=16)
        button.clicked.connect(lambda: self.take_out.emit(path))
        line.addWidget(button)
        return line

    def _show_passages(self, shown: bool) -> None:
        self._passages.setVisible(shown)
        self._all_files.setVisible(not shown)

    def _show_first(self) -> None:
        """Scroll to the first passage, in case the window is small."""
        if (first := self._passages.first) is not None:
            self.ensureWidgetVisible(first, 0, GRID)

    def _written(self) -> None:
        if self.words:
            self._pause.start()
        else:
            self._pause.stop()
            self._show_passages(False)

    def _search(self) -> None:
        self._pause.stop()
        if self.words:
            self.searched.emit(self.words)

    def _press_halt(self) -> None:
        if self._state is not None:
            self.asked.emit("resume" if self._state.collection.paused else "pause")

    def _open_menu(self) -> None:
        menu = QMenu(self._more)
        menu.setObjectName("collectionMenu")
        menu.aboutToHide.connect(menu.deleteLater)
        for action, text in (
            ("rename", self.tr("Rename…")),
            ("again", self.tr("Look for changes now")),
            ("remove", self.tr("Remove…")),
        ):
            entry = menu.addAction(text)
            entry.setObjectName(f"collection-{action}")
            entry.triggered.connect(lambda _=False, act=action: self.asked.emit(act))
        menu.popup(self._more.mapToGlobal(self._more.rect().bottomLeft()))
