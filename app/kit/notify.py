"""The only place that shows messages, errors and questions over the window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QObject, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QWidget

from app.kit.look.language import in_full, translated
from app.kit.tasks.telling import telling
from app.kit.widgets.message_dialog import MessageDialog
from app.kit.widgets.panel import Panel
from app.kit.widgets.toast import Toast
from app.kit.widgets.toasts import Toasts
from engines.errors import UserError, is_out_of_memory, out_of_memory


class Notifier(QObject):
    """Shows messages, errors and questions over the window.

    report: makes the text of a bug report. is_offline: whether Hearth is to stay offline.
    """

    def __init__(
        self,
        window: QWidget,
        report: Callable[[BaseException], str],
        log_file: Path,
        is_offline: Callable[[], bool],
    ) -> None:
        super().__init__(window)
        self._window = window
        self._report = report
        self._log_file = log_file
        self._is_offline = is_offline
        self._toasts = Toasts(window)
        self._undos: list[Toast] = []

    def say(self, text: str, *, about: str = "") -> None:
        """Something went as it should. about: as of `Toast`."""
        self._toasts.show(Toast((text,), about=about))

    def say_copied(self) -> None:
        self.say(self.tr("Copied."))

    def offer_undo(self, text: str, undo: Callable[[], None]) -> None:
        """Something was done that can be taken back for a few seconds."""
        toast = self.offer(text, self.tr("Undo"), undo, drawing="again")
        self._undos.append(toast)
        toast.closed.connect(lambda: self._forget_undo(toast))

    def _forget_undo(self, toast: Toast) -> None:
        if toast in self._undos:
            self._undos.remove(toast)

    def offer(
        self, text: str, action: str, act: Callable[[], None], *, drawing: str = "check"
    ) -> Toast:
        """Something has come about of which more can be made for a few seconds."""
        toast = Toast((text,), action=action, drawing=drawing)
        toast.acted.connect(act)
        self._toasts.show(toast)
        return toast

    def ask(
        self,
        lines: Sequence[str],
        answers: Sequence[tuple[str, str]],
        answered: Callable[[str], object],
    ) -> None:
        """A question before something is done; lines and answers as in `MessageDialog`.

        answered: called with the name of the answer; not at all if the question is closed.
        """
        dialog = MessageDialog(lines, answers, parent=self._window)
        dialog.answered.connect(answered)
        dialog.open()

    def reveal(self, path: Path) -> None:
        """Show where a file lies, in the system's file manager."""
        self.open_folder(path.parent)

    def open_folder(self, path: Path) -> None:
        """Show a folder in the system's file manager; where there is none, say where it is."""
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))):
            self.say(self.tr("It is in {0}.").format(path))

    def undo(self) -> None:
        """Take back what was offered last, as its button does; once more: what was before it."""
        if self._undos:
            self._undos[-1].action.click()

    def error(self, error: BaseException) -> None:
        """An error of the world is explained, unless the page does; a bug of ours is reported."""
        if is_out_of_memory(error):
            error = out_of_memory()
        if isinstance(error, UserError):
            lines = (translated(error.what), translated(error.why), translated(error.do))
            if not self._is_on_page(in_full(error)):
                self._toasts.show(Toast(lines, problem=True))
        else:
            self._show_bug(error)

    def _is_on_page(self, words: str) -> bool:
        """Whether a card on the page says the same already."""
        cards = self._window.findChildren(Panel)
        return any(
            it.isVisible() and it.property("look") == "danger" and it.accessibleName() == words
            for it in cards
        )

    def telling(self, show: Callable[[UserError], object]) -> Callable[[Exception], None]:
        """Return a verb's `failed` for errors that are shown in place.

        A bug of ours is reported in a dialog as well; in place is said that it was one.
        """

        return telling(show, self.error)

    def ask_to_open(self, address: str) -> None:
        """A link was followed: nothing is opened before the user has seen where it leads."""
        said = self.tr("The model wrote it. It opens outside of Hearth.")
        self._ask_to_open(address, said)

    def offer_to_open(self, address: str) -> None:
        """A page of the Hub was asked for: as with every link, the user sees first where it is."""
        self._ask_to_open(address, self.tr("It opens outside of Hearth."))

    def _ask_to_open(self, address: str, said: str) -> None:
        from app.markdown.spans import is_openable

        if not is_openable(address):
            return
        answers = [("cancel", self.tr("Cancel")), ("copy", self.tr("Copy the address"))]
        if self._is_offline():
            lines = [
                self.tr("Hearth is offline"),
                address,
                self.tr("No link is opened while “Stay offline” is on in the settings."),
            ]
        else:
            lines = [
                self.tr("Open this address in your browser?"),
                address,
                said,
            ]
            answers.append(("open", self.tr("Open")))
        dialog = MessageDialog(lines, answers, parent=self._window)
        dialog.answered.connect(lambda answer: self._go(address, answer))
        dialog.open()

    def _go(self, address: str, answer: str) -> None:
        if answer == "open":
            QDesktopServices.openUrl(QUrl(address))
        elif answer == "copy":
            QGuiApplication.clipboard().setText(address)

    def _show_bug(self, error: BaseException) -> None:
        report = f"{self._report(error)}\n{self.tr('Log: {0}').format(self._log_file)}\n"
        dialog = MessageDialog(
            [
                self.tr("Something went wrong"),
                self.tr("This is a bug in Hearth. Your chats are safe, and you can go on."),
                self.tr("A report helps to fix it. It contains nothing that you wrote."),
            ],
            [("close", self.tr("Close")), ("copyReport", self.tr("Copy report"))],
            drawing="warning",
            details=report,
            parent=self._window,
        )
        dialog.answered.connect(lambda answer: self._copy_report(report, answer))
        dialog.open()

    def _copy_report(self, report: str, answer: str) -> None:
        if answer == "copyReport":
            QGuiApplication.clipboard().setText(report)


def startup_dialog(error: UserError, *, with_copy: bool = False) -> MessageDialog:
    """The message for an error that keeps the window from opening.

    with_copy: "putBack" is an answer, for the last copy of the chats.
    """
    answers = [("close", QCoreApplication.translate("notify", "Close"))]
    if with_copy:
        answers.append(("putBack", QCoreApplication.translate("notify", "Restore the copy")))
    return MessageDialog(
        [translated(error.what), translated(error.why), translated(error.do)],
        answers,
        drawing="warning",
    )
