"""The style sheet of the window, made from a theme's tokens."""

from __future__ import annotations

import re

from app.kit.look.fonts import code_font
from app.kit.look.icons import icon_file
from app.kit.look.theme import BAR, BASE, DISPLAY, GRID, LARGE, RADIUS, SMALL, Theme


def stylesheet(theme: Theme, zoom: float = 1.0) -> str:
    """Return the style sheet.

    Args:
        theme: The colours.
        zoom: 1.0 is the usual size. Lines stay at least one pixel wide.
    """
    whole = "".join(part(theme) for part in (_base, _buttons, _fields, _lists, _cards, _bars))
    if zoom == 1.0:
        return whole
    return re.sub(r"\b([1-9]\d*)px", lambda size: f"{max(1, round(int(size[1]) * zoom))}px", whole)


_PLAIN = "qproperty-textFormat: PlainText;"
"""Tooltips show texts of users, models and files, and Qt would read some of them as HTML."""


def _base(t: Theme) -> str:
    return f"""
QMainWindow, QDialog {{ background: {t.base}; }}
QDialog[look="around"] {{ background: transparent; }}
QFrame[look="float"] {{ background: {t.base}; border: 1px solid {t.line};
    border-radius: {RADIUS + 2}px; }}
QToolTip {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.line};
    padding: 4px {GRID}px; {_PLAIN} }}
QLabel[look="muted"] {{ color: {t.muted}; }}
QLabel[look="small"] {{ color: {t.muted}; font-size: {SMALL}px; }}
QLabel[look="group"] {{ color: {t.muted}; font-size: {SMALL}px; font-weight: 600; }}
QLabel[look="title"] {{ font-size: {LARGE}px; font-weight: 600; }}
QLabel[look="display"] {{ font-size: {DISPLAY}px; font-weight: 600; }}
QLabel[look="strong"] {{ font-weight: 600; }}
QLabel[look="problem"] {{ color: {t.danger}; font-size: {SMALL}px; }}
QLabel[look="caution"] {{ color: {t.warn}; font-size: {SMALL}px; }}
QLabel[look="chosen"] {{ color: {t.accent_text}; background: {t.accent_soft};
    border-radius: {GRID}px; padding: 2px {GRID}px; font-size: {SMALL}px; font-weight: 600; }}
QLabel[look="accent"] {{ color: {t.accent_text}; font-weight: 600; }}
QLabel[look="good"] {{ color: {t.good}; font-weight: 600; }}
QLabel[look="warn"] {{ color: {t.warn}; font-weight: 600; }}
QLabel[look="bad"] {{ color: {t.danger}; font-weight: 600; }}
QLabel[look="badge"] {{ color: {t.muted}; background: {t.pressed if t.dark else t.hover};
    border-radius: {GRID}px; padding: 2px {GRID}px; font-size: {SMALL}px; }}
QLabel[look="key"] {{ color: {t.text}; background: {t.raised}; border: 1px solid {t.line};
    border-radius: 5px; padding: 2px {GRID}px; font-size: {SMALL}px; }}
QScrollArea, QScrollArea > QWidget > QWidget[look="page"] {{ background: transparent; border: 0; }}
QTextBrowser {{ background: transparent; border: 0; }}
QSplitter::handle {{ background: {t.line}; }}
QMenu {{ background: {t.raised}; border: 1px solid {t.line}; border-radius: {GRID}px;
    padding: 4px; }}
QMenu::item {{ padding: 6px 28px 6px 12px; border-radius: 6px; }}
QMenu::item:selected {{ background: {t.pressed if t.dark else t.hover}; color: {t.text}; }}
QMenu::item:disabled {{ color: {t.muted}; }}
QMenu::separator {{ height: 1px; background: {t.line}; margin: 4px {GRID}px; }}
"""


def _buttons(t: Theme) -> str:
    return f"""
QPushButton {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.outline};
    border-radius: {GRID}px; padding: 7px 14px; min-height: 18px; outline: 0; }}
QPushButton:hover {{ background: {t.hover}; }}
QPushButton:pressed {{ background: {t.pressed}; }}
QPushButton:focus {{ border: 1px solid {t.accent}; }}
QPushButton:disabled {{ color: {t.muted}; }}
QPushButton[look="primary"] {{ background: {t.accent}; color: {t.on_accent};
    border: 1px solid {t.accent}; font-weight: 600; }}
QPushButton[look="primary"]:hover {{ background: {t.accent_hover}; }}
QPushButton[look="primary"]:disabled {{ background: {t.hover}; color: {t.muted};
    border: 1px solid {t.line}; }}
QPushButton[look="primary"]:focus {{ border: 2px solid {t.text}; padding: 6px 13px; }}
QPushButton[look="quiet"] {{ background: transparent; border: 1px solid transparent;
    text-align: left; padding: 7px 10px; }}
QPushButton[look="quiet"]:hover {{ background: {t.hover}; }}
QPushButton[look="quiet"]:pressed {{ background: {t.pressed}; }}
QPushButton[look="quiet"]:focus {{ border: 1px solid {t.accent}; }}
QPushButton[look="quiet"]:checked {{ background: {t.hover}; }}
QWidget#sidebar QPushButton[look="quiet"]:checked {{ background: {t.pressed}; }}
QWidget#sidebar QToolButton:checked {{ background: {t.pressed}; color: {t.text}; }}
QPushButton#modelMenu {{ text-align: right; }}
QPushButton[look="place"] {{ background: transparent; border: 1px solid transparent;
    text-align: left; padding: 3px 9px 3px 6px; font-weight: 600; }}
QPushButton[look="place"]:hover {{ background: {t.hover}; }}
QPushButton[look="place"]:focus {{ border: 1px solid {t.accent}; }}
QPushButton[look="link"] {{ background: transparent; border: 1px solid transparent;
    color: {t.accent_text}; padding: 3px 6px; font-weight: 600; }}
QPushButton[look="link"]:hover {{ text-decoration: underline; }}
QPushButton[look="link"]:focus {{ border: 1px solid {t.accent}; }}
QFrame[look="segments"] {{ background: {t.side}; border: 1px solid {t.line};
    border-radius: {GRID}px; }}
QPushButton[look="segment"] {{ background: transparent; color: {t.muted};
    border: 1px solid transparent; border-radius: 6px; padding: 1px 9px; min-height: 18px;
    font-size: {SMALL}px; }}
QPushButton[look="segment"]:hover {{ color: {t.text}; }}
QPushButton[look="segment"]:checked {{ background: {t.pressed if t.dark else t.raised};
    color: {t.text}; border: 1px solid {t.outline}; }}
QPushButton[look="segment"]:disabled {{ background: transparent; color: {t.muted};
    border: 1px solid transparent; }}
QPushButton[look="segment"]:checked:disabled {{ border: 1px solid {t.line}; }}
QPushButton[look="segment"]:focus {{ border: 1px solid {t.accent}; }}
QPushButton[look="row"] {{ text-align: left; border-radius: 12px; padding: 0; }}
QPushButton[look="row"]:checked {{ background: {t.accent_soft}; border: 1px solid {t.accent}; }}
QPushButton[look="row"]:focus {{ border: 2px solid {t.accent}; }}
QPushButton[look="face"] {{ background: transparent; border: 1px solid transparent;
    text-align: left; border-radius: {RADIUS}px; padding: 0; }}
QPushButton[look="face"]:hover {{ background: {t.hover}; }}
QPushButton[look="face"]:focus {{ border: 1px solid {t.accent}; }}
QPushButton[look="key"] {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.outline};
    border-radius: 5px; padding: 2px {GRID}px; min-height: 18px; font-size: {SMALL}px; }}
QPushButton[look="key"]:hover {{ background: {t.hover}; }}
QPushButton[look="key"]:focus {{ border: 1px solid {t.accent}; }}
QPushButton[look="key"][listens="true"] {{ background: {t.accent_soft}; color: {t.text};
    border: 1px solid {t.accent}; }}
QPushButton[look="chip"] {{ background: transparent; color: {t.muted};
    border: 1px solid {t.outline}; border-radius: 14px; padding: 4px 10px; min-height: 18px; }}
QPushButton[look="chip"]:hover {{ background: {t.hover}; color: {t.text}; }}
QPushButton[look="chip"]:checked {{ background: {t.accent_soft}; color: {t.text};
    border: 1px solid {t.accent}; }}
QPushButton[look="chip"]:focus {{ border: 1px solid {t.text}; }}
QPushButton[look="thoughts"] {{ background: transparent; color: {t.muted}; border: 1px solid
    transparent; text-align: left; padding: 3px 8px 3px 0; }}
QPushButton[look="thoughts"]:hover {{ background: {t.hover}; color: {t.text}; }}
QPushButton[look="thoughts"]:focus {{ border: 1px solid {t.accent}; }}
QPlainTextEdit[look="thoughts"] {{ background: transparent; color: {t.muted}; border: 0;
    border-left: 2px solid {t.line}; border-radius: 0; padding: 0 0 0 12px; margin: 0 0 0 8px; }}
QPushButton[look="suggestion"] {{ text-align: left; padding: 12px 16px; border-radius: 12px; }}
QPushButton::menu-indicator {{ image: none; width: 0; }}
QToolButton {{ background: transparent; border: 1px solid transparent; border-radius: 7px;
    padding: 4px; color: {t.muted}; }}
QToolButton:hover {{ background: {t.hover}; color: {t.text}; }}
QToolButton:pressed {{ background: {t.pressed}; }}
QToolButton:focus {{ border: 1px solid {t.accent}; }}
QToolButton[look="send"] {{ background: {t.accent}; border-radius: 10px; padding: 5px; }}
QToolButton[look="send"]:hover {{ background: {t.accent_hover}; }}
QToolButton[look="send"]:disabled {{ background: {t.hover}; }}
QToolButton[look="send"]:focus {{ border: 2px solid {t.text}; padding: 4px; }}
QToolButton[look="round"] {{ background: {t.raised}; border: 1px solid {t.outline};
    border-radius: 17px; padding: 6px; }}
QToolButton[look="round"]:hover {{ background: {t.hover}; }}
"""


def _fields(t: Theme) -> str:
    families = ", ".join(f'"{name}"' for name in code_font(SMALL).families())
    return f"""
QLineEdit, QPlainTextEdit, QSpinBox, QDoubleSpinBox, QComboBox {{ background: {t.raised};
    color: {t.text}; border: 1px solid {t.edge}; border-radius: {GRID}px; padding: 6px 10px;
    min-height: 20px; selection-background-color: {t.accent};
    selection-color: {t.on_accent}; placeholder-text-color: {t.muted}; }}
QLineEdit {{ padding: 6px; }}
QPlainTextEdit[look="code"] {{ font-family: {families}; font-size: {SMALL}px; }}
QLineEdit:focus, QPlainTextEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus
    {{ border: 1px solid {t.accent}; }}
QSpinBox, QDoubleSpinBox {{ padding-right: 0; min-height: 17px; }}
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {{ subcontrol-origin: border;
    width: 24px; height: 15px; border: 0; border-radius: 5px; margin: 1px; }}
QAbstractSpinBox::up-button {{ subcontrol-position: top right; }}
QAbstractSpinBox::down-button {{ subcontrol-position: bottom right; }}
QAbstractSpinBox::up-button:hover, QAbstractSpinBox::down-button:hover
    {{ background: {t.hover}; }}
QAbstractSpinBox::up-arrow {{ image: url("{icon_file("step-up").as_posix()}"); width: 12px;
    height: 12px; }}
QAbstractSpinBox::down-arrow {{ image: url("{icon_file("chevron").as_posix()}"); width: 12px;
    height: 12px; }}
QSpinBox QLineEdit, QDoubleSpinBox QLineEdit {{ border: 0; padding: 0; min-height: 0;
    background: transparent; }}
QRadioButton::indicator {{ width: 14px; height: 14px; border: 1px solid {t.edge};
    border-radius: {GRID}px; background: {t.raised}; }}
QRadioButton::indicator:checked {{ width: 8px; height: 8px; border: 4px solid {t.accent}; }}
QComboBox::drop-down {{ border: 0; width: 28px; }}
QComboBox::down-arrow {{ image: url("{icon_file("chevron").as_posix()}"); width: 16px;
    height: 16px; }}
QComboBox {{ combobox-popup: 0; }}
QFrame[look="choices"] {{ background: transparent; border: 0; }}
QComboBox QAbstractItemView {{ background: {t.raised}; border: 1px solid {t.line};
    border-radius: {GRID}px; padding: 3px; outline: 0;
    selection-background-color: {t.hover}; selection-color: {t.text}; }}
QComboBox QAbstractItemView::item {{ min-height: 22px; padding: 3px {GRID}px;
    border-radius: 6px; }}
QComboBox QAbstractItemView::item:hover, QComboBox QAbstractItemView::item:selected
    {{ background: {t.pressed if t.dark else t.hover}; color: {t.text}; }}
QFrame[look="composer"] {{ background: {t.raised}; border: 1px solid {t.edge};
    border-radius: 16px; }}
QFrame[look="composer"][focused="true"] {{ border: 1px solid {t.accent}; }}
QFrame[look="composer"] QPushButton[look="chip"] {{ color: {t.text}; }}
QFrame[look="composer"] QPlainTextEdit {{ background: transparent; border: 0; padding: 0; }}
"""


def _lists(t: Theme) -> str:
    """Return the style of lists, with the application's font size: another lays rows out again."""
    return f"""
QWidget[look="side"] {{ background: {t.side}; }}
QListWidget, QTreeWidget, QTableView {{ font-size: {BASE}px; }}
QListWidget {{ background: transparent; border: 0; outline: 0; }}
QListWidget::item {{ color: {t.text}; border-radius: {GRID}px; padding: 7px 10px; }}
QListWidget::item:hover {{ background: {t.hover}; }}
QListWidget::item:selected {{ background: {t.pressed}; color: {t.text}; }}
QListWidget::item:selected:focus {{ border: 1px solid {t.accent}; padding: 6px 9px; }}
QListWidget::item:disabled {{ color: {t.muted}; background: transparent; }}
QListView[look="contextList"] {{ background: transparent; border: 0; outline: 0; }}
QListView[look="list"] {{ background: transparent; border: 0; outline: 0; }}
QListView[look="list"] QLineEdit {{ padding: 4px 8px; border-radius: 6px; min-height: 16px; }}
QToolButton#bulkMove::menu-indicator {{ image: none; }}
QWidget#rowActions QToolButton {{ padding: 3px; border-radius: 6px; }}
QWidget#rowActions QToolButton:hover {{ background: {t.line}; }}
QTreeWidget {{ background: {t.raised}; border: 1px solid {t.line}; border-radius: {RADIUS}px;
    padding: 4px; outline: 0; selection-background-color: {t.pressed}; }}
QTreeWidget:focus {{ border: 1px solid {t.accent}; }}
QTreeWidget::item {{ padding: 6px 4px; }}
QTreeWidget::item:hover {{ background: {t.hover}; }}
QTreeWidget::item:selected {{ background: {t.pressed}; color: {t.text}; }}
QTableView {{ background: {t.raised}; border: 1px solid {t.line}; border-radius: {RADIUS}px;
    selection-background-color: {t.hover}; selection-color: {t.text}; outline: 0; }}
QTableView:focus {{ border: 1px solid {t.accent}; }}
QTableView::item {{ padding: 0 {GRID}px; border-bottom: 1px solid {t.line}; }}
QHeaderView {{ background: transparent; border: 0; }}
QHeaderView::section {{ background: transparent; color: {t.muted}; border: 0;
    border-bottom: 1px solid {t.line}; padding: {GRID}px 11px; font-size: {SMALL}px;
    font-weight: 600; }}
QListWidget QLineEdit {{ padding: 4px 8px; border-radius: 6px; min-height: 16px; }}
"""


def _cards(t: Theme) -> str:
    return f"""
QFrame[look="card"] {{ background: {t.raised}; border: 1px solid {t.line};
    border-radius: {RADIUS + 2}px; }}
QFrame[look="offer"] {{ background: {t.raised}; border: 2px solid {t.accent};
    border-radius: {RADIUS + 2}px; }}
QFrame[look="card"]:focus {{ border: 1px solid {t.accent}; }}
QFrame[look="banner"] {{ background: {t.accent_soft}; border: 0; border-radius: {RADIUS}px; }}
QFrame[look="leaves"] {{ background: {t.raised}; border: 2px solid {t.warn};
    border-radius: {RADIUS}px; }}
QFrame[look="danger"] {{ background: {t.danger_soft}; border: 0; border-radius: {RADIUS}px; }}
QFrame[look="bubble"] {{ background: {t.bubble}; border: 0; border-radius: 16px; }}
QFrame[look="toast"] {{ background: {t.raised}; border: 1px solid {t.line};
    border-radius: {RADIUS + 2}px; }}
QFrame[look="fold"] {{ background: {t.side}; border: 1px solid {t.line};
    border-radius: {RADIUS}px; }}
QFrame[look="fileChip"] {{ background: {t.base}; border: 1px solid {t.line};
    border-radius: {RADIUS}px; }}
QFrame[look="refusedChip"] {{ background: {t.base}; border: 1px solid {t.danger};
    border-radius: {RADIUS}px; }}
QFrame[look="bubble"] QFrame[look="fileChip"] {{ background: {t.raised}; }}
QFrame[look="ring"] {{ background: {t.accent}; border: 0; border-radius: 1px; }}
QFrame[look="line"] {{ background: {t.line}; border: 0; max-height: 1px; min-height: 1px; }}
"""


def _bars(t: Theme) -> str:
    return f"""
QScrollBar:vertical {{ background: transparent; width: {BAR}px; margin: 0; }}
QScrollBar::handle:vertical {{ background: {t.line}; border-radius: 4px; min-height: 32px;
    margin: 2px; }}
QScrollBar::handle:vertical:hover {{ background: {t.muted}; }}
QScrollBar::handle:vertical:disabled {{ background: transparent; }}
QScrollBar:horizontal {{ background: transparent; height: 12px; margin: 0; }}
QScrollBar::handle:horizontal {{ background: {t.line}; border-radius: 4px; min-width: 32px;
    margin: 2px; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
QProgressBar {{ background: {t.pressed}; border: 0; border-radius: 3px; max-height: 6px;
    min-height: 6px; }}
QProgressBar::chunk {{ background: {t.accent}; border-radius: 3px; }}
"""
