"""Helpers for single messages of the window."""

from __future__ import annotations

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QLabel, QMenu

from app.chats.transcript.pages.inline_edit import InlineEdit
from app.chats.transcript.pages.message_view import MessageView
from engines.types import ChatRequest
from tests.support.window import Ui


def view(ui: Ui, place: int) -> MessageView:
    """Return the view of the message at a position in the transcript, from 0."""
    message = ui.page.transcript.messages[place]
    found = ui.page.transcript.view_of(message.id)
    assert found is not None
    return found


def asked(ui: Ui) -> list[ChatRequest]:
    """Return the requests for answers. A request for a chat's title does not name the chat."""
    return [request for request in ui.engine.requests if request.chat]


def act(ui: Ui, place: int, name: str) -> None:
    shown = view(ui, place)
    shown.act.emit(name, shown.message)
    QApplication.processEvents()


def choose(ui: Ui, name: str) -> None:
    """Trigger an entry of the open menu."""
    ui.qtbot.waitUntil(lambda: any(_action(menu, name) for menu in open_menus()))
    menu, action = next((it, _action(it, name)) for it in open_menus() if _action(it, name))
    assert action is not None
    action.trigger()
    menu.close()
    QApplication.processEvents()


def open_menus() -> list[QMenu]:
    found = [it for it in QApplication.topLevelWidgets() if isinstance(it, QMenu)]
    return [menu for menu in found if menu.isVisible()]


def _action(menu: QMenu, name: str) -> QAction | None:
    return next((it for it in menu.actions() if it.objectName() == name), None)


def edit(ui: Ui, place: int, text: str) -> None:
    """Edit a message in its place, and send or save it."""
    act(ui, place, "edit")
    editor = ui.find(InlineEdit)
    editor.edit.setPlainText(text)
    ui.press("Return", editor.edit)


def branch(ui: Ui) -> str:
    return ui.find(QLabel, "branchPlace").text()


def conversation(ui: Ui, *questions: str) -> None:
    for number, question in enumerate(questions):
        ui.engine.pieces = (f"Answer {number}",)
        ui.ask(question)
