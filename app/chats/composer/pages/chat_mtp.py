"""Multi-token prediction in the window: the mode of the next message, and the text about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject

from app.base.language import translated
from app.chats.composer.pages.mtp_chip import MtpChip
from app.kit.look.format import figure
from app.models.library.pages.names import name_of
from engines.types import MtpMode, MtpReport, takes_restart

if TYPE_CHECKING:
    from app.chats.answers.presenters.generation import Generation
    from app.chats.answers.values.answers import Ready
    from app.chats.composer.pages.composer import Composer
    from app.chats.history.presenters.chats import Chats
    from app.chats.history.values.conversation import StoredMessage
    from app.chats.presenters.open_chat import OpenChat

_FASTER = 1.05
"""Users do not notice smaller gains in speed."""
Ask = Callable[[Sequence[str], Sequence[tuple[str, str]], Callable[[str], object]], object]
"""The signature of `Notifier.ask`: lines, answers, and the function that gets the answer."""


class ChatMtp(QObject):
    """The connection of the composer's entry and chip with the presenters, for the open chat.

    Each chat has its own mode, which is saved with the chat; only the user changes it. The
    sentence on the card comes from the best available source: the report of the chat's last
    answer, the abilities of the loaded model, or the model's files.

    If the engine has to restart for another mode, the user is asked first, once for each model,
    and the sentence says so each time.
    """

    def __init__(
        self,
        composer: Composer,
        chats: Chats,
        chat: OpenChat,
        generation: Generation,
        ask: Ask,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._chip = chip = MtpChip()
        composer.options.add(chip, lambda _: None)  # the menu has its entry in any case
        composer.add_to_menu(chip.fill)
        self._chats = chats
        self._chat = chat
        self._generation = generation
        self._ask = ask
        self._at_server = False
        self._model = ""
        self._restart_agreed: set[str] = set()
        self._restart_is_due = False
        self._mode_of_new_chat: MtpMode | None = None
        self._files: tuple[str, str] = ("", "")
        self._loaded: dict[str, Ready] = {}
        self._models: dict[str, str] = {}
        self._reports: dict[str, MtpReport] = {}
        self._gains: dict[str, float] = {}
        chip.chosen.connect(self._choose)
        chat.opened.connect(self._opened)
        chat.stored.connect(self._adopt)
        chat.changed.connect(self.refresh)
        generation.ready.connect(self._ready)
        generation.mtp.connect(self._report)
        generation.ended.connect(self._ended)

    @property
    def mode(self) -> MtpMode:
        """The mode of the next message."""
        return self._current_mode()

    @property
    def sentence(self) -> str:
        """The sentence on the card."""
        return self._sentence(self._current_mode())

    def refresh(self) -> None:
        """Show the state of the open chat."""
        self._model = self._chat.model
        mode = self._current_mode()
        self._chip.show_state(
            mode,
            self._gain_text(mode),
            self._sentence(mode),
            can_switch=not self._fixed_by_server(),
        )

    def show_files(self, model: str, sentence: str) -> None:
        """Show the MTP abilities according to a model's files.

        Args:
            model: The name that the settings have for the model.
            sentence: The sentence to show.
        """
        self._files = (model, sentence)
        self.refresh()

    def show_at_server(self, at_server: bool) -> None:
        """Set whether a server answers in this chat instead of Hearth's engines."""
        self._at_server = at_server
        self.refresh()

    def _opened(self, is_other: bool) -> None:
        self._restart_is_due = self._restart_is_due and not is_other
        self.refresh()

    def _adopt(self) -> None:
        """Move the mode to the stored chat, which has the mode of its first question."""
        chat_id = str(self._chat.id)
        if self._mode_of_new_chat is not None and self._mode_of_new_chat != self._chats.mtp(
            chat_id
        ):
            self._chats.set_mtp(chat_id, self._mode_of_new_chat)
        self._mode_of_new_chat = None
        self.refresh()

    def _choose(self, mode: str) -> None:
        chosen = cast(MtpMode, mode)
        ready = self._loaded_model()
        if (
            ready is None
            or not self._restarts(ready, chosen)
            or ready.entry.id in self._restart_agreed
        ):
            self._set(chosen)
            return
        self._chip.close_card()
        self._ask_for_restart(ready, chosen)

    def _ask_for_restart(self, ready: Ready, chosen: MtpMode) -> None:
        lines = [
            self.tr("Restart the engine?"),
            self.tr(
                "{name} can change this only when its engine starts. The "
                "engine restarts with the next message, which takes about {restart_s} s."
            ).format(name=name_of(ready.entry), restart_s=figure(ready.loaded.restart_s)),
        ]
        answers = [
            ("keepMtp", self.tr("Keep it")),
            ("restartForMtp", self.tr("Restart")),
        ]

        def answered(name: str) -> None:
            if name == "restartForMtp":
                self._restart_agreed.add(ready.entry.id)
                self._set(chosen)

        self._ask(lines, answers, answered)

    def _restarts(self, ready: Ready, chosen: MtpMode) -> bool:
        """Return whether the engine has to restart for this mode."""
        return takes_restart(ready.loaded.mtp_switch, self._current_mode(), chosen)

    def _set(self, chosen: MtpMode) -> None:
        ready = self._loaded_model()
        if ready is not None and self._restarts(ready, chosen):
            self._restart_is_due = (
                not self._restart_is_due
            )  # choosing the old mode again needs no restart
        if self._chat.id is None:
            self._mode_of_new_chat = chosen
        else:
            self._chats.set_mtp(self._chat.id, chosen)
        self.refresh()

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
            self._loaded = {
                engine: other for engine, other in self._loaded.items() if engine == "remote"
            }
        self._loaded[ready.entry.engine] = ready
        if chat_id == self._chat.id:
            self._restart_is_due = False
        self.refresh()

    def _report(self, chat_id: str, report: MtpReport) -> None:
        self._reports[chat_id] = report
        if chat_id == self._chat.id:
            self.refresh()

    def _ended(self, answer: StoredMessage) -> None:
        report = self._reports.get(answer.chat_id)
        self._gains[answer.chat_id] = (report.gain if report and report.active else None) or 0.0
        self.refresh()

    def _current_mode(self) -> MtpMode:
        stored = self._chats.mtp(self._chat.id) if self._chat.id else self._mode_of_new_chat
        return stored or self._generation.usual_mtp()

    def _fixed_by_server(self) -> str:
        """Return why the switch has no effect; "" if it has."""
        ready = self._loaded_model()
        if self._at_server or (ready is not None and ready.loaded.mtp_switch == "server"):
            return self.tr("The server decides on this; Hearth cannot change it.")
        return ""

    def _loaded_model(self) -> Ready | None:
        """Return this chat's model if it is loaded, else None."""
        model = self._model
        for ready in self._loaded.values():
            if model in (ready.entry.id, ready.entry.name, ready.called):
                return ready
        return None

    def _gain_text(self, mode: MtpMode) -> str:
        """Return the gain in speed of the last answer; "" if there is none to speak of."""
        gain = self._gains.get(self._chat.id or "", 0.0)
        if self._fixed_by_server() or mode == "off" or gain < _FASTER:
            return ""
        return self.tr("{gain}× faster").format(gain=figure(gain, 1))

    def _sentence(self, mode: MtpMode) -> str:
        why_not = self._fixed_by_server()
        if why_not:
            ready = self._loaded_model()
            return translated(ready.loaded.mtp_line) if ready and ready.loaded.mtp_line else why_not
        return self._next_message_sentence(mode) or self._latest_sentence(mode)

    def _next_message_sentence(self, mode: MtpMode) -> str:
        """Return a sentence on the changes with the next message; "" for none."""
        ready = self._loaded_model()
        if self._restart_is_due and ready is not None:
            return self.tr(
                "The engine restarts with the next message: about {restart_s} s."
            ).format(restart_s=figure(ready.loaded.restart_s))
        running = self._generation.running_mtp(self._chat.id) if self._chat.id else None
        if running is None or running == mode:
            return ""
        words = {
            "off": self.tr("Off from the next message on."),
            "auto": self.tr("Automatic from the next message on."),
            "on": self.tr("On from the next message on."),
        }
        return words[mode]

    def _latest_sentence(self, mode: MtpMode) -> str:
        """Return the most recent sentence about MTP."""
        if mode == "off":
            return self.tr("Off for this chat.")
        ready = self._loaded_model()
        report = self._reports.get(self._chat.id or "")
        model_id = self._models.get(self._chat.id or "")
        if (
            ready is not None
            and report is not None
            and (ready.entry.id, mode)
            == (
                model_id,
                report.mode,
            )
        ):
            return translated(report.reason)
        if ready is not None and ready.loaded.mtp_line:
            return translated(ready.loaded.mtp_line)
        return translated(self._files[1]) if self._files[0] == self._model else ""
