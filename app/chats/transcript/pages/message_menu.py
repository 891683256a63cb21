"""The menus of a message; the names are those of `MessageView.act`.

copy, copy_plain, copy_selection, quote, edit, regenerate, go_on, good, bad, facts, reproduce,
pin, branches, delete; menu and again_menu open a menu.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QMenu, QWidget

from app.chats.history.values.conversation import StoredMessage
from app.kit.widgets.menu import Menu

_tr = QCoreApplication.translate
Act = Callable[[str], None]


def message_menu(
    message: StoredMessage, *, selection: bool, last: bool, act: Act, parent: QWidget
) -> QMenu:
    """Make the menu of a message.

    Args:
        message: The message.
        selection: Whether some of its text is selected.
        last: Whether it is the last message shown.
        act: Called with the name of the action.
        parent: The parent widget.
    """
    menu = _menu("messageMenu", parent)
    answered = message.role == "assistant"
    ended = message.state != "streaming"

    def add(name: str, text: str, *, enabled: bool = True) -> None:
        action = menu.addAction(text)
        action.setObjectName(f"act-{name}")
        action.setEnabled(enabled)
        action.triggered.connect(lambda: act(name))

    if selection:
        add("copy_selection", _tr("message", "Copy the selection"))
    add("copy", _tr("message", "Copy as Markdown"), enabled=bool(message.text))
    add("copy_plain", _tr("message", "Copy as plain text"), enabled=bool(message.text))
    quote = _tr("message", "Quote the selection") if selection else _tr("message", "Quote")
    add("quote", quote, enabled=bool(message.text))
    menu.addSeparator()
    add("edit", _tr("message", "Edit…"), enabled=ended)
    if answered:
        add("regenerate", _tr("message", "Answer again"), enabled=ended)
        add("again_menu", _tr("message", "Answer again in another way…"), enabled=ended)
        add("good", _tr("message", "Good answer"), enabled=ended)
        add("bad", _tr("message", "Bad answer"), enabled=ended)
        menu.addSeparator()
        add("facts", _tr("message", "Details…"), enabled=ended)
        add("reproduce", _tr("message", "Reproduce this answer"), enabled=ended)
    elif last:
        add("regenerate", _tr("message", "Answer this question"))
    menu.addSeparator()
    unpin = _tr("message", "Unpin from the context") if message.pinned else None
    add("pin", unpin or _tr("message", "Keep in the context"))
    add("branches", _tr("message", "All branches…"))
    is_only_one = last and ended
    add(
        "delete", _tr("message", "Delete") if is_only_one else _tr("message", "Delete from here on")
    )
    return menu


def again_menu(
    again: Callable[[dict[str, object]], None],
    model: Callable[[], None] | None,
    other: Callable[[], None],
    parent: QWidget,
) -> QMenu:
    """Make the menu for another answer.

    Args:
        again: Requests an answer with these options changed.
        model: Lets the user choose a model first; None if there is no other model.
        other: Lets the user choose settings first.
        parent: The parent widget.
    """
    menu = _menu("againChoices", parent)
    for name, text, changes in (
        ("againPlain", _tr("message", "Answer again"), {}),
        ("againExact", _tr("message", "More precise"), {"temperature": 0.2}),
        ("againLively", _tr("message", "More creative"), {"temperature": 1.1}),
    ):
        action = menu.addAction(text)
        action.setObjectName(name)
        action.triggered.connect(lambda _=False, changes=changes: again(dict(changes)))
    menu.addSeparator()
    for name, text, ask in (
        ("againModel", _tr("message", "With another model…"), model),
        ("againSettings", _tr("message", "With other settings…"), other),
    ):
        action = menu.addAction(text)
        action.setObjectName(name)
        action.setEnabled(ask is not None)
        if ask is not None:
            action.triggered.connect(lambda _=False, ask=ask: ask())
    return menu


def _menu(name: str, parent: QWidget) -> QMenu:
    menu = Menu(parent)
    menu.setObjectName(name)
    menu.aboutToHide.connect(menu.deleteLater)
    return menu
