"""The buttons on a failed answer, one for each kind of `engines.errors.Action`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, Signal

from app.kit.look.format import figure
from engines.errors import UserError

if TYPE_CHECKING:
    from app.chats.answers.presenters.generation import Generation
    from app.chats.history.values.conversation import Failure, StoredMessage
    from app.chats.presenters.open_chat import OpenChat
    from app.kit.notify import Notifier

_tr = QCoreApplication.translate

DONE_BY_WINDOW = (
    "stop_worker", "free_memory", "install", "open_settings", "enter_key", "get_projector",
    "find_model",
)  # fmt: skip
"""Actions that the window carries out, not the page of a chat."""


def button_of(failure: Failure) -> tuple[str, str] | None:
    """Return the icon and the text of the button; None if no button can help."""
    match failure.action, failure.value:
        case "shorter_context", int(tokens) if tokens > 0:
            words = _tr("failure", "Use a context of {tokens} tokens").format(tokens=figure(tokens))
            button = "lower", words
        case "stop_worker", _:
            button = "stop", _tr("failure", "Stop vLLM, then try again")
        case "free_memory", _:
            button = "memory", _tr("failure", "Free Hearth’s memory, then try again")
        case "install", _:
            button = "download", _tr("failure", "See what it needs")
        case "open_settings", _:
            button = "gear", _tr("failure", "Open the settings")
        case "enter_key", _:
            button = "key", _tr("failure", "Enter the key…")
        case "get_projector", _:
            button = "download", _tr("failure", "Get the projector")
        case "find_model", _:
            button = "box", _tr("failure", "Find a model…")
        case "load_anyway", _:
            button = "warning", _tr("failure", "Load anyway")
        case _:
            return None
    return button


class Fixes(QObject):
    """The fixes for failed answers.

    Args:
        chat: The open chat.
        generation: Writes its answers.
        notifier: Shows errors.
        again: Requests the answer again.
        parent: The parent object.

    Signals:
        wanted(kind, value, then): The window has to carry out this action, and then to call
            `then`.
    """

    wanted = Signal(str, object, object)

    def __init__(
        self,
        chat: OpenChat,
        generation: Generation,
        notifier: Notifier,
        again: Callable[[StoredMessage], object],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._chat = chat
        self._generation = generation
        self._notifier = notifier
        self._again = again

    def do(self, message: StoredMessage) -> None:
        """Carry out the action of a failed answer, and then request the answer again."""
        failure = message.failure
        if failure is None:
            return
        if failure.action in DONE_BY_WINDOW:
            self.wanted.emit(failure.action, failure.value, lambda: self._again(message))
            return
        if failure.action == "load_anyway":
            self._generation.load_anyway(self._chat.model)
            self._again(message)
            return
        try:
            self._chat.set("context", failure.value)
        except UserError as error:
            self._notifier.error(error)
        else:
            self._again(message)
