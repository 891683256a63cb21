"""Multi-token prediction in the window: which mode the next message has, and what is known."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QObject

from app.core.conversation import StoredMessage
from app.core.settings import Settings
from app.services.answers import Ready
from app.services.chats import Chats
from app.services.generation import Generation
from app.ui.chat.mtp_bar import MtpBar
from app.ui.language import translated
from engines.types import MtpMode, MtpReport


class ChatMtp(QObject):
    """Stands between the bar at the composer and the services, for the chat that is open.

    The switch is the chat's own: it is saved with it, and only its user moves it. The line says
    the latest of what is known: the report of the chat's last answer, what the loaded model can,
    what the model's files say.
    """

    def __init__(
        self,
        bar: MtpBar,
        chats: Chats,
        generation: Generation,
        settings: Settings,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._bar = bar
        self._chats = chats
        self._generation = generation
        self._settings = settings
        self._chat_id: str | None = None
        self._new: MtpMode | None = None
        self._files: tuple[str, str] = ("", "")
        self._loaded: Ready | None = None
        self._reports: dict[str, MtpReport] = {}
        bar.chosen.connect(self._choose)
        generation.ready.connect(self._ready)
        generation.mtp.connect(self._report)
        generation.ended.connect(self._ended)

    @property
    def mode(self) -> MtpMode:
        """For the next message."""
        return self._bar.mode

    def apply(self, settings: Settings) -> None:
        self._settings = settings
        self._show()

    def show_chat(self, chat_id: str | None) -> None:
        """Another chat is shown, or this one was read again; None is one without messages."""
        self._chat_id = chat_id
        self._show()

    def adopt(self, chat_id: str) -> None:
        """The empty chat has been stored, with the mode that its first question had."""
        self._chat_id = chat_id
        if self._new is not None and self._new != self._chats.mtp(chat_id):
            self._chats.set_mtp(chat_id, self._new)
        self._new = None
        self._show()

    def show_files(self, model: str, sentence: str) -> None:
        """What the files of a model say, by the name that the settings have for it."""
        self._files = (model, sentence)
        self._show_line()

    def _choose(self, mode: str) -> None:
        chosen = cast(MtpMode, mode)
        if self._chat_id is None:
            self._new = chosen
        else:
            self._chats.set_mtp(self._chat_id, chosen)
        self._show()

    def _ready(self, _answer_id: str, ready: Ready) -> None:
        if self._loaded is None or self._loaded.entry != ready.entry:
            self._reports.clear()
        self._loaded = ready
        self._show_line()

    def _report(self, chat_id: str, report: MtpReport) -> None:
        self._reports[chat_id] = report
        if chat_id == self._chat_id:
            self._show_line()

    def _ended(self, _answer: StoredMessage) -> None:
        self._show_line()

    def _show(self) -> None:
        stored = self._chats.mtp(self._chat_id) if self._chat_id else self._new
        self._bar.show_mode(stored or self._generation.usual_mtp())
        self._show_line(at_once=True)

    def _show_line(self, *, at_once: bool = False) -> None:
        self._bar.line.say(self._sentence(self.mode), at_once=at_once)

    def _sentence(self, mode: MtpMode) -> str:
        running = self._generation.running_mtp(self._chat_id) if self._chat_id else None
        if running is not None and running != mode:
            words = {
                "off": self.tr("MTP is off from the next message on."),
                "auto": self.tr("MTP is automatic from the next message on."),
                "on": self.tr("MTP is on from the next message on."),
            }
            return words[mode]
        if mode == "off":
            return self.tr("MTP is off for this chat.")
        model, loaded = self._settings.model, self._loaded
        if loaded is not None and model not in (loaded.entry.id, loaded.entry.name):
            loaded = None
        report = self._reports.get(self._chat_id or "")
        if loaded is not None and report is not None and report.mode == mode:
            return translated(report.reason)
        if loaded is not None and loaded.loaded.mtp_line:
            return translated(loaded.loaded.mtp_line)
        return translated(self._files[1]) if self._files[0] == model else ""
