"""The page of one collection: its state, a search to try it, and its files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import cast

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QVBoxLayout

from app.base.language import translated
from app.documents.collections.pages.collection_actions import CollectionActions
from app.documents.collections.pages.file_table import FileTable
from app.documents.collections.pages.picking import PathList, picking_buttons
from app.documents.collections.pages.words import (
    facts,
    is_at_work,
    passage_place,
    share,
    standing,
)
from app.documents.collections.presenters import Collections
from app.documents.collections.values import CollectionState, FoundPassage, IndexedFile
from app.kit.look.format import shortened
from app.kit.look.theme import GRID
from app.kit.notify import Notifier
from app.kit.timer import timer
from app.kit.widgets.action import UserAction
from app.kit.widgets.card import ItemCard, drop_hint
from app.kit.widgets.column_page import PartPage
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.fields import LineField
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.keyed_column import KeyedColumn
from app.kit.widgets.label import Label
from app.kit.widgets.layouts import at_start, boxed, column, fill, row
from app.kit.widgets.live_line import LiveLine
from app.kit.widgets.menu import Menu
from app.kit.widgets.page_head import BackLink
from app.kit.widgets.panel import Panel
from app.kit.widgets.progress_bar import ProgressBar
from app.kit.widgets.segments import Segments

_TYPING_MS = 200
_FILES_MS = 5_000
"""Minimum milliseconds between two refreshes of the file list while files are being read."""
_MANY = 8
"""The number of files from which the filter is shown."""
_MOST_SOURCES = 50
_PASSAGE = 400
"""Maximum characters of a passage; the viewer shows all of it."""


class _SearchField(LineField):
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

    Args:
        collections: Searches the collection and lists its files.
        actions: What can be done with a collection.
        notifier: Shows errors and folders.
        back: Returns to all collections.
        opens: Shows a passage on its page.
    """

    def __init__(
        self,
        collections: Collections,
        actions: CollectionActions,
        notifier: Notifier,
        back: Callable[[], object],
        opens: Callable[[FoundPassage], object],
    ) -> None:
        super().__init__("collectionPage")
        self._collections = collections
        self._actions = actions
        self._notifier = notifier
        self._back = back
        self._opens = opens
        self._state: CollectionState | None = None
        self._files: Sequence[IndexedFile] = ()
        self._typed = timer(self, _TYPING_MS, self._search)
        self._files_soon = timer(self, _FILES_MS, self._read_files)
        back_link = BackLink(self.tr("All collections"), "allCollections", back)
        words = self.tr("Drop to add them to this collection.")
        self.drop_hint = drop_hint("collectionDropHint", "documents", words)
        self._words = _SearchField(
            "searchCollection", self.tr("Search in this collection"),
            hint=self.tr("Try it: a question or a few words"), clears=True,
        )  # fmt: skip
        self._words.textChanged.connect(self._type)
        self._words.returnPressed.connect(self._search)
        self._passages = KeyedColumn(lambda keyed: str(keyed[0]), self._passage)
        self._no_passage = Label("", "muted", name="noPassage", wrap=True)
        self._found = boxed(column(self._no_passage, self._passages.layout), "passages")
        self._found.hide()
        self._all_files = boxed(self._make_files())
        head = self._make_head()
        fill(
            self.column, at_start(back_link), head, self.drop_hint, self._words, self._found,
            self._all_files, 1,
        )  # fmt: skip

    @property
    def collection(self) -> str:
        """The id of the shown collection; "" before one is shown."""
        return self._state.collection.id if self._state else ""

    def open(self, state: CollectionState) -> None:
        """Show another collection, scrolled to the top."""
        self._words.clear()
        self._segments.show_choice("all")
        self._filter.clear()
        self._show_files(())
        self._show(state)
        self.verticalScrollBar().setValue(0)
        self._focus()
        self._read_files()

    def show_state(self, state: CollectionState) -> None:
        """Show the current state; refresh the files soon, or at once if none is being read."""
        self._show(state)
        if not self._collections.progress:
            self._read_files()
        elif not self._files_soon.isActive():
            self._files_soon.start()

    def _show(self, state: CollectionState) -> None:
        progress = self._collections.progress.get(state.collection.id)
        self._state = state
        at_work, paused = is_at_work(state, progress), state.collection.paused
        self._name.setText(state.collection.name)
        self._line.say(standing(state, progress), at_once=not at_work)
        self._bar.setValue(share(state, progress))
        self._bar.setVisible(at_work)
        words = self.tr("Continue reading") if paused else self.tr("Pause")
        self._halt.redraw("play" if paused else "pause", words)
        self._halt.setVisible(at_work or paused)
        self._chat.setEnabled(state.files > state.waiting)
        waited = self._words.isHidden() and self._add_folder.hasFocus()
        self._words.setVisible(state.passages > 0)
        if waited and state.passages:
            self._focus()
        self._facts.show_text("\n".join(facts(state)))
        self._sources.show_paths(state.collection.paths)

    def _focus(self) -> None:
        """Focus the search field, or the button to add a folder if nothing is indexed."""
        field = self._add_folder if self._words.isHidden() else self._words
        field.setFocus(Qt.FocusReason.OtherFocusReason)

    def _make_head(self) -> Panel:
        self._name = ElidedLabel("", "title", "openCollection")
        more = self.tr("More for this collection")
        self._more = UserAction("moreOfCollection", "more", more, self._open_menu).icon_button()
        self._line = LiveLine(self.tr("State"), "muted", "openStanding")
        self._bar = ProgressBar("openBar", self.tr("Reading the files"))
        self._facts = Label("", "small", name="collectionFacts", wrap=True, selectable=True)
        chat = UserAction(
            "chatAbout", "chat", self.tr("Chat"), lambda: self._actions.chat(self.collection)
        )
        self._chat = chat.button("primary")
        self._add_folder, add_files = picking_buttons(
            self, ("addFolder", "addFiles"),
            lambda paths: self._actions.add(self.collection, paths),
        )  # fmt: skip
        self._halt = UserAction("haltReading", "pause", self.tr("Pause"), self._turn).button()
        buttons = FlowRow(self._chat, self._add_folder, add_files, self._halt)
        buttons.setContentsMargins(0, GRID // 2, 0, 0)
        return Panel(
            "card", "collectionHead", row((self._name, 1), self._more), self._line, self._bar,
            self._facts, buttons, margins=(2.5, 2, 2, 2), spacing=1,
        )  # fmt: skip

    def _make_files(self) -> QVBoxLayout:
        self._segments = Segments(
            "filesPart",
            self.tr("Files that are shown"),
            (
                ("all", self.tr("Files"), self.tr("All files")),
                ("unreadable", self.tr("Not read"), self.tr("Files that were not read completely")),
                ("sources", self.tr("Added"), self.tr("Folders and files that you added")),
            ),
        )
        title, hint = self.tr("Filter the files"), self.tr("Filter by name")
        self._filter = LineField("filterFiles", title, hint=hint, clears=True)
        for change in (self._segments.chosen, self._filter.textChanged):
            change.connect(lambda _: self._show_table())
        self._nothing = Label("", "muted", name="noFiles", wrap=True)
        self._table = FileTable()
        self._table.picked.connect(self._show_details)
        self._path = ElidedLabel("", "small", "filePath")
        self._why = Label("", name="fileWhy", wrap=True, selectable=True)
        reveal = UserAction("revealFile", "folder", self.tr("Show in its folder"), self._reveal)
        self._details = Panel(
            "card", "fileDetails", self._path, self._why, at_start(reveal.button()), spacing=0.75
        )
        self._details.hide()
        self._sources = PathList(
            "source", "takeOut", self.tr("Take {name} out of the collection"),
            lambda path: self._actions.remove_path(self.collection, path),
            icon=lambda _: "folder", most=_MOST_SOURCES,
        )  # fmt: skip
        choice = FlowRow(self._segments, self._filter)
        return column(choice, self._nothing, self._table, self._details, self._sources)

    def _passage(self, numbered: tuple[int, FoundPassage]) -> ItemCard:
        number, found = numbered
        where = passage_place(found.file, found.place)
        text, opens = shortened(found.text, _PASSAGE), partial(self._opens, found)
        words = self.tr("Show the place: {where}").format(where=where)
        show = UserAction(f"openPassage{number}", "forward", words, opens).icon_button(16)
        return ItemCard(
            f"passage{number}", row((ElidedLabel(where, "strong", "passagePlace"), 1), show),
            Label(text, "muted", name="passageText", wrap=True), spoken=f"{where}: {text}",
            opens=opens, across=False, margins=(2, 1.25, 1.25, 1.5), spacing=0.5,
        )  # fmt: skip

    def _read_files(self) -> None:
        self._files_soon.stop()
        collection = self.collection

        def have(files: Sequence[IndexedFile]) -> None:
            if collection == self.collection:
                self._show_files(files)

        self._collections.files(collection, have, self._notifier.error)

    def _show_files(self, files: Sequence[IndexedFile]) -> None:
        self._files = files
        self._show_table()

    def _show_details(self, file: IndexedFile | None) -> None:
        """Show the path of the selected file, and why it could not be read."""
        self._details.setVisible(file is not None)
        if file is not None:
            self._path.setText(str(file.path))
            self._why.show_text(
                " ".join(translated(reason) for reason in (file.why, file.do) if reason)
            )

    def _reveal(self) -> None:
        self._notifier.reveal(Path(self._path.text()))

    def _show_table(self) -> None:
        part, words = self._segments.choice, self._filter.words.casefold()
        sources = part == "sources"
        files = self._files
        if part == "unreadable":
            files = [file for file in files if file.state not in {"read", "waiting"}]
        if words:
            files = [file for file in files if words in file.name.casefold()]
        self._table.show_items(() if sources else files)
        self._table.setVisible(bool(files) and not sources)
        self._filter.setVisible(len(self._files) >= _MANY and not sources)
        self._sources.setVisible(sources)
        self._nothing.show_text("" if files or sources else self._nothing_words(part, words))

    def _nothing_words(self, part: str, words: str) -> str:
        if words:
            return self.tr("No file’s name contains “{words}”.").format(words=self._filter.words)
        if part == "unreadable":
            return self.tr("All files could be read.")
        return self.tr("Add a folder or some files, or drop them here.")

    def _type(self) -> None:
        if self._words.words:
            self._typed.start()
        else:
            self._typed.stop()
            self._show_passages(False)

    def _search(self) -> None:
        self._typed.stop()
        collection, words = self.collection, self._words.words

        def have(found: Sequence[FoundPassage]) -> None:
            if (collection, words) == (self.collection, self._words.words):
                self._show_found(found)

        if words:
            self._collections.search(collection, words, have, self._notifier.error)

    def _show_found(self, found: Sequence[FoundPassage]) -> None:
        none = self.tr("No passage suits “{words}”. Try other words.").format(
            words=self._words.words
        )
        self._no_passage.show_text("" if found else none)
        self._passages.show(enumerate(found, start=1))
        self._show_passages(True)
        QTimer.singleShot(0, self, self._show_first)

    def _show_first(self) -> None:
        """Scroll to the first passage, in case the window is small."""
        if self._passages.rows:
            self.ensureWidgetVisible(next(iter(self._passages.rows.values())), 0, GRID)

    def _show_passages(self, shown: bool) -> None:
        self._found.setVisible(shown)
        self._all_files.setVisible(not shown)

    def _turn(self) -> None:
        if self._state is not None:
            self._actions.turn(self._state)

    def _open_menu(self) -> None:
        if self._state is None:
            return
        collection, actions = self._state.collection, self._actions
        rename = partial(actions.rename, collection)
        read_again = partial(self._collections.read_again, collection.id)
        remove = partial(actions.remove, collection, self._back)
        menu = Menu(self._more)
        menu.setObjectName("collectionMenu")
        menu.aboutToHide.connect(menu.deleteLater)
        UserAction("collection-rename", "", self.tr("Rename…"), rename).add_to(menu)
        UserAction("collection-again", "", self.tr("Look for changes now"), read_again).add_to(menu)
        UserAction("collection-remove", "", self.tr("Remove…"), remove).add_to(menu)
        menu.popup(self._more.mapToGlobal(self._more.rect().bottomLeft()))
