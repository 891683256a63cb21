"""A list of models with a filter field, fast even with hundreds of models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from PySide6.QtCore import (
    QAbstractListModel,
    QCoreApplication,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QListView,
    QPushButton,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.kit.engine_names import engine_name
from app.kit.look.format import size
from app.kit.look.icons import pixmap
from app.kit.look.scale import scaled
from app.kit.look.theme import BASE, GRID, SMALL, Theme, Tone, colour_of, theme_of
from app.kit.widgets.fields import LineField
from app.kit.widgets.label import Label
from app.models.discover.pages.words import fits_look, fits_sentence, fits_word
from app.models.library.pages.model_words import mtp_sentence
from app.models.library.pages.names import mtp_tip, name_of
from app.models.library.values.memory_use import Fits
from app.models.library.values.overview import ListedFacts, LoadState
from app.models.library.values.quantisations import quantisation_of
from engines.types import EngineName

if TYPE_CHECKING:
    from app.models.library.values.entry import ModelEntry

_tr = QCoreApplication.translate
_Index = QModelIndex | QPersistentModelIndex
_CHOICE: Final = Qt.ItemDataRole.UserRole
_MOVES: Final = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)
_INSET: Final = 10
_ICON: Final = 18


@dataclass(frozen=True)
class ModelChoice:
    """A row of the list.

    Attributes:
        detail: Quantisation and size.
        chips: The model's abilities, as far as they are known without loading it.
        state: Whether it is in memory, in words.
        fits: Whether it fits into memory; "" if that is not known.
    """

    id: str
    name: str
    detail: str = ""
    chips: tuple[str, ...] = ()
    state: str = ""
    fits: Fits | Literal[""] = ""
    current: bool = False
    tip: str = ""

    @property
    def spoken(self) -> str:
        """The row as a screen reader reads it."""
        return ", ".join(
            filter(None, (self.name, self.detail, *self.chips, self.state or self.verdict))
        )

    @property
    def verdict(self) -> str:
        """The verdict on its memory, in a word; empty if it is not known."""
        return fits_word(self.fits) if self.fits else ""

    @property
    def searched(self) -> str:
        """The text that the filter searches, in lower case."""
        return f"{self.spoken} {self.tip}".lower()


class ModelChoices(QAbstractListModel):
    """The matching rows: headings, which are strings and cannot be chosen, and choices."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._groups: Sequence[tuple[str, Sequence[ModelChoice]]] = ()
        self._words: list[str] = []
        self.rows: list[str | ModelChoice] = []

    def show_groups(self, groups: Sequence[tuple[str, Sequence[ModelChoice]]]) -> None:
        """Replace the rows: groups of choices, each below its heading."""
        self._groups = groups
        self._lay_out()

    def filter(self, words: str) -> None:
        """Show the rows that contain each of these words, in the row or in its heading."""
        self._words = words.lower().split()
        self._lay_out()

    def rowCount(self, _parent: _Index = QModelIndex()) -> int:  # noqa: B008 - as Qt calls it
        """Return the number of headings and choices that match."""
        return len(self.rows)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return a row, its name, its tooltip or its text for a screen reader."""
        row = self.rows[index.row()]
        if role == _CHOICE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row if isinstance(row, str) else row.name
        if role == Qt.ItemDataRole.ToolTipRole and isinstance(row, ModelChoice):
            return f"{row.name}\n{row.tip}".strip()
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return row if isinstance(row, str) else row.spoken
        return None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """Let choices be chosen, but not headings."""
        if isinstance(self.rows[index.row()], str):
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def _lay_out(self) -> None:
        """Update the rows; the view keeps its position if the same rows stay."""
        rows = list(self._matching())
        if [_key(row) for row in rows] == [_key(row) for row in self.rows]:
            self.rows = rows
            if rows:
                self.dataChanged.emit(self.index(0), self.index(len(rows) - 1))
            return
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def _matching(self) -> Iterator[str | ModelChoice]:
        for heading, choices in self._groups:
            matching = [
                choice
                for choice in choices
                if all(word in choice.searched or word in heading.lower() for word in self._words)
            ]
            if matching and heading and len(self._groups) > 1:
                yield heading
            yield from matching


def _key(row: str | ModelChoice) -> str:
    return row if isinstance(row, str) else f"model:{row.id}"


class ModelChoiceDelegate(QStyledItemDelegate):
    """Draws a row: the name, and below it the quantisation, the size and the abilities.

    Attributes:
        button_width: Pixels that the button of the current row takes.
    """

    button_width = 0

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        """Return the height of a heading, or of a choice with one or two lines."""
        line = option.fontMetrics.height()
        if isinstance(index.data(_CHOICE), str):
            return QSize(0, line + scaled(12))
        lines = 2 if _has_detail(index.data(_CHOICE)) else 1
        return QSize(0, lines * line + scaled(20))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Draw a heading or a choice."""
        row, theme = index.data(_CHOICE), theme_of(option.palette)
        room = option.rect.adjusted(scaled(_INSET), 0, -scaled(_INSET), 0)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if isinstance(row, str):
            painter.setFont(_font(option.font, small=True, bold=True))
            room.setBottom(room.bottom() - scaled(3))
            _write(painter, room, row, theme.muted, Qt.AlignmentFlag.AlignBottom)
        else:
            self._paint_choice(painter, option, room, row, theme)
        painter.restore()

    def _paint_choice(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        room: QRect,
        row: ModelChoice,
        theme: Theme,
    ) -> None:
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if chosen:
            painter.setPen(QColor(theme.outline))
            painter.setBrush(QColor(theme.pressed if theme.dark else theme.hover))
            painter.drawRoundedRect(option.rect.adjusted(1, 1, -1, -1), GRID, GRID)
            room.setRight(room.right() - self.button_width)
        room.adjust(0, scaled(7), 0, -scaled(7))
        sign = scaled(_ICON)
        if row.current:
            ratio = painter.device().devicePixelRatioF()
            drawn = pixmap("check", theme.accent_text, sign, ratio)
            painter.drawPixmap(room.left(), room.center().y() - sign // 2 + 1, drawn)
        room.setLeft(room.left() + sign + scaled(GRID))
        line = option.fontMetrics.height() + scaled(2)
        over = room.top() if _has_detail(row) else room.center().y() - line // 2 + 1
        top = QRect(room.left(), over, room.width(), line)
        below = QRect(room.left(), room.bottom() - line + 1, room.width(), line)
        mark = row.state
        tone: Tone = "good"
        if not mark and row.fits:
            mark, tone = row.verdict, fits_look(row.fits)[1]
        if mark:
            painter.setFont(_font(option.font, small=True, bold=True))
            right = Qt.AlignmentFlag.AlignRight
            text_width = _write(painter, room, mark, colour_of(theme, tone), right)
            top.setRight(top.right() - text_width - scaled(GRID))
            below.setRight(top.right())
        painter.setFont(_font(option.font, bold=row.current))
        _write(painter, top, row.name, theme.text)
        painter.setFont(_font(option.font, small=True))
        text_width = _write(painter, below, row.detail, theme.muted)
        chip_left = below.left() + (text_width + scaled(GRID) if text_width else 0)
        chip_colour = theme.base if chosen else theme.pressed if theme.dark else theme.hover
        for chip in row.chips:
            width = painter.fontMetrics().horizontalAdvance(chip) + scaled(2 * 7)
            if chip_left + width > below.right():
                break
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(chip_colour))
            where = QRectF(chip_left, below.top(), width, below.height())
            painter.drawRoundedRect(where, scaled(7), scaled(7))
            painter.setPen(QColor(theme.muted if not chosen else theme.text))
            painter.drawText(where, Qt.AlignmentFlag.AlignCenter, chip)
            chip_left += width + scaled(5)


def _has_detail(row: ModelChoice) -> bool:
    return bool(row.detail or row.chips)


def _font(like: QFont, *, small: bool = False, bold: bool = False) -> QFont:
    font = QFont(like)
    font.setPixelSize(scaled(SMALL if small else BASE))
    font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    return font


def _write(
    painter: QPainter,
    room: QRect,
    words: str,
    colour: str,
    align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
) -> int:
    """Draw one line of text, elided if it is too long; return its width in pixels."""
    metrics = QFontMetrics(painter.font())
    elided = metrics.elidedText(words, Qt.TextElideMode.ElideRight, max(0, room.width()))
    if not align & Qt.AlignmentFlag.AlignBottom:
        align |= Qt.AlignmentFlag.AlignVCenter
    painter.setPen(QColor(colour))
    painter.drawText(room, align | Qt.TextFlag.TextSingleLine, elided)
    return metrics.horizontalAdvance(elided)


class ModelList(QWidget):
    """A filter field and the matching models; the field keeps the keyboard focus.

    Args:
        loads: Whether the marked row has a button that loads or ejects its model.

    Signals:
        chosen: The id of the model chosen with Enter or a click.
        load: The id of the model to load.
        eject: The id of the model to eject.
    """

    chosen = Signal(str)
    load = Signal(str)
    eject = Signal(str)

    def __init__(self, parent: QWidget | None = None, *, loads: bool = True) -> None:
        super().__init__(parent)
        self.setObjectName("modelList")
        self._loads = loads
        self._entries: Sequence[ModelEntry] = ()
        self._facts: Mapping[str, ListedFacts] = {}
        self._states: Mapping[str, LoadState] = {}
        self._shares: Mapping[str, float] = {}
        self._current = ""
        self.field = LineField(
            "findModel", self.tr("Find a model"), hint=self.tr("Find a model"), clears=True
        )
        self.field.installEventFilter(self)
        self.field.textChanged.connect(self._filter)
        self.choices = ModelChoices(self)
        self.view = QListView()
        self.view.setObjectName("modelChoices")
        self.view.setAccessibleName(self.tr("Models"))
        self.view.setProperty("look", "list")
        self.view.setModel(self.choices)
        self._delegate = ModelChoiceDelegate(self.view)
        self.view.setItemDelegate(self._delegate)
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.view.setMouseTracking(True)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.view.setMinimumHeight(64)
        self.view.entered.connect(self._mark)
        self.view.clicked.connect(self._choose)
        self.view.selectionModel().currentChanged.connect(lambda *_: self._show_marked())
        self.view.viewport().installEventFilter(self)
        self.view.verticalScrollBar().valueChanged.connect(lambda _: self._place_button())
        self._button = QPushButton(self.view.viewport())
        self._button.setObjectName("loadModel")
        self._button.setProperty("look", "link")
        self._button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._button.setAutoDefault(False)
        self._button.clicked.connect(self._press)
        self._button.hide()
        self._none = Label(self.tr("No model matches."), "muted", name="noModelMatches", wrap=True)
        self._none.setContentsMargins(GRID, GRID, GRID, GRID)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(self.field)
        column.addWidget(self._none)
        column.addWidget(self.view, 1)
        self.setFocusProxy(self.field)

    def show_models(
        self,
        entries: Sequence[ModelEntry],
        current: str,
        facts: Mapping[str, ListedFacts],
        states: Mapping[str, LoadState],
        otherwise: str = "",
        shares: Mapping[str, float] | None = None,
    ) -> None:
        """Show models.

        Args:
            current: The id or name of the model in use.
            states: The states of the models in memory, by id.
            otherwise: The text for choosing no model, whose id is ""; empty if that is not
                possible.
            shares: How far models are loaded, from 0.0 to 1.0, by id, as far as it is known.
        """
        self._entries, self._current, self._facts, self._states = entries, current, facts, states
        self._shares = shares or {}
        marked = self.marked
        groups = [
            (heading, [self._choice(entry) for entry in group])
            for heading, group in _groups(entries)
        ]
        if otherwise:
            groups.insert(0, ("", [ModelChoice("", otherwise, current=not current)]))
        self.choices.show_groups(groups)
        ids = [row.id if isinstance(row, ModelChoice) else "" for row in self.choices.rows]
        marked_id = (
            marked.id if marked else next((e.id for e in entries if self._is_current(e)), "")
        )
        self._mark_row(ids.index(marked_id) if marked_id and marked_id in ids else self._first())

    @property
    def marked(self) -> ModelChoice | None:
        """The row that Enter would choose."""
        number = self.view.currentIndex().row()
        row = self.choices.rows[number] if 0 <= number < len(self.choices.rows) else None
        return row if isinstance(row, ModelChoice) else None

    def height_of_all(self) -> int:
        """Return the height in pixels of the field and of up to 40 rows."""
        rows = sum(self.view.sizeHintForRow(row) for row in range(min(40, len(self.choices.rows))))
        return rows + self.field.sizeHint().height() + scaled(2 * GRID)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Mark and choose rows by keys pressed in the field; Escape clears the filter first."""
        is_key = watched is self.field and event.type() is QEvent.Type.KeyPress
        if is_key and isinstance(event, QKeyEvent):
            if event.key() in _MOVES:
                self._move(event)
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.field.commit()
                self._choose(self.view.currentIndex())
                return True
            if event.key() == Qt.Key.Key_Escape and self.field.text():
                self.field.clear()
                return True
        if watched is self.view.viewport() and event.type() is QEvent.Type.Resize:
            self._place_button()
        return super().eventFilter(watched, event)

    def _filter(self, words: str) -> None:
        self.choices.filter(words)
        self._mark_row(self._first())

    def _first(self) -> int:
        rows = enumerate(self.choices.rows)
        return next((number for number, row in rows if isinstance(row, ModelChoice)), -1)

    def _move(self, event: QKeyEvent) -> None:
        """Move the mark as the list itself would; the arrow keys wrap around at the ends."""
        rows = [n for n, row in enumerate(self.choices.rows) if isinstance(row, ModelChoice)]
        if not rows:
            return
        at = rows.index(self.view.currentIndex().row()) if self.marked else -1
        page = max(1, self.view.viewport().height() // max(1, self.view.sizeHintForRow(rows[0])))
        steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
        if event.key() in steps:
            self._mark_row(rows[(at + steps[Qt.Key(event.key())]) % len(rows)])
        else:
            by = -page if event.key() == Qt.Key.Key_PageUp else page
            self._mark_row(rows[max(0, min(len(rows) - 1, at + by))])

    def _mark_row(self, row: int) -> None:
        """Mark a row and scroll to it, unless it is marked already; -1 marks none."""
        index = self.choices.index(row) if row >= 0 else QModelIndex()
        marks = index != self.view.currentIndex()
        self.view.setCurrentIndex(index)
        if row >= 0 and marks:
            self.view.scrollTo(self.choices.index(0) if row == self._first() else index)
        self._none.setVisible(not self.choices.rows)
        self.view.setVisible(bool(self.choices.rows))
        self._show_marked()

    def _mark(self, index: QModelIndex) -> None:
        """Mark the row under the mouse, as the keyboard would."""
        if isinstance(index.data(_CHOICE), ModelChoice):
            self.view.setCurrentIndex(index)

    def _choose(self, index: QModelIndex) -> None:
        row = index.data(_CHOICE) if index.isValid() else None
        if isinstance(row, ModelChoice):
            self.chosen.emit(row.id)

    def _show_marked(self) -> None:
        """Tell a screen reader which row is marked, and show that row's button.

        The screen reader follows the field, which has the focus.
        """
        marked = self.marked
        self.field.setAccessibleDescription(marked.spoken if marked else "")
        entry = next((entry for entry in self._entries if marked and entry.id == marked.id), None)
        state = self._states.get(marked.id, "") if marked else ""
        words = {
            "": (self.tr("Load"), self.tr("Load {name}")),
            "loading": (self.tr("Stop"), self.tr("Stop loading {name}")),
            "loaded": (self.tr("Eject"), self.tr("Eject {name}")),
        }
        may_load = entry is not None and not entry.on_server and (bool(state) or entry.fits != "no")
        offered = self._loads and may_load and state in words
        self._button.setVisible(offered)
        self._delegate.button_width = 0
        if offered and marked is not None:
            text, name = words[state]
            self._button.setText(text)
            self._button.setAccessibleName(name.format(name=marked.name))
            self._button.adjustSize()
            self._delegate.button_width = self._button.width() + scaled(GRID) // 2
            self._place_button()
        self.view.viewport().update()

    def _place_button(self) -> None:
        if not self._button.isHidden():
            row = self.view.visualRect(self.view.currentIndex())
            # Use the width of the view: its rows are laid out later.
            left = self.view.viewport().width() - self._button.width() - scaled(GRID) // 2
            self._button.move(left, row.center().y() - self._button.height() // 2 + 1)

    def _press(self) -> None:
        marked = self.marked
        if marked is not None:
            signal = self.eject if self._states.get(marked.id) else self.load
            signal.emit(marked.id)

    def _is_current(self, entry: ModelEntry) -> bool:
        return self._current in (entry.id, entry.name)

    def _choice(self, entry: ModelEntry) -> ModelChoice:
        facts, share = self._facts.get(entry.id), self._shares.get(entry.id)
        loading = self.tr("Loading, {share} %").format(share=round(share * 100)) if share else ""
        states = {
            "loading": loading or self.tr("Loading…"),
            "loaded": self.tr("Loaded"),
            "ejecting": self.tr("Ejecting…"),
        }
        return ModelChoice(
            entry.id,
            entry.name_at_server if entry.served else name_of(entry),
            _detail(entry, facts),
            tuple(_chips(facts)),
            states.get(self._states.get(entry.id, ""), ""),
            entry.fits,
            self._is_current(entry),
            _tip(entry, facts),
        )


def _detail(entry: ModelEntry, facts: ListedFacts | None) -> str:
    if entry.on_server:
        return ""
    named = quantisation_of(entry.file or entry.path.name, entry.repo or "").label
    quantisation = facts.quantisation if facts else "" if entry.builtin else named
    file_size = size(entry.size_bytes) if entry.size_bytes else ""
    return " · ".join(filter(None, (quantisation, file_size)))


def _chips(facts: ListedFacts | None) -> Iterator[str]:
    """Yield the abilities of a model, in words."""
    if facts is None:
        return
    if facts.problem:
        yield _tr("choices", "Cannot be read")
        return
    if facts.can == ():
        yield _tr("choices", "Base model")
    if facts.can and "embeds" in facts.can:
        yield _tr("choices", "Embeddings")
    if facts.mtp != "none":
        yield "MTP"
    if facts.can and "thinks" in facts.can:
        yield _tr("choices", "Thinks")
    if facts.can and "tools" in facts.can:
        yield _tr("choices", "Tools")
    if facts.can and "sees" in facts.can:
        yield _tr("choices", "Sees")
    if facts.can and "hears" in facts.can:
        yield _tr("choices", "Hears")


def _tip(entry: ModelEntry, facts: ListedFacts | None) -> str:
    lines = [entry.repo or "", fits_sentence(entry.fits) if entry.fits else ""]
    if facts is not None and not facts.problem and facts.can == ():
        lines.append(
            _tr(
                "choices",
                "It has no chat template: it continues text rather than answering questions.",
            )
        )
    if facts is not None and facts.can and "embeds" in facts.can:
        lines.append(
            _tr(
                "choices",
                "It writes no answers: programs can get embeddings from it through Hearth.",
            )
        )
    elif facts is not None and facts.mtp != "none":
        lines.append(mtp_tip(mtp_sentence(facts.mtp)))
    return "\n".join(filter(None, lines))


def _groups(entries: Sequence[ModelEntry]) -> list[tuple[str, list[ModelEntry]]]:
    """Group models: first those on this computer, by engine, then those of each server."""
    local_engines: tuple[EngineName, ...] = ("llamacpp", "vllm")
    by_engine = [
        (engine, [entry for entry in entries if entry.engine == engine]) for engine in local_engines
    ]
    local = [(engine, group) for engine, group in by_engine if group]
    groups = [
        (
            _tr("choices", "On this computer")
            if len(local) == 1
            else _tr("choices", "On this computer, {engine_name}").format(
                engine_name=engine_name(engine)
            ),
            group,
        )
        for engine, group in local
    ]
    servers: dict[str, list[ModelEntry]] = {}
    for entry in entries:
        if entry.on_server:
            servers.setdefault(entry.id.removesuffix(f":{entry.served}"), []).append(entry)
    return groups + [
        (_tr("choices", "Server {name}").format(name=name), group)
        for name, group in servers.items()
    ]
