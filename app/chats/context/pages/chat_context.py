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
    from app.chats.composer.pages.chat_files import ChatFiles
    from app.chats.composer.pages.composer import Composer
    from app.chats.composer.pages.hindrance_line import HindranceLine
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
    """Connects the widgets of one chat page with the presenters, for the chat that is open.

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
        self._new: OverflowPolicy | None = None
        self._once: OverflowPolicy | None = None
        self._sure = False
        self._told: set[str | None] = set()
        self.meter = ContextMeter()
        self._card: ContextCard | None = None
        self.warning = ContextWarning()
        self.marks = ContextMarks(transcript, generation, self)
        composer.add_beside(self.meter)
        composer.above.addWidget(self.warning)
        self.hindrance: HindranceLine | None = None
        composer.may_send = self.may_send
        self._pause = timer(self, _PAUSE_MS, self.look)
        self._looking = False
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
        once, self._once = self._once, None
        return once or (self._new if self._chat.id is None else None)

    def look(self) -> None:
        """Count again; the result is shown when it is known."""
        self._looking = True
        self._find_out(None)

    def _opened(self, is_other: bool) -> None:
        """Show the context of the opened chat once it is counted."""
        if not is_other:
            self.look()
            return
        self._use = None
        self._files.show_use(None)
        self._show_hindrance(self._chat.id, None)
        self.warning.hide()
        self.meter.show_use(None)
        if self._card is not None:
            self._card.hide()
        # Counting a long chat takes CPU time, and painting its end comes first.
        self._looking = True
        self._pause.start()

    def _stored(self) -> None:
        """Save the choices that were made for the new chat."""
        chat_id = str(self._chat.id)
        if self._new is not None:
            self._uses.set_policy(chat_id, self._new)
        self._new = None
        if None in self._told:
            self._told = self._told - {None} | {chat_id}

    def _count_draft(self) -> None:
        """Measure the draft after a pause in typing; the chat itself need not be measured again."""
        if not self._pause.isActive():
            self._find_out(None if self._looking else self._use)

    def _find_out(self, known: ContextUse | None) -> None:
        self._pause.stop()
        self._typing.stop()
        options = AnswerOptions({"overflow": self._new if self._chat.id is None else None})
        draft, files = self._composer.text.strip(), self._files.attachments
        self._uses.measure(self._chat.id, draft, options, known, files)

    def may_send(self, text: str) -> bool:
        """Return whether to send the message; show the warning or the hindrance if not.

        It is sent if it fits or the user knows that it does not, but never while one of its files
        cannot be sent.
        """
        if self.hindrance is not None and self.hindrance.failure is not None:
            self.hindrance.point_out()
            return False
        use = None
        if self._use is not None:
            # The latest typing is only estimated, but that is little.
            use = replace(self._use.with_draft(text), exact=self._use.exact)
        if self._sure or use is None or not use.asks_first(user_knows=self._is_told):
            self.warning.hide()
            return True
        self.warning.show_use(use)
        return False

    def toggle_card(self) -> None:
        if _is_open(self._card):
            self.card.close_card()
        elif self.use is not None:
            self.card.show_use(self.use)
            self._place()
            self.card.open_card()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize and _is_open(self._card):
            self._place()
        return super().eventFilter(watched, event)

    def _connect(self, generation: Generation) -> None:
        self._page.installEventFilter(self)
        self._composer.changed.connect(self._written)
        self._files.changed.connect(self._pause.start)
        self.meter.clicked.connect(self.toggle_card)
        self.warning.chosen.connect(self._chosen)
        self.marks.forget.connect(self._forget)
        self._uses.known.connect(self._known)
        self._uses.hindered.connect(self._show_hindrance)
        self._uses.changed.connect(self._changed)
        self._chat.opened.connect(self._opened)
        self._chat.stored.connect(self._stored)
        self._chat.changed.connect(self.look)
        for signal in (generation.ready, generation.prompt):
            signal.connect(lambda *_: self._pause.start())
        generation.ended.connect(lambda answer: self._changed(answer.chat_id))

    @property
    def _is_told(self) -> bool:
        """Whether the user knows of messages left out, from the warning or the last answer."""
        if self._chat.id in self._told:
            return True
        last = next((it for it in reversed(self._transcript.messages) if it.facts), None)
        return last is not None and last.facts is not None and last.facts.left_out > 0

    def _written(self) -> None:
        self.warning.hide()
        self.meter.show_use(self.use)
        self._typing.start()

    def _changed(self, chat_id: str) -> None:
        if chat_id == self._chat.id:
            self.look()

    def _known(self, chat_id: str | None, use: ContextUse | None) -> None:
        if chat_id != self._chat.id:
            return
        self._looking = False
        self._use = use
        self.meter.show_use(self.use)
        self._files.show_use(use)
        self.marks.show_use(use)
        if _is_open(self._card) and use is not None:
            self.card.show_use(use)
            self._place()

    def _show_hindrance(self, chat_id: str | None, error: UserError | None) -> None:
        if chat_id != self._chat.id:
            return
        if self.hindrance is None and error is not None:
            from app.chats.composer.pages.hindrance_line import HindranceLine

            self.hindrance = HindranceLine(self._composer)
            self.hindrance.fix.connect(self.fix)
            self._composer.above.addWidget(self.hindrance)
        if self.hindrance is not None:
            self.hindrance.show_error(error)

    def pin(self, message: StoredMessage) -> None:
        """Pin a message, or unpin it if it is pinned."""
        pinned = replace(message, pinned=not message.pinned)
        self._transcript.renew(pinned)
        self._uses.pin(message, pinned.pinned)

    def _pin_by_id(self, message_id: str) -> None:
        found = [it for it in self._transcript.messages if it.id == message_id]
        for message in found:
            self.pin(message)

    def _set_policy(self, policy: OverflowPolicy) -> None:
        if self._chat.id is None:
            self._new = policy
            self.look()
        else:
            self._uses.set_policy(self._chat.id, policy)
        self.warning.hide()

    def _enlarge(self) -> None:
        """Double the context, up to the model's maximum; the model is reloaded for that."""
        use = self._use
        if use is not None:
            tokens = 2 * use.context
            most = use.most or tokens
            self._chat.set("context", min(tokens, most))

    def _forget(self, message_id: str) -> None:
        if self._chat.id is not None:
            self._uses.forget_summary(self._chat.id, message_id)

    def _chosen(self, key: str) -> None:
        policy = self._use.policy if self._use else "leave_out"
        self.warning.hide()
        if key == "larger":
            self._enlarge()
        elif key in {"compact", "leave_out"}:
            self._set_policy(cast(OverflowPolicy, key))
        elif key == "send" and policy == "stop":
            self._once = "leave_out"
        self._composer.focus()
        if key in {"send", "compact", "leave_out"}:
            self._told.add(self._chat.id)
            self._sure = True
            self._composer.submit()
            self._sure = False

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
