"""Multi-token prediction in the window: the mode of the next message, and the text about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject

from app.base.language import translated
from app.kit.look.format import figure
from engines.types import MtpMode, MtpReport, takes_restart

if TYPE_CHECKING:
    from app.chats.answers.presenters.generation import Generation
    from app.chats.answers.values.answers import Ready
    from app.chats.composer.pages.mtp_chip import MtpChip
    from app.chats.history.presenters.chats import Chats
    from app.chats.history.values.conversation import StoredMessage
    from app.settings.values.fields import Settings

_FASTER = 1.05
"""Users do not notice smaller gains in speed."""
Ask = Callable[[Sequence[str], Sequence[tuple[str, str]], Callable[[str], object]], object]
"""The signature of `Notifier.ask`: lines, answers, and the function that gets the answer."""


class ChatMtp(QObject):
    """The connection of the composer's MTP chip with the presenters, for the open chat.

    Each chat has its own mode, which is saved with the chat; only the user changes it. The
    sentence on the card comes from the best available source: the report of the chat's last
    answer, the abilities of the loaded model, or the model's files.

    If the engine has to restart for another mode, the user is asked first, once for each model,
    and the sentence says so each time.
    """

    def __init__(
        self,
        chip: MtpChip,
        chats: Chats,
        generation: Generation,
        settings: Settings,
        ask: Ask,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._chip = chip
        self._chats = chats
        self._generation = generation
        self._settings = settings
        self._ask = ask
        self._at_server = False
        self._agreed: set[str] = set()
        self._is_due = False
        self._chat_id: str | None = None
        self._new: MtpMode | None = None
        self._files: tuple[str, str] = ("", "")
        self._loaded: dict[str, Ready] = {}
        self._models: dict[str, str] = {}
        self._reports: dict[str, MtpReport] = {}
        self._gains: dict[str, float] = {}
        chip.chosen.connect(self._choose)
        generation.ready.connect(self._ready)
        generation.mtp.connect(self._report)
        generation.ended.connect(self._ended)

    @property
    def mode(self) -> MtpMode:
        """The mode of the next message."""
        return self._stored()

    def apply(self, settings: Settings) -> None:
        """Use new settings."""
        self._settings = settings
        self._show()

    def show_chat(self, chat_id: str | None) -> None:
        """Show the state of a chat after it was opened or reloaded; None is the new chat."""
        self._is_due = self._is_due and chat_id == self._chat_id
        self._chat_id = chat_id
        self._show()

    def adopt(self, chat_id: str) -> None:
        """Move the mode to the stored chat after the new chat was stored.

        The chat was stored with the mode of its first question.
        """
        self._chat_id = chat_id
        if self._new is not None and self._new != self._chats.mtp(chat_id):
            self._chats.set_mtp(chat_id, self._new)
        self._new = None
        self._show()

    def show_files(self, model: str, sentence: str) -> None:
        """Show the MTP abilities according to a model's files.

        Args:
            model: The name that the settings have for the model.
            sentence: The sentence to show.
        """
        self._files = (model, sentence)
        self._show()

    def show_at_server(self, at_server: bool) -> None:
        """Set whether a server answers in this chat instead of Hearth's engines."""
        self._at_server = at_server
        self._show()

    def _choose(self, mode: str) -> None:
        chosen = cast(MtpMode, mode)
        ready = self._loaded_here()
        if ready is None or not self._restarts(ready, chosen) or ready.entry.id in self._agreed:
            self._set(chosen)
            return
        self._chip.close_card()
        self._ask_for_restart(ready, chosen)

    def _ask_for_restart(self, ready: Ready, chosen: MtpMode) -> None:
        lines = [
            self.tr("Restart the engine?"),
            self.tr(
                "{name} can change multi-token prediction only when its engine starts. The "
                "engine restarts with the next message, which takes about {restart_s} s."
            ).format(name=ready.entry.name, restart_s=figure(ready.loaded.restart_s)),
        ]
        answers = [
            ("keepMtp", self.tr("Keep it")),
            ("restartForMtp", self.tr("Restart")),
        ]

        def answered(name: str) -> None:
            if name == "restartForMtp":
                self._agreed.add(ready.entry.id)
                self._set(chosen)

        self._ask(lines, answers, answered)

    def _restarts(self, ready: Ready, chosen: MtpMode) -> bool:
        """Return whether the engine has to restart for this mode."""
        return takes_restart(ready.loaded.mtp_switch, self._stored(), chosen)

    def _set(self, chosen: MtpMode) -> None:
        ready = self._loaded_here()
        if ready is not None and self._restarts(ready, chosen):
            self._is_due = not self._is_due  # choosing the old mode again needs no restart
        if self._chat_id is None:
            self._new = chosen
        else:
            self._chats.set_mtp(self._chat_id, chosen)
        self._show()

    def _ready(self, answer_id: str, ready: Ready) -> None:
        chat_id = self._generation.chat_of(answer_id)
        if chat_id is None:
            return
        if self._models.get(chat_id) != ready.entry.id:
            self._reports.pop(chat_id, None)
            self._gains.pop(chat_id, None)
        self._models[chat_id] = ready.entry.id
        if not ready.entry.on_server:
            # Local engines share this computer's memory: the others' models are unloaded.
            self._loaded = {it: of for it, of in self._loaded.items() if it == "remote"}
        self._loaded[ready.entry.engine] = ready
        if chat_id == self._chat_id:
            self._is_due = False
        self._show()

    def _report(self, chat_id: str, report: MtpReport) -> None:
        self._reports[chat_id] = report
        if chat_id == self._chat_id:
            self._show()

    def _ended(self, answer: StoredMessage) -> None:
        report = self._reports.get(answer.chat_id)
        self._gains[answer.chat_id] = (report.gain if report and report.active else None) or 0.0
        self._show()

    def _show(self) -> None:
        mode = self._stored()
        self._chip.show_state(
            mode, self._word(mode), self._sentence(mode), can_switch=not self._out_of_reach()
        )

    def _stored(self) -> MtpMode:
        stored = self._chats.mtp(self._chat_id) if self._chat_id else self._new
        return stored or self._generation.usual_mtp()

    def _out_of_reach(self) -> str:
        """Return why the switch has no effect; "" if it has."""
        ready = self._loaded_here()
        if self._at_server or (ready is not None and ready.loaded.mtp_switch == "server"):
            return self.tr("MTP is set on the server; Hearth cannot change it.")
        return ""

    def _loaded_here(self) -> Ready | None:
        """Return this chat's model if it is loaded, else None."""
        model = self._settings.model
        for ready in self._loaded.values():
            if model in (ready.entry.id, ready.entry.name, ready.called):
                return ready
        return None

    def _word(self, mode: MtpMode) -> str:
        """Return the text of the chip: the gain in speed of the last answer, if noticeable."""
        if self._out_of_reach():
            return self.tr("MTP")
        if mode == "off":
            return self.tr("MTP off")
        gain = self._gains.get(self._chat_id or "", 0.0)
        if gain >= _FASTER:
            return self.tr("{gain}× faster").format(gain=figure(gain, 1))
        return self.tr("MTP")

    def _sentence(self, mode: MtpMode) -> str:
        why_not = self._out_of_reach()
        if why_not:
            ready = self._loaded_here()
            return translated(ready.loaded.mtp_line) if ready and ready.loaded.mtp_line else why_not
        return self._from_now_on(mode) or self._known(mode)

    def _from_now_on(self, mode: MtpMode) -> str:
        """Return what changes or takes time with the next message; "" if nothing does."""
        ready = self._loaded_here()
        if self._is_due and ready is not None:
            return self.tr(
                "The engine restarts with the next message: about {restart_s} s."
            ).format(restart_s=figure(ready.loaded.restart_s))
        running = self._generation.running_mtp(self._chat_id) if self._chat_id else None
        if running is None or running == mode:
            return ""
        words = {
            "off": self.tr("MTP is off from the next message on."),
            "auto": self.tr("MTP is automatic from the next message on."),
            "on": self.tr("MTP is on from the next message on."),
        }
        return words[mode]

    def _known(self, mode: MtpMode) -> str:
        """Return the most recent sentence about MTP."""
        if mode == "off":
            return self.tr("MTP is off for this chat.")
        ready = self._loaded_here()
        report = self._reports.get(self._chat_id or "")
        theirs = self._models.get(self._chat_id or "")
        if (
            ready is not None
            and report is not None
            and (ready.entry.id, mode)
            == (
                theirs,
                report.mode,
            )
        ):
            return translated(report.reason)
        if ready is not None and ready.loaded.mtp_line:
            return translated(ready.loaded.mtp_line)
        return translated(self._files[1]) if self._files[0] == self._settings.model else ""
