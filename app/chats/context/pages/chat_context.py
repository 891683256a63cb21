"""The model's context in the window: its meter and card, the warning, the marks on messages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QWidget

from app.chats.answers.values.answers import AnswerOptions
from app.chats.context.pages.marks import ContextMarks
from app.chats.context.pages.meter import ContextMeter
from app.chats.context.pages.warning import ContextWarning
from app.chats.history.values.conversation import OverflowPolicy, StoredMessage
from app.kit.look.scale import scaled
from app.kit.look.theme import GRID
from app.kit.timer import timer

if TYPE_CHECKING:
    from app.chats.answers.presenters.generation import Generation
    from app.chats.composer.pages.blocked_file_line import BlockedFileLine
    from app.chats.composer.pages.chat_files import ChatFiles
    from app.chats.composer.pages.composer import Composer
    from app.chats.context.pages.card import ContextCard
    from app.chats.context.presenters import ContextUses
    from app.chats.context.values.budget import ContextUse
    from app.chats.presenters.open_chat import OpenChat
    from app.chats.transcript.pages.transcript import Transcript
    from engines.errors import UserError

_LEAST = 320
"""Least pixels of height for the card; with less, it covers the files at the message."""

_PAUSE_MS = 250
"""Milliseconds without typing before the message is counted; until then it is estimated."""


class ChatContext(QObject):
    """The connection of the context widgets of a chat page with the presenters.

    Signals:
        fix(Failure): The user wants to remove the reason why a file cannot be sent.
    """

    fix = Signal(object)

    def __init__(
        self,
        page: QWidget,
        composer: Composer,
        files: ChatFiles,
        transcript: Transcript,
        uses: ContextUses,
        generation: Generation,
        chat: OpenChat,
    ) -> None:
        super().__init__(page)
        self._page = page
        self._composer = composer
        self._files = files
        self._transcript = transcript
        self._uses = uses
        self._chat = chat
        self._use: ContextUse | None = None
        self._policy_of_new_chat: OverflowPolicy | None = None
        self._policy_for_once: OverflowPolicy | None = None
        self._is_confirmed = False
        self._informed_chats: set[str | None] = set()
        self.meter = ContextMeter()
        self._card: ContextCard | None = None
        self.warning = ContextWarning()
        self.marks = ContextMarks(transcript, generation, self)
        composer.add_permanent_widget(self.meter)
        composer.above.addWidget(self.warning)
        self.blocked_file: BlockedFileLine | None = None
        composer.may_send = self.may_send
        self._pause = timer(self, _PAUSE_MS, self.refresh)
        self._is_counting = False
        self._typing = timer(self, _PAUSE_MS, self._count_draft)
        self._connect(generation)

    @property
    def card(self) -> ContextCard:
        """The card, created on first use."""
        from app.chats.context.pages.card import ContextCard

        if self._card is None:
            self._card = card = ContextCard(self._page)
            card.policy.connect(lambda key: self._set_policy(cast(OverflowPolicy, key)))
            card.larger.connect(self._enlarge)
            card.closed.connect(self._composer.focus)
            card.list.jump.connect(self._transcript.go_to)
            card.list.pin.connect(self._pin_by_id)
        return self._card

    @property
    def use(self) -> ContextUse | None:
        """The use of the context by the next message as it is written now."""
        return self._use.with_draft(self._composer.text.strip()) if self._use else None

    def overflow(self) -> OverflowPolicy | None:
        """Return the policy for the next message if the chat has none of its own.

        A policy for a single message ("send anyway") is returned only once.
        """
        once, self._policy_for_once = self._policy_for_once, None
        return once or (self._policy_of_new_chat if self._chat.id is None else None)

    def refresh(self) -> None:
        """Count again; the result is shown when it is known."""
        self._is_counting = True
        self._count(None)

    def _opened(self, is_other: bool) -> None:
        """Show the context of the opened chat once it is counted."""
        if not is_other:
            self.refresh()
            return
        self._use = None
        self._files.show_use(None)
        self._show_blocked_file(self._chat.id, None)
        self.warning.hide()
        self.meter.show_use(None)
        if self._card is not None:
            self._card.hide()
        # Counting a long chat takes CPU time, and painting its end comes first.
        self._is_counting = True
        self._pause.start()

    def _stored(self) -> None:
        """Save the choices that were made for the new chat."""
        chat_id = str(self._chat.id)
        if self._policy_of_new_chat is not None:
            self._uses.set_policy(chat_id, self._policy_of_new_chat)
        self._policy_of_new_chat = None
        if None in self._informed_chats:
            self._informed_chats = self._informed_chats - {None} | {chat_id}

    def _count_draft(self) -> None:
        """Measure the draft after a pause in typing; the chat itself need not be measured again."""
        if not self._pause.isActive():
            self._count(None if self._is_counting else self._use)

    def _count(self, use: ContextUse | None) -> None:
        self._pause.stop()
        self._typing.stop()
        options = AnswerOptions(
            {"overflow": self._policy_of_new_chat if self._chat.id is None else None}
        )
        draft, files = self._composer.text.strip(), self._files.attachments
        self._uses.measure(self._chat.id, draft, options, use, files)

    def may_send(self, text: str) -> bool:
        """Return whether to send the message; show the warning or the blocked file if not.

        It is sent if it fits or the user knows that it does not, but never while one of its files
        cannot be sent.
        """
        if self.blocked_file is not None and self.blocked_file.failure is not None:
            self.blocked_file.point_out()
            return False
        use = None
        if self._use is not None:
            # The latest typing is only estimated, but that is little.
            use = replace(self._use.with_draft(text), exact=self._use.exact)
        if self._is_confirmed or use is None or not use.asks_first(user_knows=self._user_knows):
            self.warning.hide()
            return True
        self.warning.show_use(use)
        return False

    def toggle_card(self) -> None:
        """Open the card, or close it if it is open."""
        if _is_open(self._card):
            self.card.close_card()
        elif self.use is not None:
            self.card.show_use(self.use)
            self._place()
            self.card.open_card()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the open card in its place when the page changes its size."""
        if event.type() is QEvent.Type.Resize and _is_open(self._card):
            self._place()
        return super().eventFilter(watched, event)

    def _connect(self, generation: Generation) -> None:
        self._page.installEventFilter(self)
        self._composer.changed.connect(self._draft_changed)
        self._files.changed.connect(self._pause.start)
        self.meter.clicked.connect(self.toggle_card)
        self.warning.chosen.connect(self._apply_choice)
        self.marks.forget.connect(self._forget)
        self._uses.known.connect(self._show_counted)
        self._uses.hindered.connect(self._show_blocked_file)
        self._uses.changed.connect(self._refresh_chat)
        self._chat.opened.connect(self._opened)
        self._chat.stored.connect(self._stored)
        self._chat.changed.connect(self.refresh)
        for signal in (generation.ready, generation.prompt):
            signal.connect(lambda *_: self._pause.start())
        generation.ended.connect(lambda answer: self._refresh_chat(answer.chat_id))

    @property
    def _user_knows(self) -> bool:
        """True if the user knows of messages left out, from the warning or the last answer."""
        if self._chat.id in self._informed_chats:
            return True
        last = next(
            (message for message in reversed(self._transcript.messages) if message.facts), None
        )
        return last is not None and last.facts is not None and last.facts.left_out > 0

    def _draft_changed(self) -> None:
        self.warning.hide()
        self.meter.show_use(self.use)
        self._typing.start()

    def _refresh_chat(self, chat_id: str) -> None:
        if chat_id == self._chat.id:
            self.refresh()

    def _show_counted(self, chat_id: str | None, use: ContextUse | None) -> None:
        if chat_id != self._chat.id:
            return
        self._is_counting = False
        self._use = use
        self.meter.show_use(self.use)
        self._files.show_use(use)
        self.marks.show_use(use)
        if _is_open(self._card) and use is not None:
            self.card.show_use(use)
            self._place()

    def _show_blocked_file(self, chat_id: str | None, error: UserError | None) -> None:
        if chat_id != self._chat.id:
            return
        if self.blocked_file is None and error is not None:
            from app.chats.composer.pages.blocked_file_line import BlockedFileLine

            self.blocked_file = BlockedFileLine(self._composer)
            self.blocked_file.fix.connect(self.fix)
            self._composer.above.addWidget(self.blocked_file)
        if self.blocked_file is not None:
            self.blocked_file.show_error(error)

    def pin(self, message: StoredMessage) -> None:
        """Pin a message, or unpin it if it is pinned."""
        pinned = replace(message, pinned=not message.pinned)
        self._transcript.update_message(pinned)
        self._uses.pin(message, pinned.pinned)

    def _pin_by_id(self, message_id: str) -> None:
        for message in self._transcript.messages:
            if message.id == message_id:
                self.pin(message)
                break

    def _set_policy(self, policy: OverflowPolicy) -> None:
        if self._chat.id is None:
            self._policy_of_new_chat = policy
            self.refresh()
        else:
            self._uses.set_policy(self._chat.id, policy)
        self.warning.hide()

    def _enlarge(self) -> None:
        """Double the context, up to the model's maximum; the model is reloaded for that."""
        use = self._use
        if use is not None:
            tokens = 2 * use.context
            maximum = use.most or tokens
            self._chat.set("context", min(tokens, maximum))

    def _forget(self, message_id: str) -> None:
        if self._chat.id is not None:
            self._uses.forget_summary(self._chat.id, message_id)

    def _apply_choice(self, key: str) -> None:
        policy = self._use.policy if self._use else "leave_out"
        self.warning.hide()
        if key == "larger":
            self._enlarge()
        elif key in {"compact", "leave_out"}:
            self._set_policy(cast(OverflowPolicy, key))
        elif key == "send" and policy == "stop":
            self._policy_for_once = "leave_out"
        self._composer.focus()
        if key in {"send", "compact", "leave_out"}:
            self._informed_chats.add(self._chat.id)
            self._is_confirmed = True
            self._composer.submit()
            self._is_confirmed = False

    def _place(self) -> None:
        """Place the card over the meter and above the message, within the page."""
        meter = self.meter.mapTo(self._page, self.meter.rect().topRight()).x()
        above = self._top_of(self._composer.edit)
        attached = self._composer.attached
        if attached.isVisible() and self._top_of(attached) > scaled(_LEAST):
            above = self._top_of(attached)
        right = min(self._page.width() - GRID, max(meter, self.card.widest + GRID))
        self.card.place(right, above - 3 * GRID)

    def _top_of(self, part: QWidget) -> int:
        return part.mapTo(self._page, part.rect().topLeft()).y()


def _is_open(card: ContextCard | None) -> bool:
    return card is not None and card.isVisible()
