"""The actions on single messages of the open chat, between transcript and presenters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Signal
from PySide6.QtGui import QCursor, QGuiApplication, QTextCursor
from PySide6.QtWidgets import QApplication, QWidget

from app.base.language import translated
from app.chats.transcript.pages.editing import Editing
from app.models.library.values.entry import other_models

if TYPE_CHECKING:
    from app.chats.answers.presenters.reproducing import Comparison, Plan
    from app.chats.answers.values.answers import AnswerOptions
    from app.chats.composer.pages.composer import Composer
    from app.chats.history.values.conversation import StoredMessage
    from app.chats.history.values.tree import Fork, RemovedMessage
    from app.chats.presenters.chat_presenters import ChatPresenters
    from app.chats.transcript.pages.message_view import MessageView
    from app.chats.transcript.pages.transcript import Transcript
    from app.kit.notify import Notifier
    from app.models.library.values.entry import ModelEntry
    from app.settings.values.fields import Settings


class Copying(QObject):
    """The actions that copy and quote messages.

    Args:
        transcript: Shows the messages.
        composer: Takes the quotations.
        so_far: Returns a message with the text written so far; the store has less of a running one.
        notifier: Confirms that a text was copied.
        parent: The parent object.
    """

    def __init__(
        self,
        transcript: Transcript,
        composer: Composer,
        so_far: Callable[[StoredMessage], StoredMessage],
        notifier: Notifier,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._transcript = transcript
        self._composer = composer
        self._so_far = so_far
        self._notifier = notifier

    def copy(self, message: StoredMessage) -> None:
        """Copy a message as Markdown."""
        self._put_on_clipboard(self._so_far(message).text)

    def copy_plain(self, message: StoredMessage) -> None:
        """Copy a message as plain text, without markup."""
        from app.chats.transcript.pages.quoting import plain_text

        view = self._transcript.view_of(message.id)
        if view is not None and not view.is_whole:
            self.copy(message)  # the widget has only a part of it
        elif view is not None:
            cursor = QTextCursor(view.view.document())
            cursor.select(QTextCursor.SelectionType.Document)
            self._put_on_clipboard(plain_text(cursor))

    def copy_selection(self, message: StoredMessage) -> None:
        """Copy the selected part of a message as plain text."""
        from app.chats.transcript.pages.quoting import plain_text

        view = self._transcript.view_of(message.id)
        if view is not None:
            self._put_on_clipboard(plain_text(view.view.textCursor()))

    def quote(self, message: StoredMessage) -> None:
        """Add the selection, or else the whole message, as a quotation to the composer's text."""
        from app.chats.transcript.pages.quoting import quotation, selected_markdown

        view = self._transcript.view_of(message.id)
        selected = selected_markdown(view.view.textCursor()) if view is not None else ""
        written = self._composer.text.rstrip("\n")
        text_before = f"{written}\n\n" if written else ""
        self._composer.set_text(f"{text_before}{quotation(selected or message.text)}")
        self._composer.focus()

    def _put_on_clipboard(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self._notifier.say_copied()


class ChatAnswers(QObject):
    """The actions on single messages.

    Args:
        transcript: Shows the messages.
        composer: Takes the quotations.
        presenters: The open chat, the writing of answers, their branches and reproduction.
        settings: The settings of the chat.
        options: Returns the options of the next answer that the settings do not contain.
        notifier: Shows errors and confirmations.
        parent: The parent of the menus and dialogs.

    Signals:
        asking(): An answer was requested.
        refused(): The request failed.
        pin(message): The user wants to pin the message in the context, or to unpin it.
        fix(message): The user wants to fix the cause of the message's error.
    """

    asking = Signal()
    refused = Signal()
    pin = Signal(object)
    fix = Signal(object)

    def __init__(
        self,
        transcript: Transcript,
        composer: Composer,
        presenters: ChatPresenters,
        settings: Settings,
        options: Callable[[], AnswerOptions],
        notifier: Notifier,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._window = parent
        self._transcript = transcript
        self._composer = composer
        self._chat = presenters.open_chat
        self._generation = generation = presenters.generation
        self._branches = presenters.branches
        self._reproducing = presenters.reproducing
        self._settings = settings
        self._options = options
        self._notifier = notifier
        self._forks: dict[str, Fork] = {}
        self._models: tuple[Sequence[ModelEntry], str] = ((), "")
        self.editing = Editing(transcript, self._branches, options, notifier, self)
        self.editing.asking.connect(self.asking)
        self.editing.refused.connect(self.refused)
        copying = Copying(transcript, composer, generation.so_far, notifier, self)
        self._handlers: dict[str, Callable[[StoredMessage], object]] = {
            "copy": copying.copy,
            "copy_plain": copying.copy_plain,
            "copy_selection": copying.copy_selection,
            "quote": copying.quote,
            "edit": self.editing.begin,
            "regenerate": self._answer_again,
            "again_menu": self._choose_again,
            "another_model": self._choose_another,
            "go_on": self._continue,
            "good": lambda message: self._rate(message, 1),
            "bad": lambda message: self._rate(message, -1),
            "facts": self._show_facts,
            "reproduce": self._reproduce,
            "pin": self.pin.emit,
            "branches": lambda _: self.show_tree(),
            "delete": self._branches.remove,
            "menu": self._show_menu,
            "fix": self.fix.emit,
            "stop": lambda message: generation.stop_answer(message.id),
        }
        self._chat.opened.connect(self._opened)
        transcript.showing.connect(self._attach)
        QApplication.instance().focusChanged.connect(self._focus_changed)  # type: ignore[union-attr]
        self._branches.removed.connect(self._removed)
        self._branches.failed.connect(notifier.error)

    def apply(self, settings: Settings) -> None:
        """Use new settings."""
        self._settings = settings
        self.editing.set_send_with(settings.send_with)

    def set_models(self, entries: Sequence[ModelEntry], current: str) -> None:
        """Set the models to choose from.

        Args:
            entries: The models.
            current: The id or name of the chat's model.
        """
        self._models = (entries, current)

    def ask_without(self, question: StoredMessage, sha256: str) -> None:
        """Ask a question again without one of its files; the old question stays as a branch.

        Args:
            question: The question.
            sha256: The hash of the file.
        """
        self.asking.emit()
        self._branches.ask_instead(
            question,
            question.text,
            self._options(),
            lambda _: None,
            self._refuse,
            without=sha256,
        )

    def refresh(self) -> None:
        """Show the branches again after they or the messages changed."""
        chat_id = self._chat.id
        path = [message.id for message in self._transcript.messages]
        self._forks = self._branches.forks(chat_id, path) if chat_id else {}
        for view in self._transcript.views:
            view.footer.show_fork(self._forks.get(view.message.id))

    def _opened(self, is_other: bool) -> None:
        if is_other and self._chat.id is not None:
            self.editing.show_chat(self._chat.id)

    def do(self, name: str) -> None:
        """Run an action on the focused message, or else on the last message that it applies to.

        Args:
            name: The name of the action, as in `message_menu`.
        """
        message = self._focused()
        if message is None:
            role = "user" if name == "edit" else "assistant"
            fitting = [
                candidate for candidate in self._transcript.messages if candidate.role == role
            ]
            message = fitting[-1] if fitting else None
        if message is not None and message.state != "streaming":
            self.act(name, message)

    def step(self, by: int) -> None:
        """Show the previous (-1) or next (1) branch at the focused message, else the last fork."""
        focused = self._focused()
        forked = [message for message in self._transcript.messages if message.id in self._forks]
        if focused is not None and focused.id in self._forks:
            self._go(by, focused)
        elif forked:
            self._go(by, forked[-1])

    def show_tree(self) -> None:
        """Open the dialog with the branches of the open chat."""
        chat_id = self._chat.id
        if chat_id is None:
            return
        from app.chats.transcript.pages.tree_dialog import TreeDialog

        tree, leaf = self._branches.tree(chat_id)
        dialog = TreeDialog(tree, leaf, self._window)
        dialog.chosen.connect(lambda message_id: self._branches.go(chat_id, message_id))
        dialog.open()

    def _attach(self, view: MessageView) -> None:
        view.act.connect(self.act)
        view.go.connect(self._go)
        view.entered.connect(lambda: self._entered(view))
        view.footer.show_fork(self._forks.get(view.message.id))

    def _entered(self, view: MessageView) -> None:
        """Hide the actions of the other messages.

        A message that scrolls away under a resting pointer gets no leave event.
        """
        focused = self._transcript.view_around(QApplication.focusWidget())
        for other in self._transcript.views:
            if other is not view and other is not focused:
                other.footer.set_active(False)

    def act(self, name: str, message: StoredMessage) -> None:
        """Run an action on a message; the names are those of `message_menu`."""
        self._handlers[name](message)

    def _go(self, step: int, message: StoredMessage) -> None:
        fork = self._forks.get(message.id)
        neighbour = fork.sibling(step) if fork else None
        if neighbour is not None:
            self._branches.go(message.chat_id, neighbour)

    def _answer_again(
        self, message: StoredMessage, changes: dict[str, object] | None = None
    ) -> None:
        options = self._options().changed(**(changes or {}))
        self.asking.emit()
        self._branches.answer_again(message, options, self._refuse)

    def _choose_again(self, message: StoredMessage) -> None:
        from app.chats.transcript.pages.message_menu import again_menu

        entries, current = self._models
        choices = other_models(entries, current)

        def ask_for_settings() -> None:
            from app.chats.transcript.pages.again_dialog import AgainDialog

            again = partial(self._answer_again, message)
            AgainDialog(entries, current, self._settings, again, self._window).open()

        def ask_for_model() -> None:
            from app.models.library.pages.model_picker import pick_model

            view = self._transcript.view_of(message.id)
            button = view.findChild(QWidget, "againMenu") if view is not None else None
            anchor = button if button is not None and button.isVisible() else self._composer
            again = partial(self._answer_again, message)
            pick_model(choices, lambda chosen: again({"model": chosen}), anchor)

        menu = again_menu(
            partial(self._answer_again, message),
            ask_for_model if choices else None,
            ask_for_settings,
            self._window,
        )
        menu.popup(self._menu_place(message, "againMenu"))

    def _choose_another(self, message: StoredMessage) -> None:
        """Let the user choose another model for the chat, and answer again with that."""
        from app.models.library.pages.model_picker import pick_model

        entries, current = self._models
        view = self._transcript.view_of(message.id)
        button = view.findChild(QWidget, "chooseAnother") if view is not None else None

        def use(model: str) -> None:
            self._chat.set_model(model)
            self._answer_again(message, {"model": model})

        pick_model(other_models(entries, current), use, button or self._composer)

    def _continue(self, message: StoredMessage) -> None:
        self.asking.emit()
        options = self._options()
        if message.repeats:
            options = options.changed(stop_repetition=False)
        self._generation.resume(message, options, self._refuse)

    def _refuse(self, error: Exception) -> None:
        self.refused.emit()
        self._notifier.error(error)

    def _rate(self, message: StoredMessage, rating: int) -> None:
        """Rate a message; giving the same rating again removes it."""
        rated = replace(message, rating=0 if message.rating == rating else rating)
        self._transcript.update_message(rated)
        self._branches.rate(message, rated.rating)

    def _show_facts(self, message: StoredMessage) -> None:
        view = self._transcript.view_of(message.id)
        if view is None:
            return
        from app.chats.transcript.pages.answer_facts_card import AnswerFactsCard

        card = AnswerFactsCard(message, self._window)
        card.reproduce.connect(lambda: self._reproduce(message))
        card.copied.connect(self._notifier.say_copied)
        card.open_at(view.findChild(QWidget, "showFacts") or view.footer)

    def _show_menu(self, message: StoredMessage) -> None:
        view = self._transcript.view_of(message.id)
        if view is None:
            return
        from app.chats.transcript.pages.message_menu import message_menu

        last = self._transcript.messages[-1].id == message.id
        menu = message_menu(
            message,
            selection=view.view.textCursor().hasSelection(),
            last=last,
            act=lambda name: self.act(name, message),
            parent=self._window,
        )
        menu.popup(self._menu_place(message, "moreActions"))

    def _menu_place(self, message: StoredMessage, name: str) -> QPoint:
        """Return where to open a menu: at its button, the focused text or the pointer.

        Args:
            message: The message of the menu.
            name: The object name of the button.
        """
        view = self._transcript.view_of(message.id)
        button = view.findChild(QWidget, name) if view is not None else None
        if button is not None and (button.underMouse() or button.hasFocus()):
            return button.mapToGlobal(QPoint(0, button.height()))
        if view is not None and view.view.hasFocus() and not view.underMouse():
            return view.view.mapToGlobal(QPoint(0, 0))
        return QCursor.pos()

    def _removed(self, removed: RemovedMessage) -> None:
        later = len(removed.ids) - 1
        if later == 0:
            words = self.tr("The message was deleted.")
        elif later == 1:
            words = self.tr("The message and the one after it were deleted.")
        else:
            words = self.tr("The message and the {count} after it were deleted.").format(
                count=later
            )
        self._notifier.offer_undo(words, lambda: self._branches.put_back(removed))

    def _reproduce(self, message: StoredMessage) -> None:
        self._reproducing.plan(message, self._planned, self._notifier.error)

    def _planned(self, plan: Plan) -> None:
        def begin() -> None:
            self.asking.emit()
            self._reproducing.begin(plan, self._compared, self._refuse)

        if plan.doubt is None:
            begin()
            return
        self._notifier.confirm(
            translated(plan.doubt.what),
            translated(plan.doubt.why),
            ("reproduce", self.tr("Reproduce anyway")),
            ("cancel", self.tr("Cancel")),
            begin,
            more=translated(plan.doubt.do),
        )

    def _compared(self, original: StoredMessage, comparison: Comparison) -> None:
        if comparison.same:
            self._notifier.say(self.tr("Reproduced: the same answer, word for word."))
            return
        words = self.tr("The first {words} words are the same; then the answers differ.").format(
            words=comparison.words
        )
        if comparison.reasons:
            reasons = ", ".join(translated(reason) for reason in comparison.reasons)
            words = self.tr("{words} Changed since then: {reasons}.").format(
                words=words, reasons=reasons
            )
        else:
            words = self.tr("{words} All settings are unchanged.").format(words=words)
        action = self.tr("Show the previous one")
        self._notifier.offer(
            words, action, lambda: self._branches.go(original.chat_id, original.id)
        )

    def _focused(self) -> StoredMessage | None:
        view = self._transcript.view_around(QApplication.focusWidget())
        return view.message if view is not None else None

    def _focus_changed(self, old: QWidget | None, new: QWidget | None) -> None:
        before, now = map(self._transcript.view_around, (old, new))
        if before is not None and before is not now:
            before.footer.set_active(before.underMouse())
        if now is not None:
            now.footer.set_active(True)
