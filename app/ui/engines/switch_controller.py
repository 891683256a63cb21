"""Between the window and the engines: where a chat's text goes, and the same model elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.core.models.entry import ModelEntry
from app.ui.engines.names import engine_called
from app.ui.look.format import size

if TYPE_CHECKING:
    from app.core.engines.care import EngineState
    from app.core.models.counterparts import Counterpart
    from app.presenters.engine_list import EngineList
    from app.presenters.server_list import Place
    from app.ui.window.main_window import MainWindow


class EngineSwitchController(QObject):
    """Nothing of the engines is made or imported before somebody asks for it."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._services = window.services
        self._listens = False
        self._vllm_is_here: bool | None = None
        self._elsewhere: tuple[str, Sequence[Counterpart]] = ("", ())
        header, page = window.header, window.page
        window.models_shown.connect(self.show)
        page.shown.connect(self.show)
        header.choosing.connect(self._look_elsewhere)
        header.other_engine.connect(self._take)
        header.servers.connect(self.show_servers)
        page.fixes.wanted.connect(self.mend)

    def place_of(self, model: str) -> Place | None:
        """Where this model's answers come from; None: from Hearth. It is known by its id or name.

        The servers are asked only where it could be one of theirs.
        """
        entry = self._entry(model)
        is_here = entry.engine != "remote" if entry is not None else ":" not in model
        return None if is_here else self._services.servers.place_of(model, entry)

    def show(self) -> None:
        """Of the chat that is open."""
        place = self.place_of(self._window.chooser.current())
        self._window.header.show_place(place)
        self._window.page.show_place(place)

    def show_engines(self) -> None:
        self._engines()
        self._window.go_to(self._window.engines)

    def show_servers(self) -> None:
        self._window.go_to(self._window.servers)

    def mend(self, kind: str, value: object, then: Callable[[], object]) -> None:
        """What the button of a failed answer asks for; then: asks for the answer once more."""
        match kind:
            case "stop_worker":
                self._engines().stop_worker(then)
            case "free_memory":
                self._engines().free_memory(then)
            case "install":
                self.show_engines()
                self._window.engines.show_vllm()
            case "open_settings":
                self._window.show_settings(str(value))

    def _entry(self, model: str) -> ModelEntry | None:
        entries = self._window.chooser.entries()
        return next((it for it in entries if model in (it.id, it.name)), None)

    def _engines(self) -> EngineList:
        """Made when it is first needed."""
        engines = self._services.engines
        if not self._listens:
            self._listens = True
            engines.elsewhere.connect(self._show_elsewhere)
            engines.stood.connect(self._stood)
            engines.failed.connect(self._window.notifier.error)
        return engines

    def _stood(self, state: EngineState) -> None:
        self._vllm_is_here = state.version is not None
        self._show_elsewhere(*self._elsewhere)

    def _look_elsewhere(self) -> None:
        entry = self._window.chooser.current_entry()
        self._elsewhere = ("", ())
        self._window.header.show_elsewhere(())
        if entry is not None:
            self._engines().look_at_vllm()
            self._engines().look_elsewhere(entry)

    def _show_elsewhere(self, model: str, found: Sequence[Counterpart]) -> None:
        """Once it is known whether vLLM is here, on which it hangs what choosing one does."""
        self._elsewhere = (model, found)
        entry = self._window.chooser.current_entry()
        if self._vllm_is_here is not None and entry is not None and entry.id == model:
            self._window.header.show_elsewhere(found)

    def _take(self, other: Counterpart) -> None:
        """The chat goes on with it, or it is fetched first if its user agrees."""
        if other.engine == "vllm" and not self._vllm_is_here:
            self._ask_for_vllm()
        elif other.entry is not None:
            self._window.chooser.use(other.entry.id)
        else:
            self._ask_to_fetch(other)

    def _ask_for_vllm(self) -> None:
        lines = [
            self.tr("vLLM is not installed yet"),
            self.tr(
                "The page of the engines says what this computer needs for it and what it takes, "
                "before anything is downloaded."
            ),
        ]
        answers = [("cancel", self.tr("Cancel")), ("seeEngines", self.tr("See what it takes"))]

        def answered(name: str) -> None:
            if name == "seeEngines":
                self.mend("install", "", lambda: None)

        self._window.notifier.ask(lines, answers, answered)

    def _ask_to_fetch(self, other: Counterpart) -> None:
        name = engine_called(other.engine)
        amount = size(other.bytes) if other.bytes else self.tr("its files")
        lines = [
            self.tr("Download {0} for {1}?").format(other.name, name),
            self.tr(
                "The two engines read other files. {0} come from {1}. This chat stays as it is, "
                "and you can change its model once they are here."
            ).format(amount, other.repo),
        ]
        answers = [("cancel", self.tr("Cancel")), ("fetch", self.tr("Download"))]

        def answered(answer: str) -> None:
            if answer == "fetch":
                self._engines().fetch(other)
                self._window.notifier.say(self.tr("It is among the downloads now."))

        self._window.notifier.ask(lines, answers, answered)
