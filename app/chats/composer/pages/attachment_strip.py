"""The attachments above the message: files and long pasted texts, each as a chip."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from app.base.language import in_full
from app.chats.files.pages.chip import FileChip
from app.chats.files.pages.words import description, drawing_of, token_text
from app.kit.announcing import announce
from app.kit.look.format import figure, small_size
from app.kit.look.scale import scaled
from app.kit.look.theme import GRID
from app.kit.timer import timer
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.label import Label
from app.kit.widgets.popover import Popover
from app.kit.widgets.problem_card import ProblemCard

if TYPE_CHECKING:
    from app.chats.composer.presenters.draft_files import DraftFile
    from app.chats.context.values.budget import ContextUse
    from engines.errors import UserError

_TIP = 400
"""How many characters of a pasted text its tooltip shows."""

_HIGHEST = 188
"""The maximum height in pixels, but at most a quarter of the window: beyond it the chips scroll,
so that the chat stays visible."""

_LEAST = 36
"""The minimum height in pixels in a very low window; even one chip has to scroll there."""

_LOWEST = 72
"""The height in pixels that shows one chip, also if a quarter of the window is less."""

_REASON_WIDTH = 420
"""The width in pixels of the card that says why a file cannot be sent."""

_QUICK_S = 2.0
"""After so many seconds, the chip shows how long the file is being read."""


class _Area(QScrollArea):
    """A scroll area that grows up to a maximum height, and shrinks if the window is too small."""

    def __init__(self) -> None:
        super().__init__()
        self._wanted_height = 1

    def set_wanted_height(self, height: int) -> None:
        """Set the preferred height in pixels, which is also the maximum."""
        self._wanted_height = height
        self.setMaximumHeight(height)
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self._wanted_height)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, min(self._wanted_height, scaled(_LEAST)))


class AttachmentStrip(QWidget):
    """The attachments of a message.

    Signals:
        changed(): There are other attachments, or more is known about one.
        unfolded(text): The user wants a pasted text to become part of the written text.
        opened(sha256): The user wants to see a file.
        removed(id): The user wants to remove a file.
        chip_added(chip, attachment): A file was read, and its chip is shown.
    """

    changed = Signal()
    unfolded = Signal(str)
    opened = Signal(str)
    removed = Signal(str)
    chip_added = Signal(object, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("attached")
        self._pastes: list[tuple[str, FileChip]] = []
        self._files: Sequence[DraftFile] = ()
        self._chips: dict[str, FileChip] = {}
        self._refused_chips: dict[str, FileChip] = {}
        self._use: ContextUse | None = None
        self._is_looking = False
        self._flow = FlowRow()
        self._waiting = Label("", "small", name="sentWhenRead", wrap=True)
        self._waiting.setText(self.tr("Sent as soon as the files are read."))
        self._waiting.hide()
        self._refused_line = Label("", "problem", name="refusedFiles", wrap=True)
        self._refused_line.hide()
        content = QWidget()
        content.setProperty("look", "page")
        self._column = QVBoxLayout(content)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(GRID)
        self._column.addWidget(self._flow)
        self._area = _Area()
        self._area.setObjectName("attachedArea")
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setWidget(content)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, GRID // 2)
        column.setSpacing(GRID // 2)
        column.addWidget(self._area)
        column.addWidget(self._waiting)
        column.addWidget(self._refused_line)
        self._clock = QTimer(self)
        self._clock.setInterval(1000)
        self._clock.timeout.connect(self._update_chips)
        content.installEventFilter(self)
        self._fit_soon = timer(self, 0, self._fit)
        self.hide()

    @property
    def texts(self) -> list[str]:
        """The pasted texts."""
        return [text for text, _ in self._pastes]

    @property
    def has_files(self) -> bool:
        """True if there is a file that can be sent, now or after it is read."""
        return any(file.problem is None for file in self._files)

    @property
    def is_reading(self) -> bool:
        """True if a file is being read, or dropped files are being looked at."""
        return self._is_looking or any(file.is_being_read for file in self._files)

    @property
    def refused(self) -> int:
        """The number of files that cannot be sent."""
        return len(self._refused_chips)

    def show_refused(self) -> None:
        """Focus the first file that cannot be sent, and show the reason."""
        for file_id, chip in self._refused_chips.items():
            self._area.ensureWidgetVisible(chip)
            chip.focus()
            self._show_reason(file_id)
            break

    def say_refused(self, words: str) -> None:
        """Say below the chips what becomes of the files that cannot be sent; "" says nothing."""
        if words != self._refused_line.text():
            self._refused_line.setText(words)
            self._refused_line.setVisible(bool(words))
            announce(self._refused_line, words)
            self._arrange()

    def add(self, text: str) -> None:
        """Add a long pasted text."""
        chip = self._paste_chip(text)
        self._pastes.append((text, chip))
        self._flow.add(chip)
        chip.show()
        self._arrange()
        self.changed.emit()

    def clear_texts(self) -> None:
        """Remove the pasted texts."""
        if self._pastes:
            for _, chip in self._pastes:
                self._drop(chip)
            self._pastes = []
            self._arrange()
            self.changed.emit()

    def show_files(self, files: Sequence[DraftFile]) -> None:
        """Show the files of the message; existing chips keep their places."""
        self._files = files
        refused_ids = {file.id for file in files if file.problem is not None}
        readable_ids = {file.id for file in files} - refused_ids
        for removed_id in self._chips.keys() - readable_ids:
            self._drop(self._chips.pop(removed_id))
        for removed_id in self._refused_chips.keys() - refused_ids:
            self._drop(self._refused_chips.pop(removed_id))
        for file in files:
            if file.problem is not None and file.id not in self._refused_chips:
                self._refused_chips[file.id] = self._refused_chip(file, file.problem)
            elif file.problem is None and file.id not in self._chips:
                self._chips[file.id] = self._file_chip(file)
        self._update_chips()
        self._arrange()
        self.changed.emit()

    def set_looking(self, looking: bool) -> None:
        """Set whether dropped files are being looked at, which may become attachments."""
        self._is_looking = looking
        self.changed.emit()

    def show_use(self, use: ContextUse | None) -> None:
        """Show the share of the context that each file takes; None if it is not known."""
        self._use = use
        self._update_chips()

    def show_waiting(self, waits: bool) -> None:
        """Show or hide the note that the message is sent once the files are read."""
        self._waiting.setVisible(waits)
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Adapt the height to the new width."""
        super().resizeEvent(event)
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Adapt the height after a chip got a longer text."""
        if event.type() is QEvent.Type.LayoutRequest:
            self._fit_soon.start()  # a chip has more text than before
        return super().eventFilter(watched, event)

    def _update_chips(self) -> None:
        """Update the chip of each file."""
        for file in self._files:
            chip = self._chips.get(file.id)
            if chip is None:
                continue
            if file.attachment is None:
                seconds = time.monotonic() - file.since
                words = self.tr("Being read…")
                if seconds > _QUICK_S:
                    words = self.tr("Being read for {seconds} s…").format(seconds=figure(seconds))
                chip.set_text(words, removes=self.tr("Stop reading {name}").format(name=file.name))
                continue
            if not chip.property("read"):
                chip.setProperty("read", True)
                chip.show_drawing(drawing_of(file.attachment.kind, file.name))
                self.chip_added.emit(chip, file.attachment)
            use = self._use.file(file.attachment.sha256) if self._use is not None else None
            token_line = ""
            if use is not None and self._use is not None and use.whole:
                token_line = token_text(use, exact=self._use.exact)
            removes = self.tr("Remove {name}").format(name=file.name)
            chip.set_text(description(file.attachment), token_line, removes)
        reading = any(file.is_being_read for file in self._files)
        if reading != self._clock.isActive():
            self._clock.start() if reading else self._clock.stop()

    def _file_chip(self, file: DraftFile) -> FileChip:
        drawing = drawing_of(file.attachment.kind, file.name) if file.attachment else "document"
        chip = FileChip(
            drawing,
            file.name,
            small_size(file.size),
            opens=self.tr("Enter opens it, Delete removes it."),
            removes=self.tr("Remove {name}").format(name=file.name),
        )
        chip.opened.connect(lambda: self._open(file.id))
        chip.removed.connect(lambda: self._remove(file.id))
        self._flow.add(chip)
        chip.show()
        return chip

    def _open(self, file_id: str) -> None:
        file = next(file for file in self._files if file.id == file_id)
        if file.attachment is not None:
            self.opened.emit(file.attachment.sha256)

    def _remove(self, file_id: str) -> None:
        """Remove a file, and focus one beside it."""
        ids = [*self._chips, *self._refused_chips]
        at = ids.index(file_id)
        self.removed.emit(file_id)
        chips = {**self._chips, **self._refused_chips}
        others = (*ids[at + 1 :], *ids[:at][::-1])
        remaining = [chips[other_id] for other_id in others if other_id in chips]
        if remaining:
            remaining[0].focus()

    def _refused_chip(self, file: DraftFile, problem: UserError) -> FileChip:
        """Make the chip of a file that cannot be sent; it stands behind those that can."""
        chip = FileChip(
            "warning",
            file.name,
            "",
            opens=self.tr("Enter shows why, Delete removes it."),
            removes=self.tr("Remove {name}").format(name=file.name),
            object_name="refusedFile",
            refused=in_full(problem),
        )
        chip.opened.connect(lambda: self._show_reason(file.id))
        chip.removed.connect(lambda: self._remove(file.id))
        self._flow.add(chip)
        chip.show()
        return chip

    def _show_reason(self, file_id: str) -> None:
        """Show why a file cannot be sent, in a card at its chip."""
        problem = next(file.problem for file in self._files if file.id == file_id)
        if problem is None:
            return
        popover = Popover("refusedReason", self.tr("Why it cannot be sent"), self)
        card = ProblemCard(problem, [("removeFailed", "close", self.tr("Remove"))])
        card.setFixedWidth(scaled(_REASON_WIDTH))
        card.acted.connect(lambda _: popover.close())
        card.acted.connect(lambda _: self._remove(file_id))
        popover.card.box.addWidget(card)
        popover.open_at(self._refused_chips[file_id], above=True)

    def _paste_chip(self, text: str) -> FileChip:
        lines = text.count("\n") + 1
        if lines > 1:
            words = self.tr("{lines} lines").format(lines=figure(lines))
        else:
            words = self.tr("{count} characters").format(count=figure(len(text)))
        chip = FileChip(
            "paste",
            self.tr("Pasted text"),
            words,
            opens=self.tr("Enter inserts it into the message, Delete removes it."),
            removes=self.tr("Remove the pasted text"),
            object_name="unfoldPaste",
        )
        chip.setToolTip(text if len(text) <= _TIP else f"{text[:_TIP].rstrip()}…")
        chip.opened.connect(lambda: self.unfolded.emit(self._take_paste(chip)))
        chip.removed.connect(lambda: self._take_paste(chip))
        return chip

    def _take_paste(self, chip: FileChip) -> str:
        """Remove a pasted text and return it."""
        at = next(number for number, (_, other) in enumerate(self._pastes) if other is chip)
        text, _ = self._pastes.pop(at)
        self._drop(chip)
        self._arrange()
        self.changed.emit()
        return text

    def _drop(self, chip: FileChip) -> None:
        self._flow.remove(chip)
        chip.deleteLater()

    def _arrange(self) -> None:
        self._flow.setVisible(bool(self._pastes or self._files))
        self.setVisible(bool(self._pastes or self._files))
        self._fit()

    def _fit(self) -> None:
        """Set the height to that of the chips, up to a limit from which they scroll."""
        width = self.width()
        height = self._column.heightForWidth(width) if width else self._column.sizeHint().height()
        limit = min(scaled(_HIGHEST), max(scaled(_LOWEST), self.window().height() // 4))
        if height > limit:
            bar = self._area.verticalScrollBar().sizeHint().width()
            height = self._column.heightForWidth(width - bar)
        height = max(1, min(limit, height))
        self._area.set_wanted_height(height)
