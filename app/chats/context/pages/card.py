"""The card of a chat's context: its content, and the policy for a full context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QListView,
    QScrollArea,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.chats.context.pages.words import outcome, policies, used_tokens
from app.chats.context.values.budget import ContextUse, MeasuredMessage
from app.chats.files.pages.words import share_and_tokens
from app.kit.look.direction import isolated
from app.kit.look.format import figure, tokens
from app.kit.look.icons import pixmap
from app.kit.look.scale import FITS_ITSELF, scaled
from app.kit.look.theme import GRID, SMALL, Theme, theme_of
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.legend import Legend
from app.kit.widgets.panel import Panel
from app.kit.widgets.segments import Segments

if TYPE_CHECKING:
    from app.chats.context.values.budget import ContextUse


_ROW = 44
_INSET = 10
_PIN = 16
_PART = Qt.ItemDataRole.UserRole

Index = QModelIndex | QPersistentModelIndex


class ContextList(QListView):
    """The messages in the context; only visible rows cost anything, so it holds thousands.

    Signals:
        jump(id): The user chose a message, with Enter or the mouse.
        pin(id): The user clicked a message's pin, or pressed P.
    """

    jump = Signal(str)
    pin = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("contextList")
        self.setAccessibleName(self.tr("Messages in the context"))
        self.setProperty("look", "contextList")
        self.setUniformItemSizes(True)
        self.setProperty(FITS_ITSELF, True)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._rows = _Rows(self)
        self.setModel(self._rows)
        self.setItemDelegate(_Painter(self))

    def show_use(self, use: ContextUse) -> None:
        """Show the use; keep the scroll position and the current row."""
        row, top = self.currentIndex().row(), self.verticalScrollBar().value()
        system = [part for part in use.parts if part.place == "system"]
        summary = [part for part in use.parts if part.place == "summary"]
        messages = [part for part in use.parts if part.place == "message"]
        summed = {part.id for part in use.summed}
        self._rows.show([*system, *use.summed, *summary, *messages], summed)
        policy = Qt.FocusPolicy  # an empty list has no height, and Tab passes it
        self.setFocusPolicy(policy.StrongFocus if self._rows.rowCount() else policy.NoFocus)
        self.setCurrentIndex(self._rows.index(max(0, row)))
        self.verticalScrollBar().setValue(top)

    @property
    def height_of_rows(self) -> int:
        """The height of all rows in pixels."""
        rows = max(1, self.model().rowCount())
        return rows * max(0, self.sizeHintForRow(0)) + 2 * self.frameWidth()

    def fit_into(self, room: int) -> None:
        """Be as high as all rows, or scroll in the room in pixels."""
        self.setFixedHeight(min(self.height_of_rows, room))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Pin or unpin a message, or go to it, depending on the clicked place."""
        super().mouseReleaseEvent(event)
        place = event.position().toPoint()
        index = self.indexAt(place)
        if index.isValid() and event.button() is Qt.MouseButton.LeftButton:
            if pin_place(self.visualRect(index)).adjusted(-6, -12, 6, 12).contains(place):
                self._toggle(index)
            else:
                self._choose(index)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to the current message on Enter or Space; pin or unpin it on P."""
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space}:
            self._choose(self.currentIndex())
        elif event.key() == Qt.Key.Key_P:
            self._toggle(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _choose(self, index: Index) -> None:
        part = index.data(_PART)
        if part is not None and part.id:
            self.jump.emit(part.id)

    def _toggle(self, index: Index) -> None:
        part = index.data(_PART)
        if part is not None and part.id:
            self.pin.emit(part.id)


class _Rows(QAbstractListModel):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._parts: list[MeasuredMessage] = []
        self._summed: set[str] = set()

    def show(self, parts: Sequence[MeasuredMessage], summed: set[str]) -> None:
        self.beginResetModel()
        self._parts, self._summed = list(parts), summed
        self.endResetModel()

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._parts)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not 0 <= index.row() < len(self._parts):
            return None
        part = self._parts[index.row()]
        if role == _PART:
            return part
        if role == Qt.ItemDataRole.DisplayRole:
            return self.words(part)
        if role == Qt.ItemDataRole.ToolTipRole and part.id:
            return self.tr("Pinned, so it stays in the context. Go to this message.")
        if role == Qt.ItemDataRole.AccessibleTextRole:
            texts = (self.role_name(part), self.words(part), self.state(part), tokens(part.tokens))
            return ", ".join(text for text in texts if text)
        return None

    def words(self, part: MeasuredMessage) -> str:
        """Return the beginning of a message; one with only files has a text of its own."""
        return part.words or (self.tr("Only files") if part.files else "")

    def role_name(self, part: MeasuredMessage) -> str:
        names = {
            "system": self.tr("System prompt"),
            "summary": self.tr("Summary"),
            "draft": self.tr("New message"),
        }
        sender = self.tr("You") if part.role == "user" else self.tr("Assistant")
        return names.get(part.place, sender)

    def state(self, part: MeasuredMessage) -> str:
        if part.left:
            return self.tr("left out")
        if part.id in self._summed:
            return self.tr("summarised")
        return self.tr("pinned") if part.pinned else ""


class _Painter(QStyledItemDelegate):
    """Paints role and size above the beginning of the text; dims messages that are left out."""

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        return QSize(scaled(200), scaled(_ROW))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        part, model = index.data(_PART), cast(_Rows, index.model())
        theme = theme_of(option.palette)
        place: QRect = option.rect
        flags: QStyle.StateFlag = option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        chosen = bool(flags & QStyle.StateFlag.State_Selected)
        if chosen or flags & QStyle.StateFlag.State_MouseOver:
            painter.setPen(QColor(theme.accent) if chosen else Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.hover))
            painter.drawRoundedRect(place.adjusted(1, 1, -1, -1), 8, 8)
        font = painter.font()
        font.setPixelSize(scaled(SMALL))
        painter.setFont(font)
        state_text = model.state(part)
        across, down = scaled(_INSET), scaled(5)
        inside = place.adjusted(across, down, -across, -down)
        if part.id:
            self._draw_pin(painter, pin_place(place), part, theme)
        upper = QRect(
            inside.topLeft(), QSize(inside.width() - 2 * scaled(_PIN), inside.height() // 2)
        )
        head = f"{model.role_name(part)} · {state_text}" if state_text else model.role_name(part)
        painter.setPen(QColor(theme.warn if part.left else theme.muted))
        painter.drawText(upper, Qt.AlignmentFlag.AlignVCenter, head)
        painter.setPen(QColor(theme.muted))
        right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.drawText(upper, right, figure(part.tokens))
        lower = upper.translated(QPoint(0, inside.height() // 2))
        painter.setPen(QColor(theme.text if state_text == "" or part.pinned else theme.muted))
        metrics = painter.fontMetrics()
        words = isolated(model.words(part))
        words = metrics.elidedText(words, Qt.TextElideMode.ElideRight, lower.width())
        painter.drawText(lower, Qt.AlignmentFlag.AlignVCenter, words)
        painter.restore()

    def _draw_pin(
        self, painter: QPainter, place: QRect, part: MeasuredMessage, theme: Theme
    ) -> None:
        name, colour = ("pinned", theme.accent_text) if part.pinned else ("pin", theme.muted)
        ratio = painter.device().devicePixelRatio()
        painter.drawPixmap(place.topLeft(), pixmap(name, colour, scaled(_PIN), ratio))


def pin_place(row: QRect) -> QRect:
    """Return the rectangle of the pin in a row."""
    pin = scaled(_PIN)
    return QRect(row.right() - scaled(_INSET) - pin + 1, row.center().y() - pin // 2, pin, pin)


_HEIGHT = 14
_GAP = 2
"""Pixels between two parts, so that they can be told apart without their colours."""


class ContextBar(QWidget):
    """A bar of the context's parts with a legend.

    It is replaced when the use changes, because the legend's entries change too.
    """

    def __init__(self, use: ContextUse, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        parts = [part for part in self._parts(use) if part[1]]
        words = [f"{name} {figure(tokens)}" for name, tokens, _ in parts]
        strip = _Strip([(tokens, colour) for _, tokens, colour in parts], use.context)
        strip.setObjectName("contextStrip")
        strip.setAccessibleName(self.tr("What fills the context"))
        strip.setAccessibleDescription(", ".join(words))
        column.addWidget(strip)
        colours = [colour for _, _, colour in parts]
        column.addWidget(Legend(list(zip(colours, words, strict=True))))

    def _parts(self, use: ContextUse) -> list[tuple[str, int, str]]:
        """Return the name, the tokens and the theme's colour of each part."""
        pinned = sum(
            part.tokens - part.files
            for part in use.parts
            if part.pinned and part.place == "message"
        )
        messages = use.tokens_of("message") - use.tokens_of_files("message") - pinned
        draft = use.tokens_of("draft") - use.tokens_of_files("draft")
        return [
            (self.tr("System prompt"), use.tokens_of("system"), "use_compute"),
            (self.tr("Summary"), use.tokens_of("summary"), "use_projector"),
            (self.tr("Pinned"), pinned, "use_drafter"),
            (self.tr("Messages"), messages, "use_context"),
            (self.tr("Files"), use.tokens_of_files(), "use_files"),
            (self.tr("New message"), draft, "use_weights"),
            (self.tr("Reserved for the answer"), use.kept, "use_others"),
        ]


class _Strip(QWidget):
    """A bar of the context's parts.

    Args:
        amounts: Tokens and the name of a theme colour for each part.
        whole: Tokens of the context; the part that no amount takes is drawn as free.
    """

    def __init__(self, amounts: list[tuple[int, str]], whole: int) -> None:
        super().__init__()
        self._amounts = amounts
        self._whole = max(whole, sum(amount for amount, _ in amounts), 1)
        self.setFixedHeight(_HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = theme_of(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outline = QPainterPath()
        outline.addRoundedRect(QRectF(self.rect()), 5, 5)
        painter.setClipPath(outline)
        painter.fillRect(self.rect(), QColor(theme.hover))
        left = 0.0
        for amount, colour in self._amounts:
            wide = amount * self.width() / self._whole
            drawn = QRectF(left, 0, max(2.0, wide - _GAP), self.height())
            painter.fillRect(drawn, QColor(getattr(theme, colour)))
            left += wide
        painter.end()


_WIDTH = 440
_LIST = (88, 220)
"""Least and greatest height of the list in pixels; it scrolls."""


class ContextCard(Panel):
    """The card of the context.

    Signals:
        policy(key): The user chose another policy.
        larger(): The user wants a larger context.
        closed(): The card was closed.
    """

    policy = Signal(str)
    larger = Signal()
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("card", "contextCard", margins=(2, 1.5, 2, 1.5), parent=parent)
        self.setAccessibleName(self.tr("Context"))
        self.setProperty(FITS_ITSELF, True)
        head = QHBoxLayout()
        head.addWidget(Label(self.tr("Context"), "strong", name="contextTitle"))
        self._total = ElidedLabel("", "muted", "contextTotal")
        self._total.setAlignment(Qt.AlignmentFlag.AlignRight)
        head.addWidget(self._total, 1)
        close = IconButton("close", self.tr("Close"), "closeContext", size=16)
        close.clicked.connect(self.close_card)
        head.addWidget(close)
        self._bar: ContextBar | None = None
        self._files: QWidget | None = None
        self._outcome = Label("", name="contextStanding", wrap=True)
        self._larger = LabelledButton("up", self.tr("Larger context"), "largerContext", look="link")
        self._larger.clicked.connect(self.larger)
        self._policy = Segments(
            "overflow",
            self.tr("When the context is full"),
            [(key, name, sentence) for key, name, sentence in policies()],
        )
        self._policy.chosen.connect(self.policy)
        self._meaning = Label("", "small", name="overflowMeaning", wrap=True)
        self.list = ContextList()
        below = QHBoxLayout()
        below.setSpacing(GRID)
        below.addWidget(self._outcome, 1)
        below.addWidget(self._larger, 0, Qt.AlignmentFlag.AlignTop)
        content = QWidget()
        content.setProperty("look", "page")
        self._parts = QVBoxLayout(content)
        self._parts.setContentsMargins(0, 0, 0, 0)
        self._parts.setSpacing(GRID)
        self._parts.addLayout(below)
        self._parts.addWidget(Label(self.tr("When it is full"), "small", name="overflowTitle"))
        self._parts.addWidget(self._policy)
        self._parts.addWidget(self._meaning)
        self._parts.addWidget(self.list)
        self._scroll = QScrollArea()
        self._scroll.setObjectName("contextParts")
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setWidgetResizable(True)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setWidget(content)
        self.box.addLayout(head)
        self.box.addWidget(self._scroll, 1)
        self.hide()

    def show_use(self, use: ContextUse) -> None:
        """Show how a chat uses its context."""
        self._total.setText(used_tokens(use))
        self._outcome.setText(outcome(use))
        self._larger.setVisible(use.context > 0 and (use.most == 0 or use.most > use.context))
        self._policy.show_choice(use.policy)
        meaning = {key: sentence for key, _, sentence in policies()}
        self._meaning.setText(meaning[use.policy])
        if self._bar is not None:
            self._parts.removeWidget(self._bar)
            self._bar.hide()
            self._bar.deleteLater()
        self._bar = ContextBar(use)
        self._parts.insertWidget(0, self._bar)
        self._show_files(use)
        self.list.show_use(use)

    def _show_files(self, use: ContextUse) -> None:
        """Show for each file how much of it is in the context."""
        if self._files is not None:
            self._parts.removeWidget(self._files)
            self._files.hide()
            self._files.deleteLater()
            self._files = None
        if not use.files:
            return
        self._files = QWidget()
        column = QVBoxLayout(self._files)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        for number, file in enumerate(use.files, start=1):
            row = QHBoxLayout()
            row.setSpacing(GRID)
            row.addWidget(ElidedLabel(file.share.name, name=f"contextFile{number}"), 1)
            row.addWidget(
                Label(
                    share_and_tokens(file, exact=use.exact), "small", name=f"contextFileUse{number}"
                )
            )
            column.addLayout(row)
        self._parts.insertWidget(1, self._files)

    @property
    def widest(self) -> int:
        """The card's width if there is room."""
        return scaled(_WIDTH)

    def place(self, right: int, bottom: int) -> None:
        """Place the lower right corner at a point, in the parent's coordinates.

        The card scrolls if there is too little room.
        """
        width = min(self.widest, right - GRID)
        self.setFixedWidth(width)
        margins = self.box.contentsMargins()
        inside = width - margins.left() - margins.right()
        self._policy.fit_into(inside)
        self.list.fit_into(scaled(_LIST[1]))
        self._parts.activate()
        head = self.box.sizeHint().height() - self._scroll.sizeHint().height()
        needed = head + self._parts.totalHeightForWidth(inside)
        missing = needed - (bottom - GRID)
        if missing > 0:  # the list gives way before the whole card scrolls
            before = self.list.height_of_rows
            self.list.fit_into(max(scaled(_LIST[0]), min(before, scaled(_LIST[1])) - missing))
            self._parts.activate()
            needed = head + self._parts.totalHeightForWidth(inside)
        height = min(needed, bottom - GRID)
        bar = self._scroll.verticalScrollBar().sizeHint().width() if height < needed else 0
        self._parts.setContentsMargins(0, 0, bar and bar + GRID // 2, 0)
        self.setGeometry(right - width, bottom - height, width, height)

    def open_card(self) -> None:
        """Show the card and focus the list of messages."""
        self.show()
        self.raise_()
        self.list.setFocus(Qt.FocusReason.PopupFocusReason)

    def close_card(self) -> None:
        """Hide the card and emit `closed`."""
        self.hide()
        self.closed.emit()

    def event(self, event: QEvent) -> bool:
        """Handle Escape here, before any other widget, while the focus is inside."""
        if event.type() in {QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress}:
            key = cast(QKeyEvent, event)
            if key.key() == Qt.Key.Key_Escape:
                event.accept()
                if event.type() is QEvent.Type.KeyPress:
                    self.close_card()
                return True
        return super().event(event)
