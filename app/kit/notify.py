"""The only place that shows messages, errors and questions over the window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QObject, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QWidget

from app.base.language import in_full, translated
from app.kit.tasks.error_handling import error_handler
from app.kit.widgets.message_dialog import MessageDialog
from app.kit.widgets.panel import Panel
from app.kit.widgets.toast import Toast
from app.kit.widgets.toasts import Toasts
from engines.errors import UserError, is_out_of_memory, out_of_memory


class Notifier(QObject):
    """The messages, errors and questions that appear over the window.

    Args:
        window: The window they appear over.
        report: Makes the text of a bug report from an error.
        log_file: The log; the bug report names its path.
        is_offline: Returns whether Hearth has to stay offline.
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
        """Show a confirmation.

        Args:
            text: The message.
            about: As for `Toast`.
        """
        self._toasts.show(Toast((text,), about=about))

    def say_copied(self) -> None:
        """Confirm that something was copied."""
        self.say(self.tr("Copied."))

    def offer_undo(self, text: str, undo: Callable[[], object]) -> None:
        """Show a toast with *Undo* for a few seconds."""
        toast = self.offer(text, self.tr("Undo"), undo, drawing="again")
        self._undos.append(toast)
        toast.closed.connect(lambda: self._forget_undo(toast))

    def _forget_undo(self, toast: Toast) -> None:
        if toast in self._undos:
            self._undos.remove(toast)

    def offer(
        self, text: str, action: str, act: Callable[[], object], *, drawing: str = "check"
    ) -> Toast:
        """Show a toast with an action for a few seconds.

        Args:
            text: The message.
            action: The text of the button.
            act: Called when the user presses the button.
            drawing: The icon of the button.
        """
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
        """Ask the user a question in a dialog.

        Args:
            lines: As for `MessageDialog`.
            answers: As for `MessageDialog`.
            answered: Called with the name of the answer. It is not called if the user closes the
                dialog without an answer.
        """
        dialog = MessageDialog(lines, answers, parent=self._window)
        dialog.answered.connect(answered)
        dialog.open()

    def confirm(
        self,
        head: str,
        text: str,
        yes: tuple[str, str],
        no: tuple[str, str],
        do: Callable[[], object],
        *,
        more: str = "",
        careful: bool = False,
    ) -> None:
        """Ask the user before doing something.

        Args:
            head: The question.
            text: The consequences.
            yes: The object name and the text of the button that agrees.
            no: The same of the button that does not.
            do: Called if the user agrees.
            more: A second sentence, in a line of its own.
            careful: Whether the main button is the one that does not agree, as for a loss that
                cannot be undone.
        """
        answers = (yes, no) if careful else (no, yes)
        lines = (head, text, more) if more else (head, text)
        self.ask(lines, answers, lambda answer: do() if answer == yes[0] else None)

    def reveal(self, path: Path) -> None:
        """Show the folder of a file in the system's file manager."""
        self.open_folder(path.parent)

    def open_folder(self, path: Path) -> None:
        """Open a folder in the system's file manager; if that fails, show its path."""
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))):
            self.say(self.tr("It is in {path}.").format(path=path))

    def undo(self) -> None:
        """Press the newest *Undo* button; called again, it presses the one before."""
        if self._undos:
            self._undos[-1].action.click()

    def error(self, error: BaseException) -> None:
        """Show an error.

        A `UserError` appears in a toast, unless a card on the page already shows it. Any other
        error is a bug in Hearth and opens the dialog with *Copy report*.
        """
        if is_out_of_memory(error):
            error = out_of_memory()
        if isinstance(error, UserError):
            lines = (translated(error.what), translated(error.why), translated(error.do))
            if not self._is_on_page(in_full(error)):
                self._toasts.show(Toast(lines, problem=True))
        else:
            self._show_bug(error)

    def _is_on_page(self, text: str) -> bool:
        """Return whether an error card on the page already shows this text."""
        cards = self._window.findChildren(Panel)
        return any(
            card.isVisible() and card.property("look") == "danger" and card.accessibleName() == text
            for card in cards
        )

    def error_handler(self, show: Callable[[UserError], object]) -> Callable[[Exception], None]:
        """Return a `failed` callback that shows errors in place on the page.

        For a bug in Hearth, the page says that it was a bug, and the dialog opens as well.

        Args:
            show: Shows the error on the page.
        """
        return error_handler(show, self.error)

    def ask_to_open(self, address: str) -> None:
        """Ask before opening a link that the model wrote; the user sees its address first."""
        explanation = self.tr("The model wrote it. It opens outside of Hearth.")
        self._ask_to_open(address, explanation)

    def offer_to_open(self, address: str) -> None:
        """Ask before opening a page of the Hub; the user sees its address first, as for links."""
        self._ask_to_open(address, self.tr("It opens outside of Hearth."))

    def _ask_to_open(self, address: str, explanation: str) -> None:
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
                explanation,
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
        report = (
            f"{self._report(error)}\n{self.tr('Log: {log_file}').format(log_file=self._log_file)}\n"
        )
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
    """Return the dialog for an error that keeps the window from opening.

    Args:
        error: The error to show.
        with_copy: Whether to offer the answer "putBack", which restores the last copy of the
            chats.
    """
    answers = [("close", QCoreApplication.translate("notify", "Close"))]
    if with_copy:
        answers.append(("putBack", QCoreApplication.translate("notify", "Restore the copy")))
    return MessageDialog(
        [translated(error.what), translated(error.why), translated(error.do)],
        answers,
        drawing="warning",
    )
